# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The schema, its documents, and checks of right and wrong values."""

import contextlib
import itertools
import math
from pathlib import Path

import pytest
from rclpy.exceptions import InvalidTopicNameException
from rclpy.expand_topic_name import expand_topic_name
from rclpy.validate_full_topic_name import validate_full_topic_name
from rclpy.validate_topic_name import validate_topic_name
import yaml

from ros_ik.settings import expand_parameters
from ros_ik.settings import read_settings
from ros_ik.settings import SCHEMA
from ros_ik.settings import SettingsError
from ros_ik.settings.documents import markdown_text
from ros_ik.settings.documents import yaml_text
from ros_ik.settings.parameter import Parameter
from ros_ik.settings.reading import unknown_parameters

ROOT = Path(__file__).parents[2]
FRAME = {'ee.frame': 'hand'}

WRONG = [
    ({}, 'ee.frame', "''"),
    ({'ee.frame': 7}, 'ee.frame', '7'),
    ({'rate': 500.0}, 'rate', 'no such parameter'),
    ({'ee.gian': 0.5}, 'ee.gian', "did you mean 'ee.gain'?"),
    ({'frame_tasks': ['hand'], 'hand.frame': 'l'}, 'ee.frame', 'no such parameter'),
    ({'control_rate': 0.5}, 'control_rate', '[1, 1000]'),
    ({'control_rate': math.nan}, 'control_rate', 'nan'),
    ({'control_rate': 'fast'}, 'control_rate', "'fast'"),
    ({'control_rate': True}, 'control_rate', 'True'),
    ({'autostart': 1}, 'autostart', '1'),
    ({'on_description_change': 'swap'}, 'on_description_change', "'hold_and_swap'"),
    ({'outputs.default.topic': 'a//b'}, 'outputs.default.topic', "the name of a topic, got 'a//"),
    ({'outputs.default.state_topic': '~state'}, 'outputs.default.state_topic', "'~state'"),
    ({'device': 'gpu'}, 'device', "'gpu'"),
    ({'device': '7'}, 'device', "'7'"),
    ({'device': 'cuda:0,'}, 'device', "'cuda:0,'"),
    ({'frame_tasks': ['']}, 'frame_tasks', 'at least one name'),
    ({'frame_tasks': ['a', 'a']}, 'frame_tasks', 'twice'),
    ({'frame_tasks': ['limits']}, 'frame_tasks', 'choose another'),
    ({'frame_tasks': ['left arm']}, 'frame_tasks', "'left arm'"),
    # They become parts of names of topics, in which ROS has ASCII alone.
    ({'frame_tasks': ['\u00e9']}, 'frame_tasks', 'ASCII'),
    ({'frame_tasks': 'ee'}, 'frame_tasks', 'array'),
    ({'ee.gain': 0.0}, 'ee.gain', '(0, 1]'),
    ({'ee.gain': 1.5}, 'ee.gain', '(0, 1]'),
    ({'ee.offset_xyz': [0.0, 0.0]}, 'ee.offset_xyz', '3 entries'),
    ({'ee.offset_xyz': [0.0, 0.0, math.inf]}, 'ee.offset_xyz', 'inf'),
    ({'ee.position_weight': [1.0, 1.0]}, 'ee.position_weight', '3 entries'),
    ({'ee.position_weight': -1.0}, 'ee.position_weight', '-1'),
    ({'ee.position_weight': 0.0, 'ee.orientation_weight': 0.0}, 'ee.position_weight', 'above 0'),
    ({'ee.max_linear_speed': 0.0}, 'ee.max_linear_speed', '(0, inf)'),
    ({'limits.velocity_scale': 0.0}, 'limits.velocity_scale', '(0, 1]'),
    ({'limits.acceleration_scale': 0.005}, 'limits.acceleration_scale', '[0.01, 1]'),
    ({'ee.position_weight': 1e300}, 'ee.position_weight', '[0, 1e+06]'),
    ({'ee.orientation_weight': [1.0, 1.0, 1e7]}, 'ee.orientation_weight', '[0, 1e+06]'),
    ({'posture.weight': 1e300}, 'posture.weight', '[0, 1e+06]'),
    ({'com.weight': 1e300}, 'com.weight', '[0, 1e+06]'),
    ({'ee.offset_xyz': [0.0, 0.0, 1e300]}, 'ee.offset_xyz', '[-100, 100]'),
    ({'max_target_step_linear': -1.0}, 'max_target_step_linear', '(0, inf]'),
    ({'limits.position_margin': [3.0]}, 'limits.position_margin', '[0, 1]'),
    ({'limits.position_margin': []}, 'limits.position_margin', 'none'),
    ({'solver.max_iterations': 1.5}, 'solver.max_iterations', '1.5'),
    *(
        ({f'joint_limits.j1.has_{kind}_limits': True}, f'joint_limits.j1.max_{kind}', 'above 0')
        for kind in ('velocity', 'acceleration', 'jerk')
    ),
    *(
        (
            {
                'joint_limits.j1.has_position_limits': True,
                'joint_limits.j1.min_position': 0.5,
                'joint_limits.j1.max_position': upper,
            },
            'joint_limits.j1.min_position',
            'less than max_position',
        )
        for upper in (0.5, -1.0)
    ),
    ({'barriers.position.box.min': [0.0, 0.0, 0.0]}, 'barriers.position.box.frame', "''"),
    (
        {
            'barriers.position.box.frame': 'hand',
            'barriers.position.box.min': [0.0, 0.0, 0.5],
            'barriers.position.box.max': [1.0, 1.0, 0.5],
            'barriers.position.box.axes': [True, True, False],
        },
        'barriers.position.box.min',
        'less than max',
    ),
    (
        {
            'barriers.position.box.frame': 'hand',
            'barriers.position.box.min': [0.0, 0.0, 1.0],
            'barriers.position.box.max': [1.0, 1.0, 0.5],
        },
        'barriers.position.box.min',
        'less than max',
    ),
    ({'barriers.position.box.frame': 'hand'}, 'barriers.position.box.min', 'a bound'),
    (
        {
            'barriers.position.box.frame': 'hand',
            'barriers.position.box.max': [1.0, float('inf'), float('inf')],
            'barriers.position.box.axes': [False, True, True],
        },
        'barriers.position.box.min',
        '(False, True, True)',
    ),
    (
        {
            'barriers.position.box.frame': 'hand',
            'barriers.position.box.min': [-1.0, -1.0, 0.0],
            'barriers.position.box.max': [1.0, 1.0, 0.5],
            'barriers.position.box.margin': 0.25,
        },
        'barriers.position.box.margin',
        'a side of 0.5',
    ),
    ({'output_names': ['a', 'b']}, 'outputs.b.topic', 'another output'),
    (
        {'output_names': ['a', 'b', 'c'], 'outputs.b.topic': '/b'},
        'outputs.c.topic',
        'another output',
    ),
    ({'outputs.default.topic': ''}, 'outputs.default.topic', "''"),
    ({'device': 'cpu,gpu'}, 'device', "'cpu,gpu'"),
    ({'device': 'cuda:1x'}, 'device', "'cuda:1x'"),
    ({'frame_tasks': ['a', 'b', 'a']}, 'frame_tasks', 'twice'),
    (
        {
            'frame_tasks': ['ee', 'b'], 'b.frame': 'hand', 'posture.weight': 0.0,
            'b.manipulability_speed': 0.1,
        },
        'posture.weight',
        'above 0',
    ),
    ({'outputs.default.command_horizon': 0.015}, 'outputs.default.command_horizon', '0.02 s'),
    (
        {'rollout_steps': 5, 'outputs.default.command_horizon': 0.069},
        'outputs.default.command_horizon',
        'rollout_steps + 2 = 7 control periods (0.07 s), got 0.069',
    ),
    ({'rollout_steps': 101}, 'rollout_steps', '[0, 100]'),
    ({'rollout_steps': -1}, 'rollout_steps', '[0, 100]'),
    ({'outputs.default.stamp': 'later'}, 'outputs.default.stamp', "'now'"),
    ({'outputs.default.type': 'effort'}, 'outputs.default.type', "'float64_multi_array'"),
]


