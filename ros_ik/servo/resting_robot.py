# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Position of a robot at rest: the mean of its last measurements, for encoders tremble.

A motion that began at a single sample would begin with a step by the noise of that sample.
"""

from __future__ import annotations

import collections

import numpy as np

from ros_ik.servo.command import Measurement
from ros_ik.servo.robot import ControlledRobot

# Time over which measurements count, and least time between two that are kept [s].
_SPAN, _SPACING = 0.1, 0.0015
# A robot whose measurements differ by more moves, or was moved [rad].
_TREMBLE = 1e-3
# Below this they are the same, and the newest is exact [rad].
_SAME = 1e-7


class RestingRobot:
    """The last measurements of the controlled joints; one per servo."""

    def __init__(self, robot: ControlledRobot) -> None:
        """Start without any."""
        self._coords, self._unit = robot.coords, robot.radian
        self._newest: Measurement | None = None
        self._samples: collections.deque[tuple[float, np.ndarray]] = collections.deque()

    def observe(self, now: float, measurement: Measurement) -> None:
        """Take in a measurement of a tick without motion.

        Args:
            now: Present time [s].
            measurement: Measured state.
        """
        if measurement is self._newest:
            return
        self._newest = measurement
        samples = self._samples
        # A clock that ran back begins anew.
        if samples and not 0.0 <= now - samples[-1][0] <= _SPAN:
            samples.clear()
        while samples and now - samples[0][0] > _SPAN:
            samples.popleft()
        if not samples or now - samples[-1][0] >= _SPACING:
            samples.append((now, measurement.joint_q[self._coords]))

    def forget(self) -> None:
        """Forget them: the robot is going to move."""
        self._samples.clear()

    def positions(self, measurement: Measurement) -> np.ndarray:
        """Return where the controlled joints are [n_variables].

        The mean where the robot rests and its measurements differ; the newest where it moves.

        Args:
            measurement: The newest measured state.
        """
        newest = measurement.joint_q[self._coords]
        values = np.array([*(values for _, values in self._samples), newest])
        spread = np.ptp(values, axis=0) / self._unit
        # Not a number is neither.
        trembles = (spread > _SAME) & bool(np.all(spread <= _TREMBLE))
        return np.where(trembles, values.mean(axis=0), newest)
