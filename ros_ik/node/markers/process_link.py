# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages to the process that draws the markers; it answers with a serialized message."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.servo import Obstacle
from ros_ik.servo import TwistTarget
from ros_ik.settings import Settings


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A robot to draw from now on.

    Attributes:
        urdf: Text of the robot description.
        srdf: Text of the semantic description, or ''.
        settings: Settings in force.
        package_paths: Folders in which meshes are looked up.
    """

    urdf: str
    srdf: str
    settings: Settings
    package_paths: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class DrawnTask:
    """State of a frame task; poses are those of its frame in its reference link, [7].

    Attributes:
        goal: Where it is to go, None without a target.
        pose: Where it is, None where that is not known.
        reached: True if both agree.
        twist: The velocity that it has instead of a goal, or None.
    """

    goal: np.ndarray | None
    pose: np.ndarray | None
    reached: bool
    twist: TwistTarget | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class SeenObstacle:
    """An obstacle, and where the robot was when it came, which matters in links that move.

    Attributes:
        obstacle: The obstacle.
        joint_q: Coordinates then [joint_coord_count].
    """

    obstacle: Obstacle
    joint_q: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class MarkerState:
    """State of the scene at one time.

    Attributes:
        joint_q: Coordinates [joint_coord_count].
        tasks: One entry per frame task.
        center_of_mass: A link and the target in it [m], [3]; None without one.
        obstacles: Solids of the world.
        lifetime: How long viewers keep it [s].
    """

    joint_q: np.ndarray
    tasks: tuple[DrawnTask, ...]
    center_of_mass: tuple[int, np.ndarray] | None
    obstacles: tuple[SeenObstacle, ...]
    lifetime: float
