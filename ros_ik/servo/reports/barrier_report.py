# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Report of the barrier or joint limit that holds the motion back."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.step.step_solver import StepSolver

# Fractions of the requested approach below which a motion counts as held back, and as halted.
_SLOWED, _HALTED = 0.9, 0.05
# Requested speed below which nothing is reported as held back [m/s plus rad/s].
_MIN_SPEED = 2e-4
# A barrier row is active if its value decreased by the allowed amount, within this relative or
# absolute tolerance [m].
_ROW_PART, _ROW_DISTANCE = 0.05, 1e-6
_CODES = (StatusCode.SLOWED_BY_BARRIER, StatusCode.HALTED_BY_BARRIER, StatusCode.JOINT_BOUND)
# Fields that are repeated at ticks without a report.
_REPEATED = operator.attrgetter(
    'code', 'text', 'limiting_barrier', 'limiting_pair', 'barrier_distance'
)


class BarrierReport:
    """Report of barrier values, for the ticks that ask for one."""

    def __init__(self, solver: StepSolver) -> None:
        """Start without values."""
        self._solver = solver
        self._least_step = _MIN_SPEED * solver.diff.settings.dt
        self._is_uniform = len(set(solver.rows.ranges.tolist())) < 2
        # Values at a configuration, identified by its bytes, as arrays may change in place.
        self._at: bytes | None = None
        self._values = np.zeros(0)
        # Last report; None if it is of another motion.
        self._last_report: tuple[Any, ...] | None = None

    def forget(self) -> None:
        """Drop values and report after a change of settings, obstacles or motion."""
        self._at = self._last_report = None

    def update(
        self,
        output: ServoOutput,
        joint_q: np.ndarray,
        after: np.ndarray,
        wanted: float,
        achieved: float,
        cut: bool,
    ) -> None:
        """Fill the barrier fields of an output, and its code if the motion is held back.

        Args:
            output: Output of the tick.
            joint_q: Coordinates before the step.
            after: Coordinates after it.
            wanted: Distance by which the step was to approach the targets [m plus rad].
            achieved: Distance by which it did approach them [m plus rad].
            cut: True if the check of stops shortened the step.
        """
        is_held = wanted >= self._least_step and achieved <= _SLOWED * wanted
        before = self._values_at(joint_q)
        # Pairs are named as at the last evaluation, so that of the end of the step comes last. At
        # rest it is repeated, as the least change may evaluate the start of the last step.
        allowed = None
        if is_held:
            allowed, self._at = self._solver.least_change(joint_q, before), None
        values = self._values_at(after)
        if len(values):
            row = self._least_row(values)
            if row >= 0:
                self._fill_barrier_fields(output, values, row)
        if allowed is not None:
            self._explain(output, before, allowed, values, after, achieved < _HALTED * wanted, cut)
        self._last_report = _REPEATED(output)

    def repeat(self, output: ServoOutput) -> None:
        """Fill an output with the last report of this motion."""
        if self._last_report is None:
            return
        code, text, output.limiting_barrier, output.limiting_pair, distance = self._last_report
        output.barrier_distance = distance
        if code in _CODES and output.code == StatusCode.OK:
            output.code, output.text = code, text

    def _values_at(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the barrier values at a configuration; the last ones are cached."""
        key = joint_q.tobytes()
        if key != self._at:
            self._at, self._values = key, self._solver.barrier_values(joint_q)
        return self._values

    def _explain(
        self,
        output: ServoOutput,
        before: np.ndarray,
        allowed: np.ndarray,
        values: np.ndarray,
        after: np.ndarray,
        halted: bool,
        cut: bool,
    ) -> None:
        """Report the constraint that holds the motion back, unless the output has a report."""
        if output.code != StatusCode.OK:
            return
        row = -1
        if values.size:
            row = _limiting_row(before, allowed, values)
            if row < 0 and cut:
                row = _nearest_row(before, values)
        if row >= 0:
            self._fill_barrier_fields(output, values, row)
            self._set_code(output, halted)
            return
        joint = self._solver.limits.check.bound_joint(after)
        if joint:
            output.code = StatusCode.JOINT_BOUND
            output.text = f'joint {joint} is at its position limit'

    def _least_row(self, values: np.ndarray) -> int:
        """Return the row with the smallest meaningful value, or -1."""
        ranges, row = self._solver.rows.ranges, int(values.argmin())
        if values[row] >= ranges[row] and not self._is_uniform:
            row = int(np.where(values < ranges, values, np.inf).argmin())
        return row if values[row] < ranges[row] else -1

    def _fill_barrier_fields(self, output: ServoOutput, values: np.ndarray, row: int) -> None:
        """Fill the fields of the limiting barrier from one of its rows."""
        rows = self._solver.rows
        output.limiting_barrier, output.limiting_pair = rows.name(row), rows.pair(row)
        output.barrier_distance = rows.distance_of_pair(row, values)

    def _set_code(self, output: ServoOutput, halted: bool) -> None:
        """Set code and text if a barrier holds the motion back."""
        output.code = StatusCode.HALTED_BY_BARRIER if halted else StatusCode.SLOWED_BY_BARRIER
        output.text = (
            f'barrier {output.limiting_barrier} {"stops" if halted else "slows"} the motion'
        )
        if output.limiting_pair[0]:
            between = ' and '.join(output.limiting_pair)
            output.text += f': {output.barrier_distance:.3f} m between {between}'


def _limiting_row(before: np.ndarray, allowed: np.ndarray, values: np.ndarray) -> int:
    """Return the row whose value decreased as far as allowed, or -1."""
    slack = values - before - allowed - _ROW_PART * np.abs(allowed) - _ROW_DISTANCE
    # A row that is violated anyway does not limit the motion if another row does.
    holds = (slack <= 0.0) & (before >= -_ROW_DISTANCE)
    if holds.any():
        slack = np.where(holds, slack, np.inf)
    row = int(slack.argmin())
    return row if slack[row] <= 0.0 and math.isfinite(slack[row]) else -1


def _nearest_row(before: np.ndarray, values: np.ndarray) -> int:
    """Return the row that is violated first if all values keep their rates of change."""
    with np.errstate(divide='ignore', invalid='ignore'):
        time = np.maximum(values, 0.0) / (before - values)
    return int(np.argmin(np.where(before > values, time, np.inf)))
