# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Starts the ros_ik node with a parameter file."""

from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import LifecycleNode
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

ARGUMENTS = [
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node.'),
    DeclareLaunchArgument(
        'params_file',
        default_value=PathJoinSubstitution([FindPackageShare('ros_ik'), 'config', 'ros_ik.yaml']),
        description='YAML file with the parameters of the node; it names the link to move.',
    ),
    DeclareLaunchArgument(
        'use_sim_time',
        default_value='false',
        choices=['true', 'false'],
        description='Use the time of /clock. Overrides the parameter file.',
    ),
    DeclareLaunchArgument(
        'autostart',
        default_value='true',
        choices=['true', 'false'],
        description='Configure and activate as soon as a model and joint states have arrived; '
        'false leaves this to a lifecycle manager. Overrides the parameter file.',
    ),
    DeclareLaunchArgument(
        'log_level', default_value='info', description='debug, info, warn, error or fatal.'
    ),
    DeclareLaunchArgument(
        'use_respawn',
        default_value='false',
        choices=['true', 'false'],
        description='Restart the node two seconds after it has died.',
    ),
    DeclareLaunchArgument(
        'viewer',
        default_value='false',
        choices=['true', 'false'],
        description='Show the node in the browser; needs viser and trimesh.',
    ),
    DeclareLaunchArgument(
        'viewer_port',
        default_value='8080',
        description='Port of the page on this machine, or the first free one above it.',
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    node = LifecycleNode(
        package='ros_ik',
        executable='ros_ik_node',
        name='ros_ik',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            LaunchConfiguration('params_file'),
            {
                'use_sim_time': ParameterValue(
                    LaunchConfiguration('use_sim_time'), value_type=bool
                ),
                'autostart': ParameterValue(LaunchConfiguration('autostart'), value_type=bool),
            },
        ],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        respawn=LaunchConfiguration('use_respawn'),
        respawn_delay=2.0,
        output='screen',
        emulate_tty=True,
    )
    viewer = Node(
        package='ros_ik',
        executable='ros_ik_viewer',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            {'port': ParameterValue(LaunchConfiguration('viewer_port'), value_type=int)}
        ],
        condition=IfCondition(LaunchConfiguration('viewer')),
        output='screen',
    )
    return LaunchDescription([*ARGUMENTS, node, viewer])
