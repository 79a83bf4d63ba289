# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion along a curve, from rest to rest, as fast as the limits of the joints permit.

Along a curve q(s) with z = (ds/dt)^2, joints keep their limits if

    |q'| sqrt(z) <= v_max,    |q''| z + |q'| |dz/ds| / 2 <= a_max

A pass along the curve and one back find the largest z for which this holds (Bobrow, Dubowsky and
Gibson, "Time-optimal control of robotic manipulators along specified paths", IJRR 1985). A corner
of the curve, such as where a joint meets its position limit, therefore slows it only there.

The positions q(s(t)) at the ticks become the control points of a spline in time. Its accelerations
and velocities are means of those along the curve, and its positions are within the limits.
"""

from __future__ import annotations

import numpy as np

from ros_ik.solvers.optimal_control.timing.limits import VariableLimits
from ros_ik.solvers.optimal_control.timing.spline import control_points
from ros_ik.solvers.optimal_control.timing.spline import resting_spline
from ros_ik.solvers.optimal_control.timing.spline import spline_at

# Number of parts of the curve between two points for which a speed is computed.
_PARTS = 4
# Least slope and bend of a joint along the curve, in place of zero.
_FLAT = 1e-12
# Number of attempts to slow the motion down to the limits, and margin below the limits of each.
_MAX_SLOWDOWNS, _SLOWDOWN = 20, 1.0005
# Ticks by which a spline in time is longer than the motion along the curve.
_REST_TICKS = 2
# Part of a tick that is rounding.
_ROUNDING = 1e-9


class Curve:
    """Smooth curve near points, within position limits, and the largest speeds along it."""

    def __init__(self, points: np.ndarray, limits: VariableLimits) -> None:
        """Compute the curve and its largest speeds.

        Args:
            points: Displacements [k, n]; all but the first are within the position limits.
            limits: Limits of the variables.
        """
        self._limits = limits
        self._low = np.minimum(limits.low, points.min(axis=0))
        self._high = np.maximum(limits.high, points.max(axis=0))
        self._control = control_points(points, self._low, self._high)
        count = _PARTS * (len(points) - 1)
        _, slopes, bends = spline_at(self._control, np.arange(count + 1) / _PARTS)
        steep, bent = np.maximum(np.abs(slopes), _FLAT), np.maximum(np.abs(bends), _FLAT)
        fastest = np.min(limits.speed / steep, axis=1) ** 2
        self._most = np.minimum(fastest, np.min(limits.acceleration / bent, axis=1))
        self._force, self._turn = limits.acceleration / steep, bent / steep
        self._rising = _fastest(self._most, self._force, self._turn)

    def motion(
        self, dt: float, max_ticks: int, speed: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool] | None:
        """Return the motion along the curve, or along as much of it as time permits.

        Args:
            dt: Duration of a tick [s].
            max_ticks: Largest number of ticks of the motion.
            speed: Fraction of the largest speed that the limits permit.

        Returns:
            Positions, velocities and accelerations at the ticks, [knots, n] each, and True if the
            motion reaches the end of the curve. None if the limits or the time permit none.
        """
        stretch, limits = 1.0 / speed, self._limits
        for _ in range(_MAX_SLOWDOWNS):
            rates = self._rates_within((max_ticks - _REST_TICKS) * dt / stretch)
            if rates is None:
                return None
            x, v, a = self._spline(rates, stretch, dt)
            fast = float(np.max(_largest_speed(v, a, dt) / limits.speed))
            hard = float(np.max(np.abs(a) / limits.acceleration))
            if max(fast, hard) <= 1.0:
                return x, v, a, len(rates) == len(self._most)
            stretch *= _SLOWDOWN * max(fast, np.sqrt(hard))
        return None

    def _spline(
        self, rates: np.ndarray, stretch: float, dt: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the spline in time along the curve with the rates ds/dt, in ``stretch`` times."""
        times, parts = _times(rates), len(rates) - 1
        ticks = max(1, int(np.ceil(stretch * times[-1] / dt - _ROUNDING)))
        at = np.linspace(0.0, times[-1], ticks + 1)
        j = np.clip(np.searchsorted(times, at, side='right') - 1, 0, parts - 1)
        since = at - times[j]
        gain = 0.5 * np.diff(rates)[j] / np.diff(times)[j]
        passed = j / _PARTS + (rates[j] + gain * since) * since
        passed[-1] = parts / _PARTS
        points, tangents, _ = spline_at(self._control, np.clip(passed, 0.0, passed[-1]))
        return resting_spline(control_points(points, self._low, self._high, tangents), dt)

    def _rates_within(self, duration: float) -> np.ndarray | None:
        """Return the rates ds/dt [parts + 1], up to where the duration suffices; None if not."""
        few, many = 0, len(self._most)
        middle = many - 1
        while many - few > 1:
            rates = self._rates_to(middle)
            few, many = (middle, many) if _times(rates)[-1] <= duration else (few, middle)
            middle = (few + many) // 2
        return None if few == 0 else self._rates_to(few)

    def _rates_to(self, end: int) -> np.ndarray:
        """Return the rates ds/dt of the fastest motion that rests after this number of parts."""
        back = slice(end, None, -1)
        falling = _fastest(self._rising[back], self._force[back], self._turn[back])
        return np.sqrt(falling[::-1])


def _fastest(most: np.ndarray, force: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return the largest z from rest at the first part of a curve, [parts + 1].

    Args:
        most: Bounds on z, [parts + 1].
        force: a_max / |q'|, [parts + 1, n].
        turn: |q''| / |q'|, same shape.
    """
    squares = np.zeros(len(most))
    for part in range(len(most) - 1):
        here = squares[part]
        gain = 2.0 / _PARTS * max(float(np.min(force[part] - turn[part] * here)), 0.0)
        squares[part + 1] = min(most[part + 1], here + gain)
    return squares


def _times(rates: np.ndarray) -> np.ndarray:
    """Return the time at which each part begins, with constant accelerations in the parts."""
    with np.errstate(divide='ignore'):
        steps = 2.0 / _PARTS / (rates[1:] + rates[:-1])
    return np.concatenate([[0.0], np.cumsum(steps)])


def _largest_speed(v: np.ndarray, a: np.ndarray, dt: float) -> np.ndarray:
    """Return the largest speeds of a motion with accelerations linear between ticks, [n]."""
    change = np.diff(a, axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        turning = np.where(a[:-1] * a[1:] < 0.0, v[:-1] - 0.5 * dt * a[:-1] ** 2 / change, 0.0)
    return np.asarray(np.max(np.abs(np.concatenate([v, turning])), axis=0))
