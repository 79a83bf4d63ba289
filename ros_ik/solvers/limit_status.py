# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Status of a search without a solution, as Warp functions that every solver calls.

A variable presses against a limit where it rests against it and the cost falls beyond it: at its
lower limit where the slope of the cost is positive, at its upper limit where it is negative.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.status import SolveStatus

# A coordinate in float32 rests against a limit when it is this close to it [rad or m]: rounding.
AT_LIMIT = 1e-5


@no_type_check
@functools.cache
def limit_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        ``presses(slope, below, above, close) -> bool``: whether a variable whose cost has this
        slope presses against a limit, with the room ``below`` and ``above`` it and the room
        ``close`` up to which it rests against one;
        ``unsolved_status(is_stationary, is_pressed) -> int``: ITERATION_LIMIT while variables that
        do not press against limits have a slope, then AT_LIMITS where some press, else
        UNREACHABLE.
    """
    iteration_limit = wp.constant(int(SolveStatus.ITERATION_LIMIT))
    unreachable = wp.constant(int(SolveStatus.UNREACHABLE))
    at_limits = wp.constant(int(SolveStatus.AT_LIMITS))
    zero = wp.constant(scalar(0.0))

    @wp.func
    def presses(slope: scalar, below: scalar, above: scalar, close: scalar) -> bool:
        room = wp.where(slope > zero, below, above)
        return slope != zero and room <= close

    @wp.func
    def unsolved_status(is_stationary: bool, is_pressed: bool) -> int:
        if not is_stationary:
            return iteration_limit
        if is_pressed:
            return at_limits
        return unreachable

    return SimpleNamespace(presses=presses, unsolved_status=unsolved_status)
