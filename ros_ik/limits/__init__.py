# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Hard limits on a control step."""

from ros_ik.limits.acceleration import AccelerationLimit
from ros_ik.limits.jerk import JerkLimit
from ros_ik.limits.joint_function import JointFunctionLimit
from ros_ik.limits.limit import Limit
from ros_ik.limits.motion import MotionLimit
from ros_ik.limits.position import PositionLimit
from ros_ik.limits.velocity import VelocityLimit

__all__ = [
    'AccelerationLimit', 'JerkLimit', 'JointFunctionLimit', 'Limit', 'MotionLimit',
    'PositionLimit', 'VelocityLimit',
]  # fmt: skip
