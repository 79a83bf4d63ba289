# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rules by which joint_trajectory_controller rejects a trajectory, without ROS.

The rules are those of ``JointTrajectoryController::validate_trajectory_msg`` (ros2_controllers)
for a controller with the position command interface and default parameters: no integration, no
velocity at the end, and no partial goals unless they are allowed. Three more rules are added: NaN
or infinite numbers, repeated joints, and a first point before the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math

NANOSECONDS = 1_000_000_000
# joint_trajectory_controller compares with std::numeric_limits<float>::epsilon().
END_VELOCITY_TOLERANCE = 1.1920929e-07


@dataclass(frozen=True)
class TrajectoryPoint:
    """One point of a trajectory; each field is empty or has one number per joint.

    Attributes:
        time_from_start: Time after the start of the trajectory, ns.
        positions: rad or m.
        velocities: rad/s or m/s.
        accelerations: rad/s^2 or m/s^2.
        effort: N m or N.
    """

    time_from_start: int
    positions: Sequence[float] = ()
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()
    effort: Sequence[float] = ()


@dataclass(frozen=True)
class Trajectory:
    """A joint trajectory.

    Attributes:
        joint_names: Joint names, in the order of the numbers of a point.
        points: Points in the order of time.
        stamp: Start of the trajectory, ns; zero means now.
    """

    joint_names: Sequence[str]
    points: Sequence[TrajectoryPoint] = field(default_factory=tuple)
    stamp: int = 0


def check_trajectory(
    trajectory: Trajectory,
    joints: Sequence[str],
    now: int,
    *,
    allow_nonzero_velocity_at_trajectory_end: bool = False,
    allow_partial_joints_goal: bool = False,
) -> str | None:
    """Return why a controller of ``joints`` rejects ``trajectory``, or None.

    Args:
        trajectory: Received trajectory.
        joints: The joints of the controller, in any order.
        now: Current time on the clock of the stamp, ns.
        allow_nonzero_velocity_at_trajectory_end: The controller's parameter of this name.
        allow_partial_joints_goal: The controller's parameter of this name.

    Returns:
        The reason for the rejection, or None for an accepted trajectory.
    """
    reason = _check_joints(trajectory.joint_names, joints, allow_partial_joints_goal)
    if reason is None and not trajectory.points:
        reason = 'the trajectory has no points'
    if reason is None:
        reason = _check_points(trajectory)
    if reason is None and not allow_nonzero_velocity_at_trajectory_end:
        reason = _check_end_velocity(trajectory)
    if reason is None:
        reason = _check_end_time(trajectory, now)
    return reason


def _check_joints(names: Sequence[str], joints: Sequence[str], allow_partial: bool) -> str | None:
    if not names:
        return 'the trajectory has no joint names'
    unknown = [name for name in names if name not in joints]
    if unknown:
        return f"joint '{unknown[0]}' is not one of the controller's joints"
    repeated = [name for index, name in enumerate(names) if name in names[:index]]
    if repeated:
        return f"joint '{repeated[0]}' is named twice"
    missing = [name for name in joints if name not in names]
    if missing and not allow_partial:
        return f"joint '{missing[0]}' is missing: partial goals are not allowed"
    return None


def _check_points(trajectory: Trajectory) -> str | None:
    previous = -1
    for index, point in enumerate(trajectory.points):
        if point.time_from_start < 0:
            return f'point {index} lies {_seconds(-point.time_from_start)} before the start'
        if point.time_from_start <= previous:
            return (
                'time_from_start is not strictly increasing: '
                f'{_seconds(point.time_from_start)} at point {index} after {_seconds(previous)}'
            )
        previous = point.time_from_start
        reason = _check_fields(index, point, trajectory.joint_names)
        if reason is not None:
            return reason
    return None


def _check_fields(index: int, point: TrajectoryPoint, names: Sequence[str]) -> str | None:
    if not len(point.positions):
        return f'point {index} has no positions'
    if len(point.effort):
        return f'point {index} has effort, which a position interface does not take'
    for label in ('positions', 'velocities', 'accelerations'):
        values = getattr(point, label)
        if len(values) not in (0, len(names)):
            return f'point {index} has {len(values)} {label} for {len(names)} joints'
        for name, value in zip(names, values, strict=False):
            if not math.isfinite(value):
                return f"point {index} has {value} in {label} for joint '{name}'"
    return None


def _check_end_velocity(trajectory: Trajectory) -> str | None:
    names, velocities = trajectory.joint_names, trajectory.points[-1].velocities
    for name, velocity in zip(names, velocities, strict=False):
        if abs(velocity) > END_VELOCITY_TOLERANCE:
            return f"velocity of the last point is {velocity:g} for joint '{name}', not zero"
    return None


def _check_end_time(trajectory: Trajectory, now: int) -> str | None:
    end = trajectory.stamp + trajectory.points[-1].time_from_start
    if trajectory.stamp != 0 and end < now:
        return f'the trajectory ended {_seconds(now - end)} ago'
    return None


def _seconds(nanoseconds: int) -> str:
    return f'{nanoseconds / NANOSECONDS:g} s'
