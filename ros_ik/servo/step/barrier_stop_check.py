# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of steps by ``limit_to_stoppable``: the robot must still be able to stop after them."""

from __future__ import annotations

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.servo.step.deferred import Deferred
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers.differential_ik.step_checks import stop_tolerance

# Deceleration of a joint without a limit above 0 [rad/s^2 or m/s^2]. It never moves.
_NEVER_MOVES = 1.0


class BarrierStopCheck:
    """Check of steps for a stop after them, with the deceleration in force."""

    def __init__(
        self,
        diff: DifferentialIK,
        barriers: tuple[Barrier, ...],
        deceleration: np.ndarray,
        jerk: np.ndarray | None,
    ) -> None:
        """Capture the check.

        Args:
            diff: The solver.
            barriers: Barriers that a stop must not violate; may be empty.
            deceleration: Deceleration limits [joint_dof_count], rad/s^2 or m/s^2.
            jerk: Jerk limits of stops [joint_dof_count], rad/s^3 or m/s^3; None if there is none.
        """
        self._checks, self._barriers = diff.checks, barriers
        self._tolerance = stop_tolerance(barriers)
        rest = np.zeros(diff.model.joint_dof_count)
        self._jerk = np.full_like(rest, np.inf) if jerk is None else jerk
        self._trial = np.zeros_like(rest)
        self._deceleration = Deferred(_usable(deceleration))
        if barriers:
            first = self._deceleration.in_force
            self._blend(diff.model.neutral_joint_q(), self._trial, rest, rest, first)

    def set_deceleration(self, deceleration: np.ndarray) -> None:
        """Request limits, which take effect once the robot could stop with them, or at rest."""
        self._deceleration.request(_usable(deceleration))
        if not self._barriers:
            self.rest()

    def rest(self) -> None:
        """Apply deferred limits, because the robot is at rest or its stops are not checked."""
        self._deceleration.apply_requested()

    def allows_deceleration(self, deceleration: np.ndarray) -> bool:
        """Return True if stops are checked for these limits, or for shorter stops.

        The acceleration limit of a motion must not exceed the deceleration of the check. An unsafe
        step is blended with that stop, which ignores position limits.
        """
        return bool((self._deceleration.in_force >= _usable(deceleration)).all())

    def continue_from(self, other: BarrierStopCheck) -> None:
        """Continue from a check of the same robot with the same limits."""
        self._deceleration.continue_from(other._deceleration)

    def blend_with_stop(
        self,
        joint_q: np.ndarray,
        step: np.ndarray,
        last_step: np.ndarray,
        step_before_last: np.ndarray,
    ) -> bool:
        """Blend a step with the stop as far as necessary; return True if it changed.

        Args:
            joint_q: Coordinates [joint_coord_count].
            step: The step [joint_dof_count], changed in place.
            last_step: Previous step.
            step_before_last: The step before it, for jerk limits.
        """
        if not self._barriers:
            return False
        deceleration = self._deceleration
        if not deceleration.is_applied:
            # A motion that began with other limits may need those to stop in time.
            self._trial[:] = step
            requested = deceleration.requested
            if not last_step.any() or self._blend(
                joint_q, self._trial, last_step, step_before_last, requested
            ):
                deceleration.apply_requested()
        return not self._blend(
            joint_q, step, last_step, step_before_last, deceleration.in_force
        )

    def _blend(
        self,
        joint_q: np.ndarray,
        step: np.ndarray,
        last_step: np.ndarray,
        step_before_last: np.ndarray,
        deceleration: np.ndarray,
    ) -> bool:
        """Blend a step with the stop, in place, if it needs that; return True if it does not."""
        status = self._checks.blend_with_stop(
            joint_q, self._barriers, (step, last_step, step_before_last), deceleration,
            self._jerk, self._tolerance,
        )  # fmt: skip
        return status == SolveStatus.CONVERGED


def _usable(deceleration: np.ndarray) -> np.ndarray:
    """Return limits above zero."""
    return np.where(deceleration > 0.0, deceleration, _NEVER_MOVES)
