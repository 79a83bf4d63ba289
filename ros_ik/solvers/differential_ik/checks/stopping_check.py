# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check of a step: the robot can still stop before every barrier after it.

A step is safe if no barrier gets worse on the path to q + dq and along the stop that would follow.
In this stop, the speed of every variable decreases by s = a dt^2 in each step, or as its jerk
limit permits (:mod:`ros_ik.kinematics.stepping.jerk_limited_stop`). An unsafe step is blended with
the stop that was checked together with the previous step,

    dq(alpha) = stop + alpha (dq - stop),    alpha = 1, 1/2, 1/4, 0

alpha = 0 is the rest of a path that was checked one step ago. A robot that starts safe therefore
stays safe, within these limits. (For sets that are safe because of stopping motions see Fraichard
and Asama, "Inevitable collision states - a step towards safer robots?", Advanced Robotics 18
(2004).) A barrier gets worse if h falls below zero, or shrinks while it is negative, between two
configurations of the path. A check of a path therefore also covers the rest of that path.

If a violated value would shrink, and a shorter step does not help, only the joints that move it
brake. For example, an obstacle that overlaps the first link stops the first joint only.

The path is evaluated at samples, with bounds on the motion of points in
between; see :mod:`ros_ik.kinematics.stepping.stop_path`. This takes time, and usually nothing is
near. A sweep therefore tests first whether any barrier could be reached by joints that move no
farther than their positions at rest.
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
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_functions
from ros_ik.kinematics.stepping.jerk_limited_stop import jerk_limited_stop_struct
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.stepping.stop_functions import stop_functions
from ros_ik.kinematics.stepping.stop_path import PathCheck
from ros_ik.kinematics.stepping.stop_path import StopPath
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import BarrierEvaluation
from ros_ik.solvers.differential_ik.checks.barrier_evaluation import links_of
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus

# Fractions of a step that are tried, in this order, before the stop.
_FRACTIONS = np.array([1.0, 0.5, 0.25])
# Fractions that are tried then, for joints that deepen no violation.
_FRACTIONS_OF_OTHERS = np.array([1.0, 0.25])
# Largest batch with a sweep; in a larger one, some robot is nearly always near a barrier.
_MAX_SWEPT = 8


