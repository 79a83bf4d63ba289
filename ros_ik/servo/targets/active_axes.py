# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Axes of a frame task with a weight above 0; a target leaves the others free."""

from __future__ import annotations

import dataclasses

from ros_ik.servo.motion.pose_math import float_length
from ros_ik.servo.motion.pose_math import Vector
from ros_ik.settings import TaskSettings


@dataclasses.dataclass(frozen=True)
class ActiveAxes:
    """Active axes of one frame task.

    Attributes:
        linear: 1.0 for active axes of the position, otherwise 0.0.
        angular: The same of the orientation.
        is_all: True if every axis is active.
    """

    linear: Vector
    angular: Vector
    is_all: bool

    @classmethod
    def of_task(cls, task: TaskSettings) -> ActiveAxes:
        """Return the axes with a weight above 0."""
        linear, angular = _active(task.position_weight), _active(task.orientation_weight)
        return cls(linear, angular, min(*linear, *angular) == 1.0)

    def part(self, difference: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        """Return a displacement, [m] and [rad], with zeros on free axes."""
        if self.is_all:
            return difference
        (x, y, z), (a, b, c) = difference
        (u, v, w), (d, e, f) = self.linear, self.angular
        return (x * u, y * v, z * w), (a * d, b * e, c * f)

    def lengths(self, difference: tuple[Vector, Vector]) -> tuple[float, float]:
        """Return the length [m] and the angle [rad] of a displacement on active axes."""
        linear, angular = self.part(difference)
        return float_length(linear), float_length(angular)


def _active(weights: Vector) -> Vector:
    """Return 1.0 for axes with a weight above 0, otherwise 0.0."""
    x, y, z = weights
    return float(x > 0.0), float(y > 0.0), float(z > 0.0)