@pytest.mark.parametrize(('given', 'parameter', 'reason'), WRONG)
def test_a_wrong_value_is_refused_with_its_name_and_reason(given, parameter, reason):
    values = given if given == {} else {**FRAME, **given}
    with pytest.raises(SettingsError) as caught:
        read_settings(values)
    assert caught.value.parameter == parameter
    assert reason in caught.value.reason


def is_topic_of_ros(name):
    """Return True if rclpy takes a name of a topic."""
    try:
        validate_full_topic_name(expand_topic_name(name, 'ros_ik', '/lab'))
        return validate_topic_name(name)
    except (InvalidTopicNameException, ValueError):
        return False


def test_names_of_topics_are_those_of_ros():
    words = (itertools.product('a1_/~ ', repeat=count) for count in range(1, 6))
    names = [''.join(letters) for of_a_length in words for letters in of_a_length]
    names += '{node} /x/{node}_1 {ns}/a {namespace}{node} {what} /{node a-b a.b'.split()
    (topic,) = (entry for entry in SCHEMA if entry.name == 'outputs.<output>.topic')
    taken = dict.fromkeys(names, True)
    for name in names:
        try:
            topic.checked(name)
        except SettingsError:
            taken[name] = False
    # ROS takes these of two letters only, by mistake.
    different = {name for name in names if taken[name] != is_topic_of_ros(name)}
    assert different == {'~a', '~1', '~_'} and sum(taken.values()) > 100


def test_defaults_are_those_of_the_schema():
    settings = read_settings(FRAME)
    assert settings.control_rate == 100.0
    assert settings.tasks[0].orientation_weight == (0.5, 0.5, 0.5)
    assert settings.outputs[0].topic == '~/joint_trajectory'
    assert settings.joint_limits == settings.barriers == ()


def test_a_horizon_of_just_the_predicted_steps_is_taken():
    for rate in (30.0, 100.0, 333.0, 1000.0):
        for steps in (1, 5, 28):
            horizon = float(f'{(steps + 2) / rate:.12g}')
            given = {'rollout_steps': steps, 'outputs.default.command_horizon': horizon}
            settings = read_settings({**FRAME, 'control_rate': rate, **given})
            assert settings.rollout_steps == steps


