# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check that a robot which takes a step can still stop before a barrier.

A step is safe where no barrier is violated at q + dq nor along the stop that would follow it:
every variable slows down by s = a dt^2 a step. A step that is not safe is drawn towards the stop
that the step before it was checked for,

    dq(alpha) = stop + alpha (dq - stop),    alpha = 1, 1/2, 1/4, 0

so a robot that starts safe stays safe without ever leaving its acceleration limits: alpha = 0 was
checked one step ago. (Sets that are safe because of stopping motions: Fraichard and Asama,
"Inevitable collision states - a step towards safer robots?", Advanced Robotics 18 (2004).) After m
steps of the stop a variable has moved by k |dq| - s k (k + 1) / 2, k = min(m, floor(|dq| / s)).

Looking at many configurations costs time, and mostly nothing is near. So it is asked first whether
any barrier could be reached by joints that move no farther than to where they come to rest.
"""

from collections.abc import Sequence
import functools
import math
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.compiled_kernel import compiled_kernel
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.step.barrier_evaluation import BarrierEvaluation

# Rounding of h [units of h]: a distance that the step cannot change must not hold it.
_ROUNDING = 1e-12
# Fractions of a step that are tried, in this order, before nothing is left of it.
_FRACTIONS = (1.0, 0.5, 0.25)
# Robots up to which a sweep pays: of many one is always near something.
_MOST_SWEPT = 8


@no_type_check
@functools.cache
def stopping_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels of one floating-point type; one thread is one robot."""

    @wp.func
    def slower(step: scalar, slowdown: scalar) -> scalar:
        return wp.sign(step) * wp.max(wp.abs(step) - slowdown, scalar(0.0))

    @wp.func
    def steps_to_stop(step: scalar, slowdown: scalar) -> scalar:
        if slowdown > scalar(0.0) and wp.isfinite(slowdown):
            return wp.floor(wp.abs(step) / slowdown)
        return scalar(0.0)

    @compiled_kernel()
    def blend_with_stop(
        candidate: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        last: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        fraction: wp.array(dtype=scalar),  # [n]
        slowdown: wp.array(dtype=scalar),  # [n_variables]
        variable_dof: wp.array(dtype=wp.int32),  # [n_variables]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        horizon: wp.array(dtype=scalar),  # [n], steps until the last variable rests
        unsafe: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        unsafe[robot] = 0
        longest = scalar(0.0)
        for dof in range(step.shape[1]):
            variable = dof_variable[dof]
            step[robot, dof] = scalar(0.0)
            if variable >= 0:
                source = variable_dof[variable]
                value = candidate[robot, source]
                if fraction[robot] < scalar(1.0):
                    stop = slower(last[robot, source], slowdown[variable])
                    value = stop + fraction[robot] * (value - stop)
                step[robot, dof] = dof_scale[dof] * value
                longest = wp.max(longest, steps_to_stop(value, slowdown[variable]))
        horizon[robot] = longest

    @compiled_kernel()
    def advance_stop(
        step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        horizon: wp.array(dtype=scalar),  # [n]
        part: scalar,
        slowdown: wp.array(dtype=scalar),  # [n_variables]
        variable_dof: wp.array(dtype=wp.int32),  # [n_variables]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        displacement: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
    ):
        robot = wp.tid()
        steps = wp.ceil(part * horizon[robot])
        for dof in range(step.shape[1]):
            variable = dof_variable[dof]
            displacement[robot, dof] = scalar(0.0)
            if variable >= 0:
                first = step[robot, variable_dof[variable]]
                s = slowdown[variable]
                k = wp.min(steps, steps_to_stop(first, s))
                total = wp.abs(first)
                if k > scalar(0.0):
                    total += k * total - s * k * (k + scalar(1.0)) / scalar(2.0)
                displacement[robot, dof] = dof_scale[dof] * wp.sign(first) * total

    @compiled_kernel()
    def judge(
        values: wp.array2d(dtype=scalar),  # [n, total_rows] at q
        values_ahead: wp.array2d(dtype=scalar),  # [n, total_rows]
        tolerance: wp.array(dtype=scalar),  # [1]
        unsafe: wp.array(dtype=wp.int32),  # [n]
    ):
        robot = wp.tid()
        for row in range(values.shape[1]):
            ahead = values_ahead[robot, row]
            least = values[robot, row] - scalar(wp.static(_ROUNDING))
            if not (ahead >= -tolerance[0]) and not (ahead >= least):
                unsafe[robot] = 1

    return SimpleNamespace(blend=blend_with_stop, advance=advance_stop, judge=judge)


class StoppingCheck:
    """Checks steps, and the stops that would follow them, against one set of barriers.

    Attributes:
        delta_q: The step, shape [n, joint_dof_count]; written by the caller, drawn towards the
            stop by :meth:`run`.
        last: The step before it, shape [n, joint_dof_count]; written by the caller.
        status: :class:`SolveStatus` codes, shape [n].
    """

    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        barriers: Sequence[Barrier],
        acceleration: np.ndarray,
        *,
        n_checks: int = 16,
    ) -> None:
        """Allocate every array and capture the graph.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, written by the caller before each check.
            barriers: The barriers.
            acceleration: Largest deceleration of each degree of freedom [rad/s^2 or m/s^2], shape
                [joint_dof_count]; inf where one stops at once.
            n_checks: Configurations of the stop that are looked at, the last one at standstill,
                evenly spaced along the way. A stop of so many steps is seen whole; in a longer one
                a barrier may be touched between two of them, by some L dq^2 / 8.

        Raises:
            ArgumentError: Accelerations of another shape, or not positive, or no checks.
        """
        values = np.asarray(acceleration, dtype=np.float64)
        if values.shape != (state.model.joint_dof_count,) or not np.all(values > 0.0):
            raise ArgumentError(
                f'acceleration must be positive, of shape [{state.model.joint_dof_count}], got '
                f'{acceleration}'
            )
        if n_checks < 1:
            raise ArgumentError(f'n_checks must be at least 1, got {n_checks}')
        self._state, self._joint_q, self._n_checks = state, joint_q, n_checks
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        n, device, group = state.n_robots, state.device, state.group
        dofs, total = state.model.joint_dof_count, self._evaluation.n_rows

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, device)

        self._candidate, self._last, self._step = floats(n, dofs), floats(n, dofs), floats(n, dofs)
        self._fraction, self._tolerance = floats(n), floats(1)
        self._unsafe = HostBuffer((n,), wp.int32, device)
        self._may_fall = HostBuffer((n,), wp.int32, device)
        self._values = wp.zeros((n, total), dtype=state.scalar, device=device)
        self._values_ahead = wp.full((n, total), wp.inf, dtype=state.scalar, device=device)
        self._horizon = wp.zeros(n, dtype=state.scalar, device=device)
        self._displacement = wp.zeros((n, dofs), dtype=state.scalar, device=device)
        slowdown = group.variable_limits(values) * state.dt**2
        self._group = [
            wp.array(slowdown, dtype=state.scalar, device=device),
            wp.array(group.variable_dof, dtype=wp.int32, device=device),
            state.dof_variable,
            state.dof_scale,
        ]
        self.delta_q, self.last = self._candidate.host, self._last.host
        self.status = np.zeros(n, dtype=np.int32)
        # What must be finite, each in one row.
        self._given = [rows.reshape(-1) for rows in (self.delta_q, self.last, joint_q.host)]
        sweeps = n <= _MOST_SWEPT and self._evaluation.sweeps
        self._sweep_graph = Graph(self._record_sweep, device) if sweeps else None
        self._graph = Graph(self._record, device)

    def run(self, tolerance: float) -> None:
        """Check the step in ``delta_q`` and draw it towards the stop as far as needed.

        Args:
            tolerance: How far below zero h may be, in units of h.
        """
        self._tolerance.host[0] = tolerance
        self.status.fill(SolveStatus.CONVERGED.value)
        self._fraction.host.fill(1.0)
        # Sums of squares are finite only where every number is.
        if not math.isfinite(sum([numbers.dot(numbers) for numbers in self._given])):
            self._replace_non_finite()
        if not self._is_far():
            self._look()
        self.delta_q[:] = self._step.host

    def _replace_non_finite(self) -> None:
        """Let robots stop whose step, last step or coordinates are no numbers."""
        finite = np.isfinite(self.delta_q).all(axis=1)
        finite &= np.isfinite(self.last).all(axis=1) & np.isfinite(self._joint_q.host).all(axis=1)
        self.status[~finite] = SolveStatus.NON_FINITE_INPUT
        self.last[~np.isfinite(self.last)] = 0.0
        self.delta_q[~finite] = self.last[~finite]
        self._fraction.host[~finite] = 0.0

    def _is_far(self) -> bool:
        """Return whether no robot can reach a barrier before it rests after its step."""
        if self._sweep_graph is None:
            return False
        self._may_fall.host.fill(0)
        self._sweep_graph.launch()
        return not np.count_nonzero(self._may_fall.host)

    def _look(self) -> None:
        """Look at the configurations ahead and draw steps towards the stop."""
        for fraction, following in zip(_FRACTIONS, (*_FRACTIONS[1:], 0.0), strict=True):
            self._graph.launch()
            unsafe = (self._unsafe.host != 0) & (self._fraction.host == fraction)
            if not unsafe.any():
                break
            self.status[unsafe] = SolveStatus.HALTED_BY_BARRIER
            self._fraction.host[unsafe] = following
        else:
            self._graph.launch()

    def _record_sweep(self) -> None:
        """Launch the question whether any robot comes near a barrier."""
        self._may_fall.upload()
        self._record_step()
        self._record_advance(1.0)
        self._evaluation.launch_sweep(self._displacement, self._may_fall.array)
        for buffer in (self._step, self._may_fall):
            buffer.download()

    def _record_step(self) -> None:
        """Launch what makes the step of one fraction."""
        for buffer in (
            self._joint_q, self._candidate, self._last, self._fraction, self._tolerance,
        ):  # fmt: skip
            buffer.upload()
        self._launch(
            stopping_kernels(self._state.scalar).blend,
            [self._candidate.array, self._last.array, self._fraction.array, *self._group],
            [self._step.array, self._horizon, self._unsafe.array],
        )

    def _record_advance(self, part: float) -> None:
        """Launch the displacement of the step and a part of the time until the robot rests."""
        self._launch(
            stopping_kernels(self._state.scalar).advance,
            [self._step.array, self._horizon, self._state.scalar(part), *self._group],
            [self._displacement],
        )

    def _record(self) -> None:
        """Launch what one fraction needs."""
        self._record_step()
        self._evaluation.launch_now(self._values)
        self._record_ahead(self._step.array)
        for check in range(1, self._n_checks + 1):
            # At constant deceleration these parts of the time are even parts of the way.
            self._record_advance(1.0 - np.sqrt(1.0 - check / self._n_checks))
            self._record_ahead(self._displacement)
        for buffer in (self._step, self._unsafe):
            buffer.download()

    def _record_ahead(self, displacement: wp.array) -> None:
        """Judge the configuration that lies a displacement ahead."""
        self._evaluation.launch_ahead(displacement, self._values_ahead, violations_only=True)
        self._launch(
            stopping_kernels(self._state.scalar).judge,
            [self._values, self._values_ahead, self._tolerance.array],
            [self._unsafe.array],
        )

    def _launch(self, kernel: wp.Kernel, inputs: list, outputs: list) -> None:
        wp.launch(
            kernel,
            dim=self._state.n_robots,
            inputs=inputs,
            outputs=outputs,
            device=self._state.device,
        )
