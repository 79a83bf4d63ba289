# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Interpolation of joint trajectories as joint_trajectory_controller does it, without ROS.

Between two points the position is the polynomial of the lowest degree that matches the values of
both: with positions only, degree 1; with velocities, degree 3; with accelerations too, degree 5
(``Trajectory::interpolate_between_points`` in ros2_controllers). A new trajectory starts from the
present desired state (``interpolate_from_desired_state``), and the last point is held.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.demo.controller.trajectory_rules import NANOSECONDS
from ros_ik.demo.controller.trajectory_rules import Trajectory
from ros_ik.demo.controller.trajectory_rules import TrajectoryPoint


class TrajectorySampler:
    """The desired state of a controller: along the newest trajectory, then at its last position.

    All positions are in the order of ``joints``, in rad or m; all times are in ns on one clock.
    """

    def __init__(self, joints: Sequence[str], positions: Sequence[float]) -> None:
        """Hold ``positions``, shape [len(joints)]."""
        self._joints = tuple(joints)
        self._held = np.array(positions, dtype=np.float64)
        self._times = np.zeros(0, dtype=np.int64)
        self._points: list[tuple[np.ndarray, ...]] = []

    def start(
        self, trajectory: Trajectory, now: int, before: tuple[np.ndarray, ...] | None = None
    ) -> None:
        """Replace the trajectory by an accepted one, from the desired state at ``now``.

        Joints that it leaves out hold their desired position, as the controller does with
        ``allow_partial_joints_goal``.

        Args:
            trajectory: A trajectory accepted by ``check_trajectory``.
            now: Current time, ns. It is the start of a trajectory whose stamp is zero.
            before: The desired state, if other controllers have changed it.
        """
        before = self.sample(now) if before is None else before
        begin = trajectory.stamp if trajectory.stamp != 0 else now
        order = [self._joints.index(name) for name in trajectory.joint_names]
        times = [begin + point.time_from_start for point in trajectory.points]
        points = [_known_derivatives(point, order, before[0]) for point in trajectory.points]
        if times[0] > now:
            times.insert(0, now)
            points.insert(0, before)
        self._times = np.array(times, dtype=np.int64)
        self._points = points

    def sample(self, now: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return desired position, velocity, acceleration at ``now``, each of shape [joints]."""
        zero = np.zeros_like(self._held)
        if not self._points:
            return self._held.copy(), zero, zero
        now = max(now, int(self._times[0]))  # the clock jumped backwards: wait at the start
        after = int(np.searchsorted(self._times, now, side='right'))
        if after == len(self._times):
            self._held = self._points[-1][0]
            self._points = []
            return self._held.copy(), zero, zero
        span = (self._times[after] - self._times[after - 1]) / NANOSECONDS
        elapsed = (now - self._times[after - 1]) / NANOSECONDS
        return _interpolate(self._points[after - 1], self._points[after], span, elapsed)


def _known_derivatives(
    point: TrajectoryPoint, order: Sequence[int], held: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return position and, if given, velocity and acceleration of all joints.

    Args:
        point: Point of a trajectory.
        order: Index of each joint of the point among all joints.
        held: Position of the joints that it leaves out.
    """
    known = []
    for values in (point.positions, point.velocities, point.accelerations):
        if not len(values):
            break
        everything = np.zeros_like(held) if known else held.copy()
        everything[order] = values
        known.append(everything)
    return tuple(known)


def _interpolate(
    start: tuple[np.ndarray, ...], end: tuple[np.ndarray, ...], span: float, elapsed: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity, acceleration ``elapsed`` s into a segment of ``span`` s."""
    count = min(len(start), len(end))
    if count == 1:
        velocity = (end[0] - start[0]) / span
        return start[0] + elapsed * velocity, velocity, np.zeros_like(velocity)
    # With u = elapsed / span, the derivatives at u = 0 determine the lower half of the
    # coefficients, those at u = 1 the upper half.
    u = elapsed / span
    powers = np.arange(2 * count)
    rows = np.array([_falling(powers, k) for k in range(count)])
    lower = np.array([start[k] * span**k / (1.0, 1.0, 2.0)[k] for k in range(count)])
    at_end = np.array([end[k] * span**k for k in range(count)])
    upper = np.linalg.solve(rows[:, count:], at_end - rows[:, :count] @ lower)
    coefficients = np.vstack([lower, upper])
    values = []
    for k in range(3):
        basis = _falling(powers, k) * np.power(u, np.maximum(powers - k, 0))
        values.append(basis @ coefficients / span**k)
    return values[0], values[1], values[2]


def _falling(powers: np.ndarray, k: int) -> np.ndarray:
    """Return the factor of each power after ``k`` derivatives."""
    result = np.ones(len(powers))
    for m in range(k):
        result = result * np.maximum(powers - m, 0)
    return result
