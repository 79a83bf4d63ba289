# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of collision checks."""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.numbers import integer_array
from ros_ik.numbers import real_array

if TYPE_CHECKING:
    from ros_ik.model.model import Model


@shares_launch_lock
def checked_pairs(model: Model, pairs: Any, name: str = 'pairs') -> np.ndarray:
    """Return pairs of shapes as int [n, 2].

    Args:
        model: The model.
        pairs: Pairs of shapes; None for ``model.shape_contact_pairs``.
        name: Name of the argument, for errors.

    Raises:
        ArgumentError: Not integers [n, 2], an unknown shape, or two shapes of one body.
    """
    if pairs is None:
        return model.shape_contact_pairs.numpy().reshape(-1, 2).astype(int)
    return checked_pair_table(name, pairs, model.shape_body.numpy(), 'shapes', 'bodies')


def checked_pair_table(
    name: str, pairs: Any, bodies: np.ndarray, what: str, carriers: str
) -> np.ndarray:
    """Return pairs of objects that are attached to bodies as int [n, 2].

    Args:
        name: Name of the argument, for errors.
        pairs: The pairs, as indices into ``bodies``.
        bodies: Body of each object, [m].
        what: Word for the objects, for errors.
        carriers: Word for the bodies, for errors.

    Raises:
        ArgumentError: Not integers [n, 2], an unknown object, or two objects of one body.
    """
    table = integer_array(name, pairs)
    if table.size == 0:
        return np.zeros((0, 2), dtype=int)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ArgumentError(f'{name} must be integers of shape [n, 2], got {pairs!r}')
    if np.any((table < 0) | (table >= len(bodies))):
        raise ArgumentError(f'{name} must name {what} in [0, {len(bodies)}), got {pairs!r}')
    same = table[bodies[table[:, 0]] == bodies[table[:, 1]]]
    if len(same):
        raise ArgumentError(f'{name} must join {what} of two {carriers}, got {same.tolist()}')
    return table


def checked_margins(margin: Any, count: int) -> np.ndarray:
    """Return the margins of pairs, float64 [count].

    Args:
        margin: One number for all pairs, or one for each.
        count: Number of pairs.

    Raises:
        ArgumentError: Another number of margins, or one that is negative or not finite.
    """
    given = real_array('margin', margin)
    if given.shape not in ((), (1,), (count,)):
        raise ArgumentError(f'margin must be one number or one per pair ({count}), got {margin!r}')
    margins = np.broadcast_to(given, (count,))
    if not np.all(np.isfinite(margins) & (margins >= 0.0)):
        raise ArgumentError(f'margin must be finite numbers >= 0, got {margin!r}')
    return margins
