# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Interpolation of joint trajectories, as in joint_trajectory_controller.

Between two points with positions only, a joint moves at constant speed. If both have velocities it
follows a cubic, and with accelerations too a quintic. Segments are stored as Bernstein polynomials
of degree 5 on [0, 1], whose coefficients bound position, velocity and acceleration without
sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
import math

import numpy as np

from ros_ik.model.conventions.checks import as_number
from ros_ik.numbers import check_bounded
from ros_ik.numbers import real_array
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import RequestError

DEGREE = 5


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """One point of a trajectory.

    Attributes:
        time: Time from the start [s].
        positions: Position of each joint [rad or m].
        velocities: Velocity of each joint, or empty [rad/s or m/s].
        accelerations: Acceleration of each joint, or empty [rad/s^2 or m/s^2].
    """

    time: float
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Spline:
    """Segments of a trajectory; a single point is a segment of duration 0.

    Attributes:
        start: Start of each segment [s], [m].
        duration: Duration of each segment [s], [m].
        control: Bernstein coefficients of the positions, shape [m, 6, joints].
        curved: True if a segment has an acceleration; linear ones have none, bool [m].
    """

    start: np.ndarray
    duration: np.ndarray
    control: np.ndarray
    curved: np.ndarray

    def velocity_control(self) -> np.ndarray:
        """Return the Bernstein coefficients of the velocities, shape [m, 5, joints]."""
        return DEGREE * np.diff(self.control, axis=1) * self._rate()

    def acceleration_control(self) -> np.ndarray:
        """Return the Bernstein coefficients of the accelerations, shape [m, 4, joints]."""
        second = (DEGREE - 1) * np.diff(self.velocity_control(), axis=1) * self._rate()
        return np.where(self.curved[:, None, None], second, 0.0)

    def positions(self, segment: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return positions, shape [n, joints].

        Args:
            segment: Indices of segments, int [n].
            s: Elapsed fraction of their durations, [n].
        """
        return np.einsum('kn,nkj->nj', _basis(DEGREE, s), self.control[segment])

    def velocities(self, segment: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return velocities, shape [n, joints]; see :meth:`positions`."""
        control = self.velocity_control()[segment]
        return np.einsum('kn,nkj->nj', _basis(DEGREE - 1, s), control)

    def at(self, time: float) -> tuple[int, np.ndarray, np.ndarray]:
        """Return segment, positions and velocities at one time, for calls in each control tick.

        Before the first point and from the last one on, the motion rests at that point.

        Args:
            time: Time [s].
        """
        start, end = float(self.start[0]), self.end()
        inside = min(max(time, start), end)
        k = max(0, int(self.start.searchsorted(inside, side='right')) - 1)
        duration = float(self.duration[k])
        s = (inside - float(self.start[k])) / duration if duration > 0.0 else 1.0
        positions = _basis(DEGREE, s) @ self.control[k]
        if not start <= time < end:
            return k, positions, np.zeros_like(positions)
        return k, positions, _basis(DEGREE - 1, s) @ self._velocity_control[k]

    @functools.cached_property
    def _velocity_control(self) -> np.ndarray:
        return self.velocity_control()

    def end(self) -> float:
        """Return the time of the last point [s]."""
        return float(self.start[-1] + self.duration[-1])

    def part(self, segments: slice) -> Spline:
        """Return a spline of some segments."""
        return Spline(
            self.start[segments],
            self.duration[segments],
            self.control[segments],
            self.curved[segments],
        )

    def _rate(self) -> np.ndarray:
        """Return the inverse durations, 0 for a single point, shape [m, 1, 1]."""
        duration = self.duration[:, None, None]
        return np.divide(1.0, duration, out=np.zeros_like(duration), where=duration > 0.0)


def _basis(degree: int, s: np.ndarray | float) -> np.ndarray:
    """Return the Bernstein polynomials at s: [degree + 1, n] for [n], [degree + 1] for one."""
    return np.array(
        [math.comb(degree, k) * s**k * (1.0 - s) ** (degree - k) for k in range(degree + 1)]
    )


def make_spline(
    points: Sequence[Point], n_joints: int, start: Sequence[float] | None = None
) -> Spline:
    """Return the spline through points.

    Args:
        points: The points.
        n_joints: Number of joints.
        start: Positions of rest at time 0 [rad or m], where the motion to a later first point
            begins; None to begin at the first point.

    Raises:
        RequestError: No point, a wrong number of values, a number that is not finite, or times
            that do not increase.
    """
    if not len(points):
        raise RequestError('the trajectory has no points')
    for index, point in enumerate(points):
        _check_point(index, point, n_joints)
    time = np.array([point.time for point in points], dtype=np.float64)
    in_order = np.isfinite(time) & (time >= 0.0) & ~(np.diff(time, prepend=-np.inf) <= 0.0)
    if not in_order.all():
        late = int(np.argmin(in_order))
        raise RequestError(
            f'point {late}: time_from_start must grow from point to point and not be negative, '
            f'got {time[late]:g} s'
        )
    if start is not None and time[0] > 0.0:
        points = [_at_rest(start, points[0]), *points]
        time = np.insert(time, 0, 0.0)
    p = np.array([point.positions for point in points], dtype=np.float64)
    v, has_v = _derivative([point.velocities for point in points], p.shape)
    a, has_a = _derivative([point.accelerations for point in points], p.shape)
    if len(points) == 1:
        return Spline(time, np.zeros(1), np.repeat(p[:, None], 6, axis=1), np.zeros(1, bool))
    h = np.diff(time)[:, None]
    cubic = has_v[:-1] & has_v[1:]
    quintic = cubic & has_a[:-1] & has_a[1:]
    control = _linear(p)
    control[cubic] = _cubic(p, v, h)[cubic]
    control[quintic] = _quintic(p, v, a, h)[quintic]
    return Spline(time[:-1], h[:, 0], control, cubic)


def _at_rest(positions: Sequence[float], first: Point) -> Point:
    """Return the point at rest from which the motion to the first point starts."""
    rest = [0.0] * len(positions)
    return Point(
        0.0,
        positions,
        rest if len(first.velocities) else (),
        rest if len(first.accelerations) else (),
    )


def _check_point(index: int, point: Point, n_joints: int) -> None:
    with argument_errors_as_request_errors():
        as_number(f'points[{index}].time', point.time)
    for name in ('positions', 'velocities', 'accelerations'):
        values = getattr(point, name)
        with argument_errors_as_request_errors():
            numbers = real_array(f'points[{index}].{name}', values)
        if numbers.ndim != 1:
            raise RequestError(
                f'points[{index}].{name} must be one number per joint, got shape {numbers.shape}'
            )
        if len(values) != n_joints and (name == 'positions' or len(values)):
            raise RequestError(
                f'point {index}: expected {n_joints} {name}, one per joint, got {len(values)}'
            )
        with argument_errors_as_request_errors():
            check_bounded(f'points[{index}].{name}', numbers)


def _derivative(
    rows: Sequence[Sequence[float]], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return values [points, joints], 0 where missing, and the mask of points with one."""
    given = np.array([len(row) > 0 for row in rows])
    values = np.zeros(shape)
    if given.any():
        values[given] = [row for row in rows if len(row)]
    return values, given


def _linear(p: np.ndarray) -> np.ndarray:
    """Return the coefficients of straight segments, shape [m, 6, joints]."""
    s = np.linspace(0.0, 1.0, DEGREE + 1)[:, None]
    return (1.0 - s) * p[:-1, None] + s * p[1:, None]


def _cubic(p: np.ndarray, v: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return the coefficients of cubic segments, elevated to degree 5."""
    b = np.stack([p[:-1], p[:-1] + v[:-1] * h / 3.0, p[1:] - v[1:] * h / 3.0, p[1:]], axis=1)
    for degree in (3, 4):
        k = np.arange(degree + 2)[:, None] / (degree + 1.0)
        before = np.concatenate([b[:, :1], b], axis=1)
        after = np.concatenate([b, b[:, -1:]], axis=1)
        b = k * before + (1.0 - k) * after
    return b


def _quintic(p: np.ndarray, v: np.ndarray, a: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return the coefficients of quintic segments."""
    (p0, p1), (v0, v1) = (p[:-1], p[1:]), (v[:-1] * h / 5.0, v[1:] * h / 5.0)
    a0, a1 = a[:-1] * h * h / 20.0, a[1:] * h * h / 20.0
    return np.stack(
        [p0, p0 + v0, p0 + 2.0 * v0 + a0, p1 - 2.0 * v1 + a1, p1 - v1, p1], axis=1
    )  # fmt: skip
