# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Limit: the step changes by no more than an acceleration allows, and can still stop in time.

    |dq - dq_last| <= s,    dq <= s (k / 2 + D / (k + 1)),    s = a dt^2,  D = d / s,
    k = floor((sqrt(1 + 8 D) - 1) / 2)

d is the distance to the position limit ahead. The second bound is the largest step from which
shrinking by s in each further step ends at the limit: k + 1 steps dq, dq - s, ..., dq - k s sum to
(k + 1) (dq - k s / 2) = d. (The continuous dt sqrt(2 a d) of roboplan overshoots by up to s / 8.)
Where these bounds conflict with position or velocity limits, those win.
"""

import functools
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.limits.limit import Limit

if TYPE_CHECKING:
    from ros_ik.kinematics.step_state import StepState


@no_type_check
@functools.cache
def _acceleration_kernel(scalar: type) -> wp.Kernel:
    @wp.func
    def braking_step(distance: scalar, acceleration: scalar, dt: scalar) -> scalar:
        step = acceleration * dt * dt
        if not wp.isfinite(distance) or step <= scalar(0.0):
            return distance
        D = distance / step
        k = wp.floor((wp.sqrt(scalar(1.0) + scalar(8.0) * D) - scalar(1.0)) / scalar(2.0))
        return step * (k / scalar(2.0) + D / (k + scalar(1.0)))

    @wp.kernel(enable_backward=False, module='unique')
    def apply_acceleration_limit(
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        position_min: wp.array(dtype=scalar),  # [joint_dof_count]
        position_max: wp.array(dtype=scalar),  # [joint_dof_count]
        acceleration: wp.array(dtype=scalar),  # [joint_dof_count]
        last_step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        dt: scalar,
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        row = wp.tid()
        for dof in range(dof_variable.shape[0]):
            variable = dof_variable[dof]
            a = acceleration[dof]
            scale = dof_scale[dof]
            if variable >= 0 and wp.isfinite(a) and scale != scalar(0.0):
                low = last_step[row, dof] - a * dt * dt
                high = last_step[row, dof] + a * dt * dt
                coord = dof_coord[dof]
                if coord >= 0:
                    q = joint_q[row, coord]
                    ahead = braking_step(wp.max(position_max[dof] - q, scalar(0.0)), a, dt)
                    behind = braking_step(wp.max(q - position_min[dof], scalar(0.0)), a, dt)
                    high = wp.clamp(ahead, low, high)
                    low = wp.clamp(-behind, low, high)
                low = low / scale
                high = high / scale
                box_low = lower[row, variable]
                box_high = upper[row, variable]
                lower[row, variable] = wp.clamp(wp.min(low, high), box_low, box_high)
                upper[row, variable] = wp.clamp(wp.max(low, high), box_low, box_high)

    return apply_acceleration_limit


class AccelerationLimit(Limit):
    """The step changes by no more than an acceleration allows; yields to the other limits."""

    yields = True

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
                [joint_dof_count]; inf for none, 0 pins the velocity.
            scale: Part of the limit that may be used, in (0, 1].
            position_margin: Distance from the position limits at which braking ends [rad or m],
                one or shape [joint_dof_count]; use that of the :class:`PositionLimit` beside it.

        Raises:
            ArgumentError: A negative or NaN acceleration, or a scale outside (0, 1].
        """
        self._acceleration = np.asarray(acceleration, dtype=np.float64)
        if not np.all(self._acceleration >= 0.0):
            raise ArgumentError(f'acceleration must not be negative, got {acceleration}')
        self._position_margin = position_margin
        self._is_allocated = False
        self._last_displacement = np.zeros(1)
        self.scale = scale

    @property
    def scale(self) -> float:
        """Part of the limit that may be used, in (0, 1]; may be set between solves."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        if not 0.0 < value <= 1.0:
            raise ArgumentError(f'scale must lie in (0, 1], got {value}')
        self._scale = value
        self._write()

    def _allocate(self, state: 'StepState') -> None:
        """Allocate the last step, zero at first.

        Raises:
            ArgumentError: The accelerations given do not match the model.
        """
        dofs = state.model.joint_dof_count
        if self._acceleration.shape != (dofs,):
            raise ArgumentError(
                f'acceleration must have shape [{dofs}], got {self._acceleration.shape}'
            )
        low, high, _, _ = state.model.limits64()
        margin = np.broadcast_to(self._position_margin, low.shape)
        self._min = wp.array(low + margin, dtype=state.scalar, device=state.device)
        self._max = wp.array(high - margin, dtype=state.scalar, device=state.device)
        self._device_acceleration = HostBuffer((dofs,), state.scalar, state.device)
        self._last_step = HostBuffer((state.n_robots, dofs), state.scalar, state.device)
        self._is_allocated = True
        self.set_last_displacement(self._last_displacement)
        self._write()

    def set_last_displacement(self, displacement: np.ndarray) -> None:
        """Give the step taken last [rad or m], shape [joint_dof_count] or [n, joint_dof_count]."""
        self._last_displacement = np.asarray(displacement, dtype=np.float64)
        if self._is_allocated:
            self._last_step.host[:] = self._last_displacement
            self._last_step.upload()

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        wp.launch(
            _acceleration_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[
                state.joint_q, state.dof_variable, state.dof_scale, state.dof_coord,
                self._min, self._max, self._device_acceleration.array, self._last_step.array,
                state.dt,
            ],
            outputs=[lower, upper],
            device=state.device,
        )  # fmt: skip

    def _write(self) -> None:
        """Bring the scaled accelerations to the device."""
        if self._is_allocated:
            self._device_acceleration.host[:] = self._scale * self._acceleration
            self._device_acceleration.upload()
