# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""All solutions of each pose of a path, for chains with a closed form."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses

import numpy as np

from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.redundancy.redundant_values import SampledRange
from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.path.path_solvers import batch_size
from ros_ik.solvers.path.path_solvers import padded
from ros_ik.solvers.path.problem import PathProblem
from ros_ik.solvers.status import SolveStatus

# Number of values of the redundant joint of seven, in steps of 0.1 rad over a turn.
_VALUES = 64
# Number of poses solved at a time, with six joints and with seven; bounds the memory.
_AT_ONCE, _AT_ONCE_REDUNDANT = 1024, 32
# Largest number of solutions of a pose with six joints, for general axes.
_MAX_SOLUTIONS = 16
# Number of seeds of a pose, more than the motions and solutions beside a singular pose.
_SEEDS = 64


@dataclasses.dataclass(frozen=True)
class Layer:
    """Solutions of one pose, without those that differ by whole turns.

    Attributes:
        joint_q: Positions of the chain's variables, [m, n_variables]; without a solution, only
            the configuration of least error.
        status: SolveStatus code of the pose; CONVERGED if there are solutions.
        is_singular: True if a solution represents a continuum of solutions.
    """

    joint_q: np.ndarray
    status: int
    is_singular: bool

    @property
    def is_solved(self) -> bool:
        """True if the rows are solutions."""
        return self.status == SolveStatus.CONVERGED


class Branches:
    """Solutions of the poses of a path over all branches and values of a redundant joint."""

    def __init__(self, problem: PathProblem, form: ClosedForm) -> None:
        """Store the problem.

        Args:
            problem: The problem.
            form: Closed form of its chain.
        """
        self._problem, self._form, self._check = problem, form, problem.check
        self._chain = problem.solvers.chain

    def layers(self, targets: np.ndarray, start: np.ndarray | None) -> Iterator[Layer]:
        """Yield the solutions of each pose.

        Args:
            targets: Poses [n, 7].
            start: Joint positions of the chain. The redundant joint is also solved for at its
                position here; None for no such value.
        """
        most = _AT_ONCE_REDUNDANT if self._form.redundant_joint else _AT_ONCE
        size = batch_size(len(targets), most)
        solver = self._solver(size, start)
        for first in range(0, len(targets), size):
            some = targets[first : first + size]
            found = solver.solve(padded(some, size))
            for k in range(len(some)):
                yield self._layer(found, k)

    def nearest_solutions(self, target: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return collision-free solutions [m, n] of a pose, the nearest to each seed.

        Args:
            target: Pose, [7].
            seeds: Joint positions of the chain, six joints, [k, n], k at most 64. A joint that is
                free at a singular pose keeps its position.
        """
        count = len(seeds)
        solved = self._problem.solvers.closed(_SEEDS, 1).solve(
            padded(np.tile(target, (count, 1)), _SEEDS),
            padded(self._problem.rows(seeds), _SEEDS, 0.0),
        )
        is_solved = solved.status[:count] == SolveStatus.CONVERGED
        found = solved.joint_q[:count, 0][is_solved]
        return found[self._check.is_free(found)][:, self._chain.coordinates]

    def _solver(
        self, size: int, start: np.ndarray | None
    ) -> ClosedFormIK | RedundantClosedFormIK:
        """Return the closed-form solver for batches of poses, at values of the redundant joint."""
        if not self._form.redundant_joint:
            return self._problem.solvers.closed(size, _MAX_SOLUTIONS)
        index = self._form.redundant_variable
        lower, upper = (float(range_[index]) for range_ in self._chain.sampling_range())
        # Solutions that differ by whole turns are the same.
        sampled = SampledRange(lower, upper, is_whole=self._chain.slides[index])
        ((low, high),) = sampled.near(np.array([0.5 * (lower + upper)])).tolist()
        # One solver is for paths with a start and without.
        values = np.append(
            np.linspace(low, high, _VALUES), np.nan if start is None else start[index]
        )
        return self._problem.solvers.redundant(
            size, MAX_CANDIDATES * len(values), values, form=self._form
        )

    def _layer(self, found: AllSolutions, k: int) -> Layer:
        """Return the collision-free solutions of row ``k``."""
        status, count = int(found.status[k]), int(found.n_found[k])
        errors = float(found.position_error[k, 0]), float(found.rotation_error[k, 0])
        if status != SolveStatus.CONVERGED:
            count = 1
            # Just out of reach, but within the tolerances.
            largest = self._problem.tolerances
            if all(error <= most for error, most in zip(errors, largest, strict=True)):
                status = int(SolveStatus.CONVERGED)
        rows = found.joint_q[k, :count]
        if status == SolveStatus.CONVERGED:
            free = self._check.is_free(rows)
            if free.any():
                rows = rows[free]
            else:
                rows, status = rows[:1], int(SolveStatus.IN_COLLISION)
        singular = bool(found.singular[k, :count].any())
        return Layer(rows[:, self._chain.coordinates].copy(), status, singular)
