# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of barrier values: the barrier, the pair of links and the permitted change of each."""

from __future__ import annotations

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.barriers import CollisionBarrier
from ros_ik.servo.barriers.configured_barriers import COLLISION_RANGE
from ros_ik.servo.barriers.configured_barriers import margin_of
from ros_ik.settings import Settings
from ros_ik.solvers.differential_ik.quadratic_program.lead import gains_with_lead


class BarrierRows:
    """Index of the rows in which a solver gives the values of its barriers, one after the other.

    Attributes:
        barrier: Index of the barrier of each row, int [rows].
        ranges: Value of each row if nothing is near [m], [rows]; inf for boxes.
    """

    def __init__(self, barriers: tuple[Barrier, ...], lead: float, settings: Settings) -> None:
        """Read the rows of the barriers.

        Args:
            barriers: The barriers.
            lead: Time by which they act ahead [s].
            settings: The settings.
        """
        self._barriers, self._lead = barriers, lead
        counts = [barrier.row_count for barrier in barriers]
        self.barrier = np.repeat(np.arange(len(barriers)), counts)
        self._first_row = np.cumsum([0, *counts]).tolist()
        rows = [barriers[index] for index in self.barrier]
        self.ranges = np.array(
            [COLLISION_RANGE if isinstance(b, CollisionBarrier) else np.inf for b in rows]
        )
        self._margin = np.array([barrier.margin for barrier in rows])
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings, after the barriers have got their gains."""
        self._settings = settings
        self._gain = np.array(gains_with_lead(self._barriers, self._lead))[self.barrier]

    def least_change(self, values: np.ndarray) -> np.ndarray:
        """Return the least change of each value in a step [m]; positive below the margin.

        It is that of :mod:`ros_ik.kinematics.row_bound` without ``recovery``, which needs the
        Jacobian. It may be too high, never too low, so a report misses no row that limits a step.

        Args:
            values: Values at the start of the step, without margins [rows].
        """
        inside = values - self._margin
        return -self._gain * self._settings.period * inside / (1.0 + np.abs(inside))

    def name(self, row: int) -> str:
        """Return the name of the barrier of a row."""
        return self._barriers[self.barrier[row]].name

    def pair(self, row: int) -> tuple[str, str]:
        """Return the pair of links of a row at the last evaluation; '' twice without one."""
        index = self.barrier[row]
        barrier = self._barriers[index]
        if not isinstance(barrier, CollisionBarrier):
            return '', ''
        return barrier.closest_pair(row - self._first_row[index]) or ('', '')

    def distance(self, row: int, value: float) -> float:
        """Return the distance for a value of a row at the last evaluation [m].

        The value lacks the margin, except between primitives that have none.
        """
        index = self.barrier[row]
        barrier = self._barriers[index]
        if isinstance(barrier, CollisionBarrier) and barrier.scene.link_only:
            rows = barrier.closest_rows(row - self._first_row[index])
            if rows is not None and barrier.scene.is_link_only(rows):
                return value
        return value + margin_of(barrier, self._settings)

    def distance_of_pair(self, row: int, values: np.ndarray) -> float:
        """Return the least distance in the rows that have the pair of a row [m].

        Args:
            row: The row.
            values: Values of all rows at the last evaluation.
        """
        least, pair = self.distance(row, float(values[row])), self.pair(row)
        if not pair[0]:
            return least
        first, last = self._first_row[self.barrier[row] :][:2]
        for other in (first + np.flatnonzero(values[first:last] < least)).tolist():
            if self.pair(other) == pair:
                least = min(least, self.distance(other, float(values[other])))
        return least

    def least_distance(self, index: int, values: np.ndarray) -> float:
        """Return the distance of the smallest value of a barrier [m], as :meth:`distance`.

        Args:
            index: Index of the barrier.
            values: Values of all rows at the last evaluation.
        """
        first, last = self._first_row[index : index + 2]
        row = first + int(np.argmin(values[first:last]))
        return self.distance(row, float(values[row]))
