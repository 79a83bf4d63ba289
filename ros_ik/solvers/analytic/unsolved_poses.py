# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses of seven joints without a solution at any given or sampled value, and their solution."""

from __future__ import annotations

from collections.abc import Callable
import functools

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.host_buffer import wait_for
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.solvers.analytic.redundancy.redundant_kernels import found_values_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import searched_poses_kernel
from ros_ik.solvers.analytic.redundancy.redundant_kernels import unsolved_kernel
from ros_ik.solvers.analytic.values_stage import ValuesStage
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.solver import ChainIK

# Offsets from the value that was found. Solutions end where two branches meet, and only one side
# has some.
VALUE_OFFSETS = np.array([0.0, -1e-8, 1e-8, -1e-6, 1e-6, -1e-4, 1e-4])


def is_any(marks: np.ndarray) -> bool:
    """Return True if any pose is marked."""
    # A single number is read in a third of the time of a count.
    return bool(marks[0] if len(marks) == 1 else np.count_nonzero(marks))


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
        # The search between the values reads all rows, other launches only those of this solve.
        self._reads_all, self._had_some = stage.rows.nearest.stop > stage.rows.nearest.start, False
        self._solve_least_error = self._graph(least_error=True)

    def _graph(self, *, least_error: bool) -> Graph:
        """Capture the solution at the values in the buffer."""
        return Graph(functools.partial(self._launch, least_error=least_error), self._device)

    def _launch(self, *, least_error: bool) -> None:
        rows = self._stage.rows.unsolved
        self._values.upload()
        wp.copy(self._stage.values[rows], self._values.array)
        self._stage.launch(rows, least_error=least_error)

    def launch_after_given(self) -> None:
        """Enqueue the marking of poses without a solution in the rows ``given``."""
        self._launch_marks(self._stage.rows.given.stop, self._marks)

    def _launch_marks(self, end: int, marks: HostBuffer) -> None:
        """Enqueue the marking of poses without a solution in the rows before an end."""
        launch(
            unsolved_kernel(),
            dim=self._n,
            inputs=[self._stage.n_exist.array[:end]],
            outputs=[marks.array],
            device=self._device,
        )
        marks.download()

    @property
    def ends(self) -> set[int]:
        """Results of :meth:`solve` that are not 0."""
        rows = self._stage.rows
        return {rows.total} if self._reads_all else {rows.given.stop, rows.unsolved.stop}

    def solve(self) -> int:
        """Solve the marked poses; call it after the launches are complete.

        Returns:
            The end of the rows whose solutions are still to be merged; 0 for none.
        """
        rows = self._stage.rows
        has_some = is_any(self._marks.host)
        end = rows.given.stop
        if has_some or (self._reads_all and self._had_some):
            end = self._solve()
            self._had_some = has_some
        return rows.total if self._reads_all else end

    def _solve(self) -> int:
        """Solve the marked poses, see :meth:`solve`; without any, remove earlier results."""
        self._rows[:] = np.where(self._marks.host > 0, self._given[:, None], np.nan)
        self._solve_least_error.launch()
        return self._stage.rows.unsolved.stop


class SearchedPoses(UnsolvedPoses):
    """Poses without a solution at sampled values, solved at values that a search finds."""

    def __init__(
        self,
        stage: ValuesStage,
        search: ChainIK,
        joint_index: int,
        bounds: HostBuffer,
        searched: HostBuffer | None = None,
    ) -> None:
        """Allocate and capture the graphs.

        Args:
            stage: Solutions at values.
            search: Search for the poses.
            joint_index: Index of the redundant joint in the chain.
            bounds: Range of the redundant joint for each pose, a buffer of pairs [n].
            searched: Marks of the poses to search for, a buffer [n]; None for those of
                :meth:`launch_after_given`.
        """
        super().__init__(stage, VALUE_OFFSETS)
        self._search, self._bounds = search, bounds
        self._searched = self._marks if searched is None else searched
        self._first = slice(stage.rows.unsolved.start, stage.rows.unsolved.start + self._n)
        self._solved_beside = False
        self._coordinate = int(search.chain.coordinates[joint_index])
        self._unsolved = HostBuffer((self._n,), wp.int32, self._device)
        self._solve_again = self._graph(least_error=False)
        # Everything in one graph, or the search apart where threads share it.
        whole = search.whole_launch
        self._steps: list[Callable[[], None]]
        if whole is None:
            before, after = (
                Graph(step, self._device).enqueue for step in (self._hand_over, self._solve_found)
            )
            self._steps = [before, functools.partial(search.run, on_device=True), after]
        else:
            self._steps = [self._hand_over, whole, self._solve_found]
            self._steps = [Graph(self._run_steps, self._device).enqueue]

    def _run_steps(self) -> None:
        for step in self._steps:
            step()

    def _hand_over(self) -> None:
        """Enqueue the copies of the marked poses for the search."""
        search = self._search
        launch(
            searched_poses_kernel(),
            dim=self._n,
            inputs=[self._searched.array, self._stage.poses.array, self._stage.seeds.array],
            outputs=[search.poses.array, search.seeds.array],
            device=self._device,
        )

    def _solve_found(self) -> None:
        """Enqueue the solution at the values found, and mark poses without any."""
        stage, rows = self._stage, self._first
        launch(
            found_values_kernel(),
            dim=self._n,
            inputs=[
                self._searched.array, self._bounds.array, self._search.joint_q.array,
                self._coordinate,
            ],
            outputs=[stage.values[rows]],
            device=self._device,
        )  # fmt: skip
        stage.launch(rows)
        self._launch_marks(rows.stop, self._unsolved)

    def _solve(self) -> int:
        if self._solved_beside:
            self._rows[:] = np.nan
            self._solve_again.launch()
            self._solved_beside = False
        self._run_steps()
        wait_for(self._device)
        if is_any(self._unsolved.host):
            self._solve_beside(self._unsolved.host > 0)
        return self._stage.rows.unsolved.stop

    def _solve_beside(self, left: np.ndarray) -> None:
        """Solve the poses that are left, bool [n], also beside the values that were found."""
        self._solved_beside = True
        self._search.download()
        found = self._search.joint_q.host[:, self._coordinate]
        self._rows[0] = np.where(self._searched.host > 0, self._in_range(found), np.nan)
        beside = self._in_range(found + VALUE_OFFSETS[1:, None])
        self._rows[1:] = np.where(left, beside, np.nan)
        self._solve_again.launch()
        # The configuration of least error is dear: only where some pose needs it.
        if (left & ~self._n_exist.any(axis=0)).any():
            self._solve_least_error.launch()

    def _in_range(self, values: np.ndarray) -> np.ndarray:
        """Return values [.., n] of the redundant joint, clipped to its range for each pose."""
        low, high = self._bounds.host.T
        return np.minimum(np.maximum(values, low), high)
