# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of a step against barriers at q + dq, by forward kinematics, and what is cut from it.

The program sees a barrier through its linearisation, which is off by O(|dq|^2). Here
h(q + dq) itself decides: where h(q + dq) < -tolerance and h(q + dq) < h(q), the joints that move
that barrier stop (roboplan 0.7, enforceBarriers), or their part of the step is shortened to the
largest fraction that bisection finds to be good; a violated barrier that improves is let through.
Where that was not enough, the whole step becomes zero, which cannot make anything worse.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.compiled_kernel import compiled_kernel
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.step.barrier_evaluation import BarrierEvaluation
from ros_ik.solvers.step.differential_ik_settings import EnforceMode

# Halvings of the fraction of a step; it is found to one part in 2^10.
_HALVINGS = 10


@no_type_check
@functools.cache
def _check_kernels() -> SimpleNamespace:
    """Build the kernels, float64."""
    zero, half = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(0.5))

    @wp.func
    def worsens(h: wp.float64, h_next: wp.float64, tolerance: wp.float64) -> bool:
        """Whether a row is violated after the step, and more than before; NaN counts as worse."""
        return not (h_next >= -tolerance) and not (h_next >= h)

    @compiled_kernel()
    def mark_worsening_joints(
        values: wp.array2d(dtype=wp.float64),  # [n, total_rows] at q
        values_next: wp.array2d(dtype=wp.float64),  # [n, total_rows] at q + dq
        jacobian: wp.array3d(dtype=wp.float64),  # [n, total_rows, n_variables]
        barrier_start: wp.array(dtype=wp.int32),  # [barriers + 1]
        tolerance: wp.array(dtype=wp.float64),  # [1]
        whole_step: int,
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        is_cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        status[robot] = wp.static(int(SolveStatus.CONVERGED))
        for dof in range(dof_variable.shape[0]):
            is_cut[robot, dof] = 0
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
                    if whole_step != 0:
                        is_cut[robot, dof] = 1
                    elif variable >= 0:
                        for row in range(first, last):
                            if jacobian[robot, row, variable] != zero:
                                is_cut[robot, dof] = 1
        for dof in range(dof_variable.shape[0]):
            if not wp.isfinite(delta_q[robot, dof]):
                status[robot] = wp.static(int(SolveStatus.NON_FINITE_INPUT))

    @compiled_kernel()
    def shorten(
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        is_cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count]
        span: wp.array2d(dtype=wp.float64),  # [n, 2], largest good fraction and the next bad one
        part: wp.float64,  # of the span, where to go
        shorter: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
    ):
        robot = wp.tid()
        low = span[robot, 0]
        fraction = low + part * (span[robot, 1] - low)
        for dof in range(delta_q.shape[1]):
            shorter[robot, dof] = delta_q[robot, dof]
            if is_cut[robot, dof] != 0:
                shorter[robot, dof] = fraction * delta_q[robot, dof]

    @compiled_kernel()
    def reset_span(span: wp.array2d(dtype=wp.float64)):  # [n, 2]
        robot = wp.tid()
        span[robot, 0] = zero
        span[robot, 1] = wp.float64(1.0)

    @compiled_kernel()
    def halve_span(
        values: wp.array2d(dtype=wp.float64),  # [n, total_rows] at q
        values_next: wp.array2d(dtype=wp.float64),  # [n, total_rows] in the middle of the span
        tolerance: wp.array(dtype=wp.float64),  # [1]
        span: wp.array2d(dtype=wp.float64),  # [n, 2]
    ):
        robot = wp.tid()
        worse = bool(False)
        for row in range(values.shape[1]):
            if worsens(values[robot, row], values_next[robot, row], tolerance[0]):
                worse = True
        middle = half * (span[robot, 0] + span[robot, 1])
        if worse:
            span[robot, 1] = middle
        else:
            span[robot, 0] = middle

    @compiled_kernel()
    def finish(
        values: wp.array2d(dtype=wp.float64),  # [n, total_rows] at q
        values_next: wp.array2d(dtype=wp.float64),  # [n, total_rows] after the cut
        tolerance: wp.array(dtype=wp.float64),  # [1]
        shorter: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        stop = status[robot] == wp.static(int(SolveStatus.NON_FINITE_INPUT))
        for row in range(values.shape[1]):
            if worsens(values[robot, row], values_next[robot, row], tolerance[0]):
                stop = True
        if stop and status[robot] == wp.static(int(SolveStatus.CONVERGED)):
            status[robot] = wp.static(int(SolveStatus.HALTED_BY_BARRIER))
        for dof in range(delta_q.shape[1]):
            if stop:
                delta_q[robot, dof] = zero
            elif status[robot] != wp.static(int(SolveStatus.CONVERGED)):
                delta_q[robot, dof] = shorter[robot, dof]

    return SimpleNamespace(
        mark_worsening_joints=mark_worsening_joints,
        shorten=shorten,
        reset_span=reset_span,
        halve_span=halve_span,
        finish=finish,
    )


class BarrierCheck:
    """Checks steps against one set of barriers.

    Attributes:
        delta_q: The step, shape [n, joint_dof_count]; written by the caller, cut by :meth:`run`.
        status: :class:`SolveStatus` codes, shape [n].
        values: h at q, shape [n, total_rows].
        values_next: h at q + dq after the cut, shape [n, total_rows]; inf where a barrier is not
            checked.
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        barriers: Sequence[Barrier],
        *,
        mode: EnforceMode,
    ) -> None:
        """Allocate every array and capture the graph.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, written by the caller before each check.
            barriers: The barriers.
            mode: What is cut.
        """
        self._state, self._joint_q, self._mode = state, joint_q, mode
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        self._allocate()
        self._graph = Graph(self._record, state.device)
        self.delta_q, self.status = self._delta_q.host, self._status.host
        self.values, self.values_next = self._values.host, self._values_next.host

    def run(self, tolerance: float) -> None:
        """Check the step in ``delta_q`` at the coordinates in the buffer, and cut it where needed.

        Args:
            tolerance: How far below zero h may be, in units of h.
        """
        self._tolerance.host[0] = tolerance
        self._graph.launch()

    def _allocate(self) -> None:
        state = self._state
        n, total, device = state.n_robots, self._evaluation.n_rows, state.device
        dofs = state.model.joint_dof_count

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, device)

        self._values, self._values_next = floats(n, total), floats(n, total)
        self._values_next.array.fill_(wp.inf)
        self._delta_q, self._tolerance = floats(n, dofs), floats(1)
        self._status = HostBuffer((n,), wp.int32, device)
        self._jacobian = wp.zeros(
            (n, total, state.group.n_variables), dtype=state.scalar, device=device
        )
        self._barrier_start = wp.array(self._evaluation.start, dtype=wp.int32, device=device)
        self._shorter = wp.zeros_like(self._delta_q.array)
        self._is_cut = wp.zeros((n, dofs), dtype=wp.int32, device=device)
        self._span = wp.zeros((n, 2), dtype=state.scalar, device=device)

    def _record(self) -> None:
        """Launch everything one check needs."""
        state, kernels = self._state, _check_kernels()
        for buffer in (self._joint_q, self._delta_q, self._tolerance):
            buffer.upload()
        self._evaluation.launch_now(self._values.array, self._jacobian)
        self._evaluation.launch_ahead(self._delta_q.array, self._values_next.array)
        both = [self._values.array, self._values_next.array]
        self._launch(
            kernels.mark_worsening_joints,
            [
                *both, self._jacobian, self._barrier_start, self._tolerance.array,
                int(self._mode is EnforceMode.WHOLE), state.dof_variable, self._delta_q.array,
            ],
            [self._is_cut, self._status.array],
        )  # fmt: skip
        self._launch(kernels.reset_span, [], [self._span])
        if self._mode is EnforceMode.SCALE:
            for _ in range(_HALVINGS):
                self._record_shorter(0.5)
                self._launch(kernels.halve_span, [*both, self._tolerance.array], [self._span])
        self._record_shorter(0.0)
        self._launch(
            kernels.finish,
            [*both, self._tolerance.array, self._shorter],
            [self._delta_q.array, self._status.array],
        )
        for buffer in (self._delta_q, self._status, self._values, self._values_next):
            buffer.download()

    def _record_shorter(self, part: float) -> None:
        """Launch the barriers after a shorter step."""
        self._launch(
            _check_kernels().shorten,
            [self._delta_q.array, self._is_cut, self._span, part],
            [self._shorter],
        )
        self._evaluation.launch_ahead(self._shorter, self._values_next.array)

    def _launch(self, kernel: wp.Kernel, inputs: list, outputs: list) -> None:
        wp.launch(
            kernel,
            dim=self._state.n_robots,
            inputs=inputs,
            outputs=outputs,
            device=self._state.device,
        )
