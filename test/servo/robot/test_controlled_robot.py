# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings resolved in a model: selections, and errors that name parameter and value."""

import numpy as np
import pytest
from support.solvers.followers import SLIDING

from benchmarks.motion.ticked_servo import robot_model
from ros_ik.demo.robots import find_robot
from ros_ik.model import Model
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import read_settings
from ros_ik.settings import SettingsError

ARM = tuple(f'panda_joint{k}' for k in range(1, 8))


def resolve(name='panda', **values):
    given = {} if 'frame_tasks' in values else {'ee.frame': find_robot(name).tip_link}
    given.update({key.replace('__', '.'): value for key, value in values.items()})
    return resolve_robot(robot_model(name), read_settings(given))


@pytest.mark.parametrize(
    ('values', 'parameter', 'value'),
    [
        ({'ee__frame': 'panda_hend'}, 'ee.frame', 'panda_hend'),
        ({'ee__reference_frame': 'world'}, 'ee.reference_frame', 'world'),
        ({'base_frame': 'map'}, 'base_frame', 'map'),
        ({'joint_group': 'arm'}, 'joint_group', 'arm'),
        ({'joint_group': 'panda_link0:panda_link9'}, 'joint_group', 'panda_link9'),
        (
            {'joint_group': 'panda_link0:panda_link1', 'locked_joints': ['panda_joint1']},
            'joint_group',
            '',
        ),
        ({'locked_joints': ['elbow']}, 'locked_joints', 'elbow'),
        ({'outputs__default__joints': ['elbow']}, 'outputs.default.joints', 'elbow'),
        (
            {'outputs__default__joints': ['panda_joint1'] * 2},
            'outputs.default.joints',
            'panda_joint1',
        ),
        (
            {
                'barriers__position__box__frame': 'elbow',
                'barriers__position__box__min': [0.0, 0.0, 0.0],
            },
            'barriers.position.box.frame',
            'elbow',
        ),
        (
            {'collision__ignore_pairs': ['panda_hand:elbow']},
            'collision.ignore_pairs',
            'elbow',
        ),
        ({'collision__ignore_pairs': ['panda_hand']}, 'collision.ignore_pairs', 'panda_hand'),
        ({'posture__positions': [0.0]}, 'posture.positions', '1'),
        ({'limits__position_margin': [0.0, 0.0]}, 'limits.position_margin', '2'),
        (
            {
                'joint_limits__elbow__has_velocity_limits': True,
                'joint_limits__elbow__max_velocity': 1.0,
            },
            'joint_limits.elbow.max_velocity',
            'elbow',
        ),
        (
            {
                'joint_limits__panda_joint1__has_velocity_limits': True,
                'joint_limits__panda_joint1__max_velocity': 9.0,
            },
            'joint_limits.panda_joint1.max_velocity',
            '9',
        ),
    ],
)
def test_what_the_model_lacks_is_an_error_with_its_name(values, parameter, value):
    with pytest.raises(SettingsError) as caught:
        resolve(**values)
    assert caught.value.parameter == parameter
    assert value in caught.value.reason


def test_the_default_group_is_the_chain_of_the_tasks():
    robot = resolve()
    assert robot.group.joint_names == ARM
    assert robot.needed == ARM
    two = resolve(
        'baxter', frame_tasks=['l', 'r'], l__frame='left_gripper', r__frame='right_gripper'
    )
    assert two.group.n_variables == 14


def test_locked_joints_are_measured_and_not_moved():
    robot = resolve(locked_joints=['panda_joint3'])
    assert 'panda_joint3' not in robot.group.joint_names
    assert 'panda_joint3' in robot.needed


def test_an_srdf_group_and_a_chain_are_groups():
    files = find_robot('panda')
    model = Model.from_urdf(files.urdf_path.read_text(), files.srdf_path.read_text(), device='cpu')
    given = {'ee.frame': 'panda_hand'}
    group = sorted(model.semantic.groups)[0]
    assert (
        resolve_robot(model, read_settings({**given, 'joint_group': group})).group.n_variables > 0
    )
    chain = read_settings({**given, 'joint_group': 'panda_link0:panda_link4'})
    assert resolve_robot(model, chain).group.joint_names == ARM[:4]


def test_limits_are_tightened_and_accelerations_have_a_default():
    robot = resolve(
        joint_limits__panda_joint1__has_velocity_limits=True,
        joint_limits__panda_joint1__max_velocity=1.0,
        joint_limits__panda_joint2__has_acceleration_limits=True,
        joint_limits__panda_joint2__max_acceleration=3.0,
        joint_limits__panda_joint3__max_velocity=0.1,
    )
    dofs = robot.group.variable_dof
    model_velocity = robot.model.limits64()[2][dofs]
    assert robot.velocity[dofs[0]] == 1.0 and robot.acceleration[dofs[0]] == 5.0
    assert robot.acceleration[dofs[1]] == 3.0
    assert robot.velocity[dofs[2]] == model_velocity[2], 'has_velocity_limits was false'
    np.testing.assert_allclose(robot.acceleration[dofs[3:]], model_velocity[3:] / 0.2)


def test_limits_of_a_mimic_joint_that_exclude_every_position_of_its_driver_have_no_effect():
    settings = read_settings({'ee.frame': 'a'})
    for lower, expected in ((0.4, [-1.0, 0.4]), (5.0, [-1.0, -np.inf])):
        model = Model.from_urdf(SLIDING.format(lower=lower), device='cpu')
        robot = resolve_robot(model, settings)
        np.testing.assert_array_equal(robot.lower, expected)
        np.testing.assert_array_equal(robot.model.limits64()[0], expected)


@pytest.mark.parametrize('joint', ['driver', 'follower'])
def test_tightened_limits_must_leave_the_driver_of_a_mimic_joint_a_position(joint):
    model = Model.from_urdf(SLIDING.format(lower=0.4), device='cpu')
    low, high = {'driver': (-1.0, 0.5), 'follower': (0.55, 6.0)}[joint]
    section = f'joint_limits.{joint}'
    given = {
        'ee.frame': 'a',
        f'{section}.has_position_limits': True,
        f'{section}.min_position': low,
        f'{section}.max_position': high,
    }
    with pytest.raises(SettingsError, match=f'{section}.min_position.*no position'):
        resolve_robot(model, read_settings(given))


@pytest.mark.parametrize(('kind', 'unreported'), [('planar', ('base',)), ('continuous', ())])
def test_joints_of_several_degrees_of_freedom_on_a_chain_are_named(kind, unreported):
    def joint(name, kind, parent, child):
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            '<axis xyz="0 0 1"/><limit velocity="1" effort="1" lower="-1" upper="1"/></joint>'
        )

    links = ''.join(f'<link name="{name}"/>' for name in ('odom', 'body', 'tool', 'aside'))
    text = (
        f'<robot name="r">{links}{joint("base", kind, "odom", "body")}'
        f'{joint("arm", "revolute", "body", "tool")}{joint("beside", "planar", "body", "aside")}'
        '</robot>'
    )
    robot = resolve_robot(Model.from_urdf(text), read_settings({'ee.frame': 'tool'}))
    assert robot.unreported == unreported
