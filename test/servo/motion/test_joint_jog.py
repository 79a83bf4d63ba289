# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocities of joints: reached and held, within limits, on one path; the others stay."""

import dataclasses

import numpy as np
import pytest
from support.rigs.servo_rig import Rig

from ros_ik.servo import Rejection
from ros_ik.servo import StatusCode
from ros_ik.servo.interface.velocity_units import frame_speeds
from ros_ik.servo.interface.velocity_units import joint_speeds
from ros_ik.settings import read_settings


def speed_of(rig, joint):
    return rig.speeds()[-1, rig.robot.group.joint_names.index(joint)]


def others(rig, *names):
    """Return the positions of the other controlled joints."""
    moved = [rig.robot.coord_of[name] for name in names]
    return rig.q[np.setdiff1d(rig.robot.coords, moved)]


def test_a_joint_goes_at_its_velocity_and_the_others_stay():
    rig = Rig.shared()
    start = others(rig, 'panda_joint1', 'panda_joint4')
    rig.aim_joint_velocities(panda_joint1=0.3, panda_joint4=-0.2)
    assert rig.tick(seconds=1.0).code == StatusCode.OK
    assert speed_of(rig, 'panda_joint1') == pytest.approx(0.3, abs=1e-9)
    assert speed_of(rig, 'panda_joint4') == pytest.approx(-0.2, abs=1e-9)
    np.testing.assert_allclose(others(rig, 'panda_joint1', 'panda_joint4'), start, atol=1e-9)
    rig.assert_within_limits()


def test_a_joint_that_is_no_longer_named_brakes_and_does_not_go_back():
    rig = Rig.shared()
    rig.aim_joint_velocities(panda_joint1=0.5)
    rig.tick(seconds=0.5)
    rig.aim_joint_velocities(panda_joint2=0.1)
    rig.tick(seconds=0.5)
    path = np.array([output.joint_q[rig.robot.coord_of['panda_joint1']] for output in rig.outputs])
    assert np.diff(path).min() >= -1e-9, 'it went back'
    assert speed_of(rig, 'panda_joint1') == pytest.approx(0.0, abs=1e-9)
    assert speed_of(rig, 'panda_joint2') == pytest.approx(0.1, abs=1e-9)
    rig.assert_within_limits()


def test_zero_stops_a_joint_and_it_does_not_drift():
    rig = Rig.shared()
    rig.aim_joint_velocities(panda_joint1=0.5)
    rig.tick(seconds=0.5)
    rig.aim_joint_velocities(panda_joint1=0.0)
    rig.tick(seconds=1.0)
    place = rig.q.copy()
    rig.tick(seconds=1.0)
    np.testing.assert_allclose(rig.q, place, atol=1e-12)


def test_velocities_beyond_the_limits_keep_their_path():
    rig = Rig.shared()
    limits = rig.robot.velocity[rig.robot.group.variable_dof]
    rig.aim_joint_velocities(panda_joint1=2.0 * limits[0], panda_joint3=0.5 * limits[2])
    rig.tick(seconds=0.4)
    assert speed_of(rig, 'panda_joint1') == pytest.approx(limits[0], rel=1e-6)
    assert speed_of(rig, 'panda_joint3') == pytest.approx(0.25 * limits[2], rel=1e-6)
    rig.set(limits__velocity_scale=0.5)
    rig.tick(seconds=0.4)
    assert speed_of(rig, 'panda_joint3') == pytest.approx(0.125 * limits[2], rel=1e-6)
    rig.assert_within_limits()


def test_a_joint_stops_at_its_limit_and_the_others_go_on():
    rig = Rig.shared(limits__position_margin=[0.0])
    rig.aim_joint_velocities(panda_joint6=1.0, panda_joint1=0.1)
    output = rig.tick(seconds=4.0)
    upper = rig.robot.upper[rig.robot.group.variable_dof[5]]
    assert rig.q[rig.robot.coord_of['panda_joint6']] == pytest.approx(upper, abs=1e-6)
    assert speed_of(rig, 'panda_joint1') == pytest.approx(0.1, abs=1e-9)
    assert output.code == StatusCode.JOINT_BOUND
    rig.assert_within_limits()


