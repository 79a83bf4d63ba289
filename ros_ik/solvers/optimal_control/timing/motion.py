# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion in time along a path of configurations, within limits and barriers.

If no barrier is in the way, the joints move straight to the goal, or along a nearby curve that
keeps targets. Otherwise they follow the path of the search, with as few points and as fast as the
barriers permit; a slower motion cuts corners less. Forward kinematics checks every knot, and the
middle between knots that are near a barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import enum

import numpy as np

from ros_ik.solvers.optimal_control.least_cost.arrays import SearchArrays
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits
from ros_ik.solvers.optimal_control.timing.profile import average_over_tick
from ros_ik.solvers.optimal_control.timing.profile import brake
from ros_ik.solvers.optimal_control.timing.profile import follow
from ros_ik.solvers.optimal_control.timing.profile import positions_of
from ros_ik.solvers.optimal_control.timing.profile import reach
from ros_ik.solvers.optimal_control.timing.spline import MIN_RESTING
from ros_ik.solvers.optimal_control.timing.spline import natural_spline
from ros_ik.solvers.optimal_control.timing.spline import resting_spline
from ros_ik.solvers.optimal_control.timing.spline import spline_slopes
from ros_ik.solvers.optimal_control.timing.spline import spline_values

# Tolerance for rounding of h, below zero or below a negative value [units of h].
_TOLERANCE = 1e-9
# Distance between the configurations at which a straight motion is checked [rad or m].
_SPACING = 0.02
# Number of parts into which an interval is divided near a barrier.
_SUBDIVISIONS = 8
# Fractions of the speed limits at which a path is tried.
_SPEEDS = (1.0, 0.5, 0.25)
# Clearance of straight motions from barriers, as a fraction of that of their ends, and its largest
# value [units of h].
_CLEAR, _CLEARANCE = 0.5, 5e-4
# Largest number of increases, and their factor, of an acceleration that cannot stop a joint before
# its limit.
_RAISES, _RAISE = 40, 1.25
# Number of attempts to slow a curve down to the limits, margin below the limits of each, and slope
# below which a joint does not move.
_MAX_SLOWDOWNS, _SLOWDOWN, _FLAT = 20, 1.001, 1e-9
# Bisections of the reachable fraction of a path.
_HALVINGS = 30


class MotionEnd(enum.Enum):
    """End of a motion, at its goal, before a barrier, or at the longest duration."""

    GOAL = enum.auto()
    BARRIER = enum.auto()
    HORIZON = enum.auto()


@dataclasses.dataclass(frozen=True, eq=False)
class Motion:
    """Motion of the variables.

    Attributes:
        velocities: At the knots, [knots, n_variables].
        accelerations: At the knots, linear between them, same shape; zero in the last.
        positions: Displacements from the start at the knots, same shape.
        end: Kind of its end.
        raised: Variables that brake harder than allowed to stay within their range, bool [n].
        crosses: True if it starts beyond a barrier, or cannot stop before one.
    """

    velocities: np.ndarray
    accelerations: np.ndarray
    positions: np.ndarray
    end: MotionEnd
    raised: np.ndarray
    crosses: bool = False


