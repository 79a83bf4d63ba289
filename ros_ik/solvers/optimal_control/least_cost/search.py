# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search for the configuration of least cost near the start, within limits and barriers.

The method is a damped Gauss-Newton method (Levenberg-Marquardt), with the smooth rule of
:mod:`ros_ik.solvers.least_squares.damping`. Each step solves a quadratic program with the position
limits as bounds and the barriers as rows. If the cost at the minimum is not zero, J'J lacks the
curvature of the residuals. This part is estimated from the steps, and used if it predicts the cost
better (Dennis, Gay and Welsch, "An adaptive nonlinear least-squares algorithm", ACM TOMS 7, 1981).

A step is accepted if the cost falls and no barrier gets worse at its middle or end, that is, falls
below its floor, or further if it is below already. Otherwise the damping grows, or the radius
shrinks. The accepted configurations form a path that respects the barriers.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

import numpy as np

from ros_ik.solvers.least_squares.damping import damped_smoothly
from ros_ik.solvers.least_squares.damping import GROWTH
from ros_ik.solvers.optimal_control.least_cost.arrays import never_worsens
from ros_ik.solvers.optimal_control.least_cost.kernels import HELD_BACK
from ros_ik.solvers.optimal_control.least_cost.kernels import PREDICTED
from ros_ik.solvers.optimal_control.least_cost.kernels import STEP
from ros_ik.solvers.optimal_control.least_cost.problem import OptimalControlProblem
from ros_ik.solvers.status import NamedCode
from ros_ik.solvers.status import SolveStatus

# Damping relative to the largest diagonal entry of J'J: initial, least and largest.
_DAMPING = (1e-4, 1e-10, 1e8)
# Largest change of a joint in one iteration [rad or m]: the initial value, which it never exceeds,
# and the value below which the search is stuck.
_RADIUS = (0.5, 1e-9)
# Ratio of the actual to the predicted decrease of the cost below which a step is rejected.
_ACCEPTED = 1e-3
# Joint motion below which a step is zero [rad or m].
_NO_STEP = 1e-10
# Fraction of the cost below which a predicted decrease is rounding.
_ROUNDING = 1e-14
_TINY = 1e-300
# Tolerance for rounding in values of h. Those of 300 steps add up to less than the tolerance with
# which the motion along them is checked.
_SLACK = 1e-12


class StopReason(NamedCode):
    """Reasons of a search to stop; the codes are those of ``ros_ik_interfaces/SolveOptimal``."""

    STOP_COST = 0
    PATIENCE = 1
    LIMIT = 2
    FAILED = 3
    ITERATION_LIMIT = 4
    TIME_HORIZON = 5
    MINIMUM = 6

    @property
    def message(self) -> str:
        """One sentence for a log or a status topic."""
        return _MESSAGES[self]


_MESSAGES = {
    StopReason.STOP_COST: 'the cost fell below stop_cost',
    StopReason.PATIENCE: 'no improvement of min_delta_cost within patience iterations',
    StopReason.LIMIT: 'limits or barriers allow no further improvement',
    StopReason.FAILED: 'no motion could be computed',
    StopReason.ITERATION_LIMIT: 'the bound on the iterations was reached',
    StopReason.MINIMUM: 'the cost is at a minimum: nothing near lowers it any further',
    StopReason.TIME_HORIZON: 'the motion takes longer than allowed and stops before the optimum',
}


@dataclasses.dataclass(frozen=True)
class SearchSettings:
    """Stopping rules of a search.

    Attributes:
        stop_cost: Cost below which the command is solved.
        min_delta_cost: Improvement per iteration below which ``patience`` applies.
        min_delta_ratio: The same as a fraction of the cost; the larger of the two is used.
        patience: Number of tolerated iterations without such an improvement.
        max_iterations: Bound on the iterations.
    """

    stop_cost: float
    min_delta_cost: float
    min_delta_ratio: float
    patience: int
    max_iterations: int


@dataclasses.dataclass
class SearchResult:
    """Result of a search.

    Attributes:
        path: Displacements after each accepted step, the start first, [steps + 1, n_variables].
        reason: Reason for the end of the search.
        status: ``CONVERGED``, or the reason for a failure.
        iterations: Number of iterations, including rejected steps.
    """

    path: list[np.ndarray]
    reason: StopReason
    status: SolveStatus
    iterations: int


