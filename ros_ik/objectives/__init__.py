# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objectives: residuals r(q) that a solver drives to zero, with their Jacobians."""

from ros_ik.objectives.joint_position import IKObjectiveJointPosition
from ros_ik.objectives.objective import IKObjective
from ros_ik.objectives.pose import IKObjectivePose

__all__ = ['IKObjective', 'IKObjectiveJointPosition', 'IKObjectivePose']
