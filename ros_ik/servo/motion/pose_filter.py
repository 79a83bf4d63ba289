# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""First-order low-pass filter of poses; rotations follow the shortest path.

The filtered pose g follows the target:

    g <- g (+) (1 - exp(-dt / tau)) (target (-) g)
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import float_moved
from ros_ik.servo.motion.pose_math import float_unit


class PoseFilter:
    """Low-pass filter of the target poses of one frame task.

    Attributes:
        tau: Time constant [s]; 0 disables the filter. One that is enabled in motion starts at the
            last target.
    """

    def __init__(self, dt: float) -> None:
        """Start empty; ``dt`` is the duration of a tick [s]."""
        self.tau = 0.0
        self._dt = dt
        self._pose: Sequence[float] | None = None

    def reset(self) -> None:
        """Restart at the commanded pose with the next step."""
        self._pose = None

    def step(self, target: Sequence[float], pose: Sequence[float]) -> Sequence[float]:
        """Return the filtered target of this tick, seven numbers; ``target`` if the filter is off.

        Args:
            target: The target, seven numbers.
            pose: Commanded pose, at which the filter starts.
        """
        if self.tau <= 0.0:
            self._pose = target
            return target
        part = -math.expm1(-self._dt / self.tau)
        start = pose if self._pose is None else self._pose
        (x, y, z), (a, b, c) = float_difference(target, start)
        moved = float_moved(start, (part * x, part * y, part * z), (part * a, part * b, part * c))
        self._pose = float_unit(moved)
        return self._pose
