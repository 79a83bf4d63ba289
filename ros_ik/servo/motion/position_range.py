# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Position limits of the controlled joints, checked joint by joint."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.robot.controlled_robot import ControlledRobot


class PositionRange:
    """Position limits of the controlled joints and of the joints coupled to them."""

    def __init__(self, robot: ControlledRobot) -> None:
        """Read the limits of ``robot``."""
        self._dofs, self._coords = robot.moving_dofs, robot.moving_coords
        self._variable = robot.group.dof_variable[self._dofs]
        self._count = robot.group.n_variables
        self._lowest, self._highest = (limit[self._dofs] for limit in robot.tolerated_limits)

    def inside(self, joint_q: np.ndarray) -> np.ndarray:
        """Return which controlled joints are inside, with all coupled joints: bool [n_variables].

        Args:
            joint_q: Coordinates [joint_coord_count].
        """
        q = joint_q[self._coords]
        inside = np.ones(self._count, dtype=bool)
        np.logical_and.at(inside, self._variable, (q >= self._lowest) & (q <= self._highest))
        return inside

    def clamp(self, joint_q: np.ndarray, step: np.ndarray) -> None:
        """Clip a step at which a joint would leave its limits, or move farther outside.

        Coupled joints move as far as all of them may; other joints are unchanged.

        Args:
            joint_q: Coordinates [joint_coord_count].
            step: The step [joint_dof_count], changed in place.
        """
        q, wanted = joint_q[self._coords], step[self._dofs]
        low, high = np.minimum(self._lowest - q, 0.0), np.maximum(self._highest - q, 0.0)
        allowed = np.clip(wanted, low, high)
        if np.array_equal(allowed, wanted):
            return
        part = np.divide(allowed, wanted, out=np.ones_like(wanted), where=wanted != 0.0)
        least = np.ones(self._count)
        np.minimum.at(least, self._variable, part)
        step[self._dofs] = wanted * least[self._variable]