class Search:
    """Search that moves ``problem.u`` to the least cost found."""

    def __init__(
        self,
        problem: OptimalControlProblem,
        settings: SearchSettings,
        margins: np.ndarray,
        room: float,
        max_radius: float = _RADIUS[0],
        check: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        """Start at ``problem.u``, between ``problem.low`` and ``problem.high``.

        Args:
            problem: The problem, with a command loaded.
            settings: Stopping rules.
            margins: Margin of each barrier row, [total_rows].
            room: Clearance beyond the margins, in units of h. Errors of the linearisation may use
                up half of it.
            max_radius: Largest change of a joint in one iteration [rad or m].
            check: Function that returns every h at a displacement [n_variables], of which no step
                may make one worse below zero. None if the rows of the problem suffice.
        """
        self._problem, self._settings = problem, settings
        problem.floor[:] = margins + room
        self._floor = margins + 0.5 * room
        self._check = check
        self._damping, self._growth = _DAMPING[0], GROWTH
        self._radius = self._max_radius = max_radius
        self._curvature = np.zeros_like(problem.curvature)
        self._uses_curvature = False

    def run(self) -> SearchResult:
        """Iterate until a stopping rule applies."""
        problem, settings = self._problem, self._settings
        path = [problem.u.copy()]
        waited = 0
        problem.linearise()
        for iteration in range(1, settings.max_iterations + 1):
            cost = problem.cost()
            recovering = bool(np.any(problem.values[0] < self._floor - _SLACK))
            if cost <= settings.stop_cost and not recovering:
                return SearchResult(path, StopReason.STOP_COST, SolveStatus.CONVERGED, iteration)
            status = self._step()
            if not status.ok or not np.isfinite(cost):
                return SearchResult(path, StopReason.FAILED, _failure(status), iteration)
            gain = cost - problem.trial_cost()
            accepted = not self._is_over(cost, recovering) and self._accepts(gain, recovering)
            if not accepted and (self._is_over(cost, recovering) or self._is_stuck()):
                reason = StopReason.LIMIT if problem.report[HELD_BACK] else StopReason.MINIMUM
                return SearchResult(path, reason, SolveStatus.CONVERGED, iteration)
            self._choose_model(gain)
            if not accepted:
                continue
            self._move()
            path.append(problem.u.copy())
            least = max(settings.min_delta_cost, settings.min_delta_ratio * cost)
            waited = 0 if gain >= least or recovering else waited + 1
            if waited >= settings.patience:
                return SearchResult(path, StopReason.PATIENCE, SolveStatus.CONVERGED, iteration)
        return SearchResult(path, StopReason.ITERATION_LIMIT, SolveStatus.CONVERGED, iteration)

    def _step(self) -> SolveStatus:
        """Compute the step, without the curvature if it makes the model non-convex."""
        problem = self._problem
        problem.parameters[:] = self._damping, self._radius
        problem.curvature[:] = self._curvature if self._uses_curvature else 0.0
        status = problem.step()
        if self._uses_curvature and status is SolveStatus.NUMERICAL_FAILURE:
            self._uses_curvature = False
            problem.curvature[:] = 0.0
            status = problem.step()
        return status

    def _choose_model(self, gain: float) -> None:
        """Use the curvature in the next step if it predicts this gain better."""
        problem = self._problem
        step = problem.trial - problem.u
        bent = float(step @ self._curvature @ step)
        straight = float(problem.report[PREDICTED]) + (bent if self._uses_curvature else 0.0)
        self._uses_curvature = abs(straight - bent - gain) < abs(straight - gain)

    def _move(self) -> None:
        """Move to the end of the step, and update the estimated curvature of the residuals."""
        problem = self._problem
        step = problem.trial - problem.u
        J, residuals = problem.J.copy(), problem.residuals.copy()
        problem.u[:] = problem.trial
        problem.linearise()
        gradient = problem.J.T @ problem.residuals
        change = gradient - J.T @ residuals
        bent = gradient - J.T @ problem.residuals
        along = float(change @ step)
        if not along > _ROUNDING * float(np.linalg.norm(change) * np.linalg.norm(step)):
            return
        known = self._curvature @ step
        size = min(1.0, abs(float(step @ bent)) / max(abs(float(step @ known)), _TINY))
        missing = bent - size * known
        outer = np.outer(missing, change)
        self._curvature = (
            size * self._curvature
            + (outer + outer.T) / along
            - float(missing @ step) * np.outer(change, change) / along**2
        )

    def _accepts(self, gain: float, recovering: bool) -> bool:
        """Return True if the step is accepted, and adapt damping and radius."""
        here, _, end = values = self._problem.values
        kept = never_worsens(here, values[1:], self._floor, _SLACK)
        if not (kept and self._keeps_every_pair()):
            self._radius = 0.5 * min(self._radius, float(self._problem.report[STEP]))
            return False
        self._radius = min(2.0 * self._radius, self._max_radius)
        risen = np.minimum(end, self._floor) - np.minimum(here, self._floor)
        if recovering and float(np.sum(risen)) > _SLACK:
            return True
        predicted = float(self._problem.report[PREDICTED])
        ratio = gain / predicted if predicted > 0.0 else 0.0
        accepted = gain > 0.0 and ratio > _ACCEPTED
        damping, self._growth = damped_smoothly(self._damping, self._growth, ratio, accepted)
        self._damping = max(damping, _DAMPING[1])
        return accepted

    def _keeps_every_pair(self) -> bool:
        """Return True if the step makes no h worse that has no row in the problem."""
        if self._check is None:
            return True
        problem = self._problem
        u, trial = problem.u.copy(), problem.trial.copy()
        here, half, end = (self._check(x) for x in (u, 0.5 * (u + trial), trial))
        problem.u[:] = u
        return never_worsens(here, np.array([half, end]), 0.0, _SLACK)

    def _is_over(self, cost: float, recovering: bool) -> bool:
        """Return True if the predicted gain is within rounding, at an optimum."""
        report = self._problem.report
        gains = report[PREDICTED] > _ROUNDING * cost or recovering
        return bool(report[STEP] <= _NO_STEP or not gains)

    def _is_stuck(self) -> bool:
        return self._damping > _DAMPING[2] or self._radius < _RADIUS[1]


def _failure(status: SolveStatus) -> SolveStatus:
    return SolveStatus.NUMERICAL_FAILURE if status.ok else status
