# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Which barrier or joint limit holds the motion back, from what a step achieved."""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.codes import StatusCode
from ros_ik.servo.command import ServoOutput
from ros_ik.servo.step_solver import StepSolver

# Parts of the asked-for approach below which a motion counts as held back, and as halted.
_SLOWED, _HALTED = 0.9, 0.05
# Steps shorter than this are no motion that could be held back [m plus rad].
_LEAST_STEP = 1e-5
# A barrier row limits where its value fell by what is allowed, within this part or distance [m].
_ROW_PART, _ROW_DISTANCE = 0.05, 1e-6


class BarrierReport:
    """Follows the barrier values from tick to tick."""

    def __init__(self, solver: StepSolver) -> None:
        """Start without values."""
        self._solver = solver
        self._values: np.ndarray | None = None

    def forget(self) -> None:
        """Forget the values: the commanded configuration changed otherwise than by a step."""
        self._values = None

    def update(
        self, output: ServoOutput, joint_q: np.ndarray, wanted: float, achieved: float, cut: bool
    ) -> None:
        """Fill the barrier fields of an output and, where the motion is held back, its code.

        Args:
            output: Output of the tick.
            joint_q: Coordinates after the step.
            wanted: How much nearer the targets the step was to come [m plus rad].
            achieved: How much nearer it came.
            cut: Whether the check at q + dq cut the step.
        """
        values = self._solver.barrier_values(joint_q)
        before, self._values = self._values, values
        if values.size:
            self._name(output, values, int(np.argmin(values)))
        if cut:
            output.code = StatusCode.HALTED_BY_BARRIER
            output.text = f'barrier {output.limiting_barrier} stopped the step'
            return
        if wanted < _LEAST_STEP or achieved > _SLOWED * wanted or output.code != StatusCode.OK:
            return
        row = -1 if before is None or not values.size else self._limiting_row(before, values)
        if row >= 0:
            self._name(output, values, row)
            halted = achieved < _HALTED * wanted
            output.code = StatusCode.HALTED_BY_BARRIER if halted else StatusCode.SLOWED_BY_BARRIER
            what = 'holds' if halted else 'slows'
            output.text = f'barrier {output.limiting_barrier} {what} the motion'
            return
        joint = self._solver.bound_joint(joint_q)
        if joint:
            output.code, output.text = StatusCode.JOINT_BOUND, f'joint {joint} rests at its limit'

    def _name(self, output: ServoOutput, values: np.ndarray, row: int) -> None:
        barrier = self._solver.barriers[self._solver.barrier_rows[row]]
        output.limiting_barrier, output.barrier_distance = barrier.name, float(values[row])

    def _limiting_row(self, before: np.ndarray, values: np.ndarray) -> int:
        """Return the row whose value fell as far as allowed, -1 for none."""
        allowed = self._solver.allowed_decrease(before)
        slack = values - before - allowed - _ROW_PART * np.abs(allowed) - _ROW_DISTANCE
        row = int(np.argmin(slack))
        return row if slack[row] <= 0.0 and math.isfinite(slack[row]) else -1
