# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes beside a robot: topics of the mock robot, and pairs for collision checks."""

import os

import pytest
import yaml

from ros_ik.demo.processes.nodes import command_topics
from ros_ik.demo.processes.nodes import watched_shapes
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots import mesh_environment
from ros_ik.demo.robots.demo_robot import DemoRobot


@pytest.mark.parametrize(
    'given, first, more',
    [
        ({'joint_1': '~/joint_trajectory'}, 'ros_ik/joint_trajectory', ['']),
        ({'joint_1': '/l', 'joint_2': '/r'}, '/l', ['/r']),
    ],
)
def test_mock_robot_listens_to_the_topic_of_each_output(tmp_path, given, first, more):
    node = {
        'output_names': list(given),
        'outputs': {
            name: {'topic': topic, 'joints': [name]} for name, topic in given.items()
        },
        'ee': {'frame': 'tool0'},
        'rate': 100.0,  # no such parameter, of which the node warns
    }
    file = tmp_path / 'parameters.yaml'
    file.write_text(yaml.safe_dump({'/**/ros_ik': {'ros__parameters': node}}))
    robot = DemoRobot.load('six_axis')
    assert command_topics(file, robot) == {'command_topic': first, 'more_command_topics': more}


@pytest.mark.parametrize(
    'name, keeps_own_links_apart', [('panda', True), ('ur10', False)]
)
def test_obstacles_are_kept_away_from_every_robot(tmp_path, name, keeps_own_links_apart):
    robot = DemoRobot.load(name)
    environment, parameters = watched_shapes(robot, None, tmp_path)
    assert environment == mesh_environment(robot.files, tmp_path)
    assert parameters.get('barriers.self_collision.enabled', True) == keeps_own_links_apart
    # A parameter file has its own settings of collisions.
    environment, parameters = watched_shapes(robot, tmp_path / 'mine.yaml', tmp_path)
    assert parameters == {}
    assert (environment == dict(os.environ)) == (not keeps_own_links_apart)


def test_links_of_simple_shapes_are_kept_apart_without_an_srdf(tmp_path):
    path, text = tmp_path / 'simple.urdf', find_robot('six_axis').urdf_path.read_text()
    mesh = '<{0}><geometry><mesh filename="package://six_axis/tool.stl"/></geometry></{0}>'
    for kind, keeps_own_links_apart in (('visual', True), ('collision', False)):
        link = f'<link name="tool0">{mesh.format(kind)}</link>'
        path.write_text(text.replace('<link name="tool0"/>', link))
        assert link in path.read_text()
        assert DemoRobot.load(str(path)).keeps_own_links_apart == keeps_own_links_apart