@no_type_check
@functools.cache
def stopping_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels of one floating-point type; one thread is one robot."""
    functions = stop_functions(scalar)
    slower, steps_to_stop = functions.slower, functions.steps_to_stop
    travel_after = functions.travel_after
    limited, Stop = jerk_limited_stop_functions(scalar), jerk_limited_stop_struct(scalar)
    make_stop, next_change, ticks = limited.make_stop, limited.next_change, limited.ticks
    travel_at = limited.travel_at

    @compiled_kernel(registers=148)
    def blend_with_stop(
        candidate: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        last: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        before_last: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        fraction: wp.array(dtype=scalar),  # [n]
        brakes: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count], what stops anyway
        variable_slowdown: wp.array(dtype=scalar),  # [n_variables]
        variable_jerk: wp.array(dtype=scalar),  # [n_variables]
        variable_dof: wp.array(dtype=wp.int32),  # [n_variables]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        slowdown: wp.array(dtype=scalar),  # [joint_dof_count]
        jerk: wp.array(dtype=scalar),  # [joint_dof_count]
        step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        horizon: wp.array(dtype=scalar),  # [n], steps until the last variable rests
        travel: wp.array2d(dtype=scalar),  # [n, joint_dof_count], until then
        stops: wp.array2d(dtype=Stop),  # [n, joint_dof_count]
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
    ):
        robot = wp.tid()
        for barrier in range(unsafe.shape[1]):
            unsafe[robot, barrier] = 0
        longest = scalar(0.0)
        for dof in range(step.shape[1]):
            variable = dof_variable[dof]
            step[robot, dof] = scalar(0.0)
            if variable >= 0:
                source = variable_dof[variable]
                value = candidate[robot, source]
                part = fraction[robot]
                if brakes[robot, source] != 0:
                    part = scalar(0.0)
                own_slowdown = variable_slowdown[variable]
                own_jerk = variable_jerk[variable]
                begun = last[robot, source]
                if part < scalar(1.0):
                    stop = slower(begun, own_slowdown)
                    if wp.isfinite(own_jerk):
                        change = begun - before_last[robot, source]
                        stop = begun + next_change(begun, change, own_slowdown, own_jerk)
                    value = stop + part * (value - stop)
                step[robot, dof] = dof_scale[dof] * value
                if wp.isfinite(own_jerk):
                    change = dof_scale[dof] * (value - begun)
                    stops[robot, dof] = make_stop(
                        step[robot, dof], change, slowdown[dof], jerk[dof]
                    )
                    longest = wp.max(longest, ticks(stops[robot, dof]))
                else:
                    longest = wp.max(longest, steps_to_stop(value, own_slowdown))
        horizon[robot] = longest
        for dof in range(step.shape[1]):
            if dof_variable[dof] >= 0 and wp.isfinite(jerk[dof]):
                travel[robot, dof] = travel_at(stops[robot, dof], longest + scalar(1.0))
            else:
                travel[robot, dof] = travel_after(
                    step[robot, dof], slowdown[dof], longest + scalar(1.0)
                )

    return SimpleNamespace(blend=blend_with_stop)


class StoppingCheck:
    """Captured check of steps, and of the stops after them, against a set of barriers.

    Attributes:
        delta_q: The step, shape [n, joint_dof_count]; set by the caller, blended with the stop by
            :meth:`run`.
        last: The previous step, shape [n, joint_dof_count]; set by the caller.
        before_last: The step before that, same shape; set by the caller, read only if jerks are
            limited.
        status: :class:`SolveStatus` codes, shape [n].
        was_far: True if no stop could reach a barrier in the last run.
    """

    @shares_launch_lock
    def __init__(
        self,
        state: StepState,
        tree: KinematicTree,
        joint_q: HostBuffer,
        barriers: Sequence[Barrier],
        acceleration: np.ndarray,
        jerk: np.ndarray,
        *,
        n_checks: int = 16,
    ) -> None:
        """Allocate every array and capture the graph.

        Args:
            state: Arrays that barriers read.
            tree: Kinematic tree of the model in the type of ``state``.
            joint_q: Buffer of ``state.joint_q``, filled by the caller before each check.
            barriers: The barriers.
            acceleration: Largest deceleration of each degree of freedom [rad/s^2 or m/s^2], shape
                [joint_dof_count]; inf if it may stop at once.
            jerk: Largest jerk of each [rad/s^3 or m/s^3], same shape; inf for none.
            n_checks: Number of configurations of the stop that are always evaluated, evenly spaced
                along the path, the last one at rest. Barriers with ``launch_follow`` evaluate more
                if they are near; others are tested only at these.

        Raises:
            ArgumentError: Accelerations or jerks of another shape, or not positive, or no checks.
        """
        if n_checks < 1:
            raise ArgumentError(f'n_checks must be at least 1, got {n_checks}')
        self._state, self._joint_q = state, joint_q
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        n, device, group = state.n_robots, state.device, state.group
        self._dofs = dofs = state.model.joint_dof_count

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, device)

        # The step and the two before it.
        self._given, self._step = floats(3, n, dofs), floats(n, dofs)
        self._fraction, self._tolerance = floats(n), floats(1)
        self._unsafe = HostBuffer((n, max(len(barriers), 1)), wp.int32, device)
        self._may_fall = HostBuffer((n,), wp.int32, device)
        # Degrees of freedom that brake at any fraction, and those that should.
        self._brakes = HostBuffer((n, dofs), wp.int32, device)
        self._cut = HostBuffer((n, dofs), wp.int32, device)
        # At constant deceleration, these fractions of the time are equal parts of the path.
        parts = 1.0 - np.sqrt(1.0 - np.arange(n_checks + 1) / n_checks)
        self._slowdown, self._dof_slowdown = floats(group.n_variables), floats(dofs)
        self._jerk, self._dof_jerk = floats(group.n_variables), floats(dofs)
        self._limits = b''
        self.set_limits(acceleration, jerk)
        links = links_of(barriers)
        path = StopPath(
            state, tree, links, self._step.array, self._dof_slowdown.array, self._dof_jerk.array,
            parts,
        )  # fmt: skip
        self._check = PathCheck(
            path, self._tolerance.array, True, self._unsafe.array, self._cut.array
        )
        self._group = [
            self._slowdown.array,
            self._jerk.array,
            wp.array(group.variable_dof, dtype=wp.int32, device=device),
            state.dof_variable,
            state.dof_scale,
            path.arrays.slowdown,
            path.arrays.jerk,
        ]
        self.delta_q, self.last, self.before_last = self._given.host
        self.status = np.zeros(n, dtype=np.int32)
        self.was_far = True
        # Arrays that must be finite, each in one row.
        self._numbers = self._given.host.reshape(-1), joint_q.host.reshape(-1)
        sweeps = n <= _MAX_SWEPT and self._evaluation.sweeps
        self._sweep_graph = Graph(self._record_sweep, device, barriers) if sweeps else None
        self._graph = Graph(self._record, device, barriers)

    @property
    def is_current(self) -> bool:
        """True if the data of barriers are unchanged since recording."""
        return self._evaluation.is_current

    def set_limits(self, acceleration: np.ndarray, jerk: np.ndarray) -> None:
        """Change the limits, without recording graphs again.

        Args:
            acceleration: As in the constructor.
            jerk: As in the constructor.

        Raises:
            ArgumentError: Limits of another shape, or not positive; the previous ones then stay.
        """
        given = np.asarray(acceleration, dtype=np.float64), np.asarray(jerk, dtype=np.float64)
        numbers, shape = given[0].tobytes() + given[1].tobytes(), (self._dofs,)
        if numbers == self._limits and given[0].shape == given[1].shape == shape:
            return
        for name, values in zip(('acceleration', 'jerk'), given, strict=True):
            if values.shape != shape or not np.all(values > 0.0):
                raise ArgumentError(
                    f'{name} must be positive, of shape {[*shape]}, got {values}'
                )
        self._limits = numbers
        # A joint that does not move gets a slowdown of 1.
        self._write_limit(given[0] * self._state.dt**2, self._slowdown, self._dof_slowdown, 1.0)
        self._write_limit(given[1] * self._state.dt**3, self._jerk, self._dof_jerk, np.inf)

    def _write_limit(
        self, values: np.ndarray, of_variables: HostBuffer, of_dofs: HostBuffer, locked: float
    ) -> None:
        """Copy limits per step [joint_dof_count] to the device, consistent for coupled joints."""
        group = self._state.group
        of_variables.write(group.variable_limits(values))
        coupled = group.coupled_limits(values)
        of_dofs.write(np.where(group.dof_variable >= 0, coupled, locked))

    def run(self, tolerance: float) -> None:
        """Check the step in ``delta_q``, and blend it with the stop as far as necessary.

        Args:
            tolerance: Tolerated violation of h, in units of h.
        """
        self._tolerance.host[0] = tolerance
        self.status.fill(SolveStatus.CONVERGED.value)
        self._fraction.host.fill(1.0)
        self._brakes.host.fill(0)
        # Sums of squares are finite only if every number is.
        steps, joint_q = self._numbers
        if not math.isfinite(steps.dot(steps) + joint_q.dot(joint_q)):
            self._replace_non_finite()
        self.was_far = self._is_far()
        if not self.was_far:
            self._blend_unsafe_steps()
        self.delta_q[:] = self._step.host

    def _replace_non_finite(self) -> None:
        """Stop robots whose step, last step or coordinates are not finite."""
        finite = np.isfinite(self.delta_q).all(axis=1)
        finite &= np.isfinite(self.last).all(axis=1) & np.isfinite(self._joint_q.host).all(axis=1)
        finite &= np.isfinite(self.before_last).all(axis=1)
        self.status[~finite] = SolveStatus.NON_FINITE_INPUT
        self.last[~np.isfinite(self.last)] = 0.0
        self.before_last[~np.isfinite(self.before_last)] = 0.0
        self.delta_q[~finite] = self.last[~finite]
        self._fraction.host[~finite] = 0.0

    def _is_far(self) -> bool:
        """Return True if no robot can reach a barrier before it is at rest after its step."""
        if self._sweep_graph is None:
            return False
        self._may_fall.host.fill(0)
        self._sweep_graph.launch()
        return not np.count_nonzero(self._may_fall.host)

    def _blend_unsafe_steps(self) -> None:
        """Evaluate the configurations ahead, and blend unsafe steps with the stop."""
        fraction = self._fraction.host
        self._cut.host.fill(0)
        open_robots = fraction > 0.0
        for tried in (_FRACTIONS, _FRACTIONS_OF_OTHERS):
            for part in tried:
                fraction[open_robots] = part
                self._graph.launch()
                open_robots &= self._unsafe.host.any(axis=1)
                if not open_robots.any():
                    return
                self.status[open_robots] = SolveStatus.HALTED_BY_BARRIER
            fraction[open_robots] = 0.0
            if tried is _FRACTIONS:
                open_robots &= self._brake(open_robots)
                if not open_robots.any():
                    break
        self._graph.launch()

    def _brake(self, among: np.ndarray) -> np.ndarray:
        """Brake joints that deepen a violation.

        Args:
            among: Robots whose steps are not decided yet, bool [n]; the others keep theirs.

        Returns:
            Those of them that have such joints and others, bool [n].
        """
        group = self._state.group
        driven = np.flatnonzero(group.dof_variable >= 0)
        variable = np.zeros((len(self.status), group.n_variables), dtype=bool)
        robots, found = np.nonzero(self._cut.host[:, driven])
        variable[robots, group.dof_variable[driven[found]]] = True
        variable[~among] = False
        self._brakes.host[:, driven] = variable[:, group.dof_variable[driven]]
        return np.logical_and(variable.any(axis=1), ~variable.all(axis=1))

    def _record_sweep(self) -> None:
        """Launch the sweep, which tests whether any robot comes near a barrier."""
        self._may_fall.upload()
        self._record_step()
        self._evaluation.launch_sweep(self._check.path.arrays.travel, self._may_fall.array)
        for buffer in (self._step, self._may_fall):
            buffer.download()

    def _record_step(self) -> None:
        """Launch the computation of the step of one fraction."""
        for buffer in (
            self._joint_q, self._given, self._fraction, self._tolerance, self._brakes, self._cut,
        ):  # fmt: skip
            buffer.upload()
        path = self._check.path.arrays
        launch(
            stopping_kernels(self._state.scalar).blend,
            dim=self._state.n_robots,
            inputs=[
                *(self._given.array[k] for k in range(3)), self._fraction.array,
                self._brakes.array, *self._group,
            ],
            outputs=[self._step.array, path.horizon, path.travel, path.stops, self._unsafe.array],
            device=self._state.device,
        )  # fmt: skip

    def _record(self) -> None:
        """Launch the check of one fraction."""
        self._record_step()
        self._evaluation.launch_follow(self._check)
        for buffer in (self._step, self._unsafe, self._cut):
            buffer.download()
