# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step without ROS: time is a number, messages are arrays."""

from ros_ik.servo.codes import Mode
from ros_ik.servo.codes import Rejection
from ros_ik.servo.codes import StatusCode
from ros_ik.servo.command import CenterOfMassTarget
from ros_ik.servo.command import CenterReport
from ros_ik.servo.command import Command
from ros_ik.servo.command import ControllerReference
from ros_ik.servo.command import JointTarget
from ros_ik.servo.command import JointVelocityTarget
from ros_ik.servo.command import Measurement
from ros_ik.servo.command import Obstacle
from ros_ik.servo.command import PoseTarget
from ros_ik.servo.command import ServoOutput
from ros_ik.servo.command import TaskReport
from ros_ik.servo.command import TwistTarget
from ros_ik.servo.servo import Servo
from ros_ik.servo.targets import TargetReader
from ros_ik.servo.trajectory import trajectory_layout
from ros_ik.servo.trajectory import TrajectoryLayout
from ros_ik.servo.world import ObstacleBook
from ros_ik.servo.world import ObstacleKind
from ros_ik.servo.world import ObstacleOperation
from ros_ik.servo.world import ObstacleRequest

__all__ = [
    'CenterOfMassTarget',
    'CenterReport',
    'Command',
    'ControllerReference',
    'JointTarget',
    'JointVelocityTarget',
    'Measurement',
    'Mode',
    'Obstacle',
    'ObstacleBook',
    'ObstacleKind',
    'ObstacleOperation',
    'ObstacleRequest',
    'PoseTarget',
    'Rejection',
    'Servo',
    'ServoOutput',
    'StatusCode',
    'TargetReader',
    'TaskReport',
    'TrajectoryLayout',
    'TwistTarget',
    'trajectory_layout',
]
