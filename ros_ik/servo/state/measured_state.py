# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Measured coordinates, and filtered ones of a robot at rest or moved by something else.

A motion that started at a single sample would start with a step as large as its noise, and one
with zero velocity would reverse a moving robot. A fit to the samples of the last 0.1 s

    q(t) = c_0 + c_1 t + c_2 t^2,    least squares, t = 0 now

gives the position c_0 and the velocity c_1 of moving joints; the mean is the position of joints at
rest. A joint that a drive lets settle slows down ever more slowly, so that the curve turns back
where the joint does not. Where c_1 does not go with the newest samples, the joint starts at rest.
"""

from __future__ import annotations

import collections

import numpy as np

from ros_ik.servo.interface.measurement import completed_coords
from ros_ik.servo.interface.measurement import Measurement
from ros_ik.servo.robot.controlled_robot import ControlledRobot

# Time span of the fit, and minimum time between two samples [s].
_SPAN, _SPACING = 0.1, 0.0015
# Range of the samples above which a joint moves [rad].
_NOISE = 1e-3
# Range below which the samples are equal, and the newest is exact [rad].
_SAME = 1e-7
# Scatter of the samples of a smooth motion, as a fraction of the distance covered, because states
# arrive irregularly.
_SCATTER = 0.1
# Minimum number of samples for a velocity, and the fraction of the time span that they must cover.
_MIN_SAMPLES, _MIN_SPAN = 5, 0.4
# Largest gap between two samples, as a fraction of the time span, and largest leverage of one. A
# fit passes through isolated samples, even if they follow a jump.
_WIDEST_GAP, _MAX_LEVERAGE = 0.25, 0.9
# Newest part of the time span, and the largest ratio of a velocity to the mean one of that part:
# that of a constant acceleration from rest.
_NEWEST, _FASTEST = 0.2, 2.0


class MeasuredState:
    """Recent measurements of the controlled joints; one per servo."""

    def __init__(self, robot: ControlledRobot) -> None:
        """Start without measurements."""
        self._coords, self._unit = robot.coords, robot.radian
        self._newest: Measurement | None = None
        self._samples: collections.deque[tuple[float, np.ndarray]] = collections.deque()

    def observe(self, now: float, measurement: Measurement) -> None:
        """Record the measurement of a tick.

        Args:
            now: Current time [s].
            measurement: Measured state.
        """
        if measurement is self._newest:
            return
        self._newest = measurement
        samples = self._samples
        # Restart after a backward jump of the clock.
        if samples and not 0.0 <= now - samples[-1][0] <= _SPAN:
            samples.clear()
        while samples and now - samples[0][0] > _SPAN:
            samples.popleft()
        if not samples or now - samples[-1][0] >= _SPACING:
            samples.append((now, measurement.joint_q[self._coords]))

    def forget(self) -> None:
        """Drop all samples."""
        self._samples.clear()

    def state(self, now: float, measurement: Measurement) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities of the controlled joints [n_variables].

        Args:
            now: Current time [s].
            measurement: The newest measured state.
        """
        newest = measurement.joint_q[self._coords]
        values = np.array([*(values for _, values in self._samples), newest])
        spread = np.ptp(values, axis=0) / self._unit
        # Comparisons with NaN are false.
        moves = ~(spread <= _NOISE)
        is_noisy = (spread > _SAME) & ~moves
        positions = np.where(is_noisy, values.mean(axis=0), newest)
        velocities = np.zeros_like(newest)
        if moves.any():
            self._fit(now, moves, positions, velocities)
        return positions, velocities

    def _fit(
        self, now: float, moves: np.ndarray, positions: np.ndarray, velocities: np.ndarray
    ) -> None:
        """Write positions and velocities of joints in smooth motion; leave the others."""
        times = np.array([time for time, _ in self._samples]) - now
        if len(times) < _MIN_SAMPLES or np.ptp(times) < _MIN_SPAN * _SPAN:
            return
        powers = np.vander(times / _SPAN, 3, increasing=True)
        basis, triangle = np.linalg.qr(powers)
        leverage = np.sum(basis**2, axis=1).max()
        if np.diff(times).max() > _WIDEST_GAP * _SPAN or leverage > _MAX_LEVERAGE:
            return
        values = np.array([values for _, values in self._samples])
        found = np.linalg.solve(triangle, basis.T @ values)
        # A joint that was pushed, or jumped, does not follow such a curve.
        off = np.abs(values - powers @ found).max(axis=0)
        smooth = moves & (off <= _NOISE * self._unit + _SCATTER * np.ptp(values, axis=0))
        newest = min(int(np.searchsorted(times, -_NEWEST * _SPAN, side='right')), len(times) - 1)
        mean = _SPAN * (values[-1] - values[newest - 1]) / (times[-1] - times[newest - 1])
        smooth &= (found[1] * mean >= 0.0) & (np.abs(found[1]) <= _FASTEST * np.abs(mean))
        positions[smooth], velocities[smooth] = found[0, smooth], found[1, smooth] / _SPAN


def measured_coords(
    robot: ControlledRobot, measurement: Measurement, others: np.ndarray
) -> np.ndarray | None:
    """Return the measured coordinates [joint_coord_count], None if a needed joint has no state.

    Args:
        robot: The robot.
        measurement: Measured state.
        others: Coordinates for joints that have no state and are not needed.
    """
    known, joint_q = measurement.known, measurement.joint_q
    is_complete = np.count_nonzero(known) == len(known)
    if not (is_complete or known[robot.needed_coords].all()):
        return None
    if is_complete:
        return robot.model.apply_mimic(joint_q) if robot.model.mimic_driver else joint_q
    return completed_coords(robot.model, joint_q, known, others)
