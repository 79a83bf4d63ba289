# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters that demo.launch.py writes, with stand-ins for ROS's launch."""

import importlib.util
import os
from pathlib import Path
import shutil
import sys
from unittest import mock

import pytest

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.settings import read_settings
from ros_ik.settings.parameter_file import read_parameters

DEMO = Path(__file__).resolve().parents[2] / 'launch' / 'demo.launch.py'
MODULES = (
    'launch', 'launch.actions', 'launch.event_handlers', 'launch.substitutions', 'launch_ros',
    'launch_ros.actions', 'launch_ros.substitutions',
)  # fmt: skip
JOINT = (
    '<link name="{child}"/><joint name="{name}" type="prismatic"><parent link="{parent}"/>'
    '<child link="{child}"/><axis xyz="{axis}"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
)
# A gantry with joints x, y and z. YAML 1.1, which ROS reads, takes y for true.
GANTRY = '<robot name="gantry"><link name="base"/>{}{}{}</robot>'.format(
    JOINT.format(name='x', parent='base', child='a', axis='1 0 0'),
    JOINT.format(name='y', parent='a', child='b', axis='0 1 0'),
    JOINT.format(name='z', parent='b', child='tool', axis='0 0 1'),
)


@pytest.fixture
def started(monkeypatch):
    """Return a function that returns the parameter files of the node and the mock robot."""
    stand_ins = {name: mock.MagicMock() for name in MODULES}
    for name, module in stand_ins.items():
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location('demo_launch', DEMO)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = []

    def start(**arguments):
        def configuration(name):
            return mock.Mock(perform=lambda _: arguments.get(name, ''))

        monkeypatch.setattr(module, 'LaunchConfiguration', configuration)
        node, include = mock.Mock(), mock.Mock()
        monkeypatch.setattr(module, 'Node', node)
        monkeypatch.setattr(module, 'include', include)
        module.demo_nodes(None)
        (of_mock,) = (
            call.kwargs['parameters']
            for call in node.call_args_list
            if call.kwargs['executable'] == 'mock_robot'
        )
        (of_node,) = (
            call.kwargs['params_file']
            for call in include.call_args_list
            if call.args == ('ros_ik.launch.py',)
        )
        # launch_ros writes parameters that are no files by PyYAML's own rules.
        assert all(isinstance(file, str) for file in of_mock)
        files = [Path(file) for file in (of_node, *of_mock)]
        written.extend({f.parent for f in files if f.parent.name.startswith('ros_ik_demo_')})
        return files

    yield start
    for folder in written:
        shutil.rmtree(folder)


def test_a_joint_named_y_is_no_boolean(started, tmp_path):
    (tmp_path / 'gantry.urdf').write_text(GANTRY)
    _, *of_mock = started(robot=str(tmp_path / 'gantry.urdf'), tour='false')
    values = read_parameters(of_mock[0].read_text(), 'mock_robot')
    assert values['controller_joints'] == ['x', 'y', 'z']
    assert values['initial_positions.names'] == ['x', 'y', 'z']


@pytest.mark.parametrize(('robot', 'weight'), [('allegro_right_hand', 0.0), ('six_axis', 0.5)])
def test_few_joints_go_to_positions_only_as_the_tour_expects(started, robot, weight):
    of_node, *_ = started(robot=robot, tour='true')
    assert DemoRobot.load(robot).uses_orientation == (weight > 0.0)
    settings = read_settings(read_parameters(of_node.read_text()))
    assert settings.tasks[0].orientation_weight == (weight, weight, weight)


def test_a_parameter_file_follows_the_topics_of_its_outputs(started, tmp_path):
    file = tmp_path / 'mine.yaml'
    values = '{ee: {frame: tool0}, outputs: {default: {topic: /other}}}'
    file.write_text(f'/**: {{ros__parameters: {values}}}')
    of_node, *of_mock = started(robot='six_axis', params_file=str(file))
    assert of_node == of_mock[1] == file
    values = read_parameters(of_mock[0].read_text(), 'mock_robot')
    assert values['command_topic'] == '/other'


def test_meshes_beside_a_description_outside_share_are_found(started, tmp_path):
    (tmp_path / 'gantry.urdf').write_text(GANTRY)
    of_node, *_ = started(robot=str(tmp_path / 'gantry.urdf'), tour='false')
    added = sys.modules['launch.actions'].AppendEnvironmentVariable
    ((name, prefixes),) = (call.args for call in added.call_args_list)
    assert name == 'AMENT_PREFIX_PATH'
    folders = [Path(prefix) / 'share' for prefix in prefixes.split(os.pathsep)]
    assert all(folder.is_relative_to(of_node.parent) for folder in folders)
    assert tmp_path.resolve() in [folder.resolve() for folder in folders]
