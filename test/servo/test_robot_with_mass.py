# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The servo on robots with mass: MuJoCo moves them, drives are soft and late, encoders noisy.

Figures are those of docs/motion_quality.md, with a third to spare.
"""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='mujoco is not installed')

from support.long_forms import either  # noqa: E402
from support.long_forms import in_pairs  # noqa: E402
from support.long_forms import in_turn  # noqa: E402
from support.motions import mass_scenarios as scenarios  # noqa: E402
from support.robots.robots import pin  # noqa: E402

from examples.library.simulated_robot.loop import ServoLoop  # noqa: E402
from examples.library.simulated_robot.robot import RobotWithMass  # noqa: E402
from ros_ik.demo.robots import find_robot  # noqa: E402

TOLD = {'tells_reference': True}
ROBOTS = ['panda', 'ur5']


def test_the_simulated_robot_is_that_of_its_description():
    # Pinocchio reads the same file: torques at rest, and the inertia that sets the stiffness.
    files = find_robot('ur5')
    loop = ServoLoop('ur5', 100.0)
    robot = loop.robot
    model = pin.buildModelFromUrdf(str(files.urdf_path))
    data, q = model.createData(), robot.positions
    np.testing.assert_allclose(
        robot.torque, pin.computeGeneralizedGravity(model, data, q), rtol=1e-3, atol=1e-3
    )
    mass = pin.crba(model, data, q)
    stiffness = np.diag(mass) * (2.0 * np.pi * 20.0) ** 2
    np.testing.assert_allclose(robot.stiffness, stiffness, rtol=1e-2)


def test_the_controller_interpolates_and_the_payload_weighs():
    files = find_robot('ur5')
    joints = ServoLoop('ur5', 100.0).robot.joints
    light, heavy = (
        RobotWithMass(files.urdf_path.read_text(), 'tool0', joints, dict(files.home), 10.0, mass)
        for mass in (0.0, 3.0)
    )
    assert np.abs(light.positions - light.setpoint).max() < 1e-6
    # Deflection of the shoulder's spring by 3 kg at a little more than 0.6 m.
    lift = joints.index('shoulder_lift_joint')
    sag = heavy.stiffness[lift] * (heavy.setpoint - heavy.positions)[lift]
    reach = np.hypot(*heavy.data.body('tool0').xpos[:2])
    assert abs(sag) == pytest.approx(3.0 * 9.81 * reach, rel=0.35)


@pytest.mark.parametrize('name', either(['panda'], ROBOTS))
def test_a_robot_that_sags_does_not_ratchet_down(name):
    for settings in ({}, {'synchronise_to': 'command'}, TOLD):
        sunk, (speed, torque, _) = scenarios.bursts(name, 100.0, count=4, **settings)
        # The first start is at the measured state, 3 mm down; four of them would make 12.
        assert abs(sunk) < (0.1 if settings is TOLD else 3.5)
        assert speed < 0.6 and torque < 0.65
    ratchets, _ = scenarios.bursts(name, 100.0, count=4, synchronise_to='measured')
    assert ratchets < -7.0


@pytest.mark.parametrize(('name', 'settings'), in_turn(ROBOTS, [{}, TOLD]))
def test_a_pause_that_ends_at_once_is_no_step(name, settings):
    speed, torque, rate = scenarios.resume(name, 500.0, **settings)
    assert speed < 0.35 and torque < 0.6 and rate < 1500.0


@pytest.mark.parametrize('name', either(['ur5'], ROBOTS))
def test_an_activation_where_encoders_differ_from_the_drives_is_no_step(name):
    speed, torque, _ = scenarios.activate_beside(name, 500.0, **TOLD)
    assert speed < 0.5 and torque < 0.5
    # No other information exists: the command is within a tick at the encoders' position.
    speed, torque, _ = scenarios.activate_beside(name, 500.0)
    assert speed > 5.0 and torque == 1.0


@pytest.mark.parametrize(
    ('name', 'rate', 'settings'),
    in_pairs(ROBOTS, [100.0, 500.0], [{}, TOLD]),
)
def test_an_activation_in_motion_does_not_turn_the_joint_back(name, rate, settings):
    least, (speed, torque, _) = scenarios.activate_moving(name, rate, **settings)
    assert least > 0.1
    assert speed < 0.6 and torque < 0.5


@pytest.mark.parametrize('name', either(['ur5'], ROBOTS))
def test_a_robot_with_mass_follows_stops_and_keeps_out(name):
    mean, most, (_, torque, rate) = scenarios.follow(name, 100.0)
    assert mean < 17.0 and most < 30.0 and torque < 0.6 and rate < 1500.0
    beyond, off = scenarios.step(name, 100.0)
    assert beyond < 0.3 and abs(off) < 0.1
    way, after = scenarios.halt(name, 100.0)
    assert way < 25.0 and after < 0.3
    assert scenarios.wall(name, 100.0) > -0.5


@pytest.mark.parametrize('name', either(['panda'], ROBOTS))
def test_a_push_moves_the_robot_and_not_its_command(name):
    given, rest, moved = scenarios.push(name, 100.0)
    assert 0.5 < given < 12.0 and rest < 0.1
    assert moved < 1e-3
