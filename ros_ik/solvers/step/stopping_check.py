# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check that a robot which takes a step can still stop before a barrier.

A step is safe where no barrier gets worse on the way to q + dq nor along one of two stops that
could follow it: on the first every variable slows down by s = a dt^2 a step, as fast as it can; on
the second all come to rest together, after the M steps that the slowest needs,

    dq, dq (1 - 1/M), dq (1 - 2/M), ...    M = max_j |dq_j| / s_j

which keeps the direction: joints that hold each other up before a barrier, or on the way out of
it, do so until they rest. It has to end inside the position limits. A step that is not safe is
drawn towards the stop that the step before it was checked for,

    dq(alpha) = stop + alpha (dq - stop),    alpha in sixteenths, the largest that is safe

so a robot that starts safe stays safe without ever leaving its acceleration limits: alpha = 0 is
the rest of a path that was checked one step ago. (Sets that are safe because of stopping motions:
Fraichard and Asama, "Inevitable collision states - a step towards safer robots?", Advanced
Robotics 18 (2004).) To get worse is to fall below zero, or to shrink where h is negative already,
from one place of the path to a later one: what holds for a path holds for the rest of it.

Where something that is violated already would shrink, and a shorter step does not help, the joints
that move it brake and the others go on: what overlaps the first link holds the first joint only.

The path is looked at in some places, and bounds on how points move tell what lies in between; see
:mod:`ros_ik.kinematics.stop_path`. Looking takes time, and mostly nothing is near. So it is asked
first whether any barrier could be reached by joints that move no farther than to where they come
to rest.
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
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.compiled_kernel import compiled_kernel
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.stop_path import PathCheck
from ros_ik.kinematics.stop_path import stop_functions
from ros_ik.kinematics.stop_path import StopPath
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.step.barrier_evaluation import BarrierEvaluation
from ros_ik.solvers.step.barrier_evaluation import links_of

# Halvings of the part of a step that is kept.
_HALVINGS = 4
# Rounding of coordinates [rad or m].
_ROUNDING = 1e-9
# Robots up to which a sweep pays: of many one is always near something.
_MOST_SWEPT = 8


