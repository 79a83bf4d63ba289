# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Models with position limits tightened by one margin, created on demand."""

from __future__ import annotations

from collections.abc import Sequence
import copy
import functools

import numpy as np

from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.planning.context.obstacles import PlacedObstacles
from ros_ik.servo.robot.controlled_robot import ControlledRobot


class BoundedModels:
    """Models of a robot, without obstacles and with the latest ones."""

    def __init__(
        self, builder: ModelBuilder, robot: ControlledRobot, margin: np.ndarray
    ) -> None:
        """Create no model yet.

        Args:
            builder: The robot, which does not change.
            robot: The same on the device.
            margin: Margin to the position limits [joint_dof_count].
        """
        self._builder, self._robot, self._margin = builder, robot, margin
        # The last model with obstacles, and these.
        self._with_obstacles: tuple[PlacedObstacles, Model] | None = None

    @functools.cached_property
    def free(self) -> Model:
        """The model without obstacles."""
        return self._finalized(self._builder)

    def with_obstacles(self, placed: PlacedObstacles) -> Model:
        """Return the model with obstacles as shapes of the world."""
        if not placed.obstacles:
            return self.free
        if self._with_obstacles is None or self._with_obstacles[0] is not placed:
            builder = ModelBuilder()
            builder.add_builder(self._builder)
            placed.add_to(builder)
            self._with_obstacles = placed, self._finalized(builder)
        return self._with_obstacles[1]

    def release(self) -> Model | None:
        """Return the last model with obstacles, which is kept no longer, or None."""
        last, self._with_obstacles = self._with_obstacles, None
        return None if last is None else last[1]

    def _finalized(self, builder: ModelBuilder) -> Model:
        """Return the model of a builder with the tightened limits."""
        lower, upper = self._robot.inner_driver_limits(self._margin)
        tighter = copy.copy(builder)
        tighter.joint_limit_lower = _finite(lower, builder.joint_limit_lower)
        tighter.joint_limit_upper = _finite(upper, builder.joint_limit_upper)
        return tighter.finalize(self._robot.model.device)


def _finite(limits: np.ndarray, given: Sequence[float]) -> list[float]:
    """Return limits, with the given value in the place of an infinite one."""
    return np.where(np.isfinite(limits), limits, given).tolist()
