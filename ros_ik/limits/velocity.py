# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocity limit: joints stay below their speed limits, |dq| <= scale v_max dt."""

import functools
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.limits.arguments import check_some_may_move
from ros_ik.limits.arguments import dof_values
from ros_ik.limits.limit import Limit
from ros_ik.limits.limit import ScaledLimit
from ros_ik.limits.limit import tighten_function

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def _velocity_kernel(scalar: type) -> wp.Kernel:
    tighten = tighten_function(scalar)

    @compiled_kernel()
    def apply_velocity_limit(
        moving_dof: wp.array(dtype=wp.int32),  # [n_moving]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        max_step: wp.array(dtype=scalar),  # [joint_dof_count]
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        row = wp.tid()
        for k in range(moving_dof.shape[0]):
            dof = moving_dof[k]
            variable = dof_variable[dof]
            step = max_step[dof]
            tighten(row, variable, dof_scale[dof], -step, step, lower, upper)

    return apply_velocity_limit


class VelocityLimit(ScaledLimit):
    """Bound on each joint speed, from the model or given by the caller.

    Attributes:
        scale: Fraction of the limit that may be used, in (0, 1]; may be set between solves.
    """

    splits = True
    is_constant = True

    def __init__(self, velocity: np.ndarray | None = None, *, scale: float = 1.0) -> None:
        """Create the limit.

        Args:
            velocity: Largest speed of each degree of freedom [rad/s or m/s], shape
                [joint_dof_count], inf for none, 0 for a joint that must not move. None for the
                limits of the model.
            scale: Fraction of the limit that may be used, in (0, 1].

        Raises:
            ArgumentError: A speed that is negative or NaN, all of them zero, or a scale outside
                (0, 1].
        """
        self._velocity = None if velocity is None else dof_values('velocity', velocity)
        self.scale = scale

    @property
    def velocity(self) -> np.ndarray | None:
        """Largest speed of each degree of freedom [rad/s or m/s]; None for the model's.

        May be set between solves, shape [joint_dof_count].
        """
        return None if self._velocity is None else read_only(self._velocity)

    @velocity.setter
    def velocity(self, value: np.ndarray) -> None:
        velocity = dof_values('velocity', value)
        if self._is_bound:
            self._check_shape(velocity, self._max_step.host.shape)
        self._velocity = velocity
        if self._is_bound:
            self._write()

    def _allocate(self, state: 'StepState') -> None:
        """Copy the limits to the device.

        Raises:
            ArgumentError: The speeds do not match the model, or let none of its joints move.
        """
        shape = (state.model.joint_dof_count,)
        self._of_model = state.model.limits64()[2]
        if self._velocity is not None:
            self._check_shape(self._velocity, shape)
            check_some_may_move('velocity', self._velocity, state.group)
        self._dt = state.dt
        self._max_step = HostBuffer(shape, state.scalar, state.device)
        self._write()

    def _check_shape(self, velocity: np.ndarray, shape: tuple[int, ...]) -> None:
        if velocity.shape != shape:
            raise ArgumentError(f'velocity must have shape {list(shape)}, got {velocity.shape}')

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        launch(
            _velocity_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[
                state.moving_dof, state.dof_variable, state.dof_scale, self._max_step.array,
            ],
            outputs=[lower, upper],
            device=state.device,
        )  # fmt: skip

    def _write(self) -> None:
        """Copy the scaled limits to the device."""
        velocity = self._of_model if self._velocity is None else self._velocity
        step = self._scale * self._dt * velocity
        if not np.array_equal(step, self._max_step.host):
            self._max_step.write(step)
            Limit.changes += 1
