# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Consistency of the lists of a builder: lengths, starts, articulations, worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.joint_axes import AXIS_COUNTS
from ros_ik.model.building.joints.joint_axes import joint_sizes
from ros_ik.model.building.joints.joint_axes import MAX_AXES
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.tables.rows import FIXED_SIZES
from ros_ik.model.building.worlds.column_checks import checked_column
from ros_ik.model.building.worlds.column_checks import is_rotation
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.numbers import integer_array

if TYPE_CHECKING:
    from ros_ik.model.building.worlds.worlds import Worlds

# Domains whose rows have labels; the rows of the other domains belong to joints.
_LABELLED = ('body', 'joint', 'shape', 'articulation', 'constraint_mimic')
_MESHES = (GeoType.MESH, GeoType.CONVEX_MESH)
# Elements that must be in one world: an element, the one it refers to, and the list of indices.
_WORLDS = (
    ('joint', 'body', 'joint_child'),
    ('joint', 'body', 'joint_parent'),
    ('joint', 'articulation', 'joint_articulation'),
    ('shape', 'body', 'shape_body'),
    ('constraint_mimic', 'joint', 'constraint_mimic_joint0'),
    ('constraint_mimic', 'joint', 'constraint_mimic_joint1'),
)
Columns = dict[str, Any]


def checked_columns(builder: Worlds) -> Columns:
    """Return the lists of a builder by name as the model stores them.

    Raises:
        ArgumentError: A value that breaks the rule of its list in ``COLUMNS``, or lists that
            disagree; the error names list, element and value.
    """
    names = {domain: partial(_labelled_row, builder, domain) for domain in _LABELLED}
    for domain in _LABELLED:
        lengths = [len(getattr(builder, name)) for name in _of_domain(domain)]
        _check_lengths(builder, domain, Counter(lengths).most_common(1)[0][0])
    columns = {
        name: checked_column(builder, name, partial(names[column.domain], name))
        for name, column in COLUMNS.items()
        if column.domain in names
    }
    sizes = _joint_sizes(builder, columns)
    for k, domain in enumerate(('joint_coord', 'joint_dof')):
        _check_lengths(builder, domain, int(sizes[:, k].sum()))
        owners = np.repeat(np.arange(len(sizes)), sizes[:, k])
        row_name = partial(_joint_row, builder, owners)
        columns |= {
            name: checked_column(builder, name, partial(row_name, name))
            for name in _of_domain(domain)
        }
    _check_starts(builder, sizes)
    _check_joint_values(builder, columns, sizes)
    _check_shapes_and_mimics(builder, columns, sizes)
    _check_articulations(builder, columns)
    _check_worlds(builder, columns)
    return columns


def checked_gravity(builder: Worlds) -> list[np.ndarray]:
    """Return the gravity of each world and outside of worlds [m/s^2].

    Raises:
        ArgumentError: A gravity that is not three finite numbers, or not one for each world.
    """
    if len(builder.world_gravity) != builder.world_count:
        raise ArgumentError(
            f'world_gravity: expected {builder.world_count} entries, one per world, got '
            f'{len(builder.world_gravity)}'
        )
    of_worlds = [
        checked_array(f'world_gravity[{k}]', vector, (3,))
        for k, vector in enumerate(builder.world_gravity)
    ]
    return [*of_worlds, checked_array('gravity', builder.gravity, (3,))]


def checked_filter_pairs(builder: Worlds) -> np.ndarray:
    """Return the pairs of shapes that must not collide, int [n, 2].

    Raises:
        ArgumentError: An entry that is not a pair of shapes.
    """
    name = 'shape_collision_filter_pairs'
    given = [*builder.shape_collision_filter_pairs]
    try:
        # Quicker than integer_array, for the pairs of thousands of worlds.
        are_integers = {int, np.int64}.issuperset(map(type, chain.from_iterable(given)))
        numbers = np.array(given, dtype=np.int64) if are_integers else integer_array(name, given)
        pairs = numbers.reshape(-1, 2)
    except ArgumentError:
        raise
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name}: expected pairs: {error}') from error
    for pair in pairs[np.any((pairs < 0) | (pairs >= builder.shape_count), axis=1)].tolist():
        raise ArgumentError(
            f'{name}: {tuple(pair)} names a shape that does not exist; there are '
            f'{builder.shape_count}'
        )
    return pairs


