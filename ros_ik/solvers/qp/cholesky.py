# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cholesky factor of a dense matrix in memory, row by row, as a Warp function.

Rows may be added later, as constraints are, and a caller may stop at a pivot that is too small.
"""

import functools
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def factor_row_function(scalar: type) -> wp.Function:
    """Build ``factor_row(L, row) -> pivot`` for one floating-point type.

    ``L`` has the factor in the rows before ``row``, and in ``row`` the lower triangle of the
    matrix, which the function replaces by the factor, apart from the diagonal. The caller writes
    the square root of the pivot there, if it is large enough.
    """

    @wp.func
    def factor_row(L: wp.array2d(dtype=scalar), row: int) -> scalar:
        pivot = L[row, row]
        for column in range(row):
            value = L[row, column]
            for k in range(column):
                value -= L[row, k] * L[column, k]
            value /= L[column, column]
            L[row, column] = value
            pivot -= value * value
        return pivot

    return factor_row
