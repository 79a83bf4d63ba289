# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths between two configurations that keep the targets which are met at both.

For example, a foot that must not move, and is in place at the start and at the end, would slide
in between if the joints moved in straight lines. The straight path is therefore projected onto the
configurations that meet such targets, at each point by Newton steps of least length,

    u <- u - C J^T (J C J^T)^-1 (r(u) - r_s),

with the errors r of the targets [m, rad], their Jacobian J, the errors r_s interpolated between
start and end, and a compliance C, which is smaller for joints whose own targets are met.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers.optimal_control.commands.reached import target_errors
from ros_ik.solvers.optimal_control.commands.reached import TargetError
from ros_ik.solvers.optimal_control.commands.settings import OptimalControlSettings
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.commands.targets import variable_of
from ros_ik.solvers.optimal_control.least_cost.problem import OptimalControlProblem
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits

# Change of a joint between two points of a path [rad or m], least and largest number of points.
_SPACING, _MIN_POINTS, _MAX_POINTS = 0.02, 16, 400
# Tolerance of a point on the path [m or rad], and largest number of iterations.
_EXACT, _ITERATIONS = 1e-8, 20
# Fraction of the trace that is added to the diagonal, because targets may be dependent.
_DAMPING = 1e-12
# Ratio of a joint's change between two points to that of the straight path, above which it jumps.
_JUMP, _MIN_JUMP = 5.0, 0.05
# Compliance of joints whose own targets are met.
_LOW_COMPLIANCE = 1e-2


@dataclasses.dataclass(frozen=True, eq=False)
class PathConstraints:
    """Targets that are met at both ends of a path.

    Attributes:
        start: Displacements at the start [n_variables].
        end: Displacements at the end.
        targets: The targets, each as its :attr:`TargetError.rows`.
        rows: Their rows of the residuals that have a weight, int [m].
        weights: Weights of these rows, [m].
        compliance: Relative compliance of each variable, [n_variables].
    """

    start: np.ndarray
    end: np.ndarray
    targets: frozenset[tuple[int, int]]
    rows: np.ndarray
    weights: np.ndarray
    compliance: np.ndarray


