# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Values of barriers at a configuration and after a displacement, for checks of steps."""

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.step.tree import launch_place_nodes
from ros_ik.solvers.step.tree import make_step_tree


class BarrierEvaluation:
    """Launches that evaluate a set of barriers; they allocate nothing.

    Attributes:
        barriers: The barriers.
        start: First row of each barrier, and the number of all rows, int32 [barriers + 1].
    """

    def __init__(self, state: StepState, tree: KinematicTree, barriers: Sequence[Barrier]) -> None:
        """Bind the barriers and allocate the configuration ahead.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            barriers: The barriers.
        """
        self._state, self._tree = state, tree
        self.barriers = tuple(barriers)
        for barrier in barriers:
            barrier.bind(state)
        counts = [barrier.row_count for barrier in barriers]
        self.start = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        order = tree.arrays.joint_order.numpy()
        self._nodes = make_step_tree(state.model, order, links_of(barriers), state.scalar)
        self._ahead_q = wp.zeros_like(state.joint_q)
        self._ahead_body_q = wp.zeros_like(state.body_q)
        self._ahead_S_s = wp.zeros_like(state.joint_S_s)

    @property
    def n_rows(self) -> int:
        """Number of values h of all barriers."""
        return int(self.start[-1])

    def launch_now(self, values: wp.array, jacobian: wp.array | None = None) -> None:
        """Evaluate at the coordinates of the state.

        Args:
            values: Output: h, shape [n, n_rows].
            jacobian: Output: dh/dx, shape [n, n_rows, n_variables]; None for none.
        """
        state = self._state
        launch_place_nodes(self._nodes, state.joint_q, state.body_q, state.joint_S_s)
        for barrier, start in zip(self.barriers, self.start, strict=False):
            barrier.launch_values(state.body_q, values, int(start))
            if jacobian is not None:
                barrier.launch_jacobian(jacobian, int(start))

    @property
    def sweeps(self) -> bool:
        """Whether :meth:`launch_sweep` can be called."""
        return all(barrier.sweeps for barrier in self.barriers if barrier.is_checked)

    def launch_sweep(self, way: wp.array, may_fall: wp.array) -> None:
        """Mark robots for which some value may become negative while joints move.

        Args:
            way: Bounds on the size of their motion, shape [n, joint_dof_count].
            may_fall: Output, int32 [n]; see :meth:`Barrier.launch_sweep`.
        """
        state = self._state
        launch_place_nodes(self._nodes, state.joint_q, state.body_q, state.joint_S_s)
        for barrier in self.barriers:
            if barrier.is_checked:
                barrier.launch_sweep(way, may_fall)

    def launch_ahead(
        self, displacement: wp.array, values: wp.array, *, violations_only: bool = False
    ) -> None:
        """Evaluate after a displacement.

        Args:
            displacement: Over all degrees of freedom, shape [n, joint_dof_count].
            values: Output: h, shape [n, n_rows]; rows of barriers that are not checked are left.
            violations_only: Whether values that are not negative may be any such.
        """
        launch_integrate(self._tree, self._state.joint_q, displacement, self._ahead_q)
        launch_place_nodes(self._nodes, self._ahead_q, self._ahead_body_q, self._ahead_S_s)
        for barrier, start in zip(self.barriers, self.start, strict=False):
            if not barrier.is_checked:
                continue
            if violations_only:
                barrier.launch_violations(self._ahead_body_q, values, int(start))
            else:
                barrier.launch_values(self._ahead_body_q, values, int(start))


class BarrierValues:
    """The values of a set of barriers at the present configuration, in a graph of their own."""

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
            joint_q: Buffer of ``state.joint_q``, written by the caller before each evaluation.
            barriers: The barriers.
        """
        self._joint_q = joint_q
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        shape = state.n_robots, self._evaluation.n_rows
        self._values = HostBuffer(shape, state.scalar, state.device)
        self._graph = Graph(self._record, state.device)

    def evaluate(self) -> np.ndarray:
        """Return h of every row at the coordinates in the buffer, shape [n, rows], a copy."""
        self._graph.launch()
        return self._values.host.copy()

    def _record(self) -> None:
        self._joint_q.upload()
        self._evaluation.launch_now(self._values.array)
        self._values.download()


def links_of(barriers: Sequence[Barrier]) -> set[int] | None:
    """Return the links whose poses some barriers read, None for all."""
    links: set[int] = set()
    for barrier in barriers:
        some = barrier.links()
        if some is None:
            return None
        links.update(some)
    return links
