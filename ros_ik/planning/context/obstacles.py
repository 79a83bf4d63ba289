# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles as shapes of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ros_ik.model import ModelBuilder
from ros_ik.model.conventions import poses
from ros_ik.servo import Obstacle


def add_obstacle(builder: ModelBuilder, obstacle: Obstacle, body_q: np.ndarray) -> None:
    """Add an obstacle to a builder, fixed to the world.

    Args:
        builder: The builder.
        obstacle: The obstacle.
        body_q: Link poses [body_count, 7] at its receipt.
    """
    size = obstacle.dimensions
    where: dict[str, Any] = {
        'xform': poses.multiply(body_q[obstacle.frame_link], obstacle.pose),
        'label': obstacle.name,
    }
    if obstacle.kind == 'sphere':
        builder.add_shape_sphere(-1, radius=size[0], **where)
    elif obstacle.kind == 'box':
        hx, hy, hz = (0.5 * length for length in size)
        builder.add_shape_box(-1, hx=hx, hy=hy, hz=hz, **where)
    elif obstacle.kind == 'cylinder':
        builder.add_shape_cylinder(-1, radius=size[0], half_height=0.5 * size[1], **where)
    elif obstacle.kind == 'capsule':
        builder.add_shape_capsule(-1, radius=size[0], half_height=0.5 * size[1], **where)
    else:
        builder.add_shape_plane(None, width=0.0, length=0.0, **where)
