# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses of seven joints without a solution at any given or sampled value, and their solution."""

from __future__ import annotations

import functools

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.solvers.analytic.redundancy.redundant_kernels import unsolved_kernel
from ros_ik.solvers.analytic.values_stage import ValuesStage
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.solver import ChainIK

# Offsets from the value that was found. Solutions end where two branches meet, and only one side
# has some.
VALUE_OFFSETS = np.array([0.0, -1e-8, 1e-8, -1e-6, 1e-6, -1e-4, 1e-4])


class UnsolvedPoses:
    """Poses without a solution at given values, which get configurations of least error there."""

    def __init__(self, stage: ValuesStage, values: np.ndarray) -> None:
        """Allocate and capture the graph.

        Args:
            stage: Solutions at values; those of these poses are in its rows ``unsolved``.
            values: Values of the redundant joint for a pose without a solution.
        """
        self._stage, self._device = stage, stage.values.device
        self._n, self._given = len(stage.poses.host), values
        self._marks = HostBuffer((self._n,), wp.int32, self._device)
        self._values = HostBuffer((len(values) * self._n,), wp.float64, self._device)
        # Views with a row for each value.
        self._rows = self._values.host.reshape(-1, self._n)
        self._n_exist = stage.n_exist.host[stage.rows.unsolved].reshape(-1, self._n)
        self._had_some = False
        self._solve_least_error = self._graph(least_error=True)

    def _graph(self, *, least_error: bool) -> Graph:
        """Capture the solution at the values in the buffer."""
        return Graph(functools.partial(self._launch, least_error=least_error), self._device)

    def _launch(self, *, least_error: bool) -> None:
        rows = self._stage.rows.unsolved
        self._values.upload()
        wp.copy(self._stage.values[rows], self._values.array)
        self._stage.launch(rows, least_error=least_error)

    def launch_marks(self) -> None:
        """Enqueue the marking of poses without a solution in the rows ``given``."""
        launch(
            unsolved_kernel(),
            dim=self._n,
            inputs=[self._stage.n_exist.array[self._stage.rows.given]],
            outputs=[self._marks.array],
            device=self._device,
        )
        self._marks.download()

    def solve(self) -> None:
        """Solve the marked poses; call it after the launches are complete."""
        has_some = bool(np.count_nonzero(self._marks.host))
        # Without any, results of the previous solve are still to be removed.
        if self._had_some or has_some:
            self._solve(self._marks.host > 0)
            self._had_some = has_some

    def _solve(self, marked: np.ndarray) -> None:
        """Solve marked poses, bool [n]."""
        self._rows[:] = np.where(marked, self._given[:, None], np.nan)
        self._solve_least_error.launch()


class SearchedPoses(UnsolvedPoses):
    """Poses without a solution at sampled values, solved at values that a search finds."""

    def __init__(
        self, stage: ValuesStage, search: ChainIK, joint_index: int, bounds: HostBuffer
    ) -> None:
        """Allocate and capture the graphs.

        Args:
            stage: Solutions at values.
            search: Search for the poses.
            joint_index: Index of the redundant joint in the chain.
            bounds: Range of the redundant joint for each pose, a buffer of pairs [n].
        """
        super().__init__(stage, VALUE_OFFSETS)
        self._search, self._joint_index, self._bounds = search, joint_index, bounds
        self._search_seeds = np.zeros((self._n, search.model.joint_coord_count))
        self._solve_again = self._graph(least_error=False)

    def _solve(self, marked: np.ndarray) -> None:
        found = self._searched_values(marked)
        # Most are solved at the value that was found; only others need those beside it.
        self._rows[0] = np.where(marked, self._in_range(found), np.nan)
        self._rows[1:] = np.nan
        self._solve_again.launch()
        left = marked & (self._n_exist[0] == 0)
        if left.any():
            beside = self._in_range(found + VALUE_OFFSETS[1:, None])
            self._rows[1:] = np.where(left, beside, np.nan)
            self._solve_again.launch()
            left &= ~self._n_exist.any(axis=0)
        # The configuration of least error is dear: only where some pose needs it.
        if left.any():
            self._solve_least_error.launch()

    def _searched_values(self, marked: np.ndarray) -> np.ndarray:
        """Return values of the redundant joint [n] that the search finds for marked poses [n]."""
        for buffer in (self._stage.poses, self._stage.seeds):
            buffer.download()
        wait_for(self._device)
        poses, columns = self._stage.poses.host, self._search.chain.coordinates
        if not marked.all():
            poses = np.where(marked[:, None], poses, np.nan)
        self._search_seeds[:, columns] = self._stage.seeds.host
        found = self._search.solve(poses, self._search_seeds)
        return found.joint_q[:, columns[self._joint_index]]

    def _in_range(self, values: np.ndarray) -> np.ndarray:
        """Return values [.., n] of the redundant joint, clipped to its range for each pose."""
        low, high = self._bounds.host.T
        return np.minimum(np.maximum(values, low), high)
