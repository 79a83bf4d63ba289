# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics inside limits and barriers, on a GPU or a CPU, without ROS.

The node that puts it on topics and services lives in ``ros_ik.node``.
"""

from ros_ik.barriers import Barrier
from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.errors import RosIkError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics import eval_jacobian
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import JointGroup
from ros_ik.model import JointType
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ChainIKResult
from ros_ik.solvers import ChainIKSettings
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import PathResult
from ros_ik.solvers import solve_path
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

__all__ = [
    'AccelerationLimit',
    'ArgumentError',
    'Barrier',
    'ChainIK',
    'ChainIKResult',
    'ChainIKSettings',
    'DifferentialIK',
    'DifferentialIKSettings',
    'IKObjective',
    'IKObjectiveJointPosition',
    'IKObjectivePose',
    'JointGroup',
    'JointType',
    'Model',
    'ModelBuilder',
    'ModelError',
    'PathResult',
    'PositionBarrier',
    'PositionLimit',
    'RosIkError',
    'SolveStatus',
    'Task',
    'VelocityLimit',
    'eval_fk',
    'eval_jacobian',
    'inverse_kinematics',
    'solve_path',
]
