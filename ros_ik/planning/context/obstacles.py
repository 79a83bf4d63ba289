# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles as shapes of a model."""

from __future__ import annotations

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
    builder.add_shape(
        -1,
        obstacle.shape.kind,
        xform=poses.multiply(body_q[obstacle.frame_link], obstacle.pose),
        scale=obstacle.shape.scale,
        label=obstacle.name,
    )
