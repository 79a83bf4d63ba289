# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The processes that move a robot of the demo: its description, a mock of it, and the node."""

from __future__ import annotations

from collections.abc import Mapping
import os
from pathlib import Path

import yaml

from ros_ik.demo.children import Children
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
) -> None:
    """Start a publisher of the description, a mock robot and the node.

    Args:
        children: Takes the processes.
        folder: Takes the file with the parameters.
        robot: The robot; the node moves its chain.
        parameters: Parameters of the node beside those that name the chain.
        beside: More nodes: module and parameters by name.
    """
    nodes: dict[str, tuple[str, Mapping[str, object]]] = {
        'robot_description_publisher': (
            'ros_ik.demo.robot_description_publisher',
            {
                'urdf_path': str(robot.files.urdf_path),
                'srdf_path': str(robot.files.srdf_path or ''),
            },
        ),
        'mock_robot': ('ros_ik.demo.mock_robot', robot.mock_parameters()),
        'ros_ik': (
            'ros_ik.node.ros_ik_node',
            {'joint_group': robot.chain, 'ee.frame': robot.tip_link, **parameters},
        ),
        **(beside or {}),
    }
    path = folder / 'parameters.yaml'
    given = {
        f'/**/{name}': {'ros__parameters': dict(values)} for name, (_, values) in nodes.items()
    }
    path.write_text(yaml.safe_dump(given))
    for module, _ in nodes.values():
        children.start(module, ['--params-file', str(path)])
