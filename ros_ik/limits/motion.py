# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Strict jerk limit (``limits.jerk: strict``), with position, velocity and acceleration limits.

All four hold in the step and in the stop after it. :mod:`ros_ik.limits.jerk_viable_step` computes
the bounds of each variable and of the joints that it drives.
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
from ros_ik.limits.arguments import dof_values
from ros_ik.limits.arguments import fraction
from ros_ik.limits.arguments import margin_values
from ros_ik.limits.arguments import positive_values
from ros_ik.limits.jerk_viable_step import viable_step_functions
from ros_ik.limits.last_steps import LastStepsLimit
from ros_ik.limits.limit import yield_function
from ros_ik.limits.margin_limit import MarginLimit

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def motion_struct(scalar: type) -> Any:
    """Return the Warp struct of limits and last steps of n robots."""

    @wp.struct
    class Motion:
        variable_dof: wp.array(dtype=wp.int32)  # [variables]
        moving_dof: wp.array(dtype=wp.int32)  # [n_moving]
        dof_variable: wp.array(dtype=wp.int32)  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar)  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32)  # [joint_dof_count]
        lowest: wp.array(dtype=scalar)  # [joint_dof_count], position limits
        highest: wp.array(dtype=scalar)  # [joint_dof_count]
        speed: wp.array(dtype=scalar)  # [variables], v dt
        slowdown: wp.array(dtype=scalar)  # [variables], a dt^2
        jerk: wp.array(dtype=scalar)  # [variables], j dt^3
        last: wp.array2d(dtype=scalar)  # [n, joint_dof_count]
        before_last: wp.array2d(dtype=scalar)  # [n, joint_dof_count]

    return Motion


@no_type_check
@functools.cache
def steps_of_variable_function(scalar: type) -> wp.Function:
    """Build ``steps_of_variable(motion, joint_q, row, variable)``.

    The function returns the ``viable_steps`` of the variable.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
    """
    Motion, viable_steps = motion_struct(scalar), viable_step_functions(scalar).viable_steps

    @wp.func
    def steps_of_variable(
        motion: Motion, joint_q: wp.array2d(dtype=scalar), row: int, variable: int
    ):
        behind = scalar(wp.inf)
        ahead = scalar(wp.inf)
        for k in range(motion.moving_dof.shape[0]):
            dof = motion.moving_dof[k]
            coord = motion.dof_coord[dof]
            factor = motion.dof_scale[dof]
            if motion.dof_variable[dof] == variable and coord >= 0 and factor != scalar(0.0):
                below = (motion.lowest[dof] - joint_q[row, coord]) / factor
                above = (motion.highest[dof] - joint_q[row, coord]) / factor
                behind = wp.min(behind, -wp.min(below, above))
                ahead = wp.min(ahead, wp.max(below, above))
        dof = motion.variable_dof[variable]
        last = motion.last[row, dof]
        low, braking, high = viable_steps(
            last, last - motion.before_last[row, dof], behind, ahead, motion.speed[variable],
            motion.slowdown[variable], motion.jerk[variable],
        )  # fmt: skip
        return low, braking, high

    return steps_of_variable


