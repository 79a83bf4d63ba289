# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of parameter files: each mistake is named, and a right file has none."""

import pytest

from benchmarks.motion.ticked_servo import robot_model
from ros_ik.demo.robots import find_robot
from ros_ik.model import Model
from ros_ik.node.robot_graph import FoundController
from ros_ik.setup_assistant.check import check_parameters
from ros_ik.setup_assistant.limbs import find_limbs
from ros_ik.setup_assistant.proposal import propose

TOPIC = '/controller/joint_trajectory'
GOOD = {'ee.frame': 'tool0', 'base_frame': 'base_link', 'outputs.default.topic': TOPIC}
JOINTS = find_limbs(robot_model('ur5'))[0].joints


def check(controllers=None, **values):
    given = GOOD | {key.replace('__', '.'): value for key, value in values.items()}
    return check_parameters(given, robot_model('ur5'), controllers)


@pytest.mark.parametrize(
    ('values', 'text'),
    [
        ({'ee__frame': 'tool1'}, "'tool1'"),
        ({'ee__fraem': 'tool0'}, "did you mean 'ee.frame'"),
        ({'ee__gain': 2.0}, "'ee.gain'"),
        ({'ee__frame': 'base_link'}, 'has no movable joint'),
        ({'outputs__default__joints': ['elbow']}, "'elbow'"),
        ({'joint_limits__elbow_joint__max_velocity': 99.0,
          'joint_limits__elbow_joint__has_velocity_limits': True}, 'looser'),
        ({'com__weight': 'much'}, "'com.weight'"),
        ({'outputs__default__topic': '/a b'}, "'outputs.default.topic'"),
        ({'use_sim_time': 'true'}, "'use_sim_time'"),
        ({'start_type_description_service': 1}, "'start_type_description_service'"),
        ({'collision__ignore_pairs': ['tool0:elbow']}, "'collision.ignore_pairs'"),
        ({'barriers__position__a__frame': 'elbow', 'barriers__position__a__min': [0.0] * 3},
         "'elbow'"),
        ({'barriers__position__a__frame': 'tool0'}, "'barriers.position.a.min'"),
    ],
    ids=str,
)  # fmt: skip
def test_a_mistake_is_an_error(values, text):
    assert any(text in sentence for sentence in check(**values).errors), check(**values)


def test_every_mistake_is_named():
    findings = check(
        ee__fraem='tool0', com__weight='much', ee__gain=2.0, limits__velocity_scale=1.5
    )
    assert len(findings.errors) == 4
    for name in ('ee.fraem', 'com.weight', 'ee.gain', 'limits.velocity_scale'):
        assert any(f"'{name}'" in sentence for sentence in findings.errors), findings


def test_a_task_that_nothing_moves_is_an_error():
    findings = check(
        frame_tasks=['ee', 'elbow'], elbow__frame='upper_arm_link',
        locked_joints=['shoulder_pan_joint', 'shoulder_lift_joint'],
    )  # fmt: skip
    assert any("'elbow.frame'" in sentence for sentence in findings.errors)


@pytest.mark.parametrize(
    ('values', 'text'),
    [
        ({'outputs__default__joints': list(JOINTS[:5])}, f'{JOINTS[5]}: controlled'),
        ({}, 'no acceleration limit'),
        ({}, 'limits.velocity_scale'),
        ({'outputs__default__topic': '~/joint_trajectory'}, 'outputs.default.topic'),
        ({'ee__frame': 'wrist_2_link'}, 'ee: too few joints (5 joints)'),
    ],
)
def test_what_should_be_looked_at_is_a_warning(values, text):
    findings = check(**values)
    assert not findings.errors
    assert any(text in sentence for sentence in findings.warnings), findings


def test_an_srdf_for_another_robot_is_named():
    srdf = '<robot name="r"><group name="arm"><joint name="gone"/></group></robot>'
    model = Model.from_urdf(find_robot('ur5').urdf_path.read_text(), srdf, device='cpu')
    warning = "SRDF group 'arm': unknown joint 'gone'"
    assert warning in check_parameters(GOOD, model).warnings
    assert warning in propose(model).warnings


