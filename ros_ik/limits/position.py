# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Position limit: joints stay between their lower and upper limits.

    -gain max(0, q - (q_min + margin)) <= dq <= gain max(0, (q_max - margin) - q)

A joint outside its limits may move back freely but not farther out, and it is not forced back (as
in roboplan's PositionLimit). The status of such a step is ``RELAXED``.
"""

import functools
from typing import Any
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.compiled_kernel import compiled_kernel
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import read_only
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.limits.arguments import fraction
from ros_ik.limits.arguments import margin_values
from ros_ik.limits.arguments import position_bounds
from ros_ik.limits.limit import Limit
from ros_ik.limits.limit import STATE_TOLERANCE
from ros_ik.limits.limit import tighten_function

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


@no_type_check
@functools.cache
def _bounded_dof_struct(scalar: type) -> Any:
    """Return the Warp struct of a degree of freedom that the group moves."""

    @wp.struct
    class BoundedDof:
        coord: wp.int32
        variable: wp.int32
        scale: scalar  # from the variable to the degree of freedom
        low: scalar
        high: scalar

    return BoundedDof


@no_type_check
@functools.cache
def _position_kernel(scalar: type) -> wp.Kernel:
    BoundedDof, tighten = _bounded_dof_struct(scalar), tighten_function(scalar)
    outside = wp.constant(scalar(STATE_TOLERANCE))

    @compiled_kernel()
    def apply_position_limit(
        joint_q: wp.array2d(dtype=scalar),  # [n, joint_coord_count]
        bounded: wp.array(dtype=BoundedDof),
        gain: scalar,
        # in and out
        lower: wp.array2d(dtype=scalar),  # [n, n_variables]
        upper: wp.array2d(dtype=scalar),  # [n, n_variables]
        is_relaxed: wp.array(dtype=wp.int32),  # [n]
    ):
        row = wp.tid()
        for k in range(bounded.shape[0]):
            dof = bounded[k]
            q = joint_q[row, dof.coord]
            low = -gain * wp.max(q - dof.low, scalar(0.0))
            high = gain * wp.max(dof.high - q, scalar(0.0))
            tighten(row, dof.variable, dof.scale, low, high, lower, upper)
            if dof.low - q > outside or q - dof.high > outside:
                is_relaxed[row] = 1

    return apply_position_limit


class PositionLimit(Limit):
    """Bound on each joint position: joints stay between the position limits of the model."""

    read_once = frozenset(('gain',))
    splits = True

    def __init__(self, *, gain: float = 1.0, margin: float | np.ndarray = 0.0) -> None:
        """Create the limit.

        Args:
            gain: Fraction of the distance to the limit that one step may cover, in (0, 1].
            margin: Distance kept from each limit [rad or m], one or shape [joint_dof_count], at
                most half the range of each joint that may move.

        Raises:
            ArgumentError: The gain lies outside (0, 1], or a margin is negative or not finite.
        """
        self.gain = fraction('gain', gain)
        self._margin = margin_values('margin', margin)

    @property
    def margin(self) -> np.ndarray:
        """Distance kept from each limit [rad or m]; may be set between solves."""
        return read_only(self._margin)

    @margin.setter
    def margin(self, value: float | np.ndarray) -> None:
        self.set_margin(value)

    def set_margin(self, margin: float | np.ndarray) -> None:
        """Change the distance kept from the limits, from the next solve on.

        Args:
            margin: As in the constructor.

        Raises:
            ArgumentError: As in the constructor, or the margin leaves a joint no room. The
                previous margin then stays.
        """
        values = margin_values('margin', margin)
        if self._is_bound:
            self._write(self._state, values)
        self._margin = values

    def _allocate(self, state: 'StepState') -> None:
        """Copy the limits of the model to the device.

        Raises:
            ArgumentError: The margin has another shape or leaves a joint no room.
        """
        coord = state.dof_coord.numpy()
        moving = state.moving_dof.numpy()
        self._moving = moving = moving[coord[moving] >= 0]
        struct = _bounded_dof_struct(state.scalar)
        bounded = np.zeros(len(moving), dtype=struct.numpy_dtype())
        bounded['coord'], bounded['variable'] = coord[moving], state.group.dof_variable[moving]
        bounded['scale'] = state.group.dof_scale[moving]
        self._rows = bounded
        self._bounded = wp.empty(len(moving), dtype=struct, device=state.device)
        self._write(state, self._margin)

    @shares_launch_lock
    def _write(self, state: 'StepState', margin: np.ndarray) -> None:
        """Copy the limits, reduced by the margin, to the device."""
        low, high = position_bounds('margin', margin, state.model, state.group)
        self._rows['low'], self._rows['high'] = low[self._moving], high[self._moving]
        self._bounded.assign(self._rows)

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box; see :meth:`Limit.launch`."""
        state = self._state
        launch(
            _position_kernel(state.scalar),
            dim=state.n_robots,
            inputs=[state.joint_q, self._bounded, self.gain],
            outputs=[lower, upper, state.is_relaxed],
            device=state.device,
        )
