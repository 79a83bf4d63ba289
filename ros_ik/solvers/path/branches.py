# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""All solutions of each pose of a path, for chains with a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.analytic.candidates.candidates import MAX_CANDIDATES
from ros_ik.solvers.analytic.redundancy.redundant_values import SampledRange
from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
from ros_ik.solvers.analytic.result import AllSolutions
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.status import SolveStatus

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Number of values of the redundant joint of seven, in steps of 0.1 rad over a turn.
_VALUES = 64
# Number of poses solved at a time, with six joints and with seven; bounds the memory.
_AT_ONCE, _AT_ONCE_REDUNDANT = 1024, 64
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
    """Solutions of the poses of a path over all branches and values of a redundant joint.

    Attributes:
        chain: The chain.
    """

    def __init__(
        self,
        model: Model,
        link: str | int,
        form: ClosedForm,
        chain: SerialChain,
        *,
        locked_joint_q: np.ndarray,
        joint_group: JointGroup | str | Sequence[str] | None,
        offset: np.ndarray | None,
        tolerances: tuple[float, float],
        check: MotionCheck,
    ) -> None:
        """Store the chain and the settings.

        Args:
            model: The model.
            link: Link that follows the path.
            form: Closed form of its chain.
            chain: The chain.
            locked_joint_q: Configuration at which the other joints are locked,
                [joint_coord_count].
            joint_group: Joints that may move.
            offset: Pose of the tool in the link, [7].
            tolerances: Tolerances of position [m] and rotation [rad].
            check: Check of configurations for collisions.
        """
        self.chain = chain
        self._model, self._link, self._form = model, link, form
        self._locked_joint_q = locked_joint_q
        self._common: dict[str, Any] = {
            'joint_group': joint_group, 'joint_q': locked_joint_q, 'offset': offset,
        }  # fmt: skip
        self._tolerances, self._check = tolerances, check

    def rows(self, variables: np.ndarray) -> np.ndarray:
        """Return configurations of the model [k, joint_coord_count] for variables of the chain."""
        rows = np.tile(self._locked_joint_q, (len(variables), 1))
        rows[:, self.chain.coordinates] = variables
        return self._model.apply_mimic(rows)

    def layers(self, targets: np.ndarray, start: np.ndarray | None) -> Iterator[Layer]:
        """Yield the solutions of each pose.

        Args:
            targets: Poses [n, 7].
            start: Joint positions of the chain. The redundant joint is also solved for at its
                position here; None for no such value.
        """
        most = _AT_ONCE_REDUNDANT if self._form.redundant_joint else _AT_ONCE
        size = min(most, len(targets))
        solver = self._solver(size, start)
        for first in range(0, len(targets), size):
            # Pad the last batch with its last pose.
            index = np.minimum(first + np.arange(size), len(targets) - 1)
            found = solver.solve(targets[index])
            for k in range(min(size, len(targets) - first)):
                yield self._layer(found, k)

    def nearest_solutions(self, target: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Return collision-free solutions [m, n] of a pose, the nearest to each seed.

        Args:
            target: Pose, [7].
            seeds: Joint positions of the chain, six joints, [k, n], k at most 64. A joint that is
                free at a singular pose keeps its position.
        """
        rows = self.rows(seeds)
        padded = np.resize(rows, (_SEEDS, rows.shape[1]))
        solved = self._solver_near.solve(np.tile(target, (_SEEDS, 1)), padded)
        is_solved = solved.status[: len(rows)] == SolveStatus.CONVERGED
        found = solved.joint_q[: len(rows), 0][is_solved]
        return found[self._check.is_free(found)][:, self.chain.coordinates]

    @functools.cached_property
    def _solver_near(self) -> ClosedFormIK:
        return ClosedFormIK(self._model, self._link, _SEEDS, 1, **self._common)

    def _solver(
        self, size: int, start: np.ndarray | None
    ) -> ClosedFormIK | RedundantClosedFormIK:
        """Return the closed-form solver for batches of poses, at values of the redundant joint."""
        if not self._form.redundant_joint:
            return ClosedFormIK(self._model, self._link, size, _MAX_SOLUTIONS, **self._common)
        index = self._form.redundant_variable
        lower, upper = (float(range_[index]) for range_ in self.chain.sampling_range())
        # Solutions that differ by whole turns are the same.
        sampled = SampledRange(lower, upper, is_whole=self.chain.slides[index])
        ((low, high),) = sampled.near(np.array([0.5 * (lower + upper)])).tolist()
        values = np.linspace(low, high, _VALUES)
        if start is not None:
            values = np.append(values, start[index])
        return RedundantClosedFormIK(
            self._model, self._link, size, MAX_CANDIDATES * len(values), redundant_values=values,
            form=self._form, **self._common,
        )  # fmt: skip

    def _layer(self, found: AllSolutions, k: int) -> Layer:
        """Return the collision-free solutions of row ``k``."""
        status, count = int(found.status[k]), int(found.n_found[k])
        errors = float(found.position_error[k, 0]), float(found.rotation_error[k, 0])
        if status != SolveStatus.CONVERGED:
            count = 1
            # Just out of reach, but within the tolerances.
            if all(error <= most for error, most in zip(errors, self._tolerances, strict=True)):
                status = int(SolveStatus.CONVERGED)
        rows = found.joint_q[k, :count]
        if status == SolveStatus.CONVERGED:
            free = self._check.is_free(rows)
            if free.any():
                rows = rows[free]
            else:
                rows, status = rows[:1], int(SolveStatus.IN_COLLISION)
        singular = bool(found.singular[k, :count].any())
        return Layer(rows[:, self.chain.coordinates].copy(), status, singular)
