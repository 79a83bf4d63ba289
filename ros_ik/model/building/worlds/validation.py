# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Validation of a finished builder: a forest of joints, consecutive worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError

if TYPE_CHECKING:
    from ros_ik.model.building.worlds.articulations import Articulations

_WITH_WORLD = ('body', 'joint', 'shape', 'articulation', 'constraint_mimic')


def check_forest(builder: Articulations) -> None:
    """Check that every body has at most one parent joint, and that there are no loops.

    Raises:
        ArgumentError: A body that two joints place, or bodies on a loop; the error names them.
    """
    parent = np.array(builder.joint_parent, dtype=int)
    child = np.array(builder.joint_child, dtype=int)
    above = np.full(builder.body_count, -1)
    joint_of = np.full(builder.body_count, -1)
    joints = np.arange(len(child))
    joint_of[child[::-1]] = joints[::-1]
    second = np.flatnonzero(joint_of[child] != joints)
    if len(second):
        joint = int(second[0])
        body = int(child[joint])
        names = [builder.joint_label[j] for j in (joint_of[body], joint)]
        raise ArgumentError(
            f'body {builder.body_label[body]!r} has two incoming joints, {names[0]!r} and '
            f'{names[1]!r}: joints must form trees'
        )
    above[child] = parent
    # Pointer doubling: after k rounds, the body 2^k joints above, or none above the root.
    for _ in range(builder.body_count.bit_length()):
        above = np.where(above >= 0, above[above], -1)
    looped = np.flatnonzero(above >= 0)
    if len(looped):
        names = [builder.body_label[body] for body in looped[:10]]
        raise ArgumentError(f'body {names[0]!r} lies on or below a loop of joints: {names}')


def check_articulations(builder: Articulations) -> None:
    """Check that no joint is connected to a body of another articulation.

    Raises:
        ArgumentError: One is; the error names it and both articulations.
    """
    index = np.array(builder.joint_articulation, dtype=int)
    parent = np.array(builder.joint_parent, dtype=int)
    of_body = np.full(builder.body_count + 1, -1)  # the last one is the world, body -1
    of_body[builder.joint_child] = index
    above = of_body[parent]
    across = np.flatnonzero((above >= 0) & (above != index))
    if len(across):
        joint = int(across[0])
        own, other = (builder.articulation_label[k] for k in (index[joint], above[joint]))
        raise ArgumentError(
            f'joint {builder.joint_label[joint]!r} of articulation {own!r} is connected to body '
            f'{builder.body_label[parent[joint]]!r} of articulation {other!r}: joints that '
            'connect must be in one articulation'
        )


def check_worlds(builder: Articulations) -> None:
    """Check that worlds are consecutive, with global elements before or after them.

    Raises:
        ArgumentError: A global element between those of worlds; the error names it.
    """
    if builder.current_world >= 0:
        raise ArgumentError(f'world {builder.current_world} has not ended; call end_world() first')
    for domain in _WITH_WORLD:
        world = np.array(getattr(builder, f'{domain}_world'), dtype=int)
        inside = np.flatnonzero(world >= 0)
        if not len(inside):
            continue
        block = world[inside[0] : inside[-1] + 1]
        wrong = np.flatnonzero((block < 0) | (np.diff(block, prepend=block[0]) < 0))
        if len(wrong):
            row = int(inside[0] + wrong[0])
            raise ArgumentError(
                f'{domain} {getattr(builder, f"{domain}_label")[row]!r} of world {world[row]} '
                'lies between elements of other worlds: add elements of no world before all '
                'worlds or after them'
            )
