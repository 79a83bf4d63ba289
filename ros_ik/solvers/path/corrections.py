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
from ros_ik.solvers.path.path_solvers import batch_size
from ros_ik.solvers.path.path_solvers import padded
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

    def __init__(self, problem: PathProblem, form: ClosedForm) -> None:
        """Store the problem.

        Args:
            problem: The problem.
            form: Closed form of the chain.
        """
        self._problem, self._check, self._form = problem, problem.check, form
        self._rows, self._columns = problem.rows, problem.solvers.chain.coordinates

    def along(self, first: int, count: int) -> Correct:
        """Return the correction of configurations to reach ``count`` poses from ``first`` on."""
        solver = self._solver(batch_size(count, 2 * len(self._problem.targets)))
        targets = padded(self._problem.targets[first : first + count], solver.n_problems)

        def correct(wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found = solver.solve(targets, padded(self._rows(wanted), len(targets), 0.0))
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
            some = slice(first, min(first + size, len(wanted)))
            count = some.stop - first
            found = solver.solve(
                padded(self._problem.targets[pose[some]], size),
                padded(self._rows(wanted[some]), size, 0.0),
            )
            is_found = found.status[:count] == SolveStatus.CONVERGED
            is_found[is_found] = self._check.is_free(found.joint_q[:count][is_found])
            there[some], solved[some] = found.joint_q[:count, self._columns], is_found
        return there, solved

    def searched(self, pose: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the poses of the given numbers [k] that a search solves, with variables [v]."""
        for first in range(0, len(pose), _AT_ONCE):
            some = pose[first : first + _AT_ONCE]
            size = batch_size(len(some), _AT_ONCE)
            targets = padded(self._problem.targets[some], size)
            found = self._problem.free_solver(size).solve(targets)
            solved = found.status[: len(some)] == SolveStatus.CONVERGED
            some, near = some[solved], found.joint_q[: len(some)][solved][:, self._columns]
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
        model, link = self._problem.solvers.model, self._problem.solvers.link
        jacobian = np.zeros((len(variables), 6, model.joint_dof_count))
        index = link_index(model, link, least=0)
        eval_jacobian(model, self._rows(variables), index, jacobian)
        starts, dofs = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
        joints = np.searchsorted(starts, self._columns, side='right') - 1
        jacobian = jacobian[:, :, dofs[joints]]
        if self._form.redundant_joint:
            # The last column is perpendicular to all rows, in a quarter of the time of an SVD.
            return np.linalg.qr(jacobian.swapaxes(1, 2), mode='complete')[0][..., -1]
        _, scale, motions = np.linalg.svd(jacobian)
        is_singular = scale[:, -1] < _SINGULAR * scale[:, 0]
        return np.where(is_singular[:, None], motions[:, -1], 0.0)

    def _solver(self, size: int) -> ChainIK:
        """Return a solver of some number of poses."""
        exact = min(_SMOOTHED, *self._problem.tolerances)
        return self._problem.solver(size, (exact, exact), settings=LOCAL)
