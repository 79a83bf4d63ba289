# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of a step against barriers at q + dq, by forward kinematics, and what is cut from it.

The program sees a barrier through its linearisation, which is off by O(|dq|^2). Here
h(q + dq) itself decides: where h(q + dq) < -tolerance and h(q + dq) < h(q), the joints that move
that barrier stop (roboplan 0.7, enforceBarriers); a violated barrier that improves is let through.
Where stopping them was not enough, the whole step becomes zero, which cannot make anything worse.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus


@no_type_check
@functools.cache
def _check_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels of one floating-point type."""

    @wp.func
    def worsens(h: scalar, h_next: scalar, tolerance: scalar) -> bool:
        """Whether a row is violated after the step, and more than before; NaN counts as worse."""
        return not (h_next >= -tolerance) and not (h_next >= h)

    @wp.kernel(enable_backward=False, module='unique')
    def stop_worsening_joints(
        values: wp.array2d(dtype=scalar),  # [n, total_rows] at q
        values_next: wp.array2d(dtype=scalar),  # [n, total_rows] at q + dq
        jacobian: wp.array3d(dtype=scalar),  # [n, total_rows, n_variables]
        barrier_start: wp.array(dtype=wp.int32),  # [barriers + 1]
        tolerance: wp.array(dtype=scalar),  # [1]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        delta_q: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        status[robot] = wp.static(int(SolveStatus.CONVERGED))
        for barrier in range(barrier_start.shape[0] - 1):
            first = barrier_start[barrier]
            last = barrier_start[barrier + 1]
            worse = bool(False)
            for row in range(first, last):
                if worsens(values[robot, row], values_next[robot, row], tolerance[0]):
                    worse = True
            if worse:
                status[robot] = wp.static(int(SolveStatus.HALTED_BY_BARRIER))
                for dof in range(dof_variable.shape[0]):
                    variable = dof_variable[dof]
                    if variable >= 0:
                        for row in range(first, last):
                            if jacobian[robot, row, variable] != scalar(0.0):
                                delta_q[robot, dof] = scalar(0.0)

    @wp.kernel(enable_backward=False, module='unique')
    def stop_all_joints(
        values: wp.array2d(dtype=scalar),  # [n, total_rows] at q
        values_next: wp.array2d(dtype=scalar),  # [n, total_rows] at q + dq
        tolerance: wp.array(dtype=scalar),  # [1]
        whole_step: int,
        delta_q: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        stop = whole_step != 0 and status[robot] != wp.static(int(SolveStatus.CONVERGED))
        for row in range(values.shape[1]):
            if worsens(values[robot, row], values_next[robot, row], tolerance[0]):
                stop = True
        for dof in range(delta_q.shape[1]):
            if not wp.isfinite(delta_q[robot, dof]):
                stop = True
                status[robot] = wp.static(int(SolveStatus.NON_FINITE_INPUT))
        if stop:
            for dof in range(delta_q.shape[1]):
                delta_q[robot, dof] = scalar(0.0)

    return SimpleNamespace(
        stop_worsening_joints=stop_worsening_joints, stop_all_joints=stop_all_joints
    )


class BarrierCheck:
    """Checks steps against one set of barriers.

    Attributes:
        delta_q: The step, shape [n, joint_dof_count]; written by the caller, cut by :meth:`run`.
        status: :class:`SolveStatus` codes, shape [n].
        values: h at q, shape [n, total_rows].
        values_next: h at q + dq after the cut, shape [n, total_rows].
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        barriers: Sequence[Barrier],
        *,
        whole_step: bool,
    ) -> None:
        """Allocate every array and capture the graph.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, written by the caller before each check.
            barriers: The barriers.
            whole_step: Zero the whole step instead of the joints that move the barrier.
        """
        self._state, self._tree, self._joint_q = state, tree, joint_q
        self._barriers, self._whole_step = tuple(barriers), whole_step
        for barrier in barriers:
            barrier.bind(state)
        self._start = np.concatenate(([0], np.cumsum([b.row_count for b in barriers]))).astype(
            np.int32
        )
        n, total, device = state.n_robots, int(self._start[-1]), state.device

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, device)

        self._values, self._values_next = floats(n, total), floats(n, total)
        self._delta_q, self._tolerance = floats(n, state.model.joint_dof_count), floats(1)
        self._status = HostBuffer((n,), wp.int32, device)
        self._jacobian = wp.zeros(
            (n, total, state.group.n_variables), dtype=state.scalar, device=device
        )
        self._barrier_start = wp.array(self._start, dtype=wp.int32, device=device)
        self._next_q = wp.zeros_like(state.joint_q)
        self._next_body_q = wp.zeros_like(state.body_q)
        self._graph = Graph(self._record, device)
        self.delta_q, self.status = self._delta_q.host, self._status.host
        self.values, self.values_next = self._values.host, self._values_next.host

    def run(self, tolerance: float) -> None:
        """Check the step in ``delta_q`` at the coordinates in the buffer, and cut it where needed.

        Args:
            tolerance: How far below zero h may be, in units of h.
        """
        self._tolerance.host[0] = tolerance
        self._graph.launch()

    def _record(self) -> None:
        """Launch everything one check needs."""
        state, kernels = self._state, _check_kernels(self._state.scalar)
        for buffer in (self._joint_q, self._delta_q, self._tolerance):
            buffer.upload()
        launch_forward_kinematics(self._tree, state.joint_q, state.body_q)
        launch_motion_subspace(self._tree, state.joint_q, state.body_q, state.joint_S_s)
        for barrier, start in zip(self._barriers, self._start, strict=False):
            barrier.launch_values(state.body_q, self._values.array, int(start))
            barrier.launch_jacobian(self._jacobian, int(start))
        self._record_next_values()
        both = [self._values.array, self._values_next.array]
        wp.launch(
            kernels.stop_worsening_joints,
            dim=state.n_robots,
            inputs=[
                *both, self._jacobian, self._barrier_start, self._tolerance.array,
                state.dof_variable,
            ],
            outputs=[self._delta_q.array, self._status.array],
            device=state.device,
        )  # fmt: skip
        self._record_next_values()
        wp.launch(
            kernels.stop_all_joints,
            dim=state.n_robots,
            inputs=[*both, self._tolerance.array, int(self._whole_step)],
            outputs=[self._delta_q.array, self._status.array],
            device=state.device,
        )
        for buffer in (self._delta_q, self._status, self._values, self._values_next):
            buffer.download()

    def _record_next_values(self) -> None:
        """Launch the barriers at q + dq."""
        launch_integrate(self._tree, self._state.joint_q, self._delta_q.array, self._next_q)
        launch_forward_kinematics(self._tree, self._next_q, self._next_body_q)
        for barrier, start in zip(self._barriers, self._start, strict=False):
            barrier.launch_values(self._next_body_q, self._values_next.array, int(start))
