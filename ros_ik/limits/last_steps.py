# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of limits of jerk, which depend on the last two steps."""

from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.former_names import renamed_argument
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.limits.arguments import check_steps
from ros_ik.limits.arguments import finite_array
from ros_ik.limits.limit import copied_on_device
from ros_ik.limits.limit import Limit
from ros_ik.limits.limit import write_rows

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState


class LastStepsLimit(Limit):
    """Base of limits that read the last two steps, zero at first."""

    _jerk: np.ndarray
    _steps: tuple[np.ndarray, np.ndarray] | None = None

    def set_last_displacements(
        self, last: Any, before_last: Any = None, *, before: Any = None
    ) -> None:
        """Set the last two steps [rad or m], each [joint_dof_count] or [n, joint_dof_count].

        Args:
            last: The last step. After the first solve, steps of n robots in arrays of Warp,
                PyTorch, JAX or CuPy are copied on the device, and a solve reports numbers that are
                not finite.
            before_last: The step before it, of the same shape.
            before: Former name of ``before_last``, for one release.

        Raises:
            ArgumentError: Not finite or of another shape; the previous values then stay.
        """
        before_last = renamed_argument('before_last', before_last, 'before', before)
        if self._is_bound and copied_on_device(
            ('last', self._last_step, last), ('before_last', self._step_before_last, before_last)
        ):
            return
        steps = finite_array('last', last), finite_array('before_last', before_last)
        if steps[0].shape != steps[1].shape:
            raise ArgumentError(
                f'last and before_last must have one shape, got {[*steps[0].shape]} and '
                f'{[*steps[1].shape]}'
            )
        if self._is_bound:
            self._write_steps(*steps)
        else:
            check_steps('last', steps[0], self._jerk.shape, None)
        self._steps = steps

    def write_last_displacements(self, last: np.ndarray, before_last: np.ndarray) -> None:
        """Set the last two steps after the first solve, without a check, which takes longer.

        Args:
            last: The last step, finite, of the shape that :meth:`set_last_displacements` needs.
            before_last: The step before it.
        """
        self._last_step.write(last)
        self._step_before_last.write(before_last)

    def reset(self) -> None:
        """Reset to a robot at rest."""
        rest = np.zeros_like(self._jerk)
        self.set_last_displacements(rest, rest)

    def _allocate_steps(self, state: 'StepState') -> None:
        """Allocate the last two steps, with the values that were set.

        Raises:
            ArgumentError: They do not match the model.
        """
        shape = state.n_robots, state.model.joint_dof_count
        self._last_step = HostBuffer(shape, state.scalar, state.device)
        self._step_before_last = HostBuffer(shape, state.scalar, state.device)
        if self._steps is not None:
            self._write_steps(*self._steps)

    def _write_steps(self, last: np.ndarray, before_last: np.ndarray) -> None:
        """Copy two steps of one shape to the device."""
        write_rows('last', self._last_step, last)
        write_rows('before_last', self._step_before_last, before_last)
