# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses of seven joints without a solution at the seed's value, and their solution on a CPU."""

from __future__ import annotations

from collections.abc import Callable

import warp as wp

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.analytic.redundancy.local_search import local_search_struct
from ros_ik.solvers.analytic.redundancy.local_search import local_values_kernel
from ros_ik.solvers.analytic.redundancy.local_search import random_configurations
from ros_ik.solvers.analytic.redundancy.local_search import SEARCH_LANES
from ros_ik.solvers.analytic.unsolved_poses import is_any
from ros_ik.solvers.analytic.unsolved_poses import SearchedPoses
from ros_ik.solvers.analytic.values_stage import ValuesStage
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.search.search import share_among_threads
from ros_ik.solvers.pose_ik.search.search import thread_count
from ros_ik.solvers.pose_ik.search.setup import LEAST_DAMPING
from ros_ik.solvers.pose_ik.search.setup import make_chain
from ros_ik.solvers.pose_ik.solver import ChainIK

# Least number of poses for which several threads pay off.
_WORTH_SHARING = 1024


class UnsolvedSeeds(SearchedPoses):
    """Poses without a solution at the seed's value, solved at values that two searches find.

    The first search, of several starts together, solves nearly all poses. The other one searches
    for the rest.
    """

    def __init__(
        self,
        stage: ValuesStage,
        search: ChainIK,
        chain: SerialChain,
        joint_index: int,
        bounds: HostBuffer,
        then: Callable[[int], None],
    ) -> None:
        """Allocate and capture the graphs.

        Args:
            stage: Solutions at values; those of the first search are in its rows ``local``.
            search: The other search.
            chain: The chain of seven joints.
            joint_index: Index of the redundant joint in the chain.
            bounds: Range of the redundant joint for each pose, a buffer of pairs [n].
            then: Launches that merge the solutions in the rows before an end.
        """
        n, device = len(stage.poses.host), stage.values.device
        self._left = HostBuffer((n,), wp.int32, device)
        super().__init__(stage, search, joint_index, bounds, self._left)
        settings, local = ChainIKSettings(), local_search_struct()()
        local.tolerance = search.problem.tolerance.lengths[0]
        local.length = settings.relative_length * chain.reach
        local.damping = settings.damping
        local.least_damping = LEAST_DAMPING[wp.float64] * chain.reach**2
        local.window, local.progress = settings.window, settings.progress
        local.seed = settings.seed
        starts = random_configurations(*chain.sampling_range(), settings.seed)
        local.starts = wp.array(starts, dtype=wp.float64, device=device)
        self._settings = [make_chain(chain), stage.redundancy, local]
        self._kernel = local_values_kernel(len(chain.slides), any(chain.slides), SEARCH_LANES)
        self._then, self._n_threads = then, thread_count(search.model, None)
        self._shares = n >= _WORTH_SHARING and self._n_threads > 1
        if self._shares:
            self._launch_search(0, 1)  # compiles and loads the kernel before threads use it
            self._solve_locally = Graph(self._launch_local, self._device)

    @property
    def ends(self) -> set[int]:
        """Results of :meth:`solve` that are not 0."""
        return super().ends if self._shares else {self._stage.rows.unsolved.stop}

    def launch_after_given(self) -> None:
        """Enqueue all launches of the first search, unless threads share it."""
        if not self._shares:
            self._launch_search(0, self._n)
            self._launch_local()

    def _launch_search(self, first: int, count: int, thread: int = 0) -> None:
        """Enqueue the first search for ``count`` poses from ``first`` on."""
        stage = self._stage
        launch(
            self._kernel,
            dim=1,
            inputs=[
                *self._settings, first, count, stage.n_exist.array[stage.rows.given],
                stage.poses.array, stage.seeds.array, self._bounds.array,
            ],
            outputs=[stage.values[stage.rows.local]],
            device=self._device,
        )  # fmt: skip

    def _launch_local(self) -> None:
        """Enqueue the solution at the values that the first search found, and the merging."""
        rows = self._stage.rows.local
        self._stage.launch(rows)
        self._launch_marks(rows.stop, self._left)
        self._then(rows.stop)

    def solve(self) -> int:
        """Solve the poses that are left; see :class:`UnsolvedPoses`."""
        if self._shares:
            given = self._stage.rows.given
            if self._stage.n_exist.host[given].all():
                return given.stop
            share_among_threads(self._launch_search, self._n, self._n_threads)
            self._solve_locally.launch()
        return self._solve() if is_any(self._left.host) else 0
