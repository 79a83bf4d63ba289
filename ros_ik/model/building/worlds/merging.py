# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of a builder appended to another, many at once.

Columns are repeated as a whole, with indices offset for each copy. Only what a pose moves (root
joints, free bodies, poses of bodies, shapes of the world) is computed, for all copies at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ros_ik.model.building.tables.columns import Column
from ros_ik.model.building.tables.columns import COLUMNS
from ros_ik.model.building.worlds.articulations import Articulations
from ros_ik.model.building.worlds.articulations import closed_articulations
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.joint_type import JointType

_DOMAINS = (*{column.domain: None for column in COLUMNS.values()}, 'joint_constraint')


def merge_copies(
    target: Articulations,
    source: Articulations,
    worlds: np.ndarray,
    xforms: np.ndarray,
    label_prefixes: Sequence[str | None],
) -> None:
    """Append copies of a builder to another.

    Args:
        target: The builder to extend.
        source: The builder to copy; not changed.
        worlds: World of each copy, [n].
        xforms: Pose before each copy, [n, 7].
        label_prefixes: Prefix of the labels of each copy.

    Raises:
        ArgumentError: The builders declare a custom attribute differently.
    """
    copies = np.arange(len(worlds))
    rows: dict[str, list[Any]] = {name: list(getattr(source, name)) for name in COLUMNS}
    rows |= closed_articulations(source)
    counts = {domain: source.row_count(domain) for domain in _DOMAINS}
    counts['articulation'] = len(rows['articulation_label'])
    starts = {d: target.row_count(d) + copies * count for d, count in counts.items()}
    pairs = np.array(source.shape_collision_filter_pairs, dtype=int).reshape(-1, 2)
    target.merge_custom_values(source, starts, worlds)
    for name, values in rows.items():
        column = COLUMNS[name]
        if values:
            getattr(target, name).extend(
                _copied(column, name, values, starts, worlds, label_prefixes)
            )
    target.joint_constraint_count += counts['joint_constraint'] * len(copies)
    moved_pairs = (pairs + starts['shape'][:, None, None]).reshape(-1, 2).tolist()
    target.shape_collision_filter_pairs.extend((a, b) for a, b in moved_pairs)
    _move_copies(target, rows, starts, xforms)


def _copied(
    column: Column,
    name: str,
    values: list[Any],
    starts: dict[str, np.ndarray],
    worlds: np.ndarray,
    label_prefixes: Sequence[str | None],
) -> list[Any]:
    """Return the values of all copies of a column."""
    if column.references == 'world':
        return np.repeat(worlds, len(values)).tolist()
    if column.references is not None:
        indices = np.array(values)
        moved = indices + starts[column.references][:, None]
        return np.where(indices >= 0, moved, indices).ravel().tolist()
    if name.endswith('_label') and any(label_prefixes):
        return [
            f'{prefix}/{label}' if prefix and label else label
            for prefix in label_prefixes
            for label in values
        ]
    return values * len(worlds)


def _move_copies(
    target: Articulations,
    rows: dict[str, list[Any]],
    starts: dict[str, np.ndarray],
    xforms: np.ndarray,
) -> None:
    """Apply the pose of each copy to everything connected to the world."""
    moved = np.flatnonzero(np.any(xforms != np.array(poses.IDENTITY_POSE), axis=1))
    if not len(moved):
        return
    first = {domain: values[moved] for domain, values in starts.items()}
    before = xforms[moved][:, None]
    kinds = np.array(rows['joint_type'], dtype=int)
    hanging = np.array(rows['joint_parent'], dtype=int) == -1
    fixed = np.flatnonzero(hanging & (kinds != JointType.FREE))
    _premultiply(target.joint_X_p, rows['joint_X_p'], fixed, first['joint'], before)
    of_world = np.flatnonzero(np.array(rows['shape_body'], dtype=int) == -1)
    _premultiply(target.shape_transform, rows['shape_transform'], of_world, first['shape'], before)
    bodies = np.arange(len(rows['body_q']))
    _premultiply(target.body_q, rows['body_q'], bodies, first['body'], before)
    twists = np.array(rows['body_qd']).reshape(1, -1, 2, 3)
    turned = poses.rotate(before[:, :, None, 3:], twists).reshape(len(moved), -1, 6)
    _assign(target.body_qd, bodies, first['body'], turned)
    free = np.flatnonzero(hanging & (kinds == JointType.FREE))
    _move_free_joints(target, rows, free, first, before)


def _move_free_joints(
    target: Articulations,
    rows: dict[str, list[Any]],
    joints: np.ndarray,
    first: dict[str, np.ndarray],
    before: np.ndarray,
) -> None:
    """Move free joints by their coordinates: q becomes X_p^-1 X X_p q; rotate twists."""
    for joint in joints.tolist():
        coord, dof = rows['joint_q_start'][joint], rows['joint_qd_start'][joint]
        anchor = rows['joint_X_p'][joint]
        local = poses.multiply(poses.multiply(poses.inverse(anchor), before[:, 0]), anchor)
        q = poses.multiply(local, np.array(rows['joint_q'][coord : coord + 7]))
        qd = np.array(rows['joint_qd'][dof : dof + 6]).reshape(2, 3)
        turned = poses.rotate(local[:, None, 3:], qd[None]).reshape(-1, 6)
        _assign(target.joint_q, coord + np.arange(7), first['joint_coord'], q)
        _assign(target.joint_qd, dof + np.arange(6), first['joint_dof'], turned)


def _premultiply(
    target: list[Any], source: list[Any], rows: np.ndarray, first: np.ndarray, before: np.ndarray
) -> None:
    """Store before * source for the given rows of every moved copy."""
    if len(rows):
        moved = poses.multiply(before, np.array([source[row] for row in rows])[None])
        _assign(target, rows, first, moved)


def _assign(target: list[Any], rows: np.ndarray, first: np.ndarray, values: np.ndarray) -> None:
    """Store values [copy, row, ..] at first[copy] + rows[row]; scalars as Python numbers."""
    flat = values.reshape(-1, *values.shape[2:])
    items = flat.tolist() if flat.ndim == 1 else list(flat)
    for index, item in zip((first[:, None] + rows).ravel().tolist(), items, strict=True):
        target[index] = item
