# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The processes that move a robot of the demo: its description, a mock of it, and the node."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path

from ros_ik.demo.processes.children import ChildProcesses
from ros_ik.demo.robots import mesh_environment
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.errors import ArgumentError
from ros_ik.errors import RosIkError
from ros_ik.model.readers.text_files import error_in_file
from ros_ik.model.readers.text_files import read_text
from ros_ik.node.model_loading.devices import choose_device
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings
from ros_ik.settings.parameter_file import parameter_text
from ros_ik.settings.parameter_file import read_parameters
from ros_ik.settings.reading import known_values


def choose_domain() -> None:
    """Set a ROS domain for this process and its children, on this machine only.

    Two demos then do not receive each other's messages. Existing settings of the environment are
    kept.
    """
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 101))


def watched_pairs(robot: DemoRobot) -> dict[str, object]:
    """Return parameters of the node that leave out pairs of which too many would be in contact.

    If it is unknown which links touch by design, only obstacles are checked against meshes.
    """
    return {} if robot.keeps_own_links_apart else {'barriers.self_collision.enabled': False}


def watched_shapes(
    robot: DemoRobot, params_file: Path | None, folder: Path
) -> tuple[dict[str, str], dict[str, object]]:
    """Return the environment in which the nodes find meshes, and parameters of the node for them.

    Args:
        robot: The robot.
        params_file: Parameters of the node, if any. They select what is kept apart; meshes are
            then found only if it is known which links touch.
        folder: As for :func:`~ros_ik.demo.robots.mesh_prefixes`.
    """
    if params_file is None:
        return mesh_environment(robot.files, folder), watched_pairs(robot)
    if robot.keeps_own_links_apart:
        return mesh_environment(robot.files, folder), {}
    return dict(os.environ), {}


def start_nodes(
    children: ChildProcesses,
    folder: Path,
    robot: DemoRobot,
    parameters: Mapping[str, object],
    beside: Mapping[str, tuple[str, Mapping[str, object]]] | None = None,
    params_file: Path | None = None,
    options: Mapping[str, object] | None = None,
) -> None:
    """Start a publisher of the description, a mock robot and the node.

    Args:
        children: Container for the processes.
        folder: Folder for the file with the parameters.
        robot: The robot; the node moves its chain, unless a file says otherwise.
        parameters: Parameters of the node beside those that name the chain.
        beside: Additional nodes: module and parameters by name.
        params_file: Parameters of the node and of the mock robot, used instead of the chain; they
            take precedence over ``parameters``. The mock robot then takes commands for any of its
            joints, on the topic of each output.
        options: Parameters of the node that take precedence over those of the file.

    Raises:
        RosIkError: The file is not usable for the node and the mock robot.
    """
    chain, mock = robot.node_parameters(), robot.mock_parameters()
    if params_file is not None:
        chain = {}
        mock |= {**command_topics(params_file, robot), 'controller_joints': ['']}
    nodes: dict[str, tuple[str, Mapping[str, object]]] = {
        'robot_description_publisher': (
            'ros_ik.demo.robot_description_publisher',
            {
                'urdf_path': str(robot.files.urdf_path),
                'srdf_path': str(robot.files.srdf_path or ''),
            },
        ),
        'mock_robot': ('ros_ik.demo.mock_robot', mock),
        'ros_ik': ('ros_ik.node.ros_ik_node', {**chain, **parameters}),
        **(beside or {}),
    }
    given = {name: values for name, (_, values) in nodes.items()}
    files = [write_parameters(folder / 'parameters.yaml', given)]
    if params_file is not None:
        files.append(params_file)
    # If several files have a parameter, the last one takes precedence.
    if options:
        files.append(write_parameters(folder / 'options.yaml', {'ros_ik': options}))
    for module, _ in nodes.values():
        children.start(module, [word for file in files for word in ('--params-file', str(file))])


def write_parameters(path: Path, nodes: Mapping[str, Mapping[str, object]]) -> Path:
    """Write the parameters of nodes by name, in any namespace, and return the path."""
    path.write_text(parameter_text({f'/**/{name}': values for name, values in nodes.items()}))
    return path


def command_topics(params_file: Path, robot: DemoRobot) -> dict[str, object]:
    """Return parameters of the mock robot for the topics of a node's parameter file.

    Args:
        params_file: Parameters of the node, which sends trajectories on the topic of each output.
        robot: The robot that the node is to move.

    Raises:
        RosIkError: It cannot be read, has no parameters of the node, has one that the node would
            refuse for this robot or on this machine, or sends what the mock robot does not
            understand.
    """
    text = read_text(params_file, 'the parameter file')
    try:
        settings = read_settings(known_values(read_parameters(text)))
        choose_device(settings.device)
        resolve_robot(robot.semantic_model(), settings)
    except RosIkError as error:
        raise error_in_file(params_file, error) from error
    for output in settings.outputs:
        if output.type != 'joint_trajectory':
            raise ArgumentError(
                f"'{params_file}': the mock robot takes trajectories, and output '{output.name}' "
                f"is of the type '{output.type}'"
            )
    topics = [output.topic.replace('~', 'ros_ik', 1) for output in settings.outputs]
    return {'command_topic': topics[0], 'more_command_topics': topics[1:] or ['']}
