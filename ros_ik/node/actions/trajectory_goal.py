# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of a goal of ``~/follow_joint_trajectory``.

The checks are those of joint_trajectory_controller, except that a goal may name only some of the
joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import math
from typing import Any

import numpy as np

from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.transport.cdr_templates import seconds_of
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import Reason
from ros_ik.planning import Point
from ros_ik.planning import RequestError
from ros_ik.planning.trajectories.spline import make_spline
from ros_ik.planning.trajectories.spline import Spline
from ros_ik.servo import Rejection
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings

# Longest trajectory, including the time until its start [s].
LONGEST = 3600.0
# Value of a tolerance that disables it.
_ERASED = -1.0
_ZERO_VELOCITY = 1e-6


@dataclasses.dataclass(frozen=True, eq=False)
class Tolerances:
    """Tolerances of each joint of a trajectory; inf if there is none.

    Attributes:
        path: Position tolerances on the path [rad or m].
        goal: Position tolerances at the end [rad or m].
        goal_time: Time after the end in which the goal must be reached [s].
    """

    path: np.ndarray
    goal: np.ndarray
    goal_time: float


@dataclasses.dataclass(frozen=True, eq=False)
class TrajectoryGoal:
    """A valid goal.

    Attributes:
        joint_names: Its joints.
        variables: Index of each joint among the controlled ones, int [n].
        delay: Time until the start [s]; negative after the start.
        spline: The motion, with times from its start.
        tolerances: Tolerances.
    """

    joint_names: tuple[str, ...]
    variables: np.ndarray
    delay: float
    spline: Spline
    tolerances: Tolerances


def read_goal(
    goal: Any, robot: ControlledRobot, settings: Settings, positions: np.ndarray, ros_now: float
) -> TrajectoryGoal:
    """Validate a goal.

    Args:
        goal: The goal message.
        robot: The robot.
        settings: Settings in force.
        positions: Current positions of the controlled joints [rad or m].
        ros_now: Current ROS time [s].

    Raises:
        GoalError: It cannot be followed, with the reason.
    """
    trajectory = goal.trajectory
    if len(goal.multi_dof_trajectory.points) or len(goal.multi_dof_trajectory.joint_names):
        raise _error(
            'multi_dof_trajectory: joints with several degrees of freedom are not supported'
        )
    names = tuple(trajectory.joint_names)
    variables = _variables(names, robot)
    if len(trajectory.points) > settings.services_max_poses:
        raise _error(
            f'trajectory.points: at most {settings.services_max_poses} are permitted '
            f'(services.max_poses), got {len(trajectory.points)}'
        )
    points = [_point(point) for point in trajectory.points]
    try:
        spline = make_spline(points, len(names), positions[variables].tolist())
    except RequestError as error:
        raise _error(f'trajectory: {error}') from error
    if np.any(np.abs(points[-1].velocities) > _ZERO_VELOCITY):
        raise _error('trajectory.points: the velocities of the last point must be zero')
    delay = _delay(trajectory.header.stamp, ros_now, spline.end())
    tolerances = _tolerances(goal, names, settings)
    _check_movable(names, variables, robot, spline.control - positions[variables], tolerances.goal)
    return TrajectoryGoal(names, variables, delay, spline, tolerances)


def _variables(names: Sequence[str], robot: ControlledRobot) -> np.ndarray:
    """Return the indices of joints among the controlled ones."""
    known = {name: k for k, name in enumerate(robot.group.joint_names)}
    expected = f'trajectory.joint_names: expected some of {", ".join(known)}, each once'
    if not names:
        raise _error(f'{expected}, got none')
    for k, name in enumerate(names):
        if name not in known:
            raise _error(f'{expected}, got {name!r}', Rejection.UNKNOWN_JOINT)
        if name in names[:k]:
            raise _error(f'{expected}, got {name!r} twice', Rejection.REPEATED_JOINT)
    return np.array([known[name] for name in names])


def _check_movable(
    names: Sequence[str],
    variables: np.ndarray,
    robot: ControlledRobot,
    displacements: np.ndarray,
    tolerances: np.ndarray,
) -> None:
    """Raise GoalError if a trajectory moves a joint that cannot move beyond its goal tolerance.

    Args:
        names: Joints of the trajectory.
        variables: Their indices among the controlled joints.
        robot: The robot.
        displacements: Coefficients of the displacements from the current positions, [m, 6, n].
        tolerances: Goal tolerances [n].
    """
    farthest = np.abs(displacements).max(axis=(0, 1))
    for k in np.flatnonzero(~robot.can_move[variables] & (farthest > tolerances)).tolist():
        raise _error(
            f'trajectory: joint {names[k]!r} cannot move, because its velocity limit is 0; the '
            f'trajectory moves it by {farthest[k]:.4g}'
        )


def _point(point: Any) -> Point:
    if len(point.effort):
        raise _error('trajectory.points: efforts are not supported')
    return Point(
        seconds_of(point.time_from_start), point.positions, point.velocities, point.accelerations
    )


def _delay(stamp: Any, ros_now: float, duration: float) -> float:
    """Return the time until the start [s]; a stamp of zero means now."""
    if duration > LONGEST:
        raise _error(f'trajectory: it lasts {duration:g} s, at most {LONGEST:g} s are permitted')
    if not (stamp.sec or stamp.nanosec):
        return 0.0
    delay = seconds_of(stamp) - ros_now
    if delay + duration < 0.0:
        raise _error(
            f'trajectory.header.stamp: the trajectory ended {-delay - duration:g} s ago',
            Drop.TOO_OLD,
        )
    if delay > LONGEST:
        raise _error(
            f'trajectory.header.stamp: the trajectory starts in {delay:g} s, at most '
            f'{LONGEST:g} s are permitted'
        )
    return delay


def _tolerances(goal: Any, names: Sequence[str], settings: Settings) -> Tolerances:
    time = seconds_of(goal.goal_time_tolerance)
    if not 0.0 <= time <= LONGEST:
        raise _error(f'goal_time_tolerance must be in [0, {LONGEST:g}] s, got {time:g}')
    for name in ('component_path_tolerance', 'component_goal_tolerance'):
        if len(getattr(goal, name, ())):
            raise _error(f'{name}: joints with several degrees of freedom are not supported')
    return Tolerances(
        _of_joints('path_tolerance', goal.path_tolerance, names, math.inf),
        _of_joints('goal_tolerance', goal.goal_tolerance, names, settings.actions_goal_tolerance),
        time or settings.actions_goal_time,
    )


def _of_joints(
    field: str, given: Iterable[Any], names: Sequence[str], default: float
) -> np.ndarray:
    """Return the position tolerance of each joint [n]: 0 selects the default, -1 disables it."""
    values = np.full(len(names), default)
    for tolerance in given:
        position = tolerance.position
        if tolerance.name not in names:
            raise _error(f'{field}: {tolerance.name!r} is not a joint of the trajectory')
        if not (position >= 0.0 or position == _ERASED):
            raise _error(
                f'{field}: {tolerance.name!r}: expected -1 for none, 0 for the default, or a '
                f'position tolerance, got {position}'
            )
        if tolerance.velocity > 0.0 or tolerance.acceleration > 0.0:
            raise _error(f'{field}: {tolerance.name!r}: only positions have tolerances')
        if position != 0.0:
            values[names.index(tolerance.name)] = math.inf if position == _ERASED else position
    return values


def _error(text: str, reason: Reason = Drop.INVALID_GOAL) -> GoalError:
    return GoalError(reason, text)
