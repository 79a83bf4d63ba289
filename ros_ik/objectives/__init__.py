# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objectives of a solve: residuals r(q) to be driven to zero, with their Jacobians."""

from ros_ik.objectives.center_of_mass import IKObjectiveCenterOfMass
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.interface.objective import IKObjective
from ros_ik.objectives.joint_limit import IKObjectiveJointLimit
from ros_ik.objectives.joint_position import IKObjectiveJointPosition
from ros_ik.objectives.link_function import IKObjectiveLinkFunction
from ros_ik.objectives.look_at import IKObjectiveLookAt
from ros_ik.objectives.manipulability import IKObjectiveManipulability
from ros_ik.objectives.pose import IKObjectivePose
from ros_ik.objectives.position import IKObjectivePosition
from ros_ik.objectives.rotation import IKObjectiveRotation
from ros_ik.objectives.self_distance import IKObjectiveSelfDistance

__all__ = [
    'IKJacobianType',
    'IKObjective',
    'IKObjectiveCenterOfMass',
    'IKObjectiveJointLimit',
    'IKObjectiveJointPosition',
    'IKObjectiveLinkFunction',
    'IKObjectiveLookAt',
    'IKObjectiveManipulability',
    'IKObjectivePose',
    'IKObjectivePosition',
    'IKObjectiveRotation',
    'IKObjectiveSelfDistance',
]
