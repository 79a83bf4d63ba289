# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step without ROS: time is a number, messages are arrays."""

from typing import Any

from ros_ik.former_names import warn_of_former_name
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest
from ros_ik.servo.interface.codes import Mode
from ros_ik.servo.interface.codes import Rejection
from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.command import Command
from ros_ik.servo.interface.measurement import ControllerReference
from ros_ik.servo.interface.measurement import Measurement
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.servo.interface.output import CenterReport
from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.interface.output import TaskReport
from ros_ik.servo.interface.stop_state import StopState
from ros_ik.servo.interface.target import CenterOfMassTarget
from ros_ik.servo.interface.target import JointMotion
from ros_ik.servo.interface.target import JointTarget
from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.interface.target import PoseTarget
from ros_ik.servo.interface.target import TwistTarget
from ros_ik.servo.robot.trajectory import trajectory_layout
from ros_ik.servo.robot.trajectory import TrajectoryLayout
from ros_ik.servo.servo import Servo
from ros_ik.servo.targets.target_checks import TargetReader

__all__ = [
    'CenterOfMassTarget',
    'CenterReport',
    'Command',
    'ControllerReference',
    'JointMotion',
    'JointTarget',
    'JointVelocityTarget',
    'Measurement',
    'Mode',
    'Obstacle',
    'ObstacleRegistry',
    'ObstacleKind',
    'ObstacleOperation',
    'ObstacleRequest',
    'PoseTarget',
    'Rejection',
    'Servo',
    'ServoOutput',
    'StatusCode',
    'StopState',
    'TargetReader',
    'TaskReport',
    'TrajectoryLayout',
    'TwistTarget',
    'trajectory_layout',
]


def __getattr__(name: str) -> Any:
    """Return the object of a former name, for one release."""
    if name != 'ObstacleBook':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    warn_of_former_name('ros_ik.servo.ObstacleBook', 'ObstacleRegistry')
    return ObstacleRegistry
