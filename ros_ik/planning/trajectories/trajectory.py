# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of limits and barriers along a trajectory, at and between its points."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.barriers import CollisionBarrier
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.model.building.joints.mimic_range import dof_links
from ros_ik.model.conventions.checks import checked_items
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.planner import Planner
from ros_ik.planning.trajectories.spline import make_spline
from ros_ik.planning.trajectories.spline import Point
from ros_ik.planning.trajectories.spline_barriers import barriers_along
from ros_ik.planning.trajectories.spline_barriers import closest_pair
from ros_ik.planning.trajectories.spline_barriers import least_distances
from ros_ik.planning.trajectories.spline_limits import first_limit_violation
from ros_ik.planning.trajectories.spline_limits import JointBounds
from ros_ik.planning.trajectories.spline_limits import Violation

# A link 1 m from a joint moves 1 cm in such a step [rad or m].
MAX_STEP = 0.01


@dataclasses.dataclass(frozen=True, eq=False)
class TrajectoryReport:
    """Result of a check of a trajectory.

    Attributes:
        violation: First violation, or None.
        closest_pair: Closest pair of the collision barriers, '' twice without one.
        barriers: Names of the barriers.
        minimum_values: Least distance of each barrier [m], which must not be below the margin;
            NaN if no pair of a collision barrier came within its range.
        unmeasured_links: Links whose collision shapes are missing in whole or in part, and
            ignored.
        unknown_joints: Joints on which distances depend and whose state is unknown. They count
            as being at their last positions, or at neutral ones.
    """

    violation: Violation | None
    closest_pair: tuple[str, str]
    barriers: tuple[str, ...]
    minimum_values: np.ndarray
    unmeasured_links: tuple[str, ...] = ()
    unknown_joints: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True if the shapes of all links were measured, at known positions of the joints."""
        return not self.unmeasured_links and not self.unknown_joints

    @property
    def safe(self) -> bool:
        """True if the check is complete and nothing is violated."""
        return self.complete and self.violation is None


def check_trajectory(
    planner: Planner,
    joint_names: Sequence[str],
    points: Sequence[Point],
    max_step: float = 0.0,
    *,
    most_checks: int = 100_000,
    budget: Budget | None = None,
) -> TrajectoryReport:
    """Check joint limits and every barrier along a trajectory.

    Barriers have all pairs of links and obstacles that the joints of the trajectory or those of
    the node move.

    Limits are those of the node: tightened by ``joint_limits``, scaled by
    ``limits.velocity_scale`` and ``limits.acceleration_scale``, without
    ``limits.position_margin``. Accelerations are checked if ``joint_limits`` gives a limit and the
    segment has one; a segment without velocities at both ends is linear.

    Args:
        planner: The robot.
        joint_names: Joints of the trajectory; the others stay as measured. Those that carry them,
            as seen from the base frame, must have a state or be named if distances depend on them.
        points: Trajectory; the time before its first point is not checked.
        max_step: Largest joint displacement between two checks of the barriers [rad or m], of
            mimic joints too; 0 selects 0.01.
        most_checks: Maximum number of checks.
        budget: Time budget.

    Raises:
        ArgumentError: Another type of the planner, the points or the budget.
        RequestError: An unknown joint, points that do not fit, a bound exceeded, joints whose
            state is needed and unknown, the time limit has passed or the budget was cancelled.
    """
    checked_instance('planner', Planner, planner)
    budget = checked_options('budget', Budget, budget)
    points = checked_items('points', points, 'points')
    for point in points:
        checked_instance('a point in points', Point, point)
    with argument_errors_as_request_errors():
        max_step = checked_number('max_step', max_step)
        most_checks = checked_count('most_checks', most_checks)
        joint_names = checked_items('joint_names', joint_names, 'joint names')
    coords = planner.driving_coordinates(joint_names)
    if not len(coords):
        raise RequestError('the trajectory names no joints')
    planner.require_measured(planner.needed_dofs(), coords)
    spline = make_spline(points, len(coords))

    def configurations(positions: np.ndarray) -> np.ndarray:
        return planner.configurations(coords, positions)

    motion_barriers = planner.barriers_of(joint_names)
    planner.require_arm(motion_barriers.watched, joint_names, coords)
    record = barriers_along(
        motion_barriers, spline, configurations, max_step or MAX_STEP,
        _largest_factors(planner, joint_names), most_checks, budget,
    )  # fmt: skip
    barriers = motion_barriers.barriers
    distances = least_distances(motion_barriers, record)
    values = np.where(_is_far(barriers, record.minimum), np.nan, distances)
    limit = first_limit_violation(spline, _bounds(planner, joint_names), budget)
    found = [v for v in (limit, record.violation) if v is not None]
    return TrajectoryReport(
        violation=min(found, key=lambda violation: violation.time, default=None),
        closest_pair=closest_pair(motion_barriers, record),
        barriers=record.names,
        minimum_values=values,
        unmeasured_links=planner.robot.unmeasured_links,
        unknown_joints=planner.unknown_joints(motion_barriers.watched, coords),
    )


def _is_far(barriers: Sequence[Barrier], values: np.ndarray) -> np.ndarray:
    """Return which barriers have no distance, because no pair is within range or enabled.

    Args:
        barriers: The barriers.
        values: Smallest value of each, without margins [m].
    """
    reach = [
        barrier.d_max - barrier.d_min
        if isinstance(barrier, CollisionBarrier) and barrier.d_max is not None
        else np.inf
        for barrier in barriers
    ]
    return values >= np.array(reach)


def _largest_factors(planner: Planner, joint_names: Sequence[str]) -> np.ndarray:
    """Return the largest displacement of any joint by the displacement of each of these."""
    factors = dict.fromkeys(map(planner.model.joint_index, joint_names), 1.0)
    for driver, _offset, factor in planner.model.mimic_driver.values():
        if driver in factors:
            factors[driver] = max(factors[driver], abs(factor))
    return np.array(list(factors.values()))


def _bounds(planner: Planner, joint_names: Sequence[str]) -> JointBounds:
    """Return the limits of the joints of a trajectory; mimic joints bound their drivers."""
    robot, model, settings = planner.robot, planner.model, planner.settings
    start = model.joint_qd_start.numpy()
    dof_of = {name: int(start[model.joint_index(name)]) for name in joint_names}
    dofs = list(dof_of.values())
    given = {limit.joint: limit.max_acceleration for limit in settings.joint_limits}
    acceleration = np.full(model.joint_dof_count, np.inf)
    for name, limit in given.items():
        if limit is not None:
            acceleration[start[model.joint_index(name)]] = limit
    acceleration *= settings.limits_acceleration_scale
    velocity = robot.scaled_velocity(settings)
    for own, leads, _, factor in dof_links(model.mimic_driver, start):
        if factor != 0.0:
            velocity[leads] = min(velocity[leads], velocity[own] / abs(factor))
            acceleration[leads] = min(acceleration[leads], acceleration[own] / abs(factor))
    lower, upper = robot.driver_limits
    return JointBounds(
        tuple(joint_names), lower[dofs], upper[dofs], velocity[dofs], acceleration[dofs]
    )
