# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of joints at rest, and of the motion commanded meanwhile."""

from __future__ import annotations

import numpy as np


class RestingJoints:
    """Positions at which joints came to rest; all arrays are [n_variables].

    Attributes:
        positions: Measured positions at rest [rad or m].
        since: Start of the rest [s].
        away_since: Time at which the command left its position at that start [s].
    """

    def __init__(
        self, now: float, measured: np.ndarray, commanded: np.ndarray, moved: np.ndarray
    ) -> None:
        """Start with all joints at rest.

        Args:
            now: Current time [s].
            measured: Measured positions [rad or m].
            commanded: Commanded positions.
            moved: Displacement after which a joint has moved.
        """
        self.positions, self._commands, self._moved = measured.copy(), commanded.copy(), moved
        self.since, self.away_since = np.full((2, len(measured)), now)

    def update(
        self, now: float, measured: np.ndarray, commanded: np.ndarray, away: np.ndarray
    ) -> np.ndarray:
        """Process a measured state and the command; return which joints have moved.

        Args:
            now: Current time [s].
            measured: Measured positions [rad or m].
            commanded: Commanded positions.
            away: Displacement after which the command has left.
        """
        moved = np.abs(measured - self.positions) > self._moved
        if moved.any():
            self.positions[moved], self._commands[moved] = measured[moved], commanded[moved]
            self.since[moved] = now
        self.away_since[np.abs(commanded - self._commands) <= away] = now
        return moved
