# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocity limits that no actuator has are named with their value, and lowered in the file."""

import numpy as np
import pytest
from support.robots.robots import urdf_text

from benchmarks.motion.ticked_servo import robot_model
from ros_ik.model import Model
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings
from ros_ik.settings.parameter_file import read_parameters
from ros_ik.setup_assistant.check import check_parameters
from ros_ik.setup_assistant.proposal import propose


def of_speeds(sentences):
    return [sentence for sentence in sentences if 'velocity limit' in sentence]


def with_speeds(kind, *speeds, upper=1):
    """Return an arm of joints of a kind with these velocity limits."""
    parts = [
        f"""<link name="l{k}"/><joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/>
        <child link="l{k}"/><origin xyz="0 0 0.3"/><axis xyz="0 {k % 2} {1 - k % 2}"/>
        <limit lower="-1" upper="{upper}" velocity="{speed}" effort="1"/></joint>"""
        for k, speed in enumerate(speeds, 1)
    ]
    text = f'<robot name="r"><link name="l0"/>{"".join(parts)}</robot>'
    return Model.from_urdf(text, device='cpu')


@pytest.mark.parametrize(
    ('kind', 'unit', 'most'), [('revolute', 'rad/s', 60.0), ('prismatic', 'm/s', 5.0)]
)
def test_a_placeholder_is_named_and_not_written(kind, unit, most):
    model = with_speeds(kind, most, 100.0, 1000.0, 100.0)
    proposal = propose(model)
    assert of_speeds(proposal.warnings) == [
        f'{names}: a velocity limit of {value} {unit} is implausible; '
        'joint_limits.<joint>.max_velocity lowers it'
        for names, value in (('j2, j4', 100), ('j3', 1000))
    ]
    assert any('j2, j3, j4: 0.5 is a guess' in sentence for sentence in proposal.unknown)
    values = read_parameters(proposal.yaml_text())
    speeds = [values[f'joint_limits.j{k}.max_velocity'] for k in range(1, 5)]
    assert speeds == [most, 0.5, 0.5, 0.5]
    assert values['joint_limits.j2.max_acceleration'] == 2.5
    findings = check_parameters(values, model)
    assert not findings.errors and not of_speeds(findings.warnings)
    given = {key: value for key, value in values.items() if 'j3' not in key}
    assert of_speeds(check_parameters(given, model).warnings)[0].startswith('j3: a velocity')


@pytest.mark.parametrize('speeds', [(1.0, 0.0, 1.0), (0.0, 0.0)])
def test_a_joint_that_may_not_move_is_named_and_the_file_is_valid_if_another_may(speeds):
    model = with_speeds('revolute', *speeds)
    proposal = propose(model)
    still = ', '.join(f'j{k}' for k, speed in enumerate(speeds, 1) if not speed)
    (warning,) = of_speeds(proposal.warnings)
    assert warning.startswith(f'{still}: a velocity limit of 0') and 'locked_joints' in warning
    values = read_parameters(proposal.yaml_text())
    findings = check_parameters(values, model)
    assert bool(findings.errors) == (not any(speeds))
    assert of_speeds(findings.warnings) == [warning]
    assert not any('acceleration limit' in sentence for sentence in findings.warnings)
    limits = resolve_robot(model, read_settings(values)).velocity
    assert np.array_equal(limits, speeds)


def test_ranges_of_zero_that_leave_nothing_to_move_are_an_error():
    model = with_speeds('revolute', 1.0, 0.0, 1.0, upper=-1)
    (error,) = check_parameters(read_parameters(propose(model).yaml_text()), model).errors
    assert error == 'no controlled joint may move: every velocity limit or range is 0'


@pytest.mark.parametrize('name', ['panda', 'ur5', 'tiago', 'baxter', 'g1', 'allegro_right_hand'])
def test_ordinary_robots_have_no_such_limits(name):
    assert not of_speeds(propose(robot_model(name)).warnings)


# Those of quadrupeds are up to 52 rad/s.
@pytest.mark.parametrize('name', ['a1', 'go2', 'laikago', 'anymal-kinova', 'xarm7', 'pr2'])
def test_fast_actuators_are_plausible(name):
    model = Model.from_urdf(urdf_text(name), device='cpu')
    assert not of_speeds(propose(model).warnings)


def test_each_joint_of_icub_is_named():
    model = Model.from_urdf(urdf_text('icub_reduced'), device='cpu')
    (warning,) = of_speeds(propose(model).warnings)
    assert warning.count(',') == 28 and ': a velocity limit of 100 rad/s' in warning
