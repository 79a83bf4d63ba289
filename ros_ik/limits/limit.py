# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of limits: hard bounds on the step of each variable, the box of the solver."""

import functools
from typing import Any
from typing import ClassVar
from typing import no_type_check
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.former_names import warn_of_former_name
from ros_ik.kinematics.runtime.array_exchange import exchanged
from ros_ik.kinematics.runtime.array_exchange import is_exchanged
from ros_ik.kinematics.runtime.batch_arrays import batch_input
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.limits.arguments import check_steps
from ros_ik.limits.arguments import fraction
from ros_ik.limits.step_constraint import StepConstraint

if TYPE_CHECKING:
    from ros_ik.kinematics.stepping.step_state import StepState

# Violation of a limit, in its unit, above which a step is reported as RELAXED.
STATE_TOLERANCE = 1e-6


class Limit(StepConstraint):
    """Base of hard limits on a step.

    Attributes:
        precedence: Rank among limits. If limits conflict, the lower number wins: limits of higher
            numbers are applied later and clamped into the box. 0 is never clamped.
        is_recordable: True if solvers may replay the launches of a user's class, see
            :class:`~ros_ik.IKObjective`. Without it they call its methods in each solve.
        splits: True if :meth:`launch` may be called for parts of a large batch, with ``_state``
            the state of the part. A limit with an array per robot must then read its rows through
            :meth:`StepState.rows`.
        is_constant: True if the box is the same in every state and for every robot. Such a limit
            is launched again only after ``Limit.changes`` has increased.
        changes: Number of changes of constant limits, over all objects.
    """

    precedence: int = 0
    splits = is_recordable = False
    is_constant = False
    changes: ClassVar[int] = 0

    def __init_subclass__(cls, **options: Any) -> None:
        """Accept the former name of ``precedence``, for one release."""
        super().__init_subclass__(**options)
        if 'yields' in vars(cls):
            warn_of_former_name('Limit.yields', 'Limit.precedence')
            cls.precedence = vars(cls)['yields']

    @shares_launch_lock
    def bind(self, state: 'StepState') -> None:
        """Allocate the arrays of the limit; call before the first :meth:`launch`.

        Raises:
            ArgumentError: The limit belongs to another solver, whose graph refers to its arrays.
        """
        if not self._is_bound_to(state, type(self).__name__):
            self._allocate(state)
            self._set_bound(state)

    def launch(self, lower: wp.array, upper: wp.array) -> None:
        """Tighten the box.

        For several robots on a GPU, the arrays are not contiguous; see
        :mod:`ros_ik.kinematics.runtime.batch_layout`.

        Args:
            lower: Least step of each variable, shape [n, n_variables], in rad or m.
            upper: Largest step of each variable, same shape.
        """
        raise NotImplementedError


class ScaledLimit(Limit):
    """Base of limits with a scale."""

    @property
    def scale(self) -> float:
        """Fraction of the limit that may be used, in (0, 1]; may be set between solves."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        self._scale = fraction('scale', value)
        if self._is_bound:
            self._write()

    def _write(self) -> None:
        """Copy the scaled limits to the device; their arrays are allocated."""
        raise NotImplementedError


def copied_on_device(*steps: tuple[str, HostBuffer, Any]) -> bool:
    """Copy steps of n robots on a GPU, if all are arrays of Warp or another library.

    Args:
        steps: For each its name in errors, the buffer [n, joint_dof_count] that it goes to, and
            the array, float32 or float64; its numbers are not checked.

    Returns:
        False if one is a NumPy array, has another shape or is on a CPU; the host then reads them.

    Raises:
        ArgumentError: An array on another GPU, or of another type.
    """
    found = []
    for name, buffer, given in steps:
        if not (buffer.needs_copies and is_exchanged(given)):
            return False
        found.append(exchanged(name, given))
        if tuple(found[-1].shape) != tuple(buffer.array.shape):
            return False
    for (name, buffer, _), array in zip(steps, found, strict=True):
        rows, _ = batch_input(name, array, array.shape[1], buffer.array.device)
        cast_into(buffer.array, rows)
    return True


def write_rows(name: str, buffer: HostBuffer, values: np.ndarray) -> None:
    """Copy values [joint_dof_count] or [n, joint_dof_count] to the device.

    Raises:
        ArgumentError: Another shape; it names the argument.
    """
    rows, *dofs = buffer.host.shape
    check_steps(name, values, (*dofs,), rows)
    buffer.write(values)


@no_type_check
@functools.cache
def tighten_function(scalar: type) -> wp.Function:
    """Build ``tighten(row, variable, scale, low, high, lower, upper)``.

    The function intersects the box of ``variable`` with low <= scale * step <= high.
    """

    @wp.func
    def tighten(
        row: int,
        variable: int,
        scale: scalar,
        low: scalar,
        high: scalar,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
    ):
        if scale > scalar(0.0):
            lower[row, variable] = wp.max(lower[row, variable], low / scale)
            upper[row, variable] = wp.min(upper[row, variable], high / scale)
        elif scale < scalar(0.0):
            lower[row, variable] = wp.max(lower[row, variable], high / scale)
            upper[row, variable] = wp.min(upper[row, variable], low / scale)

    return tighten


@no_type_check
@functools.cache
def yield_function(scalar: type) -> wp.Function:
    """Build ``tighten_yielding(row, variable, scale, low, high, lower, upper)``.

    The function clamps the interval low <= scale * step <= high into the box of ``variable``,
    which then becomes that interval and is never empty. It returns the distance by which the
    interval was moved, in the unit of low and high.
    """

    @wp.func
    def tighten_yielding(
        row: int,
        variable: int,
        scale: scalar,
        low: scalar,
        high: scalar,
        lower: wp.array2d(dtype=scalar),
        upper: wp.array2d(dtype=scalar),
    ) -> scalar:
        if scale == scalar(0.0):
            return scalar(0.0)
        least = wp.min(low / scale, high / scale)
        most = wp.max(low / scale, high / scale)
        box_low = lower[row, variable]
        box_high = upper[row, variable]
        lower[row, variable] = wp.clamp(least, box_low, box_high)
        upper[row, variable] = wp.clamp(most, box_low, box_high)
        return wp.abs(scale) * wp.max(scalar(0.0), wp.max(box_low - most, least - box_high))

    return tighten_yielding