@no_type_check
@functools.cache
def _motion_kernel(scalar: type) -> wp.Kernel:
    steps_of_variable, tighten = steps_of_variable_function(scalar), yield_function(scalar)
    Motion = motion_struct(scalar)

    @compiled_kernel(registers=255)
    def apply_motion_limit(
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        motion: Motion,
        # in and out
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        row, variable = wp.tid()
        low, braking, high = steps_of_variable(motion, joint_q, row, variable)
        tighten(row, variable, scalar(1.0), low, high, lower, upper)

    return apply_motion_limit


class MotionLimit(LastStepsLimit, MarginLimit):
    """Limits of position, velocity, acceleration and jerk that hold together, in every stop too.

    Use it instead of a position, a velocity and a jerk limit. A robot that starts at rest inside
    its position limits never violates any of the four, as long as it executes every step
    unchanged.
    """

    precedence = 2
    construction_only = frozenset(('velocity', 'acceleration', 'jerk', 'position_margin'))

    def __init__(
        self,
        velocity: np.ndarray,
        acceleration: np.ndarray,
        jerk: np.ndarray,
        *,
        velocity_scale: float = 1.0,
        acceleration_scale: float = 1.0,
        position_margin: float | np.ndarray = 0.0,
    ) -> None:
        """Create the limit.

        Args:
            velocity: Largest speed of each degree of freedom [rad/s or m/s], shape
                [joint_dof_count]; inf for none.
            acceleration: Largest acceleration [rad/s^2 or m/s^2], same shape; inf for none.
            jerk: Largest jerk [rad/s^3 or m/s^3], same shape, above 0; inf for none.
            velocity_scale: Fraction of the velocities that may be used, in (0, 1].
            acceleration_scale: Fraction of the accelerations that may be used, in (0, 1].
            position_margin: Distance kept from the position limits [rad or m], one or shape
                [joint_dof_count].

        Raises:
            ArgumentError: A limit that is negative or NaN, a jerk of 0, a scale outside (0, 1], or
                a margin that is negative or not finite.
        """
        self._velocity = dof_values('velocity', velocity)
        self._acceleration = dof_values('acceleration', acceleration)
        self._jerk = positive_values('jerk', jerk)
        self._position_margin = margin_values('position_margin', position_margin)
        self._velocity_scale = fraction('velocity_scale', velocity_scale)
        self._acceleration_scale = fraction('acceleration_scale', acceleration_scale)

    @property
    def velocity_scale(self) -> float:
        """Fraction of the velocities that may be used, in (0, 1]; may be set between solves."""
        return self._velocity_scale

    @velocity_scale.setter
    def velocity_scale(self, value: float) -> None:
        self.set_scales(value, self._acceleration_scale)

    @property
    def acceleration_scale(self) -> float:
        """Fraction of the accelerations that may be used, in (0, 1]; may be set between solves."""
        return self._acceleration_scale

    @acceleration_scale.setter
    def acceleration_scale(self, value: float) -> None:
        self.set_scales(self._velocity_scale, value)

    def set_scales(self, velocity: float, acceleration: float) -> None:
        """Change the scales of the limits from the next solve on.

        Args:
            velocity: Fraction of the velocities, in (0, 1].
            acceleration: Fraction of the accelerations, in (0, 1].

        Raises:
            ArgumentError: A scale outside (0, 1]; the previous scales then stay.
        """
        scales = fraction('velocity', velocity), fraction('acceleration', acceleration)
        self._velocity_scale, self._acceleration_scale = scales
        if self._is_bound:
            self._write_scales()

    @property
    def motion(self) -> Any:
        """Limits and last steps on the device, a struct of :func:`motion_struct`, once bound."""
        return self._motion

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        launch(
            _motion_kernel(state.scalar),
            dim=(state.n_robots, state.group.n_variables),
            inputs=[state.joint_q, self._motion],
            outputs=[lower, upper],
            device=state.device,
        )

    def _allocate(self, state: 'StepState') -> None:
        """Copy the limits to the device.

        Raises:
            ArgumentError: The limits do not match the model, or the margin leaves a joint no room.
        """
        dofs, group = state.model.joint_dof_count, state.group
        given = self._velocity, self._acceleration, self._jerk
        for name, values in zip(('velocity', 'acceleration', 'jerk'), given, strict=True):
            if values.shape != (dofs,):
                raise ArgumentError(f'{name} must have shape [{dofs}], got {values.shape}')

        def floats(*shape: int) -> HostBuffer:
            return HostBuffer(shape, state.scalar, state.device)

        self._allocate_steps(state)
        self._allocate_range(state)
        self._speed, self._slowdown = floats(group.n_variables), floats(group.n_variables)
        jerk = floats(group.n_variables)
        jerk.write(group.variable_limits(self._jerk) * state.dt**3)
        self._group, self._dt = group, state.dt
        # Halving an interval of steps needs finite ends, and no step is longer than the range of
        # positions. A joint outside a narrow one returns at 1 rad or m per step.
        low, high, _, _ = state.model.limits64()
        self._longest_step = group.variable_limits(np.maximum(high - low, 1.0))
        self._motion = motion = motion_struct(state.scalar)()
        motion.variable_dof = wp.array(group.variable_dof, dtype=wp.int32, device=state.device)
        motion.moving_dof, motion.dof_variable = state.moving_dof, state.dof_variable
        motion.dof_scale, motion.dof_coord = state.dof_scale, state.dof_coord
        motion.lowest, motion.highest = self._lowest.array, self._highest.array
        motion.speed, motion.slowdown = self._speed.array, self._slowdown.array
        motion.jerk = jerk.array
        motion.last, motion.before_last = self._last_step.array, self._step_before_last.array
        self._write_scales()

    def _write_scales(self) -> None:
        """Copy the scaled limits to the device."""
        group, dt = self._group, self._dt
        speed = self._velocity_scale * group.variable_limits(self._velocity) * dt
        self._speed.write(np.minimum(speed, self._longest_step))
        acceleration = group.variable_limits(self._acceleration)
        self._slowdown.write(self._acceleration_scale * acceleration * dt**2)