def test_a_jog_goes_stale_brakes_and_is_silent():
    rig = Rig.shared()
    rig.aim_joint_velocities(panda_joint1=0.5)
    rig.tick(seconds=0.5)
    rig.quiet()
    output = rig.tick(seconds=1.0)
    assert output.code == StatusCode.COMMAND_STALE and not output.publish
    assert not rig.speeds()[-1].any()
    rig.assert_within_limits()


def test_a_jog_respects_barriers():
    start = Rig.shared().pose()
    top = [2.0, float(start[1]) + 0.1, 2.0]
    rig = Rig.shared(
        barriers__position__wall__frame='panda_hand_tcp', barriers__position__wall__max=top
    )
    rig.aim_joint_velocities(panda_joint1=0.5)
    lowest = min(top[1] - rig.pose()[1] for _ in range(300) if rig.tick())
    assert -1e-6 <= lowest < 5e-3


def test_positions_and_velocities_take_turns():
    rig = Rig.shared()
    rig.aim_joint_velocities(panda_joint1=0.3)
    rig.tick(seconds=0.5)
    rig.aim_joints(panda_joint1=0.0, panda_joint5=0.2)
    rig.tick(seconds=3.0)
    assert rig.q[rig.robot.coord_of['panda_joint1']] == pytest.approx(0.0, abs=1e-6)
    rig.aim_joint_velocities(panda_joint5=-0.3)
    rig.tick(seconds=0.5)
    assert speed_of(rig, 'panda_joint5') == pytest.approx(-0.3, abs=1e-9)
    rig.assert_within_limits()


def test_predicted_steps_go_on_at_the_velocity():
    rig = Rig.shared(rollout_steps=4)
    rig.aim_joint_velocities(panda_joint1=0.3)
    output = rig.tick(seconds=0.5)
    path = output.predicted_q[:, rig.robot.coord_of['panda_joint1']]
    np.testing.assert_allclose(np.diff(path), 0.3 * rig.dt, atol=1e-9)
    following = [rig.tick().joint_q[rig.robot.coord_of['panda_joint1']] for _ in range(4)]
    np.testing.assert_allclose(following, path, atol=1e-9)


@pytest.mark.parametrize(
    ('names', 'velocities', 'reason'),
    [
        ([], [], Rejection.WRONG_SIZE),
        (['panda_joint1'], [0.1, 0.2], Rejection.WRONG_SIZE),
        (['panda_joint1'], [np.nan], Rejection.NON_FINITE),
        (['panda_joint1'], [1e300], Rejection.TOO_LARGE_NUMBER),
        (['panda_joint1', 'elbow'], [0.1, 0.1], Rejection.UNKNOWN_JOINT),
        (['panda_joint1'] * 2, [0.1, 0.1], Rejection.REPEATED_JOINT),
    ],
)
def test_bad_velocities_are_refused(names, velocities, reason):
    assert Rig.shared().reader.joint_velocities(names, velocities, 0.0) is reason


def test_units():
    si = read_settings({'ee.frame': 'hand'})
    assert si.command_in_type == 'speed_units'
    twist = (0.5, -1.0, 0.0, 1.0, 0.0, -0.5)
    assert frame_speeds(twist, si) is twist and joint_speeds((7.0,), si) == (7.0,)
    unitless = dataclasses.replace(
        si, command_in_type='unitless', scale_linear=0.2, scale_rotational=0.6, scale_joint=0.1
    )
    assert frame_speeds(twist, unitless) == [0.1, -0.2, 0.0, 0.6, 0.0, -0.3]
    assert joint_speeds((1.0, -0.5), unitless) == [0.1, -0.05]
    # Single precision rounds a full deflection up; more is an error of the sender.
    assert joint_speeds((1.0 + 5e-7,), unitless) == [pytest.approx(0.1)]
    assert joint_speeds((1.01,), unitless) is Rejection.BEYOND_SCALE
    assert frame_speeds((0.0,) * 5 + (-1.5,), unitless) is Rejection.BEYOND_SCALE
    # The check of targets reports values that are not finite.
    assert np.isnan(frame_speeds((np.nan, 2.0, 0.0, 0.0, 0.0, 0.0), unitless)[0])
