# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Last check of tracking steps, by the limits of velocity and position."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import POSITION_ROUNDING

# Distance from a position limit at which a joint is at it [rad or m].
_AT_LIMIT = 1e-6


class StepLimitCheck:
    """Check of the controlled joints and of those that mimic them.

    It is independent of the solver. Braking steps are limited by ``Halt`` instead.
    """

    def __init__(self, robot: ControlledRobot) -> None:
        """Find the joints; :meth:`set_velocity` and :meth:`set_margin` must come next."""
        self._robot = robot
        self._moving, self._coords = robot.moving_dofs, robot.moving_coords
        joints = np.searchsorted(robot.model.joint_qd_start.numpy(), self._moving, 'right') - 1
        self._names = [robot.model.joint_label[joint] for joint in joints]
        self._lowest, self._highest = (limit[self._moving] for limit in robot.tolerated_limits)
        # Work arrays. Rows: size of the step, coordinate, negative coordinate.
        self._checked, self._bounds = np.zeros((2, 3, len(self._moving)))
        self._bounds[1:] = self._highest, -self._lowest
        self._keeps = np.zeros(self._checked.shape, dtype=bool)

    def set_velocity(self, largest_step: np.ndarray) -> None:
        """Set the largest displacements of a tick [joint_dof_count], rad or m."""
        self._bounds[0] = largest_step[self._moving] + POSITION_ROUNDING

    def set_margin(self, margin: np.ndarray) -> None:
        """Set the margin to the position limits [joint_dof_count], for :meth:`bound_joint`."""
        low, high = self._robot.inner_limits(margin)
        self._inner_bounds = low[self._moving], high[self._moving]

    def violation(self, joint_q: np.ndarray, step: np.ndarray, next_q: np.ndarray) -> str:
        """Return the violation of a limit of velocity or position by a tracking step, or ''.

        A joint outside its limits may move inwards.

        Args:
            joint_q: Commanded coordinates [joint_coord_count].
            step: The step [joint_dof_count].
            next_q: Coordinates after it.
        """
        checked, keeps = self._checked, self._keeps
        size, after, negative = checked
        np.abs(step.take(self._moving, out=size, mode='clip'), out=size)
        np.negative(next_q.take(self._coords, out=after, mode='clip'), out=negative)
        if np.count_nonzero(np.less_equal(checked, self._bounds, out=keeps)) == keeps.size:
            return ''
        q, fast = joint_q[self._coords], size > self._bounds[0]
        below = (after < self._lowest) & (after < q)
        above = (after > self._highest) & (after > q)
        wrong = fast | below | above
        if not wrong.any():
            return ''
        first = int(np.argmax(wrong))
        limit = 'velocity' if fast[first] else 'position'
        return f'the step would break the {limit} limit of joint {self._names[first]}'

    def bound_joint(self, joint_q: np.ndarray) -> str:
        """Return the name of a joint at its position limit less the margin, or ''."""
        lowest, highest = self._inner_bounds
        q = joint_q[self._coords]
        room = np.minimum(q - lowest, highest - q)
        least = int(room.argmin())
        return self._names[least] if room[least] < _AT_LIMIT else ''
