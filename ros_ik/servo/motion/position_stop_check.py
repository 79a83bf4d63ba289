# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check that the joints can stop within new acceleration and position limits."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.motion.approach import braking_step
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import POSITION_ROUNDING


def can_stop(
    robot: ControlledRobot,
    joint_q: np.ndarray,
    step: np.ndarray,
    acceleration: np.ndarray,
    margin: np.ndarray,
    dt: float,
) -> bool:
    """Return True if every controlled joint can stop before its margin.

    The next step may be shorter by at most ``acceleration * dt^2``. Braking must end in time after
    it, see :func:`ros_ik.servo.motion.approach.braking_step`.

    Args:
        robot: The robot.
        joint_q: Coordinates [joint_coord_count].
        step: The last step [joint_dof_count].
        acceleration: Acceleration limits [joint_dof_count], rad/s^2 or m/s^2.
        margin: Margin to the position limits [joint_dof_count], rad or m.
        dt: Duration of a tick [s].
    """
    moves = step[robot.moving_dofs] != 0.0
    moving = robot.moving_dofs[moves]
    q, last = joint_q[robot.moving_coords[moves]], step[moving]
    low, high = (limit[moving] for limit in robot.inner_limits(margin))
    ahead = np.where(last > 0.0, high - q, q - low)
    limited = np.isfinite(ahead)
    ahead, last = np.maximum(ahead[limited], 0.0), np.abs(last[limited])
    limit = acceleration[moving][limited]
    room = braking_step(ahead, limit, dt) + POSITION_ROUNDING
    return bool((last - limit * (dt * dt) <= room).all())
