# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The launch files, loaded by ROS's own launch where it is installed."""

import importlib.util
from pathlib import Path

import pytest

LAUNCH_FILES = sorted((Path(__file__).resolve().parents[2] / 'launch').glob('*.launch.py'))


def load(path):
    """Return the launch description of a file."""
    spec = importlib.util.spec_from_file_location(path.name.replace('.', '_'), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


def arguments(description):
    """Return {name: argument} of a launch description."""
    from launch.actions import DeclareLaunchArgument

    return {
        entity.name: entity
        for entity in description.entities
        if isinstance(entity, DeclareLaunchArgument)
    }


@pytest.fixture(autouse=True)
def ros_launch():
    """Skip where launch is missing, or is the other package of that name."""
    if importlib.util.find_spec('launch_ros') is None:
        pytest.skip("ROS's launch and launch_ros are not on PyPI; they come with a ROS install")


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_describes_nodes_and_documents_its_arguments(path):
    from launch.actions import OpaqueFunction
    from launch_ros.actions import Node

    description = load(path)
    assert any(isinstance(entity, (Node, OpaqueFunction)) for entity in description.entities)
    for name, argument in arguments(description).items():
        assert argument.description and argument.description != 'no description given', name


def test_ros_ik_launch_has_the_arguments_of_the_interface():
    (path,) = (path for path in LAUNCH_FILES if path.name == 'ros_ik.launch.py')
    assert set(arguments(load(path))) == {
        'namespace', 'params_file', 'use_sim_time', 'autostart', 'log_level', 'use_respawn',
        'viewer', 'viewer_port',
    }  # fmt: skip
