# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of trees and other values of a model, valid until an array of the model changes.

The construction of a tree takes longer than the forward kinematics of one configuration. Arrays in
the memory of a GPU are read once, because reading waits for the GPU: a change in place is not
detected there, another array is.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
import functools
import operator
from typing import Any
from typing import TypeVar

import warp as wp

from ros_ik.kinematics.chain import link_dofs
from ros_ik.kinematics.runtime.content_reader import ContentReader
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import shares_launch_lock

_Value = TypeVar('_Value')

# Arrays of a model on which its tree depends.
TREE_SOURCES = (
    'joint_type', 'joint_parent', 'joint_child', 'joint_articulation', 'joint_dof_dim',
    'joint_q_start', 'joint_qd_start', 'body_q', 'joint_X_p64', 'joint_X_c64', 'joint_axis64',
)  # fmt: skip


def cached_tree(model: Any, scalar: type) -> KinematicTree:
    """Return the cached :func:`kinematic_tree` of a model."""
    make = functools.partial(kinematic_tree, model, scalar)
    return cached_value(model, ('tree', scalar), TREE_SOURCES, make)


def cached_link_dofs(model: Any, link_index: int) -> wp.array:
    """Return the cached :func:`link_dofs` of a link, on the device of its model."""

    @shares_launch_lock
    def make() -> wp.array:
        return wp.array(link_dofs(model, link_index), dtype=wp.int32, device=model.device)

    return cached_value(model, ('link dofs', link_index), TREE_SOURCES, make)


def cached_value(
    model: Any, key: Hashable, sources: tuple[str, ...], make: Callable[[], _Value]
) -> _Value:
    """Return a cached value of a model, created again if one of its arrays has changed.

    Args:
        model: The model; only a :class:`Model` caches values.
        key: Key of the value.
        sources: Names of the model's arrays on which the value depends.
        make: Function that creates the value.
    """
    cache = getattr(model, 'solver_cache', None)
    if cache is None:
        return make()
    arrays = operator.attrgetter(*sources)(model)
    reader, content, value = cache.get(key, (None, None, None))
    is_known = reader is not None and all(map(operator.is_, reader.arrays, arrays))
    if not is_known:
        reader = ContentReader(arrays, reads_devices=False)
    now = reader.read()
    if now != content:
        value = make()
    if not is_known or now != content:
        cache[key] = reader, now, value
    return value  # type: ignore[no-any-return]
