# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Corrections of configurations to reach the poses of a path, and directions of self-motions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ros_ik.kinematics.evaluate import eval_jacobian
from ros_ik.model.conventions.checks import link_index
from ros_ik.solvers.analytic.structure.form import ClosedForm
from ros_ik.solvers.path.branch_follower import LOCAL
from ros_ik.solvers.path.branches import Branches
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.path.problem import PathProblem
from ros_ik.solvers.path.smoothing import Correct
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

# Six joints have a self-motion where the least singular value of the Jacobian, relative to the
# largest, is below this. Further than it from a singular pose a motion by _NEAR moves the tool by
# more than a search corrects.
_SINGULAR = 1e-5
# Tolerance of the poses of smoothed configurations [m, rad], and largest distance of these
# configurations from the result of the smoothing [rad or m]; farther ones are on another branch.
_SMOOTHED, _NEAR = 1e-9, 0.1
# Numbers of configurations of any poses that are corrected at a time, if many and if few; the
# first one bounds the memory.
_AT_ONCE, _FEW = 1024, 64


class Corrections:
    """Searches near given configurations, for the poses of a path."""

    def __init__(
        self, problem: PathProblem, branches: Branches, check: MotionCheck, form: ClosedForm
    ) -> None:
        """Store the problem.

        Args:
            problem: The problem.
            branches: Solutions of the poses, for the chain and its configurations.
            check: Check of configurations for collisions.
            form: Closed form of the chain.
        """
        self._problem, self._check, self._form = problem, check, form
        self._rows, self._columns = branches.rows, branches.chain.coordinates
        self._solvers: dict[int, ChainIK] = {}

    def along(self, first: int, count: int) -> Correct:
        """Return the correction of configurations to reach ``count`` poses from ``first`` on."""
        # Parts of similar lengths share a solver.
        solver = self._solver(min(2 ** (count - 1).bit_length(), len(self._problem.targets)))
        # The last pose fills the batch.
        index = np.minimum(np.arange(solver.n_problems), count - 1)
        targets = self._problem.targets[first + index]

        def correct(wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found = solver.solve(targets, self._rows(wanted)[index])
            there = found.joint_q[:count, self._columns].copy()
            near = np.max(np.abs(there - wanted), axis=1) < _NEAR
            return there, near & (found.status[:count] == SolveStatus.CONVERGED)

        return correct

    def at(self, pose: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Correct configurations to reach any poses.

        Args:
            pose: Number of the pose of each, [k].
            wanted: Variables of the chain, [k, v].

        Returns:
            Variables [k, v]; True for those that reach their pose without a collision, [k].
        """
        there, solved = wanted.copy(), np.zeros(len(wanted), dtype=bool)
        size = _AT_ONCE if len(wanted) > _FEW else _FEW
        solver = self._solver(size)
        for first in range(0, len(wanted), size):
            count = min(size, len(wanted) - first)
            # The last one fills the batch.
            index = first + np.minimum(np.arange(size), count - 1)
            rows = self._rows(wanted[index])
            found = solver.solve(self._problem.targets[pose[index]], rows)
            is_found = found.status[:count] == SolveStatus.CONVERGED
            is_found[is_found] = self._check.is_free(found.joint_q[:count][is_found])
            there[first : first + count] = found.joint_q[:count, self._columns]
            solved[first : first + count] = is_found
        return there, solved

    def searched(self, pose: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the poses of the given numbers [k] that a search solves, with variables [v]."""
        for first in range(0, len(pose), _AT_ONCE):
            some = pose[first : first + _AT_ONCE]
            found = self._problem.free_solver(len(some)).solve(self._problem.targets[some])
            solved = found.status == SolveStatus.CONVERGED
            some, near = some[solved], found.joint_q[solved][:, self._columns]
            exact, is_exact = self.at(some, near)
            rows = np.where(is_exact[:, None], exact, near)
            yield from zip(some.tolist(), rows, strict=True)

    def tangents(self, variables: np.ndarray) -> np.ndarray:
        """Return unit vectors of the self-motion, which does not move the tool, or zeros."""
        parts = [
            self._some_tangents(variables[first : first + _AT_ONCE])
            for first in range(0, len(variables), _AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.zeros_like(variables)

    def _some_tangents(self, variables: np.ndarray) -> np.ndarray:
        """Return the tangents of at most ``_AT_ONCE`` configurations."""
        model = self._problem.model
        jacobian = np.zeros((len(variables), 6, model.joint_dof_count))
        index = link_index(model, self._problem.link, least=0)
        eval_jacobian(model, self._rows(variables), index, jacobian)
        starts, dofs = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        joints = np.searchsorted(starts, self._columns, side='right') - 1
        _, scale, motions = np.linalg.svd(jacobian[:, :, dofs[joints]])
        if self._form.redundant_joint:
            return motions[:, -1]
        is_singular = scale[:, -1] < _SINGULAR * scale[:, 0]
        return np.where(is_singular[:, None], motions[:, -1], 0.0)

    def _solver(self, size: int) -> ChainIK:
        """Return a solver of some number of poses."""
        solver = self._solvers.get(size)
        if solver is None:
            exact = min(_SMOOTHED, *self._problem.tolerances)
            solver = self._problem.solver(size, (exact, exact), settings=LOCAL)
            self._solvers[size] = solver
        return solver
