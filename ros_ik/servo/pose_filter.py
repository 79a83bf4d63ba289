# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""First-order low-pass of poses; rotations along the shortest way between them.

The filtered pose g follows the target:

    g <- g (+) (1 - exp(-dt / tau)) (target (-) g)
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.pose_math import move_pose
from ros_ik.servo.pose_math import pose_difference


class PoseFilter:
    """Filters the targets of one frame task.

    Attributes:
        tau: Time constant [s]; 0 passes targets on as they are.
    """

    def __init__(self, dt: float) -> None:
        """Start empty; ``dt`` is the duration of a tick [s]."""
        self.tau = 0.0
        self._dt = dt
        self._pose: np.ndarray | None = None

    def reset(self) -> None:
        """Start at the commanded pose with the next step."""
        self._pose = None

    def step(self, target: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Return the filtered target of this tick [7].

        Args:
            target: The target [7].
            pose: Commanded pose, where a filter without a past starts.
        """
        if self.tau <= 0.0:
            self._pose = target
            return target
        part = -math.expm1(-self._dt / self.tau)
        start = pose if self._pose is None else self._pose
        linear, angular = pose_difference(target, start)
        self._pose = move_pose(start, part * linear, part * angular)
        self._pose[3:] /= math.sqrt(float(self._pose[3:] @ self._pose[3:]))
        return self._pose
