# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Starts the ros_ik node with a mock robot to try it on, and RViz where it is installed."""

from __future__ import annotations

import tempfile

from ament_index_python.packages import get_package_share_directory
from ament_index_python.packages import PackageNotFoundError
from launch.actions import DeclareLaunchArgument
from launch.actions import IncludeLaunchDescription
from launch.actions import OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare
import yaml

from launch import LaunchContext
from launch import LaunchDescription
from launch import LaunchDescriptionEntity
from ros_ik.demo.demo_robot import DemoRobot

ARGUMENTS = [
    DeclareLaunchArgument(
        'robot', default_value='panda', description='Name of a robot, or a URDF or xacro file.'
    ),
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of every node.'),
    DeclareLaunchArgument(
        'rviz',
        default_value='true',
        choices=['true', 'false'],
        description='Start RViz if installed.',
    ),
    DeclareLaunchArgument('log_level', default_value='info', description='Logging level.'),
]


def is_installed(package: str) -> bool:
    """Return whether a ROS package is there."""
    try:
        get_package_share_directory(package)
    except PackageNotFoundError:
        return False
    return True


def demo_nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes for the robot that was asked for."""
    robot = DemoRobot.load(LaunchConfiguration('robot').perform(context))
    namespace = LaunchConfiguration('namespace')
    nodes: list[LaunchDescriptionEntity] = [
        Node(
            package='ros_ik',
            executable='mock_robot',
            namespace=namespace,
            output='screen',
            parameters=[robot.mock_parameters()],
        ),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(
                PathJoinSubstitution([FindPackageShare('ros_ik'), 'launch', 'ros_ik.launch.py'])
            ),
            launch_arguments={
                'namespace': namespace,
                'params_file': _write_parameters(robot),
                'log_level': LaunchConfiguration('log_level'),
            }.items(),
        ),
    ]  # fmt: skip
    if is_installed('robot_state_publisher'):
        nodes.append(
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                namespace=namespace,
                parameters=[{'robot_description': robot.text}],
            )
        )
    else:
        nodes.append(
            Node(
                package='ros_ik',
                executable='robot_description_publisher',
                namespace=namespace,
                parameters=[{'urdf_path': str(robot.files.urdf_path)}],
            )
        )
    if LaunchConfiguration('rviz').perform(context) == 'true' and is_installed('rviz2'):
        nodes.append(Node(package='rviz2', executable='rviz2', namespace=namespace))
    return nodes


def _write_parameters(robot: DemoRobot) -> str:
    """Write the parameters of the node to a file that outlives the launch, and return its path."""
    values = {'joint_group': robot.chain, 'ee.frame': robot.tip_link}
    handle, path = tempfile.mkstemp(prefix='ros_ik_demo_', suffix='.yaml')
    with open(handle, 'w') as file:
        yaml.safe_dump({'/**': {'ros__parameters': values}}, file)
    return path


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=demo_nodes)])