def test_positions_alone_need_fewer_joints():
    findings = check(ee__frame='wrist_2_link', ee__orientation_weight=0.0)
    assert not any('too few joints' in sentence for sentence in findings.warnings)
    one_axis = check(ee__frame='wrist_2_link', ee__orientation_weight=[0.5, 0.5, 0.0])
    assert not any('too few joints' in sentence for sentence in one_axis.warnings)


def found(topic=TOPIC, kind='joint_trajectory', joints=JOINTS, **fields):
    return [FoundController('controller', topic, kind, tuple(joints), **fields)]


@pytest.mark.parametrize(
    ('controllers', 'values', 'text'),
    [
        ([], {}, 'no controller listens'),
        (found(topic='/other'), {}, 'no controller listens'),
        (found(kind='float64_multi_array'), {}, 'takes float64_multi_array'),
        (found(joints=JOINTS[:5]), {}, 'has the joints'),
        (found(kind='float64_multi_array', joints=JOINTS[::-1]),
         {'outputs__default__type': 'float64_multi_array'}, 'has the order'),
    ],
)  # fmt: skip
def test_controllers_that_do_not_fit_are_errors(controllers, values, text):
    findings = check(controllers, **values)
    assert any(text in sentence for sentence in findings.errors), findings


def test_the_namespace_of_a_relative_topic_is_not_known():
    relative = {'outputs__default__topic': 'controller/joint_trajectory'}
    other = found(topic='/left/arm/controller/joint_trajectory', joints=JOINTS[:5])
    assert not check([*other, *found(topic=f'/left{TOPIC}')], **relative).errors
    assert check(other, **relative).errors


def test_controllers_that_fit_are_none():
    assert not check(found(joints=JOINTS[::-1])).errors
    findings = check(found(update_rate=50.0, is_active=False))
    assert not findings.errors and any('update rate' in text for text in findings.warnings)
    assert any('not active' in text for text in findings.warnings)


def test_primitives_that_become_much_larger_are_named():
    text = (
        '<robot name="r"><link name="base"/>'
        '<link name="arm"><collision><geometry><cylinder radius="0.05" length="0.34"/></geometry>'
        '</collision></link><link name="hand"><collision><geometry><sphere radius="0.05"/>'
        '</geometry></collision></link>'
        + ''.join(
            f'<joint name="{child}_joint" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><axis xyz="0 1 0"/>'
            '<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>'
            for parent, child in (('base', 'arm'), ('arm', 'hand'))
        )
        + '</robot>'
    )
    given = {'ee.frame': 'hand', 'outputs.default.topic': TOPIC}
    warnings = check_parameters(given, Model.from_urdf(text, device='cpu')).warnings
    told = 'arm: capsules stand for boxes, cylinders or cones, up to 41 mm larger'
    assert told in warnings
    assert not any('capsules' in sentence for sentence in check().warnings)


def test_links_that_may_meet_unwatched_are_named():
    # The last ball is always within 10 mm of the first one, and touches it where it starts and at
    # seven of eight configurations.
    ball = '<collision><origin xyz="{}"/><geometry><sphere radius="{}"/></geometry></collision>'
    places = (('0 0 0', 0.1), ('0 0 0', 0.02), ('0 0.143 0', 0.05))
    text = '<robot name="r">' + ''.join(
        f'<link name="{name}">{ball.format(*place)}</link>'
        for name, place in zip('abc', places, strict=True)
    )
    text += ''.join(
        f'<joint name="j{parent}" type="prismatic"><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="1 0 0"/>'
        '<limit lower="-0.035" upper="0.035" velocity="1" effort="1"/></joint>'
        for parent, child in ('ab', 'bc')
    )
    given = {'ee.frame': 'c', 'outputs.default.topic': TOPIC}
    warnings = check_parameters(given, Model.from_urdf(f'{text}</robot>', device='cpu')).warnings
    told = 'a:c: not watched although they may meet, because their hulls would hold the robot'
    assert told in warnings
    assert not any('not watched' in sentence for sentence in check().warnings)
