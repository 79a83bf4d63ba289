# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes a robot's description, its transforms and a view of it, with what is installed.

robot_state_publisher publishes the description and the transforms; where it is missing,
robot_description_publisher publishes the description alone. RViz starts where it is installed.
"""

from ament_index_python.packages import get_package_prefix
from ament_index_python.packages import PackageNotFoundError
from launch.actions import DeclareLaunchArgument
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext
from launch import LaunchDescription
from launch import LaunchDescriptionEntity
from ros_ik.model.readers.description import read_description

ARGUMENTS = [
    DeclareLaunchArgument('urdf_path', description='URDF or xacro file.'),
    DeclareLaunchArgument('srdf_path', default_value='', description='SRDF file, if any.'),
    DeclareLaunchArgument('fixed_frame', description='Link in which RViz shows everything.'),
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of every node.'),
    DeclareLaunchArgument(
        'rviz',
        default_value='true',
        choices=['true', 'false'],
        description='Start RViz if it is installed.',
    ),
    DeclareLaunchArgument(
        'rviz_config',
        default_value=PathJoinSubstitution([FindPackageShare('ros_ik'), 'config', 'demo.rviz']),
        description='RViz configuration file.',
    ),
]


def is_installed(package: str) -> bool:
    """Return True if a ROS package is there."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes that can be started here."""
    urdf_path = LaunchConfiguration('urdf_path').perform(context)
    srdf_path = LaunchConfiguration('srdf_path').perform(context)
    namespace = LaunchConfiguration('namespace')
    started: list[LaunchDescriptionEntity] = []
    if is_installed('robot_state_publisher'):
        text = ParameterValue(read_description(urdf_path), value_type=str)
        started.append(
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                namespace=namespace,
                parameters=[{'robot_description': text}],
            )
        )
        urdf_path = ''
    if urdf_path or srdf_path:
        started.append(
            Node(
                package='ros_ik',
                executable='robot_description_publisher',
                namespace=namespace,
                output='screen',
                parameters=[
                    {
                        'urdf_path': ParameterValue(urdf_path, value_type=str),
                        'srdf_path': ParameterValue(srdf_path, value_type=str),
                    }
                ],
            )
        )
    if LaunchConfiguration('rviz').perform(context) == 'true' and is_installed('rviz2'):
        started.append(
            Node(
                package='rviz2',
                executable='rviz2',
                namespace=namespace,
                arguments=[
                    '--display-config',
                    LaunchConfiguration('rviz_config'),
                    '--fixed-frame',
                    LaunchConfiguration('fixed_frame'),
                ],
            )
        )
    return started


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=nodes)])
