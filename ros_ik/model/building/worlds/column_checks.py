# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rules for the values in a builder's lists, which users may write to until it is finalized.

``COLUMNS`` names the rule of each list. Rules look at all rows at once, so that thousands of
worlds cost no more than their arrays.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import itertools
import math
from typing import Any
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.mimic_methods import MAX_COEFFICIENT
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.tables.joint_dof import UNLIMITED
from ros_ik.model.conventions.checks import MIN_AXIS
from ros_ik.model.conventions.checks import MIN_MOMENT
from ros_ik.model.conventions.checks import NORM_ROUNDING
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.conventions.poses import are_unit
from ros_ik.model.conventions.poses import MAX_NORM
from ros_ik.model.conventions.poses import MIN_NORM
from ros_ik.numbers import real_array
from ros_ik.numbers import shown

if TYPE_CHECKING:
    from ros_ik.model.building.tables.columns import BuilderColumns

_SHAPES = {wp.vec3: (3,), wp.mat33: (3, 3), wp.transform: (7,), wp.spatial_vector: (6,)}
_INT32 = 2**31


@dataclasses.dataclass(frozen=True)
class ColumnRule:
    """A rule for the rows of a list.

    Attributes:
        good: Function that returns which of the rows [n, k] are valid, bool [n].
        expected: Description of a valid row, for errors.
        clean: Function that returns valid rows as the model stores them.
    """

    good: Callable[[np.ndarray], np.ndarray]
    expected: str
    clean: Callable[[np.ndarray], np.ndarray] = lambda rows: rows


def _finite(rows: np.ndarray) -> np.ndarray:
    return np.isfinite(rows).all(axis=1)


def _norms(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum('ij,ij->i', rows, rows))


def is_rotation(quaternions: np.ndarray) -> np.ndarray:
    """Return which quaternions [n, 4] are accepted as unit."""
    return are_unit(_norms(quaternions))


def _unit_poses(rows: np.ndarray) -> np.ndarray:
    """Normalise the quaternions whose norm is off by more than rounding."""
    norms = _norms(rows[:, 3:])
    scale = np.where(np.abs(norms - 1.0) > NORM_ROUNDING, norms, 1.0)
    return np.hstack([rows[:, :3], rows[:, 3:] / scale[:, None]])


def _no_limit(rows: np.ndarray) -> np.ndarray:
    """Replace limits beyond any useful size by infinity."""
    return np.where(np.abs(rows) >= UNLIMITED, np.copysign(np.inf, rows), rows)


def _is_integer(rows: np.ndarray) -> np.ndarray:
    return ((rows == np.floor(rows)) & (np.abs(rows) < _INT32)).all(axis=1)


def _one_of(kinds: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.isin(rows[:, 0], [int(kind) for kind in kinds])


RULES: dict[str, ColumnRule] = {
    'finite': ColumnRule(_finite, 'finite numbers'),
    'amount': ColumnRule(lambda r: _finite(r) & (r[:, 0] >= 0.0), 'a finite number >= 0'),
    'bound': ColumnRule(lambda r: r[:, 0] >= 0.0, 'a number >= 0', _no_limit),
    'limit': ColumnRule(lambda r: ~np.isnan(r[:, 0]), 'a number', _no_limit),
    'coefficient': ColumnRule(
        lambda r: np.abs(r[:, 0]) <= MAX_COEFFICIENT, f'a number within +-{MAX_COEFFICIENT:g}'
    ),
    'inertia': ColumnRule(
        lambda r: _finite(r) & (r[:, ::4] >= MIN_MOMENT).all(axis=1),
        'finite numbers, moments >= 0',
    ),
    'pose': ColumnRule(
        lambda r: _finite(r) & is_rotation(r[:, 3:]),
        f'a finite pose with a quaternion of norm {MIN_NORM} to {MAX_NORM}',
        _unit_poses,
    ),
    'axis': ColumnRule(
        lambda r: _finite(r) & (_norms(r) >= MIN_AXIS),
        'a finite axis of a length other than 0',
        lambda r: r / _norms(r)[:, None],
    ),
    'integer': ColumnRule(_is_integer, 'integers'),
    'index': ColumnRule(_is_integer, 'an index'),
    'joint type': ColumnRule(_one_of(JointType), 'a JointType'),
    'shape type': ColumnRule(_one_of(GeoType), 'a GeoType'),
    'flag': ColumnRule(lambda r: np.isin(r[:, 0], (0, 1)), 'True or False'),
}


def checked_column(
    builder: BuilderColumns, name: str, row_name: Callable[[int], str]
) -> list[Any] | np.ndarray:
    """Check a list by its rule, and return it as the model stores it.

    Args:
        builder: The builder that has it.
        name: Its name in ``COLUMNS``.
        row_name: Function that returns the name of a row for errors.

    Returns:
        Real numbers as float64 [n, ..], integers, flags and labels as a list.

    Raises:
        ArgumentError: A value that breaks the rule; the error names list, element and value.
    """
    column, values = COLUMNS[name], getattr(builder, name)
    if column.check is None:
        return values
    if column.check == 'label':
        for row, label in enumerate(values):
            if not isinstance(label, str):
                raise ArgumentError(f'{row_name(row)}: expected a string, got {shown(label)}')
        return list(values)
    shape = (2,) if name == 'joint_dof_dim' else _SHAPES.get(column.dtype, ())
    numbers = _numbers(values, shape, column.check == 'flag', row_name)
    flat = numbers.reshape(len(numbers), math.prod(shape))
    rule = RULES[column.check]
    good, expected = rule.good(flat), rule.expected
    if column.check == 'index':
        count = builder.row_count(str(column.references))
        good &= (flat[:, 0] >= column.least) & (flat[:, 0] < count)
        expected = f'an index in [{column.least}, {count})'
    for k in np.flatnonzero(~good).tolist():
        raise ArgumentError(f'{row_name(k)}: expected {expected}, got {shown(values[k])}')
    if column.grad or column.dtype == wp.float32:
        return rule.clean(flat).reshape(numbers.shape)
    integers = numbers.astype(bool if column.check == 'flag' else int).tolist()
    return [tuple(pair) for pair in integers] if shape else integers


def _has_boolean(rows: Any, shape: tuple[int, ...]) -> bool:
    """Return True if a row, which may be a pair, is or holds a boolean."""
    try:
        entries = itertools.chain.from_iterable(rows) if shape else rows
        return not {bool, np.bool_}.isdisjoint(map(type, entries))
    except TypeError:
        return False  # not pairs, as the check of the shape finds


def _numbers(
    values: Any, shape: tuple[int, ...], flags: bool, row_name: Callable[[int], str]
) -> np.ndarray:
    """Return rows of numbers as float64 [n, *shape].

    Raises:
        ArgumentError: A row that is not numeric, or has a wrong number of entries.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = np.array(None)
    # NumPy would convert a boolean beside numbers.
    is_mixed = not flags and shape in ((), (2,)) and _has_boolean(values, shape)
    kinds = 'iufb' if flags else 'iuf'
    if array.dtype.kind in kinds and array.shape == (len(values), *shape) and not is_mixed:
        return array.astype(np.float64)
    result = np.empty((len(values), *shape))
    for row, value in enumerate(values):
        number = int(value) if flags and isinstance(value, bool) else value
        if is_mixed and shape:
            number = np.array(value, dtype=object)
        numbers = real_array(row_name(row), number)
        if numbers.size != result[row].size:
            raise ArgumentError(
                f'{row_name(row)}: expected shape {list(shape)}, got {list(numbers.shape)}'
            )
        result[row] = numbers.reshape(shape)
    return result
