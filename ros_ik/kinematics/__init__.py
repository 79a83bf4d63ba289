# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics: Warp functions and kernels over the tree of a model."""

from ros_ik.kinematics.evaluate import eval_fk
from ros_ik.kinematics.evaluate import eval_jacobian

__all__ = ['eval_fk', 'eval_jacobian']
