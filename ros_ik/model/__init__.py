# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The robot model: builder, importers for URDF and SRDF, joint groups."""

from ros_ik.model.builder import ModelBuilder
from ros_ik.model.conventions.flags import BodyFlags
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.joint_group import JointGroup
from ros_ik.model.model import Model

__all__ = [
    'BodyFlags',
    'GeoType',
    'JointGroup',
    'JointType',
    'Model',
    'ModelBuilder',
    'ShapeFlags',
]
