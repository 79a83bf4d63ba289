# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The processes that move a robot of the demo: its description, a mock of it, and the node."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path

import yaml

from ros_ik.demo.children import Children
from ros_ik.demo.demo_robot import COMMAND_TOPIC
from ros_ik.demo.demo_robot import DemoRobot


def choose_domain() -> None:
    """Let this process and its children use a ROS domain of their own, on this machine.

    So two demos do not hear each other. What the environment says already counts.
    """
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 101))


def start_nodes(
    children: Children,
    folder: Path,
    robot: DemoRobot,
    parameters: Mapping[str, object],
    beside: Mapping[str, tuple[str, Mapping[str, object]]] | None = None,
    params_file: Path | None = None,
) -> None:
    """Start a publisher of the description, a mock robot and the node.

    Args:
        children: Takes the processes.
        folder: Takes the file with the parameters.
        robot: The robot; the node moves its chain, unless a file says otherwise.
        parameters: Parameters of the node beside those that name the chain.
        beside: More nodes: module and parameters by name.
        params_file: Parameters of the node and of the mock robot in the place of the chain and
            its start; the mock robot then takes commands for any of its joints.
    """
    chain: Mapping[str, object] = {
        'joint_group': robot.chain,
        'ee.frame': robot.tip_link,
        'ee.orientation_weight': 0.5 if robot.uses_orientation else 0.0,
    }
    mock = robot.mock_parameters()
    if params_file is not None:
        chain, mock = {}, {'command_topic': COMMAND_TOPIC}
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
    path = folder / 'parameters.yaml'
    given = {
        f'/**/{name}': {'ros__parameters': dict(values)} for name, (_, values) in nodes.items()
    }
    path.write_text(yaml.safe_dump(given))
    for module, _ in nodes.values():
        files = [path] if params_file is None else [path, params_file]
        children.start(module, [word for file in files for word in ('--params-file', str(file))])
