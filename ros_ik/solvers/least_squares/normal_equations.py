# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Normal equations of a least-squares problem, H = J'J and c = J'r, with sums in one type.

H is symmetric and kept by its lower triangle. Most residuals depend on a few unknowns, so zeros of
J are skipped; NaN is not zero.
"""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def normal_equations_functions(scalar: type) -> SimpleNamespace:
    """Build ``add_row(J, r, i, line)`` and ``add_pair(i, j, value, H)``.

    - ``add_row`` adds the products of column i of J [rows, n] with columns 0 to i to a row of H,
      and returns c_i;
    - ``add_pair`` adds a value to H_ij and to H_ji.

    Args:
        scalar: Type of the sums.
    """

    @wp.func
    def add_row(
        J: wp.array2d(dtype=Any), r: wp.array(dtype=Any), i: int, line: wp.array(dtype=scalar)
    ) -> scalar:
        slope = scalar(0.0)
        for row in range(J.shape[0]):
            columns = J[row]
            value = scalar(columns[i])
            if value != scalar(0.0):
                slope += value * scalar(r[row])
                for j in range(i + 1):
                    line[j] = line[j] + value * scalar(columns[j])
        return slope

    @wp.func
    def add_pair(i: int, j: int, value: scalar, H: wp.array2d(dtype=scalar)):
        both = wp.where(i == j, value + value, value)
        high = wp.max(i, j)
        low = wp.min(i, j)
        H[high, low] = H[high, low] + both

    return SimpleNamespace(add_row=add_row, add_pair=add_pair)
