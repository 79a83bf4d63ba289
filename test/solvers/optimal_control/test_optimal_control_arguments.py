# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments that the optimal-control solver refuses, and the errors that say so."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlCommandBuilder
from ros_ik.solvers import OptimalControlSettings
from ros_ik.solvers import StopReason

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
GROUP = 'panda_link0:panda_hand_tcp'
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])

FOLLOWER = """<robot name="gripper"><link name="base"/><link name="a"/><link name="b"/>
<joint name="drive" type="prismatic"><parent link="base"/><child link="a"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="follow" type="prismatic"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/>
<mimic joint="drive" multiplier="-0.5"/></joint></robot>"""


def joint_command(*joints):
    builder = OptimalControlCommandBuilder()
    for joint in joints:
        builder.add_joint_position_target(joint, 0.1)
    return builder.build()


def test_a_target_of_a_joint_outside_the_group_names_the_joints_inside():
    model = load(PANDA)
    solver = OptimalControl(model, GROUP)
    for joints in (['panda_finger_joint1'], ['panda_joint1', 'panda_finger_joint2']):
        with pytest.raises(ArgumentError, match=f"{joints[-1]}.*'{GROUP}'.*panda_joint1, .*7"):
            solver.solve(joint_command(*joints), HOME)
    assert solver.solve(joint_command('panda_joint1'), HOME).reason is StopReason.STOP_COST
    whole = OptimalControl(model)
    assert whole.solve(joint_command('panda_finger_joint1'), HOME).reason is not StopReason.FAILED


def test_a_follower_of_a_joint_of_the_group_may_have_a_target():
    model = Model.from_urdf(FOLLOWER, device='cpu')
    result = OptimalControl(model, ['drive']).solve(joint_command('follow'), np.zeros(2))
    np.testing.assert_allclose(result.positions[-1], [-0.2, 0.1], atol=1e-4)


@pytest.mark.parametrize(
    'command', [OptimalControlCommandBuilder(), None, 'reach'], ids=['builder', 'none', 'text']
)
def test_what_is_no_command_is_refused(command):
    with pytest.raises(ArgumentError, match=r'command must be .*build\(\)'):
        OptimalControl(load(PANDA), GROUP).solve(command, HOME)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'dt': np.nan}, 'dt must be positive and finite'),
        ({'dt': 'short'}, 'dt must be positive'),
        ({'velocity': np.full(9, np.nan)}, 'velocity must not be NaN'),
        ({'velocity': np.zeros(9)}, 'velocity must not be zero .* at rest'),
        ({'velocity': [0.0] * 7 + [1.0] * 2}, 'velocity must not be zero .* panda_joint1'),
        ({'velocity': np.ones(7)}, 'velocity must be one number or 9'),
        ({'acceleration': np.zeros(9)}, 'acceleration must not be zero'),
        ({'acceleration': 'hard'}, 'acceleration must be numbers'),
        ({'position_margin': np.nan}, 'position_margin must be finite'),
        ({'position_margin': 1.6}, "position_margin 1.6 leaves joint 'panda_joint4' no room"),
        ({'position_margin': np.ones(7)}, 'position_margin must be one number or have shape'),
        ({'settings': 'fast'}, "settings must be OptimalControlSettings, got 'fast'"),
        ({'barriers': None}, 'barriers must be a sequence, got None'),
        ({'group': load(PANDA, floating=True).joint_group('')}, 'belongs to another model'),
    ],
)
def test_what_the_solver_refuses(options, message):
    with pytest.raises(ArgumentError, match=message):
        OptimalControl(load(PANDA), **{'group': GROUP, **options})


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('stop_cost', np.nan), ('min_delta_cost', -1.0), ('min_delta_ratio', 'small'),
        ('patience', 0), ('patience', 2.5), ('max_iterations', np.nan), ('max_duration', 0.0),
        ('max_duration', np.inf),
    ],
)  # fmt: skip
def test_what_the_settings_refuse(name, value):
    with pytest.raises(ArgumentError, match=f'{name} must be'):
        OptimalControlSettings(**{name: value})


def test_a_motion_may_take_any_finite_time():
    settings = OptimalControlSettings(max_duration=1e308)
    command = joint_command('panda_joint1')
    result = OptimalControl(load(PANDA), GROUP, settings=settings).solve(command, HOME)
    expected = OptimalControl(load(PANDA), GROUP).solve(command, HOME)
    np.testing.assert_array_equal(result.positions, expected.positions)


def test_a_state_that_is_none_is_named():
    solver = OptimalControl(load(PANDA), GROUP)
    command = joint_command('panda_joint1')
    for joint_q, joint_qd, name in (
        (None, None, 'joint_q'), ('home', None, 'joint_q'), (HOME, 'fast', 'joint_qd'),
        (HOME[:7], None, 'joint_q'), (HOME, HOME[:7], 'joint_qd'),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=f'{name} must'):
            solver.solve(command, joint_q, joint_qd)
