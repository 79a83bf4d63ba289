# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of a step against barriers at q + dq, by forward kinematics.

The quadratic program uses a linearised barrier, with an error of O(|dq|^2). This check evaluates
h(q + dq) itself, for every pair of a collision barrier, whether it has a row or not. A barrier
gets worse if h(q + dq) < -tolerance and h(q + dq) < h(q); a violated barrier may improve. The
joints that move a barrier which gets worse stop (as in roboplan 0.7, enforceBarriers), or their
part of the step is shortened to the largest safe fraction, found by bisection. If that is not
enough, the whole step becomes zero, which cannot make anything worse.
"""

from collections.abc import Sequence
import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.stepping.stop_path import PathCheck
from ros_ik.kinematics.stepping.stop_path import StopPath
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import BarrierEvaluation
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import links_of
from ros_ik.solvers.differential_ik.checks.enforce_mode import EnforceMode
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus

# Bisections of the fraction of a step, which is accurate to 2^-10.
_HALVINGS = 10


@no_type_check
@functools.cache
def _check_kernels() -> SimpleNamespace:
    """Build the kernels, float64; one thread is one robot."""
    zero, half = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(0.5))

    @wp.func
    def take_unsafe(robot: int, unsafe: wp.array2d(dtype=wp.int32)) -> bool:
        """Return True if any barrier gets worse, and clear the flags."""
        found = bool(False)
        for barrier in range(unsafe.shape[1]):
            if unsafe[robot, barrier] != 0:
                found = True
            unsafe[robot, barrier] = 0
        return found

    @compiled_kernel()
    def take_step(
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        is_cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count]
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
    ):
        robot = wp.tid()
        for barrier in range(unsafe.shape[1]):
            unsafe[robot, barrier] = 0
        for dof in range(delta_q.shape[1]):
            step[robot, dof] = delta_q[robot, dof]
            is_cut[robot, dof] = 0

    @compiled_kernel()
    def mark_joints_of_unsafe_barriers(
        jacobian: wp.array3d(dtype=wp.float64),  # [n, total_rows, n_variables]
        barrier_start: wp.array(dtype=wp.int32),  # [barriers + 1]
        whole_step: int,
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
        is_cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        status[robot] = wp.static(int(SolveStatus.CONVERGED))
        for barrier in range(barrier_start.shape[0] - 1):
            if unsafe[robot, barrier] != 0:
                status[robot] = wp.static(int(SolveStatus.HALTED_BY_BARRIER))
                for dof in range(dof_variable.shape[0]):
                    variable = dof_variable[dof]
                    if whole_step != 0:
                        is_cut[robot, dof] = 1
                    elif variable >= 0:
                        for row in range(barrier_start[barrier], barrier_start[barrier + 1]):
                            if jacobian[robot, row, variable] != zero:
                                is_cut[robot, dof] = 1
            unsafe[robot, barrier] = 0
        for dof in range(dof_variable.shape[0]):
            if not wp.isfinite(delta_q[robot, dof]):
                status[robot] = wp.static(int(SolveStatus.NON_FINITE_INPUT))

    @compiled_kernel()
    def shorten(
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        is_cut: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count]
        span: wp.array2d(dtype=wp.float64),  # [n, 2], largest good fraction and the next bad one
        part: wp.float64,  # fraction of the span to test
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
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers], in the middle of the span
        span: wp.array2d(dtype=wp.float64),  # [n, 2]
    ):
        robot = wp.tid()
        middle = half * (span[robot, 0] + span[robot, 1])
        if take_unsafe(robot, unsafe):
            span[robot, 1] = middle
        else:
            span[robot, 0] = middle

    @compiled_kernel()
    def finish(
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers], after the cut
        shorter: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        delta_q: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        status: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        stop = status[robot] == wp.static(int(SolveStatus.NON_FINITE_INPUT))
        if take_unsafe(robot, unsafe):
            stop = True
        if stop and status[robot] == wp.static(int(SolveStatus.CONVERGED)):
            status[robot] = wp.static(int(SolveStatus.HALTED_BY_BARRIER))
        for dof in range(delta_q.shape[1]):
            if stop:
                delta_q[robot, dof] = zero
            elif status[robot] != wp.static(int(SolveStatus.CONVERGED)):
                delta_q[robot, dof] = shorter[robot, dof]

    return SimpleNamespace(
        take_step=take_step,
        mark_joints_of_unsafe_barriers=mark_joints_of_unsafe_barriers,
        shorten=shorten,
        reset_span=reset_span,
        halve_span=halve_span,
        finish=finish,
    )


class BarrierCheck:
    """Captured check of steps against a set of barriers.

    Attributes:
        delta_q: The step, shape [n, joint_dof_count]; set by the caller, cut by :meth:`run`.
        status: :class:`SolveStatus` codes, shape [n].
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
            joint_q: Buffer of ``state.joint_q``, filled by the caller before each check.
            barriers: The barriers.
            mode: Choice of the joints that are cut.
        """
        self._state, self._joint_q, self._mode = state, joint_q, mode
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        self._allocate(tree, barriers)
        self._graph = Graph(self._record, state.device, barriers)
        self.delta_q, self.status = self._delta_q.host, self._status.host

    @property
    def is_current(self) -> bool:
        """True if the data of barriers are unchanged since recording."""
        return self._evaluation.is_current

    def run(self, tolerance: float) -> None:
        """Check the step in ``delta_q`` at the coordinates in the buffer, and cut it if necessary.

        Args:
            tolerance: Tolerated violation of h, in units of h.
        """
        self._tolerance.host[0] = tolerance
        self._graph.launch()

    @shares_launch_lock
    def _allocate(self, tree: KinematicTree, barriers: Sequence[Barrier]) -> None:
        state = self._state
        n, total, device = state.n_robots, self._evaluation.n_rows, state.device
        dofs, count = state.model.joint_dof_count, max(len(barriers), 1)

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, device)

        self._delta_q, self._tolerance = floats(n, dofs), floats(1)
        self._status = HostBuffer((n,), wp.int32, device)
        self._values = wp.zeros((n, total), dtype=state.scalar, device=device)
        self._jacobian = wp.zeros(
            (n, total, state.group.n_variables), dtype=state.scalar, device=device
        )
        self._barrier_start = wp.array(self._evaluation.start, dtype=wp.int32, device=device)
        self._step = wp.zeros_like(self._delta_q.array)
        self._is_cut = wp.zeros((n, dofs), dtype=wp.int32, device=device)
        self._span = wp.zeros((n, 2), dtype=state.scalar, device=device)
        self._unsafe = wp.zeros((n, count), dtype=wp.int32, device=device)
        # The path consists of the step only, without a stop.
        never = wp.full(dofs, np.inf, dtype=state.scalar, device=device)
        path = StopPath(state, tree, links_of(barriers), self._step, never, never, np.zeros(1))
        no_columns = wp.zeros((n, 0), dtype=wp.int32, device=device)
        common = path, self._tolerance.array, False, self._unsafe
        self._check = PathCheck(*common, no_columns)
        self._check_joints = PathCheck(*common, self._is_cut)

    def _record(self) -> None:
        """Launch the kernels of one check."""
        state, kernels = self._state, _check_kernels()
        for buffer in (self._joint_q, self._delta_q, self._tolerance):
            buffer.upload()
        delta_q = self._delta_q.array
        self._evaluation.launch_now(self._values, self._jacobian)
        self._launch(kernels.take_step, [delta_q], [self._step, self._is_cut, self._unsafe])
        self._evaluation.launch_follow(self._check_joints)
        self._launch(
            kernels.mark_joints_of_unsafe_barriers,
            [
                self._jacobian, self._barrier_start, int(self._mode is EnforceMode.WHOLE),
                state.dof_variable, delta_q,
            ],
            [self._unsafe, self._is_cut, self._status.array],
        )  # fmt: skip
        self._launch(kernels.reset_span, [], [self._span])
        if self._mode is EnforceMode.SCALE:
            for _ in range(_HALVINGS):
                self._record_shorter(0.5)
                self._launch(kernels.halve_span, [self._unsafe], [self._span])
        self._record_shorter(0.0)
        self._launch(kernels.finish, [self._unsafe, self._step], [delta_q, self._status.array])
        for buffer in (self._delta_q, self._status):
            buffer.download()

    def _record_shorter(self, part: float) -> None:
        """Launch the evaluation of the barriers after a shorter step."""
        self._launch(
            _check_kernels().shorten,
            [self._delta_q.array, self._is_cut, self._span, part],
            [self._step],
        )
        self._evaluation.launch_follow(self._check)

    def _launch(self, kernel: wp.Kernel, inputs: list, outputs: list) -> None:
        launch(
            kernel,
            dim=self._state.n_robots,
            inputs=inputs,
            outputs=outputs,
            device=self._state.device,
        )
