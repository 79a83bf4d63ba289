# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Quadratic program of a step in memory, with the work arrays of its solution.

minimise 1/2 x' H x + c' x   subject to   lower <= x <= upper,   J x >= d
"""

import functools
import itertools
import math
from typing import Any
from typing import no_type_check

import numpy as np
import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_view
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.least_squares.envelope import Elimination

# Rounds of the active-set method before the dual method is used; the docstring of
# ``DifferentialIKSettings.max_iterations`` has the number.
MAX_ROUNDS = 12
# Largest number of active rows; programs with more use the dual method.
_MAX_BINDING = 8


@no_type_check
@functools.cache
def step_program_struct() -> Any:
    """Return the Warp struct of the programs of a batch and their work arrays."""

    @wp.struct
    class StepProgram:
        # views of one array, which is initialised by a single copy in each step
        memory: wp.array(dtype=wp.float64)
        empty: wp.array(dtype=wp.float64)  # zeros, and the bounds that are always the same
        H: wp.array3d(dtype=wp.float64)  # [n, variables, variables], lower triangle
        c: wp.array2d(dtype=wp.float64)  # [n, variables]
        lower: wp.array2d(dtype=wp.float64)  # [n, variables]
        upper: wp.array2d(dtype=wp.float64)  # [n, variables]
        J: wp.array3d(dtype=wp.float64)  # [n, rows, variables]
        d: wp.array2d(dtype=wp.float64)  # [n, rows], -inf for an inactive row
        x: wp.array2d(dtype=wp.float64)  # [n, variables], the solution
        copied_x: wp.array2d(dtype=wp.float64)  # the same, contiguous; empty if x is the result
        # the guess, and afterwards the active constraints
        active_bound: wp.array2d(dtype=wp.int32)  # [n, variables], -1 lower, 1 upper, 0 none
        binding: wp.array2d(dtype=wp.int32)  # [n, rows]
        # scratch, in elimination order
        order: wp.array(dtype=wp.int32)  # [variables]
        first: wp.array(dtype=wp.int32)  # [variables]
        factor: wp.array2d(dtype=wp.float64)  # [n, variables * variables]
        z: wp.array2d(dtype=wp.float64)  # [n, variables]
        row: wp.array2d(dtype=wp.int32)  # [n, _MAX_BINDING], rows that bind
        y: wp.array3d(dtype=wp.float64)  # [n, _MAX_BINDING, variables], L^-1 J'
        S: wp.array3d(dtype=wp.float64)  # [n, _MAX_BINDING, _MAX_BINDING]
        multiplier: wp.array2d(dtype=wp.float64)  # [n, _MAX_BINDING]

    return StepProgram


@shares_launch_lock
def make_step_program(
    n: int, variables: int, rows: int, order: Elimination, device: wp.DeviceLike
) -> Any:
    """Return programs of ``n`` robots, float64; order and first have an entry per variable."""
    program = step_program_struct()()

    def zeros(*shape: int, dtype: type = wp.float64) -> wp.array:
        return batch_zeros((n, *shape), dtype, device)

    binding = min(_MAX_BINDING, variables, rows)
    _make_views(program, n, variables, device)
    program.x, program.z = zeros(variables), zeros(variables)
    copied = 0 if program.x.is_contiguous else variables
    program.copied_x = wp.zeros((n, copied), dtype=wp.float64, device=device)
    program.J, program.d = zeros(rows, variables), zeros(rows)
    program.active_bound = zeros(variables, dtype=wp.int32)
    program.binding = zeros(rows, dtype=wp.int32)
    program.order = wp.array(order.order, dtype=wp.int32, device=device)
    program.first = wp.array(order.first, dtype=wp.int32, device=device)
    program.factor = zeros(variables * variables)
    program.row, program.y = zeros(binding, dtype=wp.int32), zeros(binding, variables)
    program.S, program.multiplier = zeros(binding, binding), zeros(binding)
    return program


@shares_launch_lock
def make_program_beside(program: Any) -> Any:
    """Return programs with the same constraints and work arrays, and their own cost and x."""
    other, (n, variables), rows = step_program_struct()(), program.c.shape, program.d.shape[1]
    device = program.c.device
    for name in (
        'lower', 'upper', 'J', 'd', 'order', 'first', 'factor', 'z', 'row', 'y', 'S', 'multiplier',
    ):  # fmt: skip
        setattr(other, name, getattr(program, name))
    other.H = batch_zeros((n, variables, variables), wp.float64, device)
    other.c = batch_zeros((n, variables), wp.float64, device)
    other.x = batch_zeros((n, variables), wp.float64, device)
    other.active_bound = batch_zeros((n, variables), wp.int32, device)
    other.binding = batch_zeros((n, rows), wp.int32, device)
    return other


@shares_launch_lock
def _make_views(program: Any, n: int, variables: int, device: wp.DeviceLike) -> None:
    """Put H, c, lower and upper into one array, because a copy is faster than a kernel."""
    shapes = {
        'H': (n, variables, variables), 'c': (n, variables), 'lower': (n, variables),
        'upper': (n, variables),
    }  # fmt: skip
    sizes = [math.prod(shape) for shape in shapes.values()]
    program.empty = wp.zeros(sum(sizes), dtype=wp.float64, device=device)
    program.memory = wp.empty_like(program.empty)
    ends = itertools.accumulate(sizes)
    for (name, shape), size, end in zip(shapes.items(), sizes, ends, strict=True):
        setattr(program, name, batch_view(program.memory[end - size : end], shape))
    lower, upper = begin_of_box(program)
    lower.fill_(-np.inf)
    upper.fill_(np.inf)


def begin_of_box(program: Any) -> tuple[wp.array, wp.array]:
    """Return the initial bounds of each step, lower and upper [n, variables]."""
    size = program.lower.size
    lower, upper = program.empty[-2 * size : -size], program.empty[-size:]
    return batch_view(lower, program.lower.shape), batch_view(upper, program.upper.shape)


def every_variable(order: Elimination, n: int) -> Elimination:
    """Extend an order to all n variables, with uncoupled ones at the end."""
    missing = np.setdiff1d(np.arange(n), order.order)
    positions = len(order.order) + np.arange(len(missing))
    return Elimination(
        np.concatenate([order.order, missing]).astype(np.int32),
        np.concatenate([order.first, positions]).astype(np.int32),
    )
