# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Values of barriers at a configuration, and their changes along paths, for checks."""

from collections.abc import Sequence
import functools
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.stepping.step_tree import launch_place_nodes
from ros_ik.kinematics.stepping.step_tree import make_step_tree
from ros_ik.kinematics.stepping.stop_functions import judge_function
from ros_ik.kinematics.stepping.stop_functions import SAFE
from ros_ik.kinematics.stepping.stop_path import PathCheck
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.limits.step_constraint import released_on_error
from ros_ik.objectives.recording.snapshot import Snapshots
from ros_ik.solvers.graph import Graph


@no_type_check
@functools.cache
def compare_rows_kernel(scalar: type) -> wp.Kernel:
    """Build the kernel that marks robots whose values get worse from one sample to the next."""
    judge, zero = judge_function(scalar), wp.constant(scalar(0.0))

    @compiled_kernel()
    def compare_rows(
        before: wp.array2d(dtype=scalar),  # [n, rows]
        after: wp.array2d(dtype=scalar),  # [n, rows]
        tolerance: wp.array(dtype=scalar),  # [1]
        column: int,
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
    ):
        robot = wp.tid()
        for row in range(before.shape[1]):
            h = before[robot, row]
            code = judge(h, after[robot, row], h, zero, zero, -tolerance[0], False)
            if code != wp.static(SAFE):
                unsafe[robot, column] = 1

    return compare_rows


class BarrierEvaluation:
    """Launches that evaluate a set of barriers; they allocate nothing.

    Attributes:
        barriers: The barriers.
        start: First row of each barrier, and the number of all rows, int32 [barriers + 1].
    """

    def __init__(self, state: StepState, tree: KinematicTree, barriers: Sequence[Barrier]) -> None:
        """Bind the barriers.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            barriers: The barriers.
        """
        self._state = state
        self.barriers = tuple(barriers)
        with released_on_error(barriers):
            for barrier in barriers:
                barrier.bind(state)
        self._snapshots = Snapshots((), barriers)
        counts = [barrier.row_count for barrier in barriers]
        self.start = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        order = tree.arrays.joint_order.numpy()
        self._nodes = make_step_tree(state.model, order, links_of(barriers), state.scalar)
        # Values at two samples, for barriers without ``launch_follow``.
        self._rows = {
            column: [self._room(barrier), self._room(barrier)]
            for column, barrier in enumerate(barriers)
            if barrier.is_checked and not barrier.follows
        }

    @property
    def is_current(self) -> bool:
        """True if the data of barriers are unchanged since recording."""
        return self._snapshots.are_current

    def _room(self, barrier: Barrier) -> wp.array:
        shape = self._state.n_robots, barrier.row_count
        return wp.zeros(shape, dtype=self._state.scalar, device=self._state.device)

    @property
    def n_rows(self) -> int:
        """Number of values h of all barriers."""
        return int(self.start[-1])

    def launch_now(self, values: wp.array, jacobian: wp.array | None = None) -> None:
        """Evaluate at the coordinates of the state.

        Args:
            values: Output: h, shape [n, n_rows].
            jacobian: Output: dh/dx, shape [n, n_rows, n_variables]; None to leave it out.
        """
        state = self._state
        launch_place_nodes(self._nodes, state.joint_q, state.body_q, state.joint_S_s)
        for barrier, start in zip(self.barriers, self.start, strict=False):
            barrier.launch_values(state.body_q, values, int(start))
            if jacobian is not None:
                barrier.launch_jacobian(jacobian, int(start))

    @property
    def sweeps(self) -> bool:
        """True if :meth:`launch_sweep` can be called."""
        return all(barrier.sweeps for barrier in self.barriers if barrier.is_checked)

    def launch_sweep(self, travel: wp.array, may_fall: wp.array) -> None:
        """Mark robots for which some value may become negative while joints move within bounds.

        Args:
            travel: Bounds on the motion of each degree of freedom, shape [n, joint_dof_count].
            may_fall: Output, int32 [n]; see :meth:`Barrier.launch_sweep`.
        """
        state = self._state
        launch_place_nodes(self._nodes, state.joint_q, state.body_q, state.joint_S_s)
        for barrier in self.barriers:
            if barrier.is_checked:
                barrier.launch_sweep(travel, may_fall)

    def launch_follow(self, check: PathCheck) -> None:
        """Mark barriers that get worse on the paths of the robots, with a column for each.

        Args:
            check: The paths, not evaluated yet, and the output arrays.
        """
        check.path.launch_place(skips=not self._rows)
        state = self._state
        launch_place_nodes(self._nodes, state.joint_q, state.body_q, state.joint_S_s)
        for column, barrier in enumerate(self.barriers):
            if not barrier.is_checked:
                continue
            if barrier.follows:
                barrier.launch_follow(check, column)
            else:
                self._launch_comparison(check, column)

    def _launch_comparison(self, check: PathCheck, column: int) -> None:
        """Compare the values of a barrier at each sample with those at the previous sample."""
        barrier, kernel = self.barriers[column], compare_rows_kernel(self._state.scalar)
        rows = self._rows[column]
        barrier.launch_values(check.path.body_q(0), rows[0], 0)
        for sample in range(1, check.path.n_samples):
            before, after = rows[(sample + 1) % 2], rows[sample % 2]
            barrier.launch_values(check.path.body_q(sample), after, 0)
            launch(
                kernel,
                dim=self._state.n_robots,
                inputs=[before, after, check.tolerance, column],
                outputs=[check.unsafe],
                device=self._state.device,
            )


class BarrierValues:
    """Captured evaluation of a set of barriers at the current configuration."""

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        barriers: Sequence[Barrier],
    ) -> None:
        """Allocate and capture the graph.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, filled by the caller before each evaluation.
            barriers: The barriers.
        """
        self._joint_q = joint_q
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        shape = state.n_robots, self._evaluation.n_rows
        self._values = HostBuffer(shape, state.scalar, state.device)
        self._graph = Graph(self._record, state.device, barriers)

    @property
    def is_current(self) -> bool:
        """True if the data of barriers are unchanged since recording."""
        return self._evaluation.is_current

    def evaluate(self) -> np.ndarray:
        """Return a copy of h of every row at the coordinates in the buffer, shape [n, rows]."""
        self._graph.launch()
        return self._values.host.copy()

    def _record(self) -> None:
        self._joint_q.upload()
        self._evaluation.launch_now(self._values.array)
        self._values.download()


def links_of(barriers: Sequence[Barrier]) -> set[int] | None:
    """Return the links whose poses any of the barriers reads, None for all."""
    links: set[int] = set()
    for barrier in barriers:
        some = barrier.links()
        if some is None:
            return None
        links.update(some)
    return links