def _of_domain(domain: str) -> list[str]:
    """Return the lists of a domain."""
    return [name for name, column in COLUMNS.items() if column.domain == domain]


def _labelled_row(builder: Worlds, domain: str, name: str, row: int | np.intp) -> str:
    """Return the name of the row of a labelled element, for errors."""
    if name == f'{domain}_label':
        return f'{name}[{row}]'
    return f'{name} of {domain} {getattr(builder, f"{domain}_label")[row]!r}'


def _joint_row(builder: Worlds, owners: np.ndarray, name: str, row: int | np.intp) -> str:
    """Return the name of a row that belongs to a joint, for errors."""
    return f'{name}[{row}] of joint {builder.joint_label[owners[row]]!r}'


def _check_lengths(builder: Worlds, domain: str, expected: int) -> None:
    """Raise ArgumentError unless all lists of a domain have the expected length."""
    for name in _of_domain(domain):
        length = len(getattr(builder, name))
        if length != expected:
            raise ArgumentError(
                f'{name}: expected {expected} entries, one per {domain}, got {length}'
            )


def _joint_sizes(builder: Worlds, columns: Columns) -> np.ndarray:
    """Return coordinates, degrees of freedom and constraints of each joint, int [joints, 3]."""
    known: dict[tuple[int, tuple[int, int]], tuple[int, int, int]] = {}
    sizes = []
    pairs = zip(columns['joint_type'], columns['joint_dof_dim'], strict=True)
    for joint, pair in enumerate(pairs):
        if pair not in known:
            kind, dim = JointType(pair[0]), pair[1]
            expected = AXIS_COUNTS.get(kind, dim)
            if dim != expected or not 0 <= min(dim) <= max(dim) <= MAX_AXES:
                allowed = expected if dim != expected else f'two numbers of 0 to {MAX_AXES}'
                raise ArgumentError(
                    f'{_labelled_row(builder, "joint", "joint_dof_dim", joint)}: expected '
                    f'{allowed} of a {kind.name} joint, got {dim}'
                )
            coords, constraints = joint_sizes(kind, sum(dim))
            known[pair] = (coords, sum(dim), constraints)
        sizes.append(known[pair])
    return np.array(sizes, dtype=int).reshape(-1, 3)


def _check_starts(builder: Worlds, sizes: np.ndarray) -> None:
    """Raise ArgumentError unless the rows of the joints are consecutive."""
    for k, name in enumerate(('joint_q_start', 'joint_qd_start', 'joint_cts_start')):
        expected = np.cumsum(sizes[:, k]) - sizes[:, k]
        given = np.array(getattr(builder, name), dtype=int)
        for joint in np.flatnonzero(given != expected):
            raise ArgumentError(
                f'{_labelled_row(builder, "joint", name, joint)}: expected {expected[joint]}, '
                f'which follows from the joints before it, got {given[joint]}'
            )
    total = int(sizes[:, 2].sum())
    if builder.joint_constraint_count != total:
        raise ArgumentError(
            f'joint_constraint_count: expected {total}, which follows from the joints, got '
            f'{builder.joint_constraint_count}'
        )


