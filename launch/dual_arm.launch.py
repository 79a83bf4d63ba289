# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Two arms in one node: Baxter, one mock driver an arm, targets of their own for each hand.

On a robot, replace the mock drivers by ros2_control and keep config/dual_arm.yaml.
"""

from collections.abc import Iterator

from launch.actions import AppendEnvironmentVariable
from launch.actions import DeclareLaunchArgument
from launch.actions import IncludeLaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchContext
from launch import LaunchDescription
from launch import LaunchDescriptionEntity
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import mesh_prefix

# Start of each arm [rad]: elbows out and down, hands in front of the chest.
HOME = {
    'left': {'s0': -0.3, 's1': -0.6, 'e0': 0.0, 'e1': 1.3, 'w0': 0.0, 'w1': 0.8, 'w2': 0.0},
    'right': {'s0': 0.3, 's1': -0.6, 'e0': 0.0, 'e1': 1.3, 'w0': 0.0, 'w1': 0.8, 'w2': 0.0},
}
CONFIG = PathJoinSubstitution([FindPackageShare('ros_ik'), 'config'])
ARGUMENTS = [
    DeclareLaunchArgument('namespace', default_value='', description='Namespace of every node.'),
    DeclareLaunchArgument(
        'params_file',
        default_value=PathJoinSubstitution([CONFIG, 'dual_arm.yaml']),
        description='YAML file with the parameters of the ros_ik node.',
    ),
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


def drivers() -> Iterator[Node]:
    """Yield the mock driver of each arm; each publishes the joints of its own arm."""
    for arm, positions in HOME.items():
        joints = [f'{arm}_{joint}' for joint in positions]
        yield Node(
            package='ros_ik',
            executable='mock_robot',
            name=f'mock_{arm}_arm',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            parameters=[
                {
                    'command_topic': f'{arm}_arm_controller/joint_trajectory',
                    'controller_joints': joints,
                    'publish_all_joints': False,
                    'initial_positions.names': joints,
                    'initial_positions.values': list(positions.values()),
                }
            ],
        )


def nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return every node of the example."""
    baxter = find_robot('baxter')
    namespace = LaunchConfiguration('namespace')
    return [
        AppendEnvironmentVariable('AMENT_PREFIX_PATH', mesh_prefix(baxter)),
        *drivers(),
        include(
            'ros_ik.launch.py',
            namespace=namespace,
            params_file=LaunchConfiguration('params_file'),
            log_level=LaunchConfiguration('log_level'),
            viewer=LaunchConfiguration('viewer'),
        ),
        include(
            'robot_view.launch.py',
            urdf_path=str(baxter.urdf_path),
            srdf_path=str(baxter.srdf_path or ''),
            fixed_frame=baxter.base_link,
            namespace=namespace,
            rviz=LaunchConfiguration('rviz'),
        ),
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=nodes)])
