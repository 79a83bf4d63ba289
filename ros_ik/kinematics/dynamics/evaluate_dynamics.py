# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Centre of mass, inertia matrix and bias force of a batch of configurations in one call.

Like :mod:`ros_ik.kinematics.evaluate`, these functions are for scripts and planners, because they
allocate. A control loop uses the launch functions instead. Only :func:`eval_com` is
differentiable.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
from typing import Any

import numpy as np
import warp as wp

from ros_ik.kinematics.cached_values import cached_tree
from ros_ik.kinematics.cached_values import cached_value
from ros_ik.kinematics.cached_values import TREE_SOURCES
from ros_ik.kinematics.dynamics.bias_force import bias_force_workspace
from ros_ik.kinematics.dynamics.bias_force import launch_bias_force
from ros_ik.kinematics.dynamics.center_of_mass import launch_center_of_mass
from ros_ik.kinematics.dynamics.center_of_mass import launch_center_of_mass_jacobian
from ros_ik.kinematics.dynamics.center_of_mass import mass_distribution
from ros_ik.kinematics.dynamics.center_of_mass import MassDistribution
from ros_ik.kinematics.dynamics.inertia_matrix import body_inertias
from ros_ik.kinematics.dynamics.inertia_matrix import BodyInertias
from ros_ik.kinematics.dynamics.inertia_matrix import inertia_matrix_workspace
from ros_ik.kinematics.dynamics.inertia_matrix import launch_inertia_matrix
from ros_ik.kinematics.evaluate import link_motions
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import batch_output
from ros_ik.kinematics.runtime.batch_arrays import copy_back
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import shares_launch_lock

# Arrays of a model that masses and inertias are made from.
_SOURCES = (
    *TREE_SOURCES, 'body_mass64', 'body_com64', 'body_inertia64', 'body_world', 'gravity',
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Configurations:
    """A batch of configurations with link poses and motion subspaces."""

    tree: KinematicTree
    n: int
    body_q: wp.array
    joint_S_s: wp.array
    differentiable: bool


@shares_launch_lock
def eval_com(
    model: Any,
    joint_q: Any,
    com: Any = None,
    jacobian: Any = None,
    *,
    bodies: Sequence[int] | np.ndarray | None = None,
) -> None:
    """Compute the centre of mass and its Jacobian.

    Args:
        model: A :class:`Model`, or any object with Newton's joint and body arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        com: Output, written in place: centre of mass in the world [m], plain numbers [n, 3]
            or a Warp array of vec3 [n], same precision; None if not needed.
        jacobian: Output, written in place: d com / d q over the degrees of freedom, shape
            [n, 3, joint_dof_count], same precision; None if not needed.
        bodies: The bodies to include; None for all.

    Raises:
        ArgumentError: A wrong shape, type or device, naming the argument, an unknown body, or
            bodies without mass.
    """
    at = _evaluate(model, joint_q)
    scalar = at.tree.scalar
    masses = _masses(model, scalar) if bodies is None else mass_distribution(model, scalar, bodies)
    centre = columns = None
    if com is not None:
        centre = batch_output('com', com, (at.n,), spatial_functions(scalar).vec3, model.device)
    if jacobian is not None:
        shape = (at.n, 3, model.joint_dof_count)
        columns = batch_output('jacobian', jacobian, shape, scalar, model.device)
    if centre is not None:
        launch_center_of_mass(masses, at.body_q, centre, differentiable=at.differentiable)
        copy_back(centre, com)
    if columns is not None:
        launch_center_of_mass_jacobian(
            masses, at.body_q, at.joint_S_s, columns, differentiable=at.differentiable
        )
        copy_back(columns, jacobian)


@shares_launch_lock
def eval_mass_matrix(model: Any, joint_q: Any, inertia_matrix: Any) -> None:
    """Compute the joint-space inertia matrix, of the links alone, without ``joint_armature``.

    Args:
        model: A :class:`Model`, or any object with Newton's joint and body arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        inertia_matrix: Output, written in place: symmetric, shape
            [n, joint_dof_count, joint_dof_count], same precision. Mimic joints are treated as
            independent joints.

    Raises:
        ArgumentError: A wrong shape, type or device, naming the argument.
    """
    at = _evaluate(model, joint_q)
    shape = (at.n, model.joint_dof_count, model.joint_dof_count)
    result = batch_output('inertia_matrix', inertia_matrix, shape, at.tree.scalar, model.device)
    inertias = _inertias(model, at.tree.scalar)
    workspace = inertia_matrix_workspace(at.tree, at.n)
    launch_inertia_matrix(at.tree, inertias, at.body_q, at.joint_S_s, workspace, result)
    copy_back(result, inertia_matrix)


@shares_launch_lock
def eval_bias_force(
    model: Any,
    joint_q: Any,
    joint_qd: Any,
    bias_force: Any,
) -> None:
    """Compute the joint forces at zero joint acceleration, C(q, qd) qd + g(q).

    Gravity is ``model.gravity``; each body has the gravity of its world.

    Args:
        model: A :class:`Model`, or any object with Newton's joint and body arrays.
        joint_q: Coordinates, shape [n, joint_coord_count], float32 or float64.
        joint_qd: Velocities [rad/s, m/s], shape [n, joint_dof_count], same precision.
        bias_force: Output, written in place: forces and torques [N, Nm], shape
            [n, joint_dof_count], same precision. Mimic joints are treated as independent joints.

    Raises:
        ArgumentError: A wrong shape, type or device, naming the argument.
    """
    at = _evaluate(model, joint_q)
    shape, scalar = (at.n, model.joint_dof_count), at.tree.scalar
    velocity, _ = batch_input(
        'joint_qd', joint_qd, model.joint_dof_count, model.device, n=at.n, scalar=scalar
    )
    result = batch_output('bias_force', bias_force, shape, scalar, model.device)
    launch_bias_force(
        at.tree,
        _inertias(model, scalar),
        model.gravity,
        at.body_q,
        at.joint_S_s,
        velocity,
        bias_force_workspace(at.tree, at.n),
        result,
    )
    copy_back(result, bias_force)


def _masses(model: Any, scalar: type) -> MassDistribution:
    """Return the masses of all bodies, kept with the model."""
    make = functools.partial(mass_distribution, model, scalar)
    return cached_value(model, ('masses', scalar), _SOURCES, make)


def _inertias(model: Any, scalar: type) -> BodyInertias:
    """Return the inertias of all bodies, kept with the model."""
    make = functools.partial(body_inertias, model, scalar)
    return cached_value(model, ('inertias', scalar), _SOURCES, make)


def _evaluate(model: Any, joint_q: Any) -> _Configurations:
    """Compute link poses and motion subspaces."""
    checked_model(model)
    coordinates, scalar = batch_input('joint_q', joint_q, model.joint_coord_count, model.device)
    tree = cached_tree(model, scalar)
    body_q, joint_S_s = link_motions(tree, coordinates)
    return _Configurations(
        tree, coordinates.shape[0], body_q, joint_S_s, bool(coordinates.requires_grad)
    )