def _check_joint_values(builder: Worlds, columns: Columns, sizes: np.ndarray) -> None:
    """Raise ArgumentError for empty ranges of limits, and quaternions that are not unit."""
    kinds = np.array(columns['joint_type'], dtype=int)
    lower, upper = columns['joint_limit_lower'], columns['joint_limit_upper']
    owners = np.repeat(np.arange(len(kinds)), sizes[:, 1])
    # A distance joint bounds a length, where a negative number is no bound.
    distance = kinds[owners] == JointType.DISTANCE
    empty = (lower > upper) & ~(distance & (upper < 0.0))
    empty |= ~distance & ((lower == np.inf) | (upper == -np.inf))
    for dof in np.flatnonzero(empty):
        raise ArgumentError(
            f'{_joint_row(builder, owners, "joint_limit_lower", dof)}: {lower[dof]:g} and '
            f'joint_limit_upper {upper[dof]:g} leave nothing between them'
        )
    ends = np.cumsum(sizes[:, 0])
    turning = [kind for kind, (coords, _, _) in FIXED_SIZES.items() if coords]
    joints = np.flatnonzero(np.isin(kinds, turning))
    quaternions = columns['joint_q'][ends[joints][:, None] + np.arange(-4, 0)].reshape(-1, 4)
    for k in np.flatnonzero(~is_rotation(quaternions)):
        raise ArgumentError(
            f'{_labelled_row(builder, "joint", "joint_q", joints[k])}: expected a quaternion of '
            f'norm 1 in [{ends[joints[k]] - 4}:{ends[joints[k]]}], got {quaternions[k].tolist()}'
        )


def _check_shapes_and_mimics(builder: Worlds, columns: Columns, sizes: np.ndarray) -> None:
    """Raise ArgumentError for a negative size, and a mimic of joints with more coordinates."""
    kinds = np.array(columns['shape_type'], dtype=int)
    negative = (columns['shape_scale'] < 0.0).any(axis=1) & ~np.isin(kinds, _MESHES)
    for shape in np.flatnonzero(negative):
        raise ArgumentError(
            f'{_labelled_row(builder, "shape", "shape_scale", shape)}: must not be negative, got '
            f'{columns["shape_scale"][shape].tolist()}'
        )
    for name in ('constraint_mimic_joint0', 'constraint_mimic_joint1'):
        joints = np.array(columns[name], dtype=int)
        for row in np.flatnonzero(sizes[joints, 0] != 1):
            raise ArgumentError(
                f'{_labelled_row(builder, "constraint_mimic", name, row)}: joint '
                f'{builder.joint_label[joints[row]]!r} needs one coordinate'
            )


def _check_articulations(builder: Worlds, columns: Columns) -> None:
    """Raise ArgumentError unless ranges of articulations match ``joint_articulation``."""
    count = builder.joint_count
    expected = np.full(count, -1)
    spans = zip(columns['articulation_start'], columns['articulation_end'], strict=True)
    row_name: Callable[[str, int], str] = partial(_labelled_row, builder, 'articulation')
    for row, (start, end) in enumerate(spans):
        if not 0 <= start < count:
            raise ArgumentError(
                f'{row_name("articulation_start", row)}: expected an index in [0, {count}), got '
                f'{start}'
            )
        if not start < end <= count:
            raise ArgumentError(
                f'{row_name("articulation_end", row)}: expected an index in '
                f'[{start + 1}, {count}], got {end}'
            )
        expected[start:end] = row
    given = np.array(columns['joint_articulation'], dtype=int)
    for joint in np.flatnonzero(given != expected):
        raise ArgumentError(
            f'{_labelled_row(builder, "joint", "joint_articulation", joint)}: articulation_start '
            f'and articulation_end imply {expected[joint]}, got {given[joint]}'
        )


def _check_worlds(builder: Worlds, columns: Columns) -> None:
    """Raise ArgumentError unless elements that belong together lie in one world."""
    for domain, other, reference in _WORLDS:
        index = np.array(columns[reference], dtype=int)
        given = np.array(columns[f'{domain}_world'], dtype=int)
        of_other = np.append(np.array(columns[f'{other}_world'], dtype=int), -1)
        for row in np.flatnonzero((index >= 0) & (of_other[index] != given)):
            label = getattr(builder, f'{other}_label')[index[row]]
            raise ArgumentError(
                f'{_labelled_row(builder, domain, f"{domain}_world", row)} is {given[row]}, '
                f'{other}_world of {other} {label!r} is {of_other[index[row]]}: both must be '
                'in one world'
            )
