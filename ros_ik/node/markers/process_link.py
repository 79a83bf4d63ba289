# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages to the process that draws markers; the answer is a serialized message."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.servo import Obstacle
from ros_ik.servo import TwistTarget
from ros_ik.settings import Settings


@dataclasses.dataclass(frozen=True)
class DrawnRobot:
    """Robot to draw.

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
        target: Target pose, or None.
        pose: Measured pose, or None if unknown.
        reached: True if the target is reached.
        twist: Target velocity, if there is one instead of a pose.
    """

    target: np.ndarray | None
    pose: np.ndarray | None
    reached: bool
    twist: TwistTarget | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class ReceivedObstacle:
    """An obstacle, and the state of the robot at its arrival, for poses in moving links.

    Attributes:
        obstacle: The obstacle.
        joint_q: Coordinates at its arrival [joint_coord_count].
    """

    obstacle: Obstacle
    joint_q: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class MarkerState:
    """State of the scene at one time.

    Attributes:
        joint_q: Coordinates [joint_coord_count].
        tasks: One entry per frame task.
        center_of_mass: Link and target in its frame [m], [3]; None without a target.
        obstacles: Obstacles.
        lifetime: Lifetime of the markers [s].
    """

    joint_q: np.ndarray
    tasks: tuple[DrawnTask, ...]
    center_of_mass: tuple[int, np.ndarray] | None
    obstacles: tuple[ReceivedObstacle, ...]
    lifetime: float
