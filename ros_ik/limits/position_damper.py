# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Damper before position limits: joints slow down early, gradually enough for others to follow.

    dq - dq_1 <= r (r d - 2 dq_1),    r = dt / t

dq_1 is the last step and d the distance to the position limit ahead. At the bound the joint moves
like a critically damped spring that rests at the limit, with the time constant t: its acceleration
changes as gradually as its distance and its speed. (This is an exponential control barrier
function; Nguyen and Sreenath, Exponential Control Barrier Functions for Enforcing High
Relative-Degree Safety-Critical Constraints, 2016.) Every other limit overrides this one.
"""

import functools
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.limits.acceleration import AccelerationLimit
from ros_ik.limits.arguments import margin_values
from ros_ik.limits.limit import yield_function
from ros_ik.limits.margin_limit import MarginLimit

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState

# Largest r: with more, a joint would turn back.
_LARGEST_RATE = 0.5


@no_type_check
@functools.cache
def _damper_kernel(scalar: type) -> wp.Kernel:
    tighten_yielding, two = yield_function(scalar), wp.constant(scalar(2.0))

    @compiled_kernel()
    def apply_position_damper(
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        moving_dof: wp.array(dtype=wp.int32),  # [n_moving]
        dof_variable: wp.array(dtype=wp.int32),  # [joint_dof_count]
        dof_scale: wp.array(dtype=scalar),  # [joint_dof_count]
        dof_coord: wp.array(dtype=wp.int32),  # [joint_dof_count]
        position_min: wp.array(dtype=scalar),  # [joint_dof_count]
        position_max: wp.array(dtype=scalar),  # [joint_dof_count]
        rate: wp.array(dtype=scalar),  # [1], r; 0 for no damper
        last_step: wp.array2d(dtype=scalar),  # [n, joint_dof_count]
        # in and out
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
    ):
        row = wp.tid()
        r = rate[0]
        for k in range(moving_dof.shape[0]):
            dof = moving_dof[k]
            coord = dof_coord[dof]
            if coord >= 0 and r > scalar(0.0):
                q = joint_q[row, coord]
                last = last_step[row, dof]
                ahead = wp.max(position_max[dof] - q, scalar(0.0))
                behind = wp.max(q - position_min[dof], scalar(0.0))
                high = last + r * (r * ahead - two * last)
                low = last - r * (r * behind + two * last)
                tighten_yielding(row, dof_variable[dof], dof_scale[dof], low, high, lower, upper)

    return apply_position_damper


class PositionDamper(MarginLimit):
    """Gradual deceleration before position limits; every other limit takes precedence."""

    precedence = 3
    construction_only = frozenset(('time', 'acceleration'))
    splits = True

    def __init__(
        self,
        time: float,
        acceleration: AccelerationLimit,
        *,
        position_margin: float | np.ndarray = 0.0,
    ) -> None:
        """Create the damper, switched on.

        Args:
            time: Time constant of the approach, t [s], above 0.
            acceleration: Limit in the same program, whose last step is also that of the damper.
            position_margin: Distance kept from the position limits [rad or m], one or shape
                [joint_dof_count].
        """
        self._time, self._acceleration, self._is_on = time, acceleration, True
        self._position_margin = margin_values('position_margin', position_margin)

    def switch(self, on: bool) -> None:
        """Switch the damper on or off, from the next solve on."""
        if on != self._is_on:
            self._is_on = on
            if self._is_bound:
                self._write_rate(self._state)

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        launch(
            _damper_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[
                state.joint_q, state.moving_dof, state.dof_variable, state.dof_scale,
                state.dof_coord, self._lowest.array, self._highest.array, self._rate.array,
                state.rows(self._acceleration.last_step),
            ],
            outputs=[lower, upper],
            device=state.device,
        )  # fmt: skip

    def _allocate(self, state: 'StepState') -> None:
        """Copy the limits of the model to the device."""
        self._rate = HostBuffer((1,), state.scalar, state.device)
        self._write_rate(state)
        self._allocate_range(state)

    def _write_rate(self, state: 'StepState') -> None:
        """Copy r to the device."""
        self._rate.write(min(state.dt / self._time, _LARGEST_RATE) if self._is_on else 0.0)
