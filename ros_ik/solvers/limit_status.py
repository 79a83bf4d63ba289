# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Status of a search without a solution, as Warp functions shared by the solvers.

A variable presses against a limit if it is at the limit and the cost decreases beyond it: at its
lower limit for a positive slope of the cost, at its upper limit for a negative slope.

A least-squares search is stationary if |J_i^T r| <= tolerance |J_i| |r| for every variable i that
does not press against a limit: the residual is perpendicular to each column. Smaller slopes do not
count at a limit either: their signs may be rounding. Each column has its own scale, because turns
of a small robot have far shorter ones than its slides. Columns below a fraction of the longest
count as that long, because the direction of a column that is zero up to rounding is meaningless.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from ros_ik.solvers.status import SolveStatus

# A float32 coordinate is at a limit if it is this close [rad or m], to allow for rounding.
AT_LIMIT = 1e-5
# Least length of a column, as a fraction of the longest. In float32 a column is accurate to about
# 1e-7 of the longest, so that the angle of one this short is accurate to 1e-3.
_SHORTEST = 1e-4


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
        - ``slope_bound(tolerance, own, longest, square) -> bound``: the largest slope of a
          stationary variable, from the squares of its column, of the longest one and of the
          residual;
        - ``judge(slope, bound, below, above, close, is_stationary, is_pressed) -> is_stationary,
          is_pressed``: the flags of some variables after another one;
        - ``unsolved_status(is_stationary, is_pressed) -> int``: ITERATION_LIMIT if a variable that
          does not press against a limit has a slope; otherwise AT_LIMITS if any variable presses
          against a limit, else UNREACHABLE.
    """
    iteration_limit = wp.constant(int(SolveStatus.ITERATION_LIMIT))
    unreachable = wp.constant(int(SolveStatus.UNREACHABLE))
    at_limits = wp.constant(int(SolveStatus.AT_LIMITS))
    zero, shortest = wp.constant(scalar(0.0)), wp.constant(scalar(_SHORTEST * _SHORTEST))

    @wp.func
    def presses(slope: scalar, below: scalar, above: scalar, close: scalar) -> bool:
        room = wp.where(slope > zero, below, above)
        return slope != zero and room <= close

    @wp.func
    def slope_bound(tolerance: scalar, own: scalar, longest: scalar, square: scalar) -> scalar:
        return tolerance * wp.sqrt(wp.max(own, shortest * longest) * square)

    @wp.func
    def judge(
        slope: scalar, bound: scalar, below: scalar, above: scalar, close: scalar,
        is_stationary: bool, is_pressed: bool,
    ):  # fmt: skip
        counts = wp.abs(slope) > bound
        pressed = counts and presses(slope, below, above, close)
        return is_stationary and (pressed or not counts), is_pressed or pressed

    @wp.func
    def unsolved_status(is_stationary: bool, is_pressed: bool) -> int:
        if not is_stationary:
            return iteration_limit
        if is_pressed:
            return at_limits
        return unreachable

    return SimpleNamespace(
        presses=presses, slope_bound=slope_bound, judge=judge, unsolved_status=unsolved_status
    )
