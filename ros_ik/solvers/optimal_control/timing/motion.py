# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion in time along a path of configurations, within limits and barriers.

If no barrier is in the way, the joints move straight to the goal, or along a nearby curve that
keeps targets. Otherwise they follow the path of the search, with as few points and as fast as the
barriers permit; a slower motion cuts corners less. Forward kinematics checks every knot, and as
many places between as the motion is long. Near a barrier it halves the intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import enum
import functools

import numpy as np

from ros_ik.solvers.optimal_control.least_cost.arrays import never_worsens
from ros_ik.solvers.optimal_control.least_cost.arrays import SearchArrays
from ros_ik.solvers.optimal_control.least_cost.arrays import TOLERANCE
from ros_ik.solvers.optimal_control.timing.curve import Curve
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits
from ros_ik.solvers.optimal_control.timing.profile import average_over_tick
from ros_ik.solvers.optimal_control.timing.profile import brake
from ros_ik.solvers.optimal_control.timing.profile import follow
from ros_ik.solvers.optimal_control.timing.profile import position_range
from ros_ik.solvers.optimal_control.timing.profile import positions_of
from ros_ik.solvers.optimal_control.timing.profile import reach

# Distance between the configurations at which a motion is checked [rad or m].
_SPACING = 0.02
# Largest number of configurations at which a motion is checked apart from its knots, and of those
# that are added near barriers.
_MAX_SAMPLES = 20_000
# Largest number of times that an interval near a barrier is halved, and depth of a violation
# between two samples that is not searched for [units of h]. At a kink of h, 18 halvings get there.
_MAX_REFINEMENTS, _HIDDEN = 20, 1e-7
# The same below zero, where depths of overlapping shapes are no more exact [units of h].
_DEPTH = 5e-5
# Number of parts into which an interval of a straight path is divided near a barrier.
_SUBDIVISIONS = 8
# Fractions of the speed limits at which a path is tried.
_SPEEDS = (1.0, 0.5, 0.25)
# Clearance of straight motions from barriers, as a fraction of that of their ends, and its largest
# value [units of h].
_CLEAR, _CLEARANCE = 0.5, 5e-4
# Largest number of increases, and their factor, of an acceleration that cannot stop a joint before
# its limit.
_RAISES, _RAISE = 40, 1.25
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

    def position_range(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest displacements at and between the knots, [n] each."""
        return position_range(self.positions, self.velocities, self.accelerations, dt)


class MotionPlanner:
    """Planner of motions of one robot from the start in ``arrays``."""

    def __init__(
        self,
        arrays: SearchArrays,
        limits: VariableLimits,
        dt: float,
        max_ticks: int,
        *,
        is_moving: bool = False,
    ) -> None:
        """Store start, barriers and limits.

        Args:
            arrays: Start of the robot, and its barriers.
            limits: Limits of the variables.
            dt: Duration of a tick [s].
            max_ticks: Largest number of ticks of a motion.
            is_moving: True if the start is not at rest.
        """
        self._arrays, self._limits, self._is_moving = arrays, limits, is_moving
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

    def curved(self, points: np.ndarray, first: Motion) -> Iterator[Motion]:
        """Yield motions along a curve, each slower than the one before and closer to the points.

        They come after another motion that ends at the first point, and may end before the last
        one where time does not suffice.

        Args:
            points: Displacements [k, n]; all but the first are within the position limits.
            first: The preceding motion, a stop.
        """
        curve = Curve(points, self._limits)
        for speed in _SPEEDS:
            ticks = self._max_ticks + 2 - len(first.velocities)
            found = curve.motion(self._dt, ticks, speed)
            if found is None:
                return
            x, v, a, complete = found
            if complete:
                x[-1] = points[-1]
            end = MotionEnd.GOAL if complete else MotionEnd.HORIZON
            yield _join(first, Motion(v, a, x, end, first.raised))

    @functools.cached_property
    def starts_violated(self) -> bool:
        """True if the start lies beyond a barrier."""
        return self._arrays.is_violated(np.zeros(len(self._limits.low)))

    def _sample(self, u: np.ndarray) -> np.ndarray:
        """Return h at a displacement [n], of every pair of shapes if one may be violated.

        As long as none is, the closest pairs tell of all. Otherwise the motion out of one
        violation may not lead into another, behind those that are worse.
        """
        arrays = self._arrays
        every = self._is_moving or self.starts_violated
        return arrays.check(u) if every else arrays.sample(u)

    def is_free(self, motion: Motion) -> bool:
        """Return True if no barrier falls below zero, or further if it is below already.

        The result is False, too, if more samples would be necessary to exclude this.
        """
        if not self._arrays.n_rows:
            return True
        counts = self._sample_counts(motion)
        if np.sum(counts - 1.0) > _MAX_SAMPLES:
            return False
        at, left = _sample_times(counts), _MAX_SAMPLES
        values = self._values_at(motion, at)
        if not _never_worsens(values, 0.0):
            return False
        for _ in range(_MAX_REFINEMENTS):
            hidden = _hidden_dips(at, values)
            if not len(hidden):
                return True
            left -= len(hidden)
            if left < 0:
                return False
            middles = 0.5 * (at[hidden] + at[hidden + 1])
            inner = self._values_at(motion, middles)
            lower = np.minimum(values[hidden], values[hidden + 1])
            if np.any(inner < np.where(lower < -TOLERANCE, lower - _DEPTH, -TOLERANCE)):
                return False
            values = np.insert(values, hidden + 1, inner, axis=0)
            at = np.insert(at, hidden + 1, middles)
        return False

    def sampled(self, motion: Motion) -> np.ndarray:
        """Return displacements at the knots and at as many places between as a check needs.

        A motion that would need too many gets fewer, evenly.
        """
        counts = self._sample_counts(motion)
        share = min(1.0, _MAX_SAMPLES / max(1.0, float(np.sum(counts))))
        return self._displacements(motion, _sample_times(np.ceil(counts * share)))

    def _sample_counts(self, motion: Motion) -> np.ndarray:
        """Return the number of intervals with little motion in each tick, at least one, float."""
        v, a = motion.velocities, motion.accelerations
        # The velocity of an interval is a mean of these three.
        fastest = np.max(np.abs([v[:-1], v[:-1] + 0.5 * self._dt * a[:-1], v[1:]]), axis=(0, 2))
        counts: np.ndarray = np.maximum(np.ceil(self._dt * fastest / _SPACING), 1.0)
        return counts

    def _displacements(self, motion: Motion, at: np.ndarray) -> np.ndarray:
        """Return displacements at times in ticks, [len(at), n]."""
        x, v, a = motion.positions, motion.velocities, motion.accelerations
        if len(x) == 1:
            return np.repeat(x, len(at), axis=0)
        k = np.clip(np.floor(at).astype(int), 0, len(x) - 2)
        t = self._dt * (at - k)[:, None]
        bend = a[k] + (a[k + 1] - a[k]) * t / (3.0 * self._dt)
        moved = x[k] + (v[k] + 0.5 * bend * t) * t
        return np.where((at == k + 1)[:, None], x[k + 1], moved)

    def _values_at(self, motion: Motion, at: np.ndarray) -> np.ndarray:
        """Return h at times in ticks, [len(at), rows]."""
        return np.array([self._sample(u) for u in self._displacements(motion, at)])

    def _within_limits(self, make: Callable[[np.ndarray], tuple[np.ndarray, MotionEnd]]) -> Motion:
        """Return a motion that brakes as hard as necessary to keep joints within their ranges."""
        limits = self._limits
        acceleration, origin = limits.acceleration.copy(), np.zeros(len(limits.low))
        low = np.minimum(limits.low, 0.0) - TOLERANCE
        high = np.maximum(limits.high, 0.0) + TOLERANCE
        for _ in range(_RAISES):
            velocities, end = make(acceleration)
            motion = self._averaged_motion(origin, velocities, end, np.zeros(len(low), dtype=bool))
            least, most = motion.position_range(self._dt)
            outside = (least < low) | (most > high)
            if not outside.any():
                break
            acceleration[outside] *= _RAISE
        harder = np.abs(motion.accelerations) > limits.acceleration * (1.0 + TOLERANCE)
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
        values = np.array([self._sample(start + s * change) for s in parts])
        floor = np.clip(_CLEAR * np.minimum(values[0], values[-1]), 0.0, _CLEARANCE)
        if not _never_worsens(values, floor):
            return False
        for k in _near(values, floor):
            between = np.linspace(parts[k], parts[k + 1], _SUBDIVISIONS + 1)[1:-1]
            inner = [self._sample(start + s * change) for s in between]
            if not _never_worsens(np.array([values[k], *inner, values[k + 1]]), floor):
                return False
        return True


def _sample_times(counts: np.ndarray) -> np.ndarray:
    """Return times in ticks, the knots included, with a number of equal intervals in each tick."""
    counts = counts.astype(int)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    parts = (np.arange(len(first)) - first) / np.repeat(counts, counts)
    return np.append(np.repeat(np.arange(len(counts)), counts) + parts, float(len(counts)))


def _never_worsens(values: np.ndarray, floor: float | np.ndarray) -> bool:
    """Return True if no h gets worse from any row [k, rows] to the next."""
    return never_worsens(values[:-1], values[1:], floor)


def _hidden_dips(at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the intervals in which some h may fall below zero, or further, between two samples.

    A parabola whose ends differ by d, and which falls up to D below the line between them, falls
    (4 D - |d|)^2 / (16 D) below its lower end if 4 D > |d|. Its curvature is estimated from the
    samples nearby.

    Args:
        at: Times of the samples [k].
        values: h at these times, [k, rows].
    """
    if len(at) < 3:
        return np.arange(len(at) - 1) if len(at) > 1 else np.zeros(0, dtype=int)
    length = np.diff(at)[:, None]
    rises = np.diff(values, axis=0)
    curvature = np.abs(np.diff(rises / length, axis=0)) / (length[1:] + length[:-1])
    curvature = np.concatenate([curvature[:1], curvature, curvature[-1:]])
    # Twice the estimate, because the curvature varies.
    below = 2.0 * np.maximum(curvature[1:], curvature[:-1]) * length**2 / 4.0
    excess = np.maximum(4.0 * below - np.abs(rises), 0.0)
    depth = excess**2 / np.maximum(16.0 * below, np.finfo(float).tiny)
    lower = np.minimum(values[1:], values[:-1])
    room = np.where(lower < -TOLERANCE, _DEPTH, np.maximum(lower, 0.0) + _HIDDEN)
    return np.flatnonzero(np.any(depth > room, axis=1))


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
