# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Acceleration limit: bounds the change of the step, and the step before position limits.

    |dq - dq_last| <= s,    dq <= step(d, s),    s = a dt^2

d is the distance to the position limit ahead. step(d, s), defined in
:mod:`ros_ik.kinematics.stepping.braking`, is the largest step from which a robot that slows down
by s in each further step stops at the limit. A target displacement t
(:meth:`AccelerationLimit.set_target_displacement`) bounds the step in the same way:
dq <= step(t, s) if t > 0, dq >= -step(-t, s) if t < 0, as in roboplan's setTargetDisplacement.
If these bounds conflict with position or velocity limits, those take precedence, and the status of
the step is ``RELAXED``.
"""

import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.kinematics.stepping.braking import braking_function
from ros_ik.limits.arguments import check_some_may_move
from ros_ik.limits.arguments import check_steps
from ros_ik.limits.arguments import dof_values
from ros_ik.limits.arguments import finite_array
from ros_ik.limits.arguments import margin_values
from ros_ik.limits.limit import copied_on_device
from ros_ik.limits.limit import ScaledLimit
from ros_ik.limits.limit import STATE_TOLERANCE
from ros_ik.limits.limit import write_rows
from ros_ik.limits.limit import yield_function
from ros_ik.limits.margin_limit import MarginLimit

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def _acceleration_kernel(scalar: type) -> wp.Kernel:
    braking_step, tighten_yielding = braking_function(scalar), yield_function(scalar)
    tolerance = wp.constant(scalar(STATE_TOLERANCE))

    @compiled_kernel()
    def apply_acceleration_limit(
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        moving_dof: wp.array(dtype=wp.int32),  # [n_moving]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        position_min: wp.array(dtype=scalar),  # [joint_dof_count]
        position_max: wp.array(dtype=scalar),  # [joint_dof_count]
        acceleration: wp.array(dtype=scalar),  # [joint_dof_count]
        last_step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        target: wp.array2d(dtype=scalar),  # [n, joint_dof_count], 0 for none
        dt: scalar,
        # in and out
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
        is_relaxed: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        for k in range(moving_dof.shape[0]):
            dof = moving_dof[k]
            shrink = acceleration[dof] * dt * dt
            if wp.isfinite(shrink):
                low = last_step[row, dof] - shrink
                high = last_step[row, dof] + shrink
                coord = dof_coord[dof]
                if coord >= 0:
                    q = joint_q[row, coord]
                    ahead = braking_step(wp.max(position_max[dof] - q, scalar(0.0)), shrink)
                    behind = braking_step(wp.max(q - position_min[dof], scalar(0.0)), shrink)
                    high = wp.clamp(ahead, low, high)
                    low = wp.clamp(-behind, low, high)
                t = target[row, dof]
                if t > scalar(0.0):
                    high = wp.clamp(braking_step(t, shrink), low, high)
                elif t < scalar(0.0):
                    low = wp.clamp(-braking_step(-t, shrink), low, high)
                moved = tighten_yielding(
                    row, dof_variable[dof], dof_scale[dof], low, high, lower, upper
                )
                if moved > tolerance * dt * dt:
                    is_relaxed[row] = 1

    return apply_acceleration_limit


class AccelerationLimit(ScaledLimit, MarginLimit):
    """Bound on the change of the step; position and velocity limits take precedence."""

    precedence = 1
    construction_only = frozenset(('acceleration',))
    splits = True

    def __init__(
        self,
        acceleration: np.ndarray,
        *,
        scale: float = 1.0,
        position_margin: float | np.ndarray = 0.0,
    ) -> None:
        """Create the limit.

        Args:
            acceleration: Largest acceleration of each degree of freedom [rad/s^2 or m/s^2], shape
                [joint_dof_count]; inf for none. 0 keeps the velocity of a joint constant, as in
                Oink: a joint at rest never moves.
            scale: Fraction of the limit that may be used, in (0, 1].
            position_margin: Distance from the position limits at which braking ends [rad or m],
                one or shape [joint_dof_count]. Use the margin of the :class:`PositionLimit`.

        Raises:
            ArgumentError: An acceleration that is negative or NaN, all of them zero, a margin
                that is negative or not finite, or a scale outside (0, 1].
        """
        self._acceleration = dof_values('acceleration', acceleration)
        self._position_margin = margin_values('position_margin', position_margin)
        self._last_displacement = self._target_displacement = np.zeros_like(self._acceleration)
        self.scale = scale

    @property
    def position_margin(self) -> np.ndarray:
        """Distance from the position limits at which braking ends; may be set between solves."""
        return read_only(self._position_margin)

    @position_margin.setter
    def position_margin(self, value: float | np.ndarray) -> None:
        self.set_position_margin(value)

    def _allocate(self, state: 'StepState') -> None:
        """Allocate the last step, zero at first.

        Raises:
            ArgumentError: The accelerations or margins do not match the model, or leave its
                joints no room to move.
        """
        dofs = state.model.joint_dof_count
        if self._acceleration.shape != (dofs,):
            raise ArgumentError(
                f'acceleration must have shape [{dofs}], got {self._acceleration.shape}'
            )
        check_some_may_move('acceleration', self._acceleration, state.group)
        # A joint brakes no harder than those that move with it.
        self._coupled = state.group.coupled_limits(self._acceleration)
        self._allocate_range(state)
        self._device_acceleration = HostBuffer((dofs,), state.scalar, state.device)
        self._last_step = HostBuffer((state.n_robots, dofs), state.scalar, state.device)
        self._target = HostBuffer((state.n_robots, dofs), state.scalar, state.device)
        self._dt = state.dt
        write_rows('displacement', self._last_step, self._last_displacement)
        write_rows('displacement', self._target, self._target_displacement)
        self._write()

    def set_last_displacement(self, displacement: Any) -> None:
        """Set the last step [rad or m], shape [joint_dof_count] or [n, joint_dof_count].

        Args:
            displacement: The step. After the first solve, one of n robots in an array of Warp,
                PyTorch, JAX or CuPy is copied on the device, and a solve reports numbers that are
                not finite.

        Raises:
            ArgumentError: Not finite or of another shape; the previous value then stays.
        """
        if self._is_bound and copied_on_device(('displacement', self._last_step, displacement)):
            return
        self._write_last('displacement', displacement)

    def write_last_displacement(self, displacement: np.ndarray) -> None:
        """Set the last step after the first solve, without a check, which takes longer.

        Args:
            displacement: The step, finite, of the shape that :meth:`set_last_displacement` needs.
        """
        self._last_step.write(displacement)

    def set_last_velocity(self, velocity: np.ndarray) -> None:
        """Set the last velocity [rad/s or m/s], shape [joint_dof_count] or [n, joint_dof_count].

        Raises:
            ArgumentError: Not finite, of another shape, or before the first solve, which sets the
                duration of a step.
        """
        if not self._is_bound:
            raise ArgumentError(
                'velocity: the duration of a step is unknown before the first solve; use '
                'set_last_displacement'
            )
        self._write_last('velocity', self._dt * finite_array('velocity', velocity))

    def set_target_displacement(self, displacement: np.ndarray) -> None:
        """Also brake for a target, until :meth:`clear_target_displacement`.

        Args:
            displacement: Remaining displacement to the target [rad or m], shape [joint_dof_count]
                or [n, joint_dof_count]. Set it before each solve. 0 adds no bound to a degree of
                freedom.

        Raises:
            ArgumentError: Not finite or of another shape.
        """
        values = finite_array('displacement', displacement)
        if self._is_bound:
            write_rows('displacement', self._target, values)
        else:
            check_steps('displacement', values, self._acceleration.shape, None)
        self._target_displacement = values

    def clear_target_displacement(self) -> None:
        """Brake for the position limits only."""
        self.set_target_displacement(np.zeros_like(self._acceleration))

    def reset(self) -> None:
        """Reset to a robot at rest without a target."""
        self.set_last_displacement(np.zeros_like(self._acceleration))
        self.clear_target_displacement()

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        launch(
            _acceleration_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[
                state.joint_q, state.moving_dof, state.dof_variable, state.dof_scale,
                state.dof_coord,
                self._lowest.array, self._highest.array, self._device_acceleration.array,
                state.rows(self._last_step.array), state.rows(self._target.array),
                state.dt,
            ],
            outputs=[lower, upper, state.is_relaxed],
            device=state.device,
        )  # fmt: skip

    @property
    def last_step(self) -> wp.array:
        """Last step of all robots on the device [n, joint_dof_count], read at each launch."""
        return self._last_step.array

    def last_motion(self) -> tuple[wp.array, wp.array]:
        """Return the last step [n, joint_dof_count] and the accelerations [joint_dof_count].

        Both are on the device and are read at each launch.
        """
        return self._state.rows(self._last_step.array), self._device_acceleration.array

    def _write_last(self, name: str, steps: Any) -> None:
        """Keep a copy of the last step, and write it once the arrays are allocated.

        Raises:
            ArgumentError: Not finite or of another shape; it names the argument.
        """
        values = finite_array(name, steps)
        if self._is_bound:
            write_rows(name, self._last_step, values)
        else:
            check_steps(name, values, self._acceleration.shape, None)
        self._last_displacement = values

    def _write(self) -> None:
        """Copy the scaled accelerations to the device."""
        self._device_acceleration.write(self._scale * self._coupled)
