# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Recent commands and measured states of a motion, and the distance between the two."""

from __future__ import annotations

import collections

import numpy as np

from ros_ik.servo.interface.measurement import Measurement

# Time over which speeds are measured [s].
SPEED_SPAN = 0.05


class MotionHistory:
    """History of the controlled joints since the start of a motion; arrays are [n_variables].

    Attributes:
        now: Time of the last tick [s].
        measured: Measured positions at the last :meth:`record` [rad or m].
        commanded: Commanded positions then.
        speed: Measured velocities then, means over ``SPEED_SPAN`` [rad/s or m/s].
    """

    def __init__(
        self, coords: np.ndarray, now: float, measurement: Measurement, joint_q: np.ndarray
    ) -> None:
        """Start with the first command of a motion.

        Args:
            coords: Coordinates of the controlled joints.
            now: Current time [s].
            measurement: The measured state.
            joint_q: Commanded coordinates [joint_coord_count].
        """
        self._coords = coords
        self.update(now, measurement, joint_q)
        self.measured, self.commanded = measurement.joint_q[coords], joint_q[coords]
        self._samples = collections.deque([(now, self.measured)])
        self._commands = collections.deque([(now, self.commanded)])
        # Least and greatest of them, None where they have changed since.
        self._range: tuple[np.ndarray, np.ndarray] | None = None
        self.speed = np.zeros(len(coords))

    def update(self, now: float, measurement: Measurement, joint_q: np.ndarray) -> None:
        """Set measured state and command of this tick; see the constructor for the arguments."""
        self.now, self._measurement, self._joint_q = now, measurement, joint_q

    def record(self, delay: float, spacing: float) -> None:
        """Record measured state and command of this tick.

        Args:
            delay: Time for which commands are kept [s].
            spacing: Time between two of them [s].
        """
        now = self.now
        self.commanded = self._joint_q[self._coords]
        self.measured = measured = self._measurement.joint_q[self._coords]
        if now - self._commands[-1][0] >= spacing:
            self._commands.append((now, self.commanded))
            self._range = None
            # With a delay of 0 only the last command is left.
            while len(self._commands) > 1 and now - self._commands[1][0] >= delay:
                self._commands.popleft()
        if now - self._samples[-1][0] < 0.25 * SPEED_SPAN:
            return
        self._samples.append((now, measured))
        while now - self._samples[1][0] >= SPEED_SPAN:
            self._samples.popleft()
        then, before = self._samples[0]
        self.speed = (measured - before) / (now - then)

    def ahead(self) -> np.ndarray:
        """Return commanded less measured positions of this tick [rad or m]."""
        return self._joint_q[self._coords] - self._measurement.joint_q[self._coords]

    def errors(self) -> np.ndarray:
        """Return measured positions less the nearest commanded ones that are kept [rad or m]."""
        measured = self._measurement.joint_q[self._coords]
        last = self._joint_q[self._coords]
        if self._range is None:
            commands = np.array([command for _, command in self._commands])
            self._range = commands.min(axis=0), commands.max(axis=0)
        lowest, highest = np.minimum(self._range[0], last), np.maximum(self._range[1], last)
        return measured - np.minimum(np.maximum(measured, lowest), highest)
