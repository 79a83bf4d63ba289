# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control commands of planners, and their conversion for the solver."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
from typing import Any
from typing import TypeVar

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.model.conventions.checks import as_number
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.checks import checked_text
from ros_ik.model.conventions.poses import pose_fault
from ros_ik.model.conventions.poses import unit_pose
from ros_ik.model.conventions.rotations import matrix_from_quaternion
from ros_ik.numbers import real_array
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.planner import Planner
from ros_ik.solvers import CommandHeaderBuilder
from ros_ik.solvers import OptimalControlCommand
from ros_ik.solvers import OptimalControlCommandBuilder
from ros_ik.solvers.optimal_control.commands.targets import check_joint

# Maximum number of costs, because every iteration evaluates them and a search cannot be
# interrupted.
_MAX_POSES, _MAX_JOINTS = 64, 1024
# Fields that the builder of a command has under the same names; 0 selects their defaults.
_OPTIONS = (
    'velocity_limit_scaling', 'acceleration_limit_scaling', 'error_scaling', 'stop_cost',
    'min_delta_cost', 'patience',
)  # fmt: skip
# Longest hold of the last point [s].
_LONGEST_HOLD = 3600.0

_Cost = TypeVar('_Cost')


@dataclasses.dataclass(frozen=True, eq=False)
class PoseCost:
    """Cost of the pose of a link.

    Attributes:
        reference_link: Link in whose frame the pose is given; '' selects the base frame.
        link: Controlled link.
        pose: x y z [m] qx qy qz qw.
        translation_weight: Weight of the distance [1/m^2].
        rotation_weight: Weight of the angle [1/rad^2].
    """

    reference_link: str
    link: str
    pose: Sequence[float]
    translation_weight: float
    rotation_weight: float


@dataclasses.dataclass(frozen=True)
class JointCost:
    """Cost of the position of a joint [rad or m]."""

    joint: str
    target: float
    weight: float


@dataclasses.dataclass(frozen=True, eq=False)
class CenterOfMassCost:
    """Cost of the centre of mass [m] in the frame of a link, '' for the base frame."""

    reference_link: str
    position: Sequence[float]
    weight: float


@dataclasses.dataclass(frozen=True, eq=False)
class OptimalRequest:
    """A command. 0 selects the default where 0 is not a valid value.

    Attributes:
        poses: Costs of poses.
        joints: Costs of joints.
        center_of_mass: Cost of the centre of mass, or None.
        velocity_limit_scaling: Factor on the velocity limits, (0, 1].
        acceleration_limit_scaling: Factor on the acceleration limits, (0, 1].
        error_scaling: Factor on every error.
        stop_cost: Cost below which the command counts as solved.
        min_delta_cost: Minimum decrease of the cost per iteration.
        patience: Number of iterations without that decrease before the search ends.
        control_hold_time: Time for which the last point is held [s].
        start_names: Joints with a given initial state; the others are as measured.
        start_positions: Their positions [rad or m].
        start_velocities: Their velocities [rad/s or m/s]; empty for rest.
    """

    poses: Sequence[PoseCost] = ()
    joints: Sequence[JointCost] = ()
    center_of_mass: CenterOfMassCost | None = None
    velocity_limit_scaling: float = 0.0
    acceleration_limit_scaling: float = 0.0
    error_scaling: float = 0.0
    stop_cost: float = 0.0
    min_delta_cost: float = 0.0
    patience: int = 0
    control_hold_time: float = 0.0
    start_names: Sequence[str] = ()
    start_positions: Sequence[float] = ()
    start_velocities: Sequence[float] = ()


def make_command(planner: Planner, request: OptimalRequest) -> OptimalControlCommand:
    """Return the command of the solver.

    Raises:
        RequestError: A value out of range, an unknown link or joint; the message names the field.
    """
    poses = _costs('cartesian_costs', request.poses, PoseCost, _MAX_POSES)
    joints = _costs('joint_costs', request.joints, JointCost, _MAX_JOINTS)
    builder = OptimalControlCommandBuilder()
    for index, pose in enumerate(poses):
        with _naming(f'cartesian_costs[{index}]'):
            _add_pose(builder, planner, pose)
    for index, joint in enumerate(joints):
        with _naming(f'joint_costs[{index}]'):
            planner.driving_coordinates([joint.joint])
            check_joint(joint.joint, planner.model, planner.robot.group)
            builder.add_joint_position_target(joint.joint, joint.target, joint.weight)
    center = request.center_of_mass
    if center is not None:
        with _naming('center_of_mass'):
            checked_instance('the cost', CenterOfMassCost, center)
            builder.set_center_of_mass_target(
                _label(planner, center.reference_link),
                checked_array('position', center.position, (3,)),
                center.weight,
            )
    _set_options(builder, request)
    with _naming('the request'):
        return builder.build(planner.model)


def _costs(name: str, costs: Any, kind: type[_Cost], most: int) -> Sequence[_Cost]:
    """Return the costs of a field, or raise RequestError."""
    with argument_errors_as_request_errors():
        found = checked_items(name, costs, 'costs')
        for index, cost in enumerate(found):
            checked_instance(f'{name}[{index}]', kind, cost)
    if len(found) > most:
        raise RequestError(f'{name}: at most {most} are permitted, got {len(found)}')
    return found


def _add_pose(builder: OptimalControlCommandBuilder, planner: Planner, cost: PoseCost) -> None:
    """Add a pose target to a command, or raise RequestError."""
    given = real_array('pose', cost.pose)
    if given.shape != (7,):
        raise RequestError(f'pose must be 7 numbers, got shape {list(given.shape)}')
    pose = unit_pose(given)
    if pose is None:
        raise RequestError(f'target: {pose_fault(given)}')
    if not checked_text('link', cost.link):
        raise RequestError("link must name a link, got ''")
    transform = np.eye(4)
    transform[:3, :3] = matrix_from_quaternion(pose[3:])
    transform[:3, 3] = pose[:3]
    builder.add_cartesian_target(
        _label(planner, cost.reference_link),
        planner.model.body_label[planner.link(cost.link)],
        transform,
        cost.translation_weight,
        cost.rotation_weight,
    )


def _set_options(builder: OptimalControlCommandBuilder, request: OptimalRequest) -> None:
    """Set the given options; 0 selects the default."""
    with argument_errors_as_request_errors():
        for name in _OPTIONS:
            as_number(name, getattr(request, name))
        as_number('control_hold_time', request.control_hold_time)
    scaling = request.acceleration_limit_scaling
    if not scaling <= 1.0:
        raise RequestError(f'acceleration_limit_scaling must be in (0, 1], got {scaling}')
    hold = request.control_hold_time
    if not 0.0 <= hold <= _LONGEST_HOLD:
        raise RequestError(f'control_hold_time must be in [0, {_LONGEST_HOLD:g}] s, got {hold}')
    for name in _OPTIONS:
        value = getattr(request, name)
        if value != 0:
            with _naming(''):  # the error names the option
                getattr(builder, f'set_{name}')(value)
    builder.set_command_header(CommandHeaderBuilder().set_control_hold_time(hold))


def _label(planner: Planner, link: str) -> str:
    """Return the name of a link; that of the base frame for ''."""
    return planner.model.body_label[planner.reference(link)]


@contextlib.contextmanager
def _naming(field: str) -> Iterator[None]:
    """Make errors name the field of the request."""
    try:
        yield
    except (ArgumentError, RequestError) as error:
        raise RequestError(f'{field}: {error}' if field else str(error)) from error
