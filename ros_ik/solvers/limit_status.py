# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Status of a search without a solution, as Warp functions shared by the solvers.

A variable presses against a limit if it is at the limit and the cost decreases beyond it: at its
lower limit for a positive slope of the cost, at its upper limit for a negative slope.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.status import SolveStatus

# A float32 coordinate is at a limit if it is this close [rad or m], to allow for rounding.
AT_LIMIT = 1e-5


@no_type_check
@functools.cache
def limit_functions(scalar: type) -> SimpleNamespace:
    """Build the functions of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.

    Returns:
        - ``presses(slope, below, above, close) -> bool``: True if a variable presses against a
          limit. Its arguments are the slope of the cost, the distances ``below`` and ``above`` to
          the limits, and the distance ``close`` up to which a variable is at a limit;
        - ``unsolved_status(is_stationary, is_pressed) -> int``: ITERATION_LIMIT if a variable that
          does not press against a limit has a slope; otherwise AT_LIMITS if any variable presses
          against a limit, else UNREACHABLE.
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
