# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of the captured problems of one solver, by the tasks, limits and barriers of a solve."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import math
from typing import Any
from typing import NamedTuple

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.limits import Limit
from ros_ik.limits.step_constraint import released_on_error
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.solvers.differential_ik.problem import StepProblem
from ros_ik.solvers.differential_ik.step_checks import StepChecks
from ros_ik.solvers.differential_ik.tasks.arguments import checked_parts
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.differential_ik.tasks.tasks import has_levels
from ros_ik.solvers.graph_cache import GraphCache


class _Recent(NamedTuple):
    """Copies of the last tasks, limits and barriers, to detect that they are the same."""

    tasks: Sequence[Task]
    limits: Sequence[Limit]
    barriers: Sequence[Barrier]
    problem: StepProblem


class ProblemCache:
    """Captured problems, and the relation of the last solve to the barriers."""

    def __init__(self, make: Callable[..., StepProblem], checks: StepChecks) -> None:
        """Start without a problem; the first solve of each combination captures one.

        Args:
            make: Function that makes the problem of tasks, limits and barriers, three tuples.
            checks: Checks of the steps of the same solver.
        """
        self._make, self._checks = make, checks
        self._problems: GraphCache[StepProblem] = GraphCache()
        self._recent: _Recent | None = None
        # True if a barrier was near its margin in the last solve, or there was none yet: without
        # the rows of its stop, the check of stops would cut the first step near a barrier, and
        # what smooths steps would hold the next ones back.
        self._was_near = True
        # True if the robot left a violation in the last solve, or just before it.
        self._recovers = False
        # Recovery of the robots after the last step of another solver, that the next step follows.
        self._followed: np.ndarray | None = None

    @property
    def last(self) -> StepProblem | None:
        """Problem of the last solve, None before the first one."""
        return None if self._recent is None else self._recent.problem

    def solved(
        self, tasks: Any, limits: Any, barriers: Any, regularization: float, *, on_device: bool
    ) -> StepProblem:
        """Return the problem of these tasks, limits and barriers, solved at the coordinates.

        Args:
            tasks: The tasks.
            limits: Hard limits.
            barriers: Barriers.
            regularization: Weight of |dq|^2 in the cost.
            on_device: True if coordinates and steps stay on the device, see
                :meth:`StepProblem.solve`.

        Raises:
            ArgumentError: No task, a negative regularization, or arguments of the wrong type.
        """
        if np.ndarray in (type(tasks), type(limits), type(barriers)):
            checked_parts(tasks, limits, barriers)  # arrays are compared element by element
        if type(regularization) is not float:
            regularization = checked_number('regularization', regularization)
        recent = self._recent
        if (
            recent is None
            or tasks != recent.tasks
            or limits != recent.limits
            or barriers != recent.barriers
            or not recent.problem.fits_priorities
            or (
                recent.problem.snapshots.seen != BuiltinObjective.changes
                and not recent.problem.is_current
            )
        ):
            problem = self._problem(tasks, limits, barriers)
        else:
            problem = recent.problem
        if regularization != problem.regularization:
            if not (math.isfinite(regularization) and regularization >= 0.0):
                raise ArgumentError(
                    f'regularization must be finite and not negative, got {regularization}'
                )
            problem.load_regularization(regularization)
        problem.load_parameters()
        followed, self._followed = self._followed, None
        if followed is not None:
            problem.continue_from(followed)
        is_near = self._recovers or (self._checks.may_reach and self._was_near)
        problem.solve(is_near=is_near, on_device=on_device)
        self._was_near, self._recovers = problem.is_near, problem.recovers
        return problem

    def continue_from(self, other: ProblemCache) -> None:
        """Copy the relation of another solver's last solve to the barriers."""
        self._was_near, self._recovers = other._was_near, other._recovers
        self._followed = None if other.last is None else other.last.recovery

    def forget_steps(self) -> None:
        """Forget the steps of all problems."""
        self._was_near, self._recovers, self._followed = True, False, None
        for problem in self._problems:
            problem.forget_steps()

    def _problem(
        self, tasks: Sequence[Task], limits: Sequence[Limit], barriers: Sequence[Barrier]
    ) -> StepProblem:
        """Return the captured problem of these tasks, limits and barriers."""
        checked_parts(tasks, limits, barriers)
        parts = tuple(tasks), tuple(limits), tuple(barriers)
        # Problems of one priority and of several ones are recorded differently.
        key = (*parts, has_levels(tasks))
        with released_on_error(parts[1] + parts[2]):
            problem = self._problems.get(key, lambda: self._make(*parts))
        self._recent = _Recent(_copy(tasks), _copy(limits), _copy(barriers), problem)
        return problem


def _copy(parts: Sequence[Any]) -> Sequence[Any]:
    """Return a copy, which stays equal to the sequence until the caller changes it."""
    return list(parts) if isinstance(parts, list) else tuple(parts)
