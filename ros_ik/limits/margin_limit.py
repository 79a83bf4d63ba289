# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of limits that keep a margin to the position limits of the model."""

from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.limits.arguments import margin_values
from ros_ik.limits.arguments import position_bounds
from ros_ik.limits.limit import Limit

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


class MarginLimit(Limit):
    """Base of limits with a range of positions on the device; constructors set the margin."""

    _position_margin: np.ndarray
    # Range of positions [joint_dof_count], once allocated [rad or m].
    _lowest: HostBuffer
    _highest: HostBuffer

    def set_position_margin(self, position_margin: float | np.ndarray) -> None:
        """Change the distance kept from the position limits, from the next solve on.

        Args:
            position_margin: As in the constructor.

        Raises:
            ArgumentError: As in the constructor, or the margin leaves a joint no room. The
                previous margin then stays.
        """
        values = margin_values('position_margin', position_margin)
        if self._is_bound:
            self._write_range(self._state, values)
        self._position_margin = values

    def _allocate_range(self, state: 'StepState') -> None:
        """Allocate the range, and copy it to the device.

        Raises:
            ArgumentError: The margin does not match the model, or leaves a joint no room.
        """
        shape = (state.model.joint_dof_count,)
        self._lowest = HostBuffer(shape, state.scalar, state.device)
        self._highest = HostBuffer(shape, state.scalar, state.device)
        self._write_range(state, self._position_margin)

    def _write_range(self, state: 'StepState', margin: np.ndarray) -> None:
        """Copy the position limits less a margin to the device."""
        low, high = position_bounds('position_margin', margin, state.model, state.group)
        self._lowest.write(low)
        self._highest.write(high)
