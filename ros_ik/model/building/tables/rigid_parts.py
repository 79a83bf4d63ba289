# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rigid parts: bodies that fixed joints connect, in whatever order the joints come."""

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
