# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of planners' requests, at their poses in the world."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.conventions import poses
from ros_ik.servo import Obstacle


@dataclasses.dataclass(frozen=True, eq=False)
class PlacedObstacles:
    """Obstacles, and the robot when those in its moving links arrived.

    Attributes:
        obstacles: The obstacles.
        model: The robot.
        joint_q: Its configuration then [joint_coord_count].
    """

    obstacles: tuple[Obstacle, ...]
    model: Model
    joint_q: np.ndarray

    @functools.cached_property
    def body_q(self) -> np.ndarray:
        """Link poses at that configuration, shape [body_count, 7]."""
        return link_poses(self.model, self.joint_q)

    def add_to(self, builder: ModelBuilder) -> None:
        """Add the obstacles to a builder, as shapes that are fixed to the world."""
        for obstacle in self.obstacles:
            builder.add_shape(
                -1,
                obstacle.shape.kind,
                xform=poses.multiply(self.body_q[obstacle.frame_link], obstacle.pose),
                scale=obstacle.shape.scale,
                label=obstacle.name,
            )
