# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rigid parts: bodies that fixed joints connect, in any order; and bodies that touch by design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.model.conventions.joint_type import JointType


def connected_bodies(
    body_count: int,
    parents: Sequence[int] | np.ndarray,
    children: Sequence[int] | np.ndarray,
    kinds: Sequence[int] | np.ndarray,
) -> np.ndarray:
    """Return for each body the first body of its rigid part, int [body_count + 1].

    The world is the last entry, with index -1. Bodies fixed to it have its number, body_count.

    Args:
        body_count: Number of bodies.
        parents: Parent body of each joint, -1 for the world.
        children: Child body of each joint.
        kinds: JointType of each joint.
    """
    part = list(range(body_count + 1))

    def first(body: int) -> int:
        """Return the first body of a part as found so far, and shorten the way to it."""
        while part[body] != part[part[body]]:
            part[body] = part[part[body]]
        return part[body]

    for parent, child, kind in zip(parents, children, kinds, strict=True):
        if kind == JointType.FIXED:
            part[first(child)] = first(parent % (body_count + 1))
    return np.array([first(body) for body in range(body_count + 1)])


def adjacent_bodies(
    body_count: int, parents: np.ndarray, children: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """Return which bodies are one rigid part or adjacent at a joint, the world last.

    Joints to the world count for the world alone. Robots that stand in it are parts of their own,
    which may meet.

    Args:
        body_count: Number of bodies.
        parents: Parent body of each joint, -1 for the world.
        children: Child body of each joint.
        kinds: JointType of each joint.

    Returns:
        bool [body_count + 1, body_count + 1], symmetric.
    """

    def adjacent(joints: np.ndarray) -> np.ndarray:
        """Return which bodies are adjacent by these joints."""
        part = connected_bodies(body_count, parents[joints], children[joints], kinds[joints])
        touching = np.eye(body_count + 1, dtype=bool)
        touching[part[parents[joints]], part[children[joints]]] = True
        return (touching | touching.T)[part[:, None], part[None, :]]

    apart, with_world = adjacent(parents >= 0), adjacent(np.full(len(parents), True))
    apart[-1], apart[:, -1] = with_world[-1], with_world[:, -1]
    return apart
