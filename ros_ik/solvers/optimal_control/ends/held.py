# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Ways between two configurations along which those targets hold that hold at both.

A foot that is to stay where it is, and does at the start and at the end, slides in between where
joints go straight. So the straight way is moved onto the configurations at which such targets
hold: at each point by steps of Newton of least length,

    u <- u - C J^T (J C J^T)^-1 (r(u) - r_s),

with r the errors of the targets [m, rad], J their Jacobian, r_s the errors on the way from those
of the start to those of the end, and C a compliance, smaller for joints whose own targets hold.
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
from ros_ik.solvers.optimal_control.least_cost.problem import OptimalControlProblem
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits

# Change of a joint between two points of a way [rad or m], least and most points.
_SPACING, _LEAST, _MOST = 0.02, 16, 400
# Error at which a point is on the way [m or rad], and iterations that it may take.
_EXACT, _ITERATIONS = 1e-8, 20
# Part of the trace that is added to the diagonal: targets may depend on each other.
_DAMPING = 1e-12
# What points keep from position limits, as far as the straight way does, for the curve in between.
_ROOM = 1e-3
# Change of a joint between two points, over that of the straight way, above which the way jumps.
_JUMP, _LEAST_JUMP = 5.0, 0.05
# Compliance of joints whose own targets hold.
_STIFF = 1e-2
# Points of a motion at which its targets are measured.
_MEASURED = 100


@dataclasses.dataclass(frozen=True, eq=False)
class HeldTargets:
    """Targets that hold at both ends of a way.

    Attributes:
        start: Displacements at the start [n_variables].
        end: Displacements at the end.
        names: Names of the targets.
        rows: Rows of the residuals that hold, int [m].
        weights: Their weights, [m].
        compliance: How far each variable is to give way, over the others, [n_variables].
    """

    start: np.ndarray
    end: np.ndarray
    names: frozenset[str]
    rows: np.ndarray
    weights: np.ndarray
    compliance: np.ndarray


class HeldWays:
    """Ways of one robot for a command that is loaded into its problem."""

    def __init__(
        self,
        problem: OptimalControlProblem,
        command: OptimalControlCommand,
        limits: VariableLimits,
        settings: OptimalControlSettings,
    ) -> None:
        """Take what ways are found with.

        Args:
            problem: The problem, with the command loaded.
            command: The command.
            limits: Limits of the variables.
            settings: What counts as holding.
        """
        self._problem, self._command = problem, command
        self._limits, self._settings = limits, settings

    def held(
        self, model: Model, group: JointGroup, joint_q: np.ndarray, start: np.ndarray,
        end: np.ndarray,
    ) -> HeldTargets:  # fmt: skip
        """Return what holds at two displacements.

        Args:
            model: The model.
            group: The joints that may move.
            joint_q: Coordinates where displacements are zero [joint_coord_count].
            start: Displacements at the start [n_variables].
            end: Displacements at the end.
        """
        both = [error for error in self._errors(start) if self._holds(error)]
        after = {error.name for error in self._errors(end) if self._holds(error)}
        both = [error for error in both if error.name in after]
        rows = [np.arange(*error.rows)[np.array(error.weights) > 0.0] for error in both]
        weights = [weight for error in both for weight in error.weights if weight > 0.0]
        compliance = np.ones(len(start))
        own = joint_q[dof_coordinates(model)[group.variable_dof]]
        for target in self._command.joint_position_targets:
            if target.weight > 0.0 and target.joint_name in group.joint_names:
                k = group.joint_names.index(target.joint_name)
                away = target.target_position - own[k] - np.array([start[k], end[k]])
                if np.all(np.abs(away) <= self._settings.rotation_tolerance):
                    compliance[k] = _STIFF
        return HeldTargets(
            start,
            end,
            frozenset(error.name for error in both),
            np.concatenate(rows).astype(int) if rows else np.zeros(0, dtype=int),
            np.array(weights),
            compliance,
        )

    def left(
        self, held: HeldTargets, positions: np.ndarray, part: float = 1.0
    ) -> tuple[TargetError, ...]:
        """Return the targets that do not hold along a motion, each with its largest errors.

        Args:
            held: What holds at its ends.
            positions: Displacements at its knots [knots, n_variables].
            part: Part of the tolerances at which a target counts as left.
        """
        if not held.names:
            return ()
        step = max(1, len(positions) // _MEASURED)
        worst: dict[str, TargetError] = {}
        for u in [*positions[::step], positions[-1]]:
            for error in self._errors(u):
                before = worst.get(error.name, error)
                worst[error.name] = dataclasses.replace(
                    error,
                    position=max(error.position, before.position),
                    rotation=max(error.rotation, before.rotation),
                )
        return tuple(
            error
            for error in worst.values()
            if error.name in held.names and not self._holds(error, part)
        )

    def way(self, held: HeldTargets) -> np.ndarray | None:
        """Return points of a way along which the targets hold, equally spaced along the straight.

        Returns:
            Displacements [points, n_variables]; None where there is no such way beside the
            straight one.
        """
        straight, limits = held.end - held.start, self._limits
        longest = float(np.max(np.abs(straight)))
        count = int(np.clip(np.ceil(longest / _SPACING), _LEAST, _MOST))
        first, last = self._rows(held, held.start), self._rows(held, held.end)
        most = _JUMP * longest / count + _LEAST_JUMP
        points = [held.start]
        for s in np.linspace(0.0, 1.0, count + 1)[1:-1]:
            line = held.start + s * straight
            low = np.minimum(limits.low + _ROOM, line)
            high = np.maximum(limits.high - _ROOM, line)
            point = self._moved(held, line, (1.0 - s) * first + s * last, (low, high))
            if point is None or np.max(np.abs(point - points[-1])) > most:
                return None
            points.append(point)
        if np.max(np.abs(held.end - points[-1])) > most:
            return None
        return np.array([*points, held.end])

    def _moved(
        self,
        held: HeldTargets,
        start: np.ndarray,
        goal: np.ndarray,
        bounds: Sequence[np.ndarray],
    ) -> np.ndarray | None:
        """Return the displacements near some at which errors are as wanted, None for none."""
        u, problem = start.copy(), self._problem
        compliance = held.compliance.copy()
        for _ in range(_ITERATIONS):
            problem.u[:] = u
            problem.linearise()
            missing = problem.residuals[held.rows] / held.weights - goal
            if np.max(np.abs(missing)) <= _EXACT:
                return u
            J = problem.J[held.rows] / held.weights[:, None]
            folded = J * compliance
            gram = folded @ J.T
            gram += _DAMPING * np.trace(gram) * np.eye(len(gram))
            try:
                step = folded.T @ np.linalg.solve(gram, missing)
            except np.linalg.LinAlgError:
                return None
            free = u - step
            u = np.clip(free, *bounds)
            compliance[u != free] = 0.0  # these rest at their limits; the others make up for them
        return None

    def _rows(self, held: HeldTargets, u: np.ndarray) -> np.ndarray:
        """Return the errors of the held targets at displacements [n], [m]."""
        return np.asarray(self._problem.residuals_at(u)[held.rows] / held.weights)

    def _errors(self, u: np.ndarray) -> tuple[TargetError, ...]:
        return target_errors(self._command, self._problem.residuals_at(u))

    def _holds(self, error: TargetError, part: float = 1.0) -> bool:
        position, rotation = self._settings.position_tolerance, self._settings.rotation_tolerance
        return any(error.weights) and error.within(part * position, part * rotation)
