# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Launches that search the solutions of seven joints nearest to the seeds, between the values."""

from __future__ import annotations

import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.lanes import lanes_on
from ros_ik.kinematics.serial_chain import SerialChain
from ros_ik.solvers.analytic.redundancy.nearest_kernel import nearest_kernel
from ros_ik.solvers.analytic.redundancy.nearest_kernel import STARTS
from ros_ik.solvers.analytic.values_stage import ValuesStage
from ros_ik.solvers.pose_ik.search.setup import make_chain


class NearestSearch:
    """Search along the curves of solutions that pass through those at values."""

    def __init__(
        self, stage: ValuesStage, chain: SerialChain, length: float, tolerance: float
    ) -> None:
        """Store the arguments of the kernel.

        Args:
            stage: Solutions at values, which also receives the nearest ones.
            chain: The chain of seven joints.
            length: Length that is equivalent to a radian [m].
            tolerance: Largest error of a solution [m], with angles times ``length``.
        """
        self._stage, self._device = stage, stage.values.device
        self._settings = [make_chain(chain), stage.redundancy, length, tolerance]
        self._kernel = nearest_kernel(
            len(chain.slides), any(chain.slides), lanes_on(self._device, STARTS)
        )

    def launch(self) -> None:
        """Enqueue the search."""
        stage, rows = self._stage, self._stage.rows
        self._launch_from(slice(0, rows.unsolved.stop), known=False)
        # Other branches at this value may be nearer.
        wp.copy(stage.values[rows.beside_nearest], stage.values[rows.nearest])
        stage.launch(rows.beside_nearest)
        self._launch_from(rows.beside_nearest, known=True)
        stage.launch_turns(rows.nearest)

    def _launch_from(self, rows: slice, *, known: bool) -> None:
        """Enqueue the search from the solutions in some rows; ``known`` if one was found."""
        stage, to = self._stage, self._stage.rows.nearest
        start, nearest = stage.arrays.rows(rows), stage.arrays.rows(to)
        launch(
            self._kernel,
            dim=len(stage.poses.host),
            inputs=[
                *self._settings, int(known), stage.poses.array, stage.seeds.array,
                stage.values[rows], start.solutions, start.distances, start.n_exist,
                start.n_beside,
            ],
            outputs=[
                stage.values[to], nearest.solutions, nearest.distances, nearest.n_exist,
            ],
            device=self._device,
        )  # fmt: skip