class MotionPlanner:
    """Planner of motions of one robot from the start in ``arrays``."""

    def __init__(
        self, arrays: SearchArrays, limits: VariableLimits, dt: float, max_ticks: int
    ) -> None:
        """Store start, barriers and limits.

        Args:
            arrays: Start of the robot, and its barriers.
            limits: Limits of the variables.
            dt: Duration of a tick [s].
            max_ticks: Largest number of ticks of a motion.
        """
        self._arrays, self._limits = arrays, limits
        # Averaging a motion takes one tick.
        self._dt, self._max_ticks = dt, max(1, max_ticks - 1)

    def stop(self, velocity: np.ndarray) -> Motion:
        """Return the fastest stop from a velocity [n]."""

        def make(acceleration: np.ndarray) -> tuple[np.ndarray, MotionEnd]:
            return self._brake(velocity, acceleration), MotionEnd.BARRIER

        return self._within_limits(make)

    def straight(self, goal: np.ndarray, velocity: np.ndarray) -> Motion:
        """Return the straight motion from a velocity [n] to a displacement [n]."""
        motion = self._within_limits(
            lambda acceleration: self._reach(goal, velocity, acceleration)
        )
        if motion.end is MotionEnd.GOAL:
            motion.positions[-1] = goal
        return motion

    def along(self, points: list[np.ndarray], first: Motion) -> Motion | None:
        """Return the motion along a path, after another motion that ends at its first point.

        Args:
            points: Displacements [n]; the first is the end of ``first``.
            first: The preceding motion, a stop.

        Returns:
            The motion; None if even its first part violates a barrier.
        """
        corners, complete = self._simplify(points)
        ticks = self._max_ticks + 1 - len(first.velocities)
        end = MotionEnd.GOAL if complete else MotionEnd.BARRIER
        while len(corners) > 1:
            for velocities in self._candidates(np.array(corners), ticks):
                motion = self._averaged_motion(corners[0], velocities, end, first.raised)
                if self.is_free(motion):
                    return _join(first, motion)
            corners, end = corners[:-1], MotionEnd.HORIZON
        return None

    def curved(self, points: np.ndarray, first: Motion) -> Motion | None:
        """Return the motion along a curve, after another motion that ends at its first point.

        Args:
            points: Displacements [k, n] at equal steps of a parameter.
            first: The preceding motion, a stop.

        Returns:
            The motion; None if the curve violates position limits or takes too few ticks.
        """
        limits, spacing = self._limits, 1.0 / (len(points) - 1)
        second = natural_spline(points, spacing)
        steep = np.maximum(np.max(np.abs(spline_slopes(points, second, spacing)), axis=0), _FLAT)
        speed, acceleration = np.min(limits.speed / steep), np.min(limits.acceleration / steep)
        low, high = np.minimum(limits.low, points[0]), np.maximum(limits.high, points[0])
        for _ in range(_MAX_SLOWDOWNS):
            passed, end = self._path_fractions(speed, acceleration, len(first.velocities))
            if len(passed) < MIN_RESTING:
                if end is MotionEnd.HORIZON:
                    return None
                speed, acceleration = 0.5 * speed, 0.25 * acceleration
                continue
            x = spline_values(points, second, spacing, np.clip(passed, 0.0, 1.0))
            x = np.clip(x, low, high)  # a spline slightly overshoots points at a limit
            if end is MotionEnd.GOAL:
                x[-1] = points[-1]
            x, v, a = resting_spline(x, self._dt)
            fast = float(np.max(_largest_speed(v, a, self._dt) / limits.speed))
            hard = float(np.max(np.abs(a) / limits.acceleration))
            if fast <= 1.0 and hard <= 1.0:
                if np.any((x < low - _TOLERANCE) | (x > high + _TOLERANCE)):
                    return None
                return _join(first, Motion(v, a, x, end, first.raised))
            speed /= _SLOWDOWN * max(fast, np.sqrt(hard), 1.0)
            acceleration /= _SLOWDOWN * max(hard, 1.0)
        return None

    def _path_fractions(
        self, speed: float, acceleration: float, before: int
    ) -> tuple[np.ndarray, MotionEnd]:
        """Return the fraction of a path covered at each tick, and the kind of the end.

        Args:
            speed: Largest fraction of the path per second.
            acceleration: Largest change of this speed per second.
            before: Knots of the preceding motion.
        """
        one, ticks = np.ones(1), self._max_ticks + 1 - before
        motion = (0.0 * one, speed * one, acceleration * one, self._dt, ticks)
        velocities, end = reach(one, *motion), MotionEnd.GOAL
        part, width = 0.0, 1.0
        if velocities is None:
            velocities, end = np.zeros((1, 1)), MotionEnd.HORIZON
            for _ in range(_HALVINGS):
                width *= 0.5
                longer = reach((part + width) * one, *motion)
                if longer is not None:
                    velocities, part = longer, part + width
        velocities, accelerations = average_over_tick(velocities, self._dt)
        return positions_of(0.0 * one, velocities, accelerations, self._dt)[:, 0], end

    def starts_violated(self) -> bool:
        """Return True if the start lies beyond a barrier."""
        return bool(np.any(self._arrays.sample(np.zeros(len(self._limits.low))) < -_TOLERANCE))

    def is_free(self, motion: Motion) -> bool:
        """Return True if no barrier falls below zero, or further if it is below already."""
        if not self._arrays.n_rows:
            return True
        values = np.array([self._arrays.sample(u) for u in motion.positions])
        if not _never_worsens(values, 0.0):
            return False
        x, v = motion.positions, motion.velocities
        middles = 0.5 * (x[:-1] + x[1:]) + self._dt * (v[:-1] - v[1:]) / 8.0
        for k in _near(values, 0.0):
            middle = self._arrays.sample(middles[k])
            if not _never_worsens(np.array([values[k], middle, values[k + 1]]), 0.0):
                return False
        return True

    def _within_limits(self, make: Callable[[np.ndarray], tuple[np.ndarray, MotionEnd]]) -> Motion:
        """Return a motion that brakes as hard as necessary to keep joints within their ranges."""
        limits = self._limits
        acceleration, origin = limits.acceleration.copy(), np.zeros(len(limits.low))
        low = np.minimum(limits.low, 0.0) - _TOLERANCE
        high = np.maximum(limits.high, 0.0) + _TOLERANCE
        for _ in range(_RAISES):
            velocities, end = make(acceleration)
            motion = self._averaged_motion(origin, velocities, end, np.zeros(len(low), dtype=bool))
            x = motion.positions
            outside = np.any((x < low) | (x > high), axis=0)
            if not outside.any():
                break
            acceleration[outside] *= _RAISE
        harder = np.abs(motion.accelerations) > limits.acceleration * (1.0 + _TOLERANCE)
        return dataclasses.replace(motion, raised=np.any(harder, axis=0))

    def _averaged_motion(
        self, start: np.ndarray, velocities: np.ndarray, end: MotionEnd, raised: np.ndarray
    ) -> Motion:
        """Return the motion with the velocities at the ticks, averaged over one tick."""
        velocities, accelerations = average_over_tick(velocities, self._dt)
        positions = positions_of(start, velocities, accelerations, self._dt)
        return Motion(velocities, accelerations, positions, end, raised)

    def _brake(self, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the velocities of the fastest stop, harder if time does not suffice."""
        least = np.abs(velocity) / (self._max_ticks * self._dt)
        return brake(velocity, np.maximum(acceleration, least), self._dt)

    def _reach(
        self, goal: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray
    ) -> tuple[np.ndarray, MotionEnd]:
        """Return the velocities towards a goal, and whether time suffices to reach it."""
        limits, dt, ticks = self._limits, self._dt, self._max_ticks
        goal = goal - 0.5 * dt * velocity  # averaging adds this distance
        velocities = reach(goal, velocity, limits.speed, acceleration, dt, ticks)
        if velocities is not None:
            return velocities, MotionEnd.GOAL
        velocities, part, width = self._brake(velocity, acceleration), 0.0, 1.0
        rest = 0.5 * dt * (velocities[1:] + velocities[:-1]).sum(axis=0)
        for _ in range(_HALVINGS):
            width *= 0.5
            distance = rest + (part + width) * (goal - rest)
            longer = reach(distance, velocity, limits.speed, acceleration, dt, ticks)
            if longer is not None:
                velocities, part = longer, part + width
        return velocities, MotionEnd.HORIZON

    def _candidates(self, corners: np.ndarray, ticks: int) -> Iterator[np.ndarray]:
        """Yield the velocities of motions along corners; the last motion stops at each corner."""
        limits, dt = self._limits, self._dt
        for speed in _SPEEDS:
            velocities = follow(corners, speed * limits.speed, limits.acceleration, dt, ticks)
            if velocities is not None:
                yield velocities
        rest = np.zeros(corners.shape[1])
        parts = [rest[None]]
        for distance in np.diff(corners, axis=0):
            part = reach(distance, rest, limits.speed, limits.acceleration, dt, ticks)
            if part is None:
                return
            parts += [part[1:], rest[None]]  # averaging keeps the corner after a tick at rest
            ticks -= len(part)
        yield np.concatenate(parts)

    def _simplify(self, path: list[np.ndarray]) -> tuple[list[np.ndarray], bool]:
        """Return the fewest points of a path with free straight motions, and if it is complete."""
        corners, here, last = [path[0]], 0, len(path) - 1
        while here < last:
            free, blocked = here, last + 1
            if self._is_straight_free(path[here], path[last]):
                free = last
            while blocked - free > 1:
                middle = (free + blocked) // 2
                if self._is_straight_free(path[here], path[middle]):
                    free = middle
                else:
                    blocked = middle
            if free == here:
                return corners, False
            corners.append(path[free])
            here = free
        return corners, True

    def _is_straight_free(self, start: np.ndarray, end: np.ndarray) -> bool:
        """Return True if a straight motion keeps a fraction of the clearance of its ends."""
        change = end - start
        count = int(np.ceil(np.max(np.abs(change)) / _SPACING)) + 1
        parts = np.linspace(0.0, 1.0, max(count, 5))
        values = np.array([self._arrays.sample(start + s * change) for s in parts])
        floor = np.clip(_CLEAR * np.minimum(values[0], values[-1]), 0.0, _CLEARANCE)
        if not _never_worsens(values, floor):
            return False
        for k in _near(values, floor):
            between = np.linspace(parts[k], parts[k + 1], _SUBDIVISIONS + 1)[1:-1]
            inner = [self._arrays.sample(start + s * change) for s in between]
            if not _never_worsens(np.array([values[k], *inner, values[k + 1]]), floor):
                return False
        return True


def _largest_speed(v: np.ndarray, a: np.ndarray, dt: float) -> np.ndarray:
    """Return the largest speeds of a motion with accelerations linear between ticks, [n]."""
    change = np.diff(a, axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        turning = np.where(a[:-1] * a[1:] < 0.0, v[:-1] - 0.5 * dt * a[:-1] ** 2 / change, 0.0)
    return np.asarray(np.max(np.abs(np.concatenate([v, turning])), axis=0))


def _never_worsens(values: np.ndarray, floor: float | np.ndarray) -> bool:
    """Return True if no column falls below ``floor``, or further if it is below already."""
    allowed = np.minimum(values[:-1], floor) - _TOLERANCE
    return bool(np.all(values[1:] >= allowed))


def _near(values: np.ndarray, floor: float | np.ndarray) -> np.ndarray:
    """Return the intervals in which h may fall below ``floor`` between its ends."""
    change = np.abs(np.diff(values, axis=0))
    low = np.minimum(values[1:], values[:-1]) - floor < change
    return np.flatnonzero(np.any(low, axis=1))


def _join(first: Motion, second: Motion) -> Motion:
    """Append a motion to another one that ends at rest at its start."""
    return Motion(
        np.concatenate([first.velocities, second.velocities[1:]]),
        np.concatenate([first.accelerations, second.accelerations[1:]]),
        np.concatenate([first.positions, second.positions[1:]]),
        second.end,
        first.raised,
    )
