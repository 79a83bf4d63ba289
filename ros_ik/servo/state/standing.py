# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints that stand still, and the motion commanded meanwhile."""

from __future__ import annotations

import numpy as np


class StandingJoints:
    """Last positions at which joints moved; all arrays are [n_variables].

    Attributes:
        positions: Measured positions then [rad or m].
        since: Since when it stands [s].
        away_since: Since when the command is elsewhere than it was then [s].
    """

    def __init__(
        self, now: float, measured: np.ndarray, commanded: np.ndarray, moved: np.ndarray
    ) -> None:
        """Begin with joints that stand.

        Args:
            now: Current time [s].
            measured: Measured positions [rad or m].
            commanded: Commanded positions.
            moved: How far a joint is from where it stood once it has moved.
        """
        self.positions, self._commands, self._moved = measured.copy(), commanded.copy(), moved
        self.since, self.away_since = np.full((2, len(measured)), now)

    def update(
        self, now: float, measured: np.ndarray, commanded: np.ndarray, away: np.ndarray
    ) -> np.ndarray:
        """Take in a measured state and the command; return which joints have moved.

        Args:
            now: Current time [s].
            measured: Measured positions [rad or m].
            commanded: Commanded positions.
            away: How far the command is from where it was once it is elsewhere.
        """
        moved = np.abs(measured - self.positions) > self._moved
        if moved.any():
            self.positions[moved], self._commands[moved] = measured[moved], commanded[moved]
            self.since[moved] = now
        self.away_since[np.abs(commanded - self._commands) <= away] = now
        return moved