class ConstrainedPathPlanner:
    """Planner of paths that keep targets, for the command loaded into a problem."""

    def __init__(
        self,
        problem: OptimalControlProblem,
        command: OptimalControlCommand,
        limits: VariableLimits,
        settings: OptimalControlSettings,
    ) -> None:
        """Store problem, limits and tolerances.

        Args:
            problem: The problem, with the command loaded.
            command: The command.
            limits: Limits of the variables.
            settings: Settings with the tolerances of targets.
        """
        self._problem, self._command = problem, command
        self._limits, self._settings = limits, settings

    def constraints_between(
        self, model: Model, group: JointGroup, joint_q: np.ndarray, start: np.ndarray,
        end: np.ndarray,
    ) -> PathConstraints:  # fmt: skip
        """Return the targets that are met at two displacements.

        Args:
            model: The model.
            group: The joints that may move.
            joint_q: Coordinates at zero displacement [joint_coord_count].
            start: Displacements at the start [n_variables].
            end: Displacements at the end.
        """
        both = [error for error in self._errors(start) if self._is_met(error)]
        after = {error.rows for error in self._errors(end) if self._is_met(error)}
        both = [error for error in both if error.rows in after]
        rows = [np.arange(*error.rows)[np.array(error.weights) > 0.0] for error in both]
        weights = [weight for error in both for weight in error.weights if weight > 0.0]
        compliance = np.ones(len(start))
        own = joint_q[dof_coordinates(model)[group.variable_dof]]
        for target in self._command.joint_position_targets:
            k = variable_of(target, model, group)
            if target.weight > 0.0 and k >= 0:
                away = target.target_position - own[k] - np.array([start[k], end[k]])
                if np.all(np.abs(away) <= self._settings.rotation_tolerance):
                    compliance[k] = _LOW_COMPLIANCE
        return PathConstraints(
            start,
            end,
            frozenset(error.rows for error in both),
            np.concatenate(rows).astype(int) if rows else np.zeros(0, dtype=int),
            np.array(weights),
            compliance,
        )

    def violations(
        self, constraints: PathConstraints, positions: np.ndarray, part: float = 1.0
    ) -> tuple[TargetError, ...]:
        """Return the targets that are violated along a motion, each with its largest errors.

        Args:
            constraints: Targets that are met at its ends.
            positions: Displacements at its knots and between them [k, n_variables].
            part: Fraction of the tolerances above which a target is violated.
        """
        if not constraints.targets:
            return ()
        worst: dict[tuple[int, int], TargetError] = {}
        for u in positions:
            for error in self._errors(u):
                before = worst.get(error.rows, error)
                worst[error.rows] = dataclasses.replace(
                    error,
                    position=max(error.position, before.position),
                    rotation=max(error.rotation, before.rotation),
                )
        return tuple(
            error
            for error in worst.values()
            if error.rows in constraints.targets and not self._is_met(error, part)
        )

    def plan(self, constraints: PathConstraints) -> np.ndarray | None:
        """Return points of a path that keeps the targets, equally spaced along the straight path.

        Returns:
            Displacements [points, n_variables]; None if there is no such path near the straight
            one.
        """
        straight, limits = constraints.end - constraints.start, self._limits
        longest = float(np.max(np.abs(straight)))
        count = int(np.clip(np.ceil(longest / _SPACING), _MIN_POINTS, _MAX_POINTS))
        first = self._rows(constraints, constraints.start)
        last = self._rows(constraints, constraints.end)
        most = _JUMP * longest / count + _MIN_JUMP
        points = [constraints.start]
        for s in np.linspace(0.0, 1.0, count + 1)[1:-1]:
            line = constraints.start + s * straight
            low = np.minimum(limits.low, line)
            high = np.maximum(limits.high, line)
            point = self._project(constraints, line, (1.0 - s) * first + s * last, (low, high))
            if point is None or np.max(np.abs(point - points[-1])) > most:
                return None
            points.append(point)
        if np.max(np.abs(constraints.end - points[-1])) > most:
            return None
        return np.array([*points, constraints.end])

    def _project(
        self,
        constraints: PathConstraints,
        start: np.ndarray,
        goal: np.ndarray,
        bounds: Sequence[np.ndarray],
    ) -> np.ndarray | None:
        """Return displacements near the given ones that have the desired errors, or None."""
        u, problem = start.copy(), self._problem
        compliance = constraints.compliance.copy()
        for _ in range(_ITERATIONS):
            problem.u[:] = u
            problem.linearise()
            missing = problem.residuals[constraints.rows] / constraints.weights - goal
            if np.max(np.abs(missing)) <= _EXACT:
                return u
            J = problem.J[constraints.rows] / constraints.weights[:, None]
            folded = J * compliance
            gram = folded @ J.T
            gram += _DAMPING * np.trace(gram) * np.eye(len(gram))
            try:
                step = folded.T @ np.linalg.solve(gram, missing)
            except np.linalg.LinAlgError:
                return None
            free = u - step
            u = np.clip(free, *bounds)
            compliance[u != free] = 0.0  # these stay at their limits; the others compensate
        return None

    def _rows(self, constraints: PathConstraints, u: np.ndarray) -> np.ndarray:
        """Return the errors of the constrained targets at displacements [n], [m]."""
        return np.asarray(self._problem.residuals_at(u)[constraints.rows] / constraints.weights)

    def _errors(self, u: np.ndarray) -> tuple[TargetError, ...]:
        return target_errors(self._command, self._problem.residuals_at(u))

    def _is_met(self, error: TargetError, part: float = 1.0) -> bool:
        position, rotation = self._settings.position_tolerance, self._settings.rotation_tolerance
        return any(error.weights) and error.within(part * position, part * rotation)