def test_names_of_the_user_become_sections():
    settings = read_settings(
        {
            'frame_tasks': ['left', 'right'],
            'left.frame': 'l',
            'right.frame': 'r',
            'right.position_weight': [1, 2, 3],
            'joint_limits.joint_1.0.has_velocity_limits': True,
            'joint_limits.joint_1.0.max_velocity': 2,
            'barriers.position.table.frame': 'l',
            'barriers.position.table.min': [-math.inf, -math.inf, 0.1],
            'barriers.position.table.1.frame': 'r',
            'barriers.position.table.1.max': [math.inf, math.inf, 0.5],
        }
    )
    assert [task.frame for task in settings.tasks] == ['l', 'r']
    assert settings.tasks[1].position_weight == (1.0, 2.0, 3.0)
    (limit,) = settings.joint_limits
    assert (limit.joint, limit.max_velocity, limit.max_acceleration) == ('joint_1.0', 2.0, None)
    assert [barrier.name for barrier in settings.barriers] == ['table', 'table.1']
    assert [barrier.frame for barrier in settings.barriers] == ['l', 'r']


def test_limits_of_a_position_count_where_they_are_switched_on_and_finite():
    given = {
        'joint_limits.on.has_position_limits': True,
        'joint_limits.on.min_position': -0.5,
        'joint_limits.off.min_position': 0.5,
        'joint_limits.off.max_position': -0.5,
    }
    on, off = read_settings({**FRAME, **given}).joint_limits
    assert (on.joint, on.min_position, on.max_position) == ('on', -0.5, None)
    assert (off.joint, off.min_position, off.max_position) == ('off', None, None)


def test_unusual_values_that_make_sense_are_taken():
    settings = read_settings(
        {
            **FRAME,
            'ee.position_weight': 0.0,
            'ee.elbow_direction': [0.0, 0.0, 0.0],
            'device': 'cuda:10, cpu',
            'output_names': ['limits'],
            'qos_overrides./tf.subscription.depth': 5,
        }
    )
    assert settings.tasks[0].position_weight == (0.0, 0.0, 0.0)
    assert settings.device == 'cuda:10, cpu' and settings.outputs[0].name == 'limits'


def test_a_misspelt_name_is_found():
    given = {**FRAME, 'ee.fraem': 'hand', 'use_sim_time': True}
    (sentence,) = unknown_parameters(given, expand_parameters(given))
    assert "'ee.fraem'" in sentence and "'ee.frame'" in sentence


def test_every_parameter_has_a_sentence_and_a_permitted_default():
    for entry in SCHEMA:
        assert entry.description.rstrip().endswith('.'), entry.name
        assert entry.checked(entry.default) == entry.default, entry.name
    assert len({entry.name for entry in SCHEMA}) == len(SCHEMA)


@pytest.mark.parametrize(
    ('bounds', 'text', 'permitted'),
    [
        ({'maximum': 1.0, 'finite': False}, '[-inf, 1]', {-math.inf}),
        ({'maximum': 1.0}, '(-inf, 1]', set()),
        ({'minimum': 1.0, 'finite': False}, '[1, inf]', {math.inf}),
        ({'minimum': 1.0, 'exclusive_minimum': True}, '(1, inf)', set()),
    ],
)
def test_the_text_of_bounds_has_the_values_that_are_permitted(bounds, text, permitted):
    entry = Parameter('x', 'double', 1.0, 'A number.', **bounds)
    assert entry.bounds_text() == text
    for value in (-math.inf, math.inf):
        with contextlib.nullcontext() if value in permitted else pytest.raises(SettingsError):
            assert entry.checked(value) == value


def test_the_documents_are_those_of_the_schema():
    command = 'run python -m ros_ik.settings.documents'
    assert (ROOT / 'config' / 'ros_ik.yaml').read_text() == yaml_text(), command
    assert (ROOT / 'docs' / 'parameters.md').read_text() == markdown_text(), command


def test_the_shipped_file_holds_the_defaults():
    given = {}

    def flatten(prefix, value):
        if isinstance(value, dict):
            for key, below in value.items():
                flatten(f'{prefix}{key}.', below)
        elif value is not None:
            given[prefix[:-1]] = value

    flatten('', yaml.safe_load(yaml_text())['/**']['ros__parameters'])
    assert unknown_parameters(given, expand_parameters(given)) == []
    assert read_settings({**given, **FRAME}) == read_settings(FRAME)


def test_no_key_of_the_shipped_file_stands_twice():
    # Most readers of YAML keep the last one without a message.
    def check(node):
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            assert len(set(keys)) == len(keys), keys
            for _, value in node.value:
                check(value)

    check(yaml.compose(yaml_text()))


def test_no_parameter_is_a_section_of_others():
    # YAML, and `ros2 param dump`, can have one or the other under a name.
    names = {entry.name for entry in SCHEMA}
    sections = {name[:end] for name in names for end, sign in enumerate(name) if sign == '.'}
    assert not names & sections
