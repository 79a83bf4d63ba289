# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""SRDF lines for link pairs that need no check, as the MoveIt Setup Assistant writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from ros_ik.model import Model
from ros_ik.model.shapes.collision_geometry import link_pairs

if TYPE_CHECKING:
    from ros_ik.servo.robot.collision_setup import RobotShapes


def srdf_lines(model: Model, shapes: RobotShapes) -> tuple[str, ...]:
    """Return ``disable_collisions`` elements that the SRDF of a model lacks.

    Links that one joint or fixed joints connect are Adjacent. Links whose shapes touch at nearly
    all configurations are Always. Links that touch only because of their fits, or at some
    configurations, have no line, because another program may check them.

    Args:
        model: The model.
        shapes: Its primitives.
    """
    carrying = np.unique(shapes.geometry.body)
    may_meet = link_pairs(model)
    pairs = {
        (model.body_label[a], model.body_label[b]): 'Adjacent'
        for k, a in enumerate(carrying.tolist())
        for b in carrying[k + 1 :].tolist()
        if a >= 0 and not may_meet[a, b]
    }
    pairs.update((pair, 'Always') for pair in shapes.near if 'world' not in pair)
    semantic = model.semantic
    return tuple(
        srdf_line(first, second, reason)
        for (first, second), reason in pairs.items()
        if semantic is None or not semantic.collision_disabled(first, second)
    )


def srdf_line(first: str, second: str, reason: str) -> str:
    """Return a ``disable_collisions`` element for two links, with a reason as MoveIt names it."""
    names = {'link1': first, 'link2': second, 'reason': reason}
    return ElementTree.tostring(ElementTree.Element('disable_collisions', names), 'unicode')
