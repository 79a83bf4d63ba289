# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Starts the ros_ik node with a mock robot to try it on, and RViz where it is installed."""

from __future__ import annotations

import tempfile

from ament_index_python.packages import get_package_share_directory
from ament_index_python.packages import PackageNotFoundError
from launch import LaunchContext
from launch import LaunchDescription
from launch import LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument
from launch.actions import IncludeLaunchDescription
from launch.actions import OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from ros_ik.demo.chain import choose_chain
from ros_ik.demo.description import read_description
from ros_ik.demo.robots import find_robot
from ros_ik.demo.scenario import home_configuration
from ros_ik.model import Model
import yaml

ARGUMENTS = [
    DeclareLaunchArgument(
        'robot', default_value='panda', description='Robot of example-robot-data, or a URDF or xacro.'
    ),
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of every node.'),
    DeclareLaunchArgument(
        'rviz', default_value='true', choices=['true', 'false'], description='Start RViz if installed.'
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
    files = find_robot(LaunchConfiguration('robot').perform(context))
    text = read_description(files.urdf_path)
    model = Model.from_urdf(text, device='cpu')
    base, tip = (files.base_link, files.tip_link) if files.tip_link else choose_chain(model)
    group = model.joint_group(f'{base}:{tip}')
    home = home_configuration(model, group, dict(files.home))
    starts = model.joint_q_start.numpy()
    namespace = LaunchConfiguration('namespace')
    nodes: list[LaunchDescriptionEntity] = [
        Node(
            package='ros_ik',
            executable='mock_robot',
            namespace=namespace,
            output='screen',
            parameters=[{
                'command_topic': 'ros_ik/joint_trajectory',
                'controller_joints': list(group.joint_names),
                'initial_positions.names': list(group.joint_names),
                'initial_positions.values': [float(home[starts[j]]) for j in group.joint_indices],
            }],
        ),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(
                PathJoinSubstitution([FindPackageShare('ros_ik'), 'launch', 'ros_ik.launch.py'])
            ),
            launch_arguments={
                'namespace': namespace,
                'params_file': _write_parameters(base, tip),
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
                parameters=[{'robot_description': text}],
            )
        )
    else:
        nodes.append(
            Node(
                package='ros_ik',
                executable='robot_description_publisher',
                namespace=namespace,
                parameters=[{'urdf_path': str(files.urdf_path)}],
            )
        )
    if LaunchConfiguration('rviz').perform(context) == 'true' and is_installed('rviz2'):
        nodes.append(Node(package='rviz2', executable='rviz2', namespace=namespace))
    return nodes


def _write_parameters(base: str, tip: str) -> str:
    """Write the parameters of the node to a file that outlives the launch, and return its path."""
    values = {'joint_group': f'{base}:{tip}', 'ee.frame': tip}
    with tempfile.NamedTemporaryFile('w', prefix='ros_ik_demo_', suffix='.yaml', delete=False) as file:
        yaml.safe_dump({'/**': {'ros__parameters': values}}, file)
    return file.name


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=demo_nodes)])
