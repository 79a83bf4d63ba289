# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tables of float32 or float64 numbers that kernels read."""

import functools
from types import SimpleNamespace
from typing import Any
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.objectives.base.parameter import Parameter


@no_type_check
@functools.cache
def table_struct() -> Any:
    """Return the Warp struct of a table: a float32 and a float64 array, one of them empty."""

    @wp.struct
    class NumberTable:
        in32: wp.array2d(dtype=wp.float32)
        in64: wp.array2d(dtype=wp.float64)

    return NumberTable


def as_table(parameter: Parameter) -> Any:
    """Return the table struct that refers to the numbers of a parameter, without a copy."""
    table, device = table_struct()(), str(parameter.array.device)
    is_single = parameter.scalar is wp.float32
    # A tape visits every array of a struct, so neither may be missing.
    table.in32 = parameter.array if is_single else _empty(wp.float32, device)
    table.in64 = _empty(wp.float64, device) if is_single else parameter.array
    return table


@functools.cache
def _empty(scalar: type, device: str) -> wp.array:
    return wp.empty((0, 0), dtype=scalar, device=device)


@no_type_check
@functools.cache
def table_functions(scalar: type) -> SimpleNamespace:
    """Build ``number``, ``table_vec3`` and ``table_quat``, each ``(table, row, column)``."""
    Table, types = table_struct(), spatial_functions(scalar)
    vec3, quat, read_quat = types.vec3, types.quat, types.read_quat

    @wp.func
    def number(table: Table, row: int, k: int) -> scalar:
        if table.in64.shape[0] > 0:
            return scalar(table.in64[row, k])
        return scalar(table.in32[row, k])

    @wp.func
    def vec3_at(values: wp.array2d(dtype=Any), row: int, k: int) -> vec3:
        return vec3(scalar(values[row, k]), scalar(values[row, k + 1]), scalar(values[row, k + 2]))

    @wp.func
    def table_vec3(table: Table, row: int, k: int) -> vec3:
        if table.in64.shape[0] > 0:
            return vec3_at(table.in64, row, k)
        return vec3_at(table.in32, row, k)

    @wp.func
    def table_quat(table: Table, row: int, k: int) -> quat:
        if table.in64.shape[0] > 0:
            return read_quat(table.in64, row, k)
        return read_quat(table.in32, row, k)

    return SimpleNamespace(
        Table=Table, number=number, table_vec3=table_vec3, table_quat=table_quat
    )
