# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Soft jerk limit (``limits.jerk: soft``): bounds the change of acceleration in most steps.

    |(dq - dq_1) - (dq_1 - dq_2)| <= j dt^3,    dq - dq_1 <= step(v_max dt - dq_1, j dt^3)

dq_1 is the last step and dq_2 the one before it. The second bound, with step(d, s) of
:mod:`ros_ik.kinematics.stepping.braking`, reduces the acceleration gradually before the speed
limit, where it would otherwise have to end at once. The bounds never reverse a motion, so a joint
at rest may stay at rest. Limits of position, velocity and acceleration override this one: a joint
that must brake for a position limit brakes at once with the acceleration that it needs. Strict
jerk limits are in :mod:`ros_ik.limits.motion`.
"""

import functools
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.braking import braking_function
from ros_ik.limits.arguments import dof_values
from ros_ik.limits.arguments import positive_values
from ros_ik.limits.last_steps import LastStepsLimit
from ros_ik.limits.limit import ScaledLimit
from ros_ik.limits.limit import yield_function

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def _jerk_kernel(scalar: type) -> wp.Kernel:
    braking_step, tighten_yielding = braking_function(scalar), yield_function(scalar)

    @compiled_kernel()
    def apply_jerk_limit(
        moving_dof: wp.array(dtype=wp.int32),  # [n_moving]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        max_change: wp.array(dtype=scalar),  # [joint_dof_count], j dt^3
        max_step: wp.array(dtype=scalar),  # [joint_dof_count], v_max dt
        last_step: wp.array2d(dtype=scalar),  # [n, joint_dof_count], dq_1
        step_before_last: wp.array2d(dtype=scalar),  # [n, joint_dof_count], dq_2
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        row = wp.tid()
        for k in range(moving_dof.shape[0]):
            dof = moving_dof[k]
            change = max_change[dof]
            last = last_step[row, dof]
            if wp.isfinite(change):
                low = last - step_before_last[row, dof] - change
                high = last - step_before_last[row, dof] + change
                ahead = braking_step(wp.max(max_step[dof] - last, scalar(0.0)), change)
                behind = braking_step(wp.max(max_step[dof] + last, scalar(0.0)), change)
                high = wp.clamp(ahead, low, high)
                low = wp.clamp(-behind, low, high)
                low += last
                high += last
                # A joint that slows down may stop at once instead of reversing.
                if last >= scalar(0.0):
                    high = wp.max(high, scalar(0.0))
                if last <= scalar(0.0):
                    low = wp.min(low, scalar(0.0))
                tighten_yielding(row, dof_variable[dof], dof_scale[dof], low, high, lower, upper)

    return apply_jerk_limit


class JerkLimit(LastStepsLimit, ScaledLimit):
    """Bound on the change of acceleration; takes precedence over :class:`PositionDamper` alone."""

    precedence = 2
    construction_only = frozenset(('jerk', 'velocity'))
    splits = True

    def __init__(
        self, jerk: np.ndarray, *, velocity: np.ndarray | None = None, scale: float = 1.0
    ) -> None:
        """Create the limit.

        Args:
            jerk: Largest jerk of each degree of freedom [rad/s^3 or m/s^3], shape
                [joint_dof_count]; inf for none.
            velocity: Speed limits before which the acceleration is reduced [rad/s or m/s], same
                shape, inf for none; None for the limits of the model. Use the speeds of the
                :class:`VelocityLimit`.
            scale: Fraction of the limit that may be used, in (0, 1].

        Raises:
            ArgumentError: A jerk that is not positive, a negative or NaN velocity, or a scale
                outside (0, 1].
        """
        self._jerk = positive_values('jerk', jerk)
        self._velocity = None if velocity is None else dof_values('velocity', velocity)
        self.scale = scale

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        launch(
            _jerk_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[
                state.moving_dof, state.dof_variable, state.dof_scale, self._max_change.array,
                self._max_step, state.rows(self._last_step.array),
                state.rows(self._step_before_last.array),
            ],
            outputs=[lower, upper],
            device=state.device,
        )  # fmt: skip

    def _allocate(self, state: 'StepState') -> None:
        """Allocate the last steps, zero at first.

        Raises:
            ArgumentError: The limits do not match the model.
        """
        dofs = state.model.joint_dof_count
        velocity = state.model.limits64()[2] if self._velocity is None else self._velocity
        for name, values in (('jerk', self._jerk), ('velocity', velocity)):
            if values.shape != (dofs,):
                raise ArgumentError(f'{name} must have shape [{dofs}], got {values.shape}')
        self._dt = state.dt
        # The acceleration of a joint changes no faster than of those that move with it.
        self._coupled = state.group.coupled_limits(self._jerk)
        self._max_step = wp.array(velocity * state.dt, dtype=state.scalar, device=state.device)
        self._max_change = HostBuffer((dofs,), state.scalar, state.device)
        self._allocate_steps(state)
        self._write()

    def _write(self) -> None:
        """Copy the scaled jerks to the device."""
        self._max_change.write(self._scale * self._coupled * self._dt**3)
