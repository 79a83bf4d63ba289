# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots of the demo: found by name or path, loaded with the chain to move."""

from typing import TYPE_CHECKING

from ros_ik.lazy_names import lazy_names

if TYPE_CHECKING:
    from ros_ik.demo.robots.robot_files import default_robot
    from ros_ik.demo.robots.robot_files import find_robot
    from ros_ik.demo.robots.robot_files import mesh_environment
    from ros_ik.demo.robots.robot_files import mesh_prefix
    from ros_ik.demo.robots.robot_files import mesh_prefixes
    from ros_ik.demo.robots.robot_files import robot_data_path
    from ros_ik.demo.robots.robot_files import robot_names
    from ros_ik.demo.robots.robot_files import RobotFiles
    from ros_ik.model.readers.mesh_lookup import mesh_folders
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)

__all__ = [
    'RobotFiles',
    'default_robot',
    'find_robot',
    'mesh_environment',
    'mesh_folders',
    'mesh_prefix',
    'mesh_prefixes',
    'robot_data_path',
    'robot_names',
]
