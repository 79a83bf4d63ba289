# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a model as Warp functions and kernels."""

from typing import TYPE_CHECKING

from ros_ik.lazy_names import lazy_names

if TYPE_CHECKING:
    from ros_ik.kinematics.chain import link_dofs
    from ros_ik.kinematics.collision.checks.collisions import always_colliding_pairs
    from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
    from ros_ik.kinematics.dynamics.evaluate_dynamics import eval_bias_force
    from ros_ik.kinematics.dynamics.evaluate_dynamics import eval_com
    from ros_ik.kinematics.dynamics.evaluate_dynamics import eval_mass_matrix
    from ros_ik.kinematics.evaluate import eval_fk
    from ros_ik.kinematics.evaluate import eval_jacobian
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)

__all__ = [
    'CollisionChecker',
    'always_colliding_pairs',
    'eval_bias_force',
    'eval_com',
    'eval_fk',
    'eval_jacobian',
    'eval_mass_matrix',
    'link_dofs',
]