@no_type_check
@functools.cache
def stopping_kernels(scalar: type) -> SimpleNamespace:
    """Build the kernels of one floating-point type; one thread is one robot."""
    functions = stop_functions(scalar)
    slower, steps_to_stop = functions.slower, functions.steps_to_stop
    way_after, one = functions.way_after, wp.constant(scalar(1.0))

    @wp.func
    def duration(
        robot: int,
        step: wp.array2d(dtype=scalar),
        variable_slowdown: wp.array(dtype=scalar),
        variable_dof: wp.array(dtype=wp.int32),
    ) -> scalar:
        """Steps in which the slowest variable comes to rest, not rounded; at least one."""
        longest = one
        for variable in range(variable_dof.shape[0]):
            size = wp.abs(step[robot, variable_dof[variable]])
            longest = wp.max(longest, size / variable_slowdown[variable])
        return longest

    @compiled_kernel()
    def blend_with_stop(
        candidate: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        last: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        fraction: wp.array(dtype=scalar),  # [n]
        together: wp.array(dtype=wp.int32),  # [n], whether variables come to rest together
        brakes: wp.array2d(dtype=wp.int32),  # [n, joint_dof_count], what stops anyway
        variable_slowdown: wp.array(dtype=scalar),  # [n_variables]
        variable_dof: wp.array(dtype=wp.int32),  # [n_variables]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_slowdown: wp.array(dtype=scalar),  # [joint_dof_count]
        step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        slowdown: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        horizon: wp.array(dtype=scalar),  # [n], steps until the last variable rests
        way: wp.array2d(dtype=scalar),  # [n, joint_dof_count], until then
        unsafe: wp.array2d(dtype=wp.int32),  # [n, barriers]
    ):
        robot = wp.tid()
        for barrier in range(unsafe.shape[1]):
            unsafe[robot, barrier] = 0
        before = one
        if together[robot] != 0:
            before = duration(robot, last, variable_slowdown, variable_dof)
        for dof in range(step.shape[1]):
            variable = dof_variable[dof]
            step[robot, dof] = scalar(0.0)
            if variable >= 0:
                source = variable_dof[variable]
                value = candidate[robot, source]
                part = fraction[robot]
                if brakes[robot, source] != 0:
                    part = scalar(0.0)
                if part < one:
                    stop = slower(last[robot, source], variable_slowdown[variable])
                    if together[robot] != 0 and brakes[robot, source] == 0:
                        stop = last[robot, source] * (one - one / before)
                    value = stop + part * (value - stop)
                step[robot, dof] = dof_scale[dof] * value
        after = duration(robot, step, variable_slowdown, variable_dof)
        longest = scalar(0.0)
        for dof in range(step.shape[1]):
            loss = dof_slowdown[dof]
            if together[robot] != 0 and after > one:
                loss = wp.abs(step[robot, dof]) / after
            slowdown[robot, dof] = loss
            longest = wp.max(longest, steps_to_stop(step[robot, dof], loss))
        horizon[robot] = longest
        for dof in range(step.shape[1]):
            way[robot, dof] = way_after(step[robot, dof], slowdown[robot, dof], longest + one)

    return SimpleNamespace(blend=blend_with_stop)


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
            n_checks: Configurations of the stop that are looked at in any case, the last one at
                standstill, evenly spaced along the way. Barriers that follow paths look at more
                where they are near; others see what happens at these.

        Raises:
            ArgumentError: Accelerations of another shape, or not positive, or no checks.
        """
        if n_checks < 1:
            raise ArgumentError(f'n_checks must be at least 1, got {n_checks}')
        self._state, self._joint_q, self._n_checks = state, joint_q, n_checks
        self._evaluation = BarrierEvaluation(state, tree, barriers)
        n, device, group = state.n_robots, state.device, state.group
        dofs = state.model.joint_dof_count

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, device)

        self._candidate, self._last, self._step = floats(n, dofs), floats(n, dofs), floats(n, dofs)
        self._fraction, self._tolerance = floats(n), floats(1)
        self._together = HostBuffer((n,), wp.int32, device)
        self._unsafe = HostBuffer((n, max(len(barriers), 1)), wp.int32, device)
        self._may_fall = HostBuffer((n,), wp.int32, device)
        # Degrees of freedom that brake whatever the fraction, and that should.
        self._brakes = HostBuffer((n, dofs), wp.int32, device)
        self._cut = HostBuffer((n, dofs), wp.int32, device)
        # At constant deceleration these parts of the time are even parts of the way.
        parts = 1.0 - np.sqrt(1.0 - np.arange(n_checks + 1) / n_checks)
        self._slowdown, self._dof_slowdown = floats(group.n_variables), floats(dofs)
        self._acceleration = b''
        self.set_acceleration(acceleration)
        links = links_of(barriers)
        slowdown = wp.zeros_like(self._step.array)
        path = StopPath(state, tree, links, self._step.array, slowdown, parts)
        self._check = PathCheck(
            path, self._tolerance.array, True, self._unsafe.array, self._cut.array
        )
        self._group = [
            self._slowdown.array,
            wp.array(group.variable_dof, dtype=wp.int32, device=device),
            state.dof_variable,
            state.dof_scale,
            self._dof_slowdown.array,
        ]
        coords = dof_coordinates(state.model)
        self._limited = np.flatnonzero((group.dof_variable >= 0) & (coords >= 0))
        self._limited_coords = coords[self._limited]
        lower, upper = state.model.joint_limit_lower, state.model.joint_limit_upper
        self._lower = lower.numpy()[self._limited] - _ROUNDING
        self._upper = upper.numpy()[self._limited] + _ROUNDING
        self.delta_q, self.last = self._candidate.host, self._last.host
        self.status = np.zeros(n, dtype=np.int32)
        # The steps that were found last, and whether their stops are those of all joints together.
        self._kept, self._kept_together = np.zeros((n, dofs)), np.zeros(n, dtype=np.int32)
        # What must be finite, each in one row.
        self._given = [rows.reshape(-1) for rows in (self.delta_q, self.last, joint_q.host)]
        sweeps = n <= _MOST_SWEPT and self._evaluation.sweeps
        self._sweep_graph = Graph(self._record_sweep, device, barriers) if sweeps else None
        self._graph = Graph(self._record, device, barriers)

    @property
    def is_current(self) -> bool:
        """Whether the data of barriers are those that were recorded."""
        return self._evaluation.is_current

    def set_acceleration(self, acceleration: np.ndarray) -> None:
        """Check with other limits from now on; no graph is recorded anew.

        Args:
            acceleration: As in the constructor.

        Raises:
            ArgumentError: Accelerations of another shape, or not positive; those before stay.
        """
        values = np.asarray(acceleration, dtype=np.float64)
        numbers, dofs = values.tobytes(), self._state.model.joint_dof_count
        if values.shape == (dofs,) and numbers == self._acceleration:
            return
        if values.shape != (dofs,) or not np.all(values > 0.0):
            raise ArgumentError(
                f'acceleration must be positive, of shape [{dofs}], got {acceleration}'
            )
        self._acceleration = numbers
        group = self._state.group
        self._slowdown.host[:] = group.variable_limits(values) * self._state.dt**2
        driven = group.dof_variable >= 0
        of_variable = self._slowdown.host[group.dof_variable[driven]]
        self._dof_slowdown.host.fill(1.0)  # of what does not move
        self._dof_slowdown.host[driven] = of_variable * np.abs(group.dof_scale[driven])
        for buffer in (self._slowdown, self._dof_slowdown):
            buffer.upload()

    def continue_from(self, other: 'StoppingCheck') -> None:
        """Know as much of the last step as another check of the same robots."""
        self._kept[:], self._kept_together[:] = other._kept, other._kept_together

    def run(self, tolerance: float) -> None:
        """Check the step in ``delta_q`` and draw it towards the stop as far as needed.

        Args:
            tolerance: How far below zero h may be, in units of h.
        """
        self._tolerance.host[0] = tolerance
        self.status.fill(SolveStatus.CONVERGED.value)
        self._fraction.host.fill(1.0)
        self._brakes.host.fill(0)
        self._together.host.fill(0)
        # Sums of squares are finite only where every number is.
        if not math.isfinite(sum([numbers.dot(numbers) for numbers in self._given])):
            self._replace_non_finite()
        if not self._is_far():
            self._look()
        self.delta_q[:] = self._kept[:] = self._step.host
        self._kept_together[:] = self._together.host

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
        """Look at the configurations ahead and draw steps towards a stop."""
        fraction, together = self._fraction.host, self._together.host
        self._cut.host.fill(0)
        open_robots = fraction > 0.0
        open_robots &= ~self._is_safe(open_robots)
        if not open_robots.any():
            return
        self.status[open_robots] = SolveStatus.HALTED_BY_BARRIER
        # The largest part that is safe, and which stop it is safe with.
        found = np.zeros((2, len(fraction)))
        self._search(open_robots, found)
        rest = open_robots & (found[0] == 0.0)
        if rest.any() and self._brake(rest).any():
            self._search(rest & self._brakes.host.any(axis=1), found, whole=True)
        fraction[open_robots] = found[0, open_robots]
        together[open_robots] = found[1, open_robots]
        stopping = fraction == 0.0
        if stopping.any():
            self._stop(stopping)
        self._graph.launch()

    def _search(self, robots: np.ndarray, found: np.ndarray, *, whole: bool = False) -> None:
        """Find the largest part of steps that is safe, to one part in 2^_HALVINGS."""
        fraction, together = self._fraction.host, self._together.host
        low, high = np.zeros(len(fraction)), np.ones(len(fraction))
        for halving in range(_HALVINGS + whole):
            middle = high if whole and halving == 0 else 0.5 * (low + high)
            fraction[robots] = middle[robots]
            safe = self._is_safe(robots)
            low, high = np.where(safe, middle, low), np.where(safe, high, middle)
            found[0, safe], found[1, safe] = fraction[safe], together[safe]
            if (low == high)[robots].all():
                break

    def _stop(self, robots: np.ndarray) -> None:
        """Let robots stop as was found safe when their last step was checked.

        Of two stops that are not safe, because something came, the one that is over sooner.
        """
        self._fraction.host[robots] = 0.0
        self._brakes.host[robots] = 0
        known = robots & (self._kept == self.last).all(axis=1)
        self._together.host[known] = self._kept_together[known]
        unknown = robots & ~known
        if unknown.any() and not self._is_safe(unknown).all():
            self._together.host[unknown & self._unsafe.host.any(axis=1)] = 0

    def _is_safe(self, robots: np.ndarray) -> np.ndarray:
        """Return which of these robots can stop, each joint for itself or else together."""
        together = self._together.host
        together[robots] = 0
        self._graph.launch()
        unsafe = robots & self._unsafe.host.any(axis=1)
        if unsafe.any():
            together[unsafe] = 1
            self._graph.launch()
            unsafe &= self._unsafe.host.any(axis=1) | self._overruns()
        return robots & ~unsafe

    def _overruns(self) -> np.ndarray:
        """Return which robots would leave the position limits on a stop of all joints together."""
        step = self._step.host[:, self._limited]
        slowdown = self._dof_slowdown.host[self._limited]
        duration = np.maximum((np.abs(step) / slowdown).max(axis=1, initial=1.0), 1.0)
        whole = np.floor(duration)
        way = step * ((whole + 1.0) * (1.0 - 0.5 * whole / duration))[:, None]
        end = self._joint_q.host[:, self._limited_coords] + way
        over = ((step > 0.0) & (end > self._upper)) | ((step < 0.0) & (end < self._lower))
        return over.any(axis=1)

    def _brake(self, robots: np.ndarray) -> np.ndarray:
        """Let joints brake that deepen a violation; return where there are any, and others."""
        group = self._state.group
        driven = np.flatnonzero(group.dof_variable >= 0)
        variable = np.zeros((len(self.status), group.n_variables), dtype=bool)
        marked, found = np.nonzero(self._cut.host[:, driven])
        variable[marked, group.dof_variable[driven[found]]] = True
        some = robots & variable.any(axis=1) & ~variable.all(axis=1)
        self._brakes.host[:, driven] = variable[:, group.dof_variable[driven]] & some[:, None]
        return some

    def _record_sweep(self) -> None:
        """Launch the question whether any robot comes near a barrier."""
        self._may_fall.upload()
        self._record_step()
        self._evaluation.launch_sweep(self._check.path.arrays.way, self._may_fall.array)
        for buffer in (self._step, self._may_fall):
            buffer.download()

    def _record_step(self) -> None:
        """Launch what makes the step of one fraction."""
        for buffer in (
            self._joint_q, self._candidate, self._last, self._fraction, self._together,
            self._tolerance, self._brakes, self._cut,
        ):  # fmt: skip
            buffer.upload()
        path = self._check.path.arrays
        wp.launch(
            stopping_kernels(self._state.scalar).blend,
            dim=self._state.n_robots,
            inputs=[
                self._candidate.array, self._last.array, self._fraction.array,
                self._together.array, self._brakes.array, *self._group,
            ],
            outputs=[
                self._step.array, path.slowdown, path.horizon, path.way, self._unsafe.array,
            ],
            device=self._state.device,
        )  # fmt: skip

    def _record(self) -> None:
        """Launch what one fraction needs."""
        self._record_step()
        self._evaluation.launch_follow(self._check)
        for buffer in (self._step, self._unsafe, self._cut):
            buffer.download()
