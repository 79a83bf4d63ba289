# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Starts the ros_ik node with a mock robot that moves by itself, and RViz where there is one."""

import os
from pathlib import Path
import shutil
import tempfile

from launch.actions import AppendEnvironmentVariable
from launch.actions import DeclareLaunchArgument
from launch.actions import IncludeLaunchDescription
from launch.actions import LogInfo
from launch.actions import OpaqueFunction
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnShutdown
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext
from launch import LaunchDescription
from launch import LaunchDescriptionEntity
from ros_ik.demo.next_commands import next_commands
from ros_ik.demo.processes.nodes import command_topics
from ros_ik.demo.processes.nodes import watched_pairs
from ros_ik.demo.processes.nodes import write_parameters
from ros_ik.demo.robots import default_robot
from ros_ik.demo.robots import mesh_prefixes
from ros_ik.demo.robots.demo_robot import DemoRobot

ARGUMENTS = [
    DeclareLaunchArgument(
        'robot',
        default_value='',
        description='Name of a robot, or a URDF or xacro file. Empty: panda if '
        'example-robot-data is installed, otherwise six_axis, the arm of this package.',
    ),
    DeclareLaunchArgument(
        'params_file',
        default_value='',
        description='YAML file for ros_ik and mock_robot, like those in config/examples. Empty: '
        'the node moves one chain of the robot.',
    ),
    DeclareLaunchArgument(
        'tour',
        default_value='true',
        choices=['true', 'false'],
        description='Move the robot by itself for half a minute; only without a params_file.',
    ),
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of every node.'),
    DeclareLaunchArgument(
        'rviz',
        default_value='true',
        choices=['true', 'false'],
        description='Start RViz if it is installed.',
    ),
    DeclareLaunchArgument(
        'viewer',
        default_value='false',
        choices=['true', 'false'],
        description='Show the node in the browser; needs viser and trimesh.',
    ),
    DeclareLaunchArgument(
        'log_level', default_value='info', description='debug, info, warn, error or fatal.'
    ),
]


def include(name: str, **arguments: object) -> IncludeLaunchDescription:
    """Return the inclusion of another launch file of this package."""
    path = PathJoinSubstitution([FindPackageShare('ros_ik'), 'launch', name])
    return IncludeLaunchDescription(path, launch_arguments=arguments.items())


def demo_nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes for the requested robot."""
    robot_name = LaunchConfiguration('robot').perform(context) or default_robot()
    robot = DemoRobot.load(robot_name)
    namespace = LaunchConfiguration('namespace')
    params_file = LaunchConfiguration('params_file').perform(context)
    moves_by_itself = not params_file and LaunchConfiguration('tour').perform(context) == 'true'
    # A tour says at its end what to try next.
    nodes: list[LaunchDescriptionEntity] = [
        tour(robot_name, namespace)
        if moves_by_itself
        else LogInfo(msg=next_commands(namespace.perform(context)))
    ]
    if params_file:
        given = {'mock_robot': command_topics(Path(params_file), robot)}
    else:
        given = {
            'ros_ik': {**robot.node_parameters(), **watched_pairs(robot)},
            'mock_robot': robot.mock_parameters(),
        }
    # In a file, because launch_ros writes a joint `y` of a list so that ROS reads true.
    folder = Path(tempfile.mkdtemp(prefix='ros_ik_demo_'))
    nodes.append(RegisterEventHandler(OnShutdown(on_shutdown=lambda *_: shutil.rmtree(folder))))
    written = write_parameters(folder / 'parameters.yaml', given)
    prefixes = os.pathsep.join(mesh_prefixes(robot.files, folder))
    return [
        *nodes,
        AppendEnvironmentVariable('AMENT_PREFIX_PATH', prefixes),
        Node(
            package='ros_ik',
            executable='mock_robot',
            namespace=namespace,
            output='screen',
            parameters=[str(written), *([params_file] if params_file else [])],
        ),
        include(
            'ros_ik.launch.py',
            namespace=namespace,
            params_file=params_file or str(written),
            log_level=LaunchConfiguration('log_level'),
            viewer=LaunchConfiguration('viewer'),
        ),
        include(
            'robot_view.launch.py',
            urdf_path=str(robot.files.urdf_path),
            srdf_path=str(robot.files.srdf_path or ''),
            fixed_frame=robot.chain.partition(':')[0],
            namespace=namespace,
            rviz=LaunchConfiguration('rviz'),
        ),
    ]


def tour(robot_name: str, namespace: LaunchConfiguration) -> Node:
    """Return the tour of the robot, which prints next commands at its end."""
    return Node(
        package='ros_ik',
        executable='ros_ik_demo',
        namespace=namespace,
        output='screen',
        arguments=['--running', '--robot', robot_name],
    )


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=demo_nodes)])
