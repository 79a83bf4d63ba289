# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Settings that change while the robot moves: no limit is broken, old or new."""

import numpy as np
import pytest
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from ros_ik.servo import Obstacle
from ros_ik.servo import StatusCode
from ros_ik.servo import StopState
from ros_ik.servo.motion.pose_math import quat_rotate

MARGIN = 0.02
# Distance of the joint from its limit when the setting changes, as a part of its range, and least
# speed then, as a part of the limit.
NEAR, FAST = 0.15, 0.4


def towards_limit(name='panda', **values):
    """Return a rig whose last joint runs fast at its upper limit, and its index and coordinate."""
    rig = Rig.shared(name, limits__position_margin=[MARGIN], **values)
    joint = rig.robot.group.joint_names[-1]
    variable = len(rig.robot.group.joint_names) - 1
    dof, coord = rig.robot.group.variable_dof[variable], rig.robot.coords[variable]
    rig.aim_joints(**{joint: rig.robot.upper[dof]})
    for _ in range(1000):
        output = rig.tick()
        room = rig.robot.upper[dof] - output.joint_q[coord]
        if room < NEAR * (rig.robot.upper[dof] - rig.robot.lower[dof]):
            break
    assert output.joint_qd[dof] > FAST * rig.robot.velocity[dof], 'the test shows nothing'
    return rig, dof, coord


def changes(rig):
    """Return the changes between successive published velocities, [ticks, dofs]."""
    velocity = np.array([output.joint_qd for output in rig.published])
    return np.abs(np.diff(velocity, axis=0)) / rig.dt


@pytest.mark.parametrize(
    ('name', 'scale', 'then'),
    in_turn(
        ['panda', 'ur5'], [0.5, 0.2, 0.05, 0.01], ['stops', 'goes on', 'is silent', 'goes back']
    ),
)
def test_less_acceleration_ends_no_motion_at_the_wall(name, scale, then):
    values = {'halt_mode': 'hold'} if then == 'goes back' else {}
    rig, dof, coord = towards_limit(name, **values)
    rig.set(limits__acceleration_scale=scale)
    if then in ('stops', 'goes back'):
        rig.change(stop=StopState.LATCHED)
    elif then == 'is silent':
        rig.quiet()
    rig.tick(seconds=3.0)
    rig.assert_within_limits()
    farthest = max(output.joint_q[coord] for output in rig.published)
    assert farthest <= rig.robot.upper[dof] - MARGIN + 1e-9
    # With little acceleration the end of the motion takes long.
    assert rig.outputs[-1].still or (then in ('goes on', 'goes back') and scale < 0.1)


@pytest.mark.parametrize('scale', [0.5, 0.05])
def test_less_acceleration_counts_at_once_where_there_is_room(scale):
    rig = Rig.shared()
    rig.aim(rig.moved((0.1, 0.2, 0.0)))
    rig.tick(15)
    rig.published.clear()
    rig.set(limits__acceleration_scale=scale)
    rig.tick(100)
    # It counts for the halt, too.
    rig.quiet()
    rig.tick(60)
    limit = scale * rig.robot.acceleration
    assert (changes(rig) <= limit * (1.0 + 1e-6)).all()
    assert changes(rig).max() > 0.5 * limit.min(), 'the test shows nothing'


def test_more_acceleration_counts_in_a_motion():
    rig = Rig.shared(limits__acceleration_scale=0.1)
    rig.aim(rig.moved((0.1, 0.3, 0.0)))
    rig.tick(15)
    assert rig.servo.moving
    rig.published.clear()
    rig.set(limits__acceleration_scale=1.0)
    rig.tick(15)
    assert changes(rig).max() > 0.5 * rig.robot.acceleration.min()
    assert (changes(rig) / rig.robot.acceleration).max() > 0.3


def test_less_velocity_is_come_down_to_as_fast_as_the_slowest_joint_brakes():
    slow = {
        'joint_limits__panda_joint1__has_acceleration_limits': True,
        'joint_limits__panda_joint1__max_acceleration': 2.0,
    }
    rig = Rig.shared(**slow)
    rig.aim_joints(panda_joint1=2.5, panda_joint7=2.5)
    rig.tick(70)
    dofs = rig.robot.group.variable_dof
    assert rig.speeds()[-1][0] > FAST * rig.robot.velocity[dofs[0]], 'the test shows nothing'
    rig.set(limits__velocity_scale=0.2, limits__acceleration_scale=0.5)
    rig.tick(100)
    assert {output.code for output in rig.outputs} == {StatusCode.OK}
    rig.assert_within_limits()
    assert (changes(rig)[-99:] <= 0.5 * rig.robot.acceleration * (1.0 + 1e-6)).all()
    assert (rig.speeds()[-1] <= 0.2 * rig.robot.velocity[dofs] + 1e-9).all()


def test_less_acceleration_counts_from_the_next_motion_at_the_latest():
    rig, dof, _ = towards_limit()
    rig.set(limits__acceleration_scale=0.05)
    rig.change(stop=StopState.LATCHED)
    rig.tick(seconds=1.0)
    assert rig.outputs[-1].still
    rig.change(stop=StopState.CLEAR, resets=1)
    rig.published.clear()
    rig.aim_joints(**{rig.robot.group.joint_names[-1]: 0.0})
    rig.tick(seconds=1.0)
    assert (changes(rig)[:, dof] <= 0.05 * rig.robot.acceleration[dof] * (1.0 + 1e-6)).all()
    assert len(rig.published) > 50


@pytest.mark.parametrize('margin', [0.2, 0.8])
def test_a_wider_margin_waits_until_the_robot_can_stop_before_it(margin):
    rig, dof, coord = towards_limit()
    # A narrower one of another joint does not bring it forward.
    margins = [0.0] * (len(rig.robot.coords) - 1) + [margin]
    rig.set(limits__position_margin=margins)
    rig.change(stop=StopState.LATCHED)
    rig.tick(seconds=2.0)
    rig.assert_within_limits()
    assert rig.servo.settings.limits_position_margin == tuple(margins)
    rig.change(stop=StopState.CLEAR, resets=1)
    rig.aim_joints(**{rig.robot.group.joint_names[-1]: 0.0})
    rig.tick(seconds=1.0)
    rig.aim_joints(**{rig.robot.group.joint_names[-1]: rig.robot.upper[dof]})
    rig.tick(seconds=3.0)
    assert rig.q[coord] == pytest.approx(rig.robot.upper[dof] - margin, abs=1e-4)
    assert rig.outputs[-1].code == StatusCode.JOINT_BOUND


def test_what_makes_nothing_stricter_counts_in_the_next_tick():
    rig, dof, coord = towards_limit(limits__acceleration_scale=0.5)
    rig.set(limits__position_margin=[0.0], solver__max_iterations=400, com__weight=1.0)
    rig.published.clear()
    rig.tick(seconds=3.0)
    rig.assert_within_limits()
    assert rig.q[coord] == pytest.approx(rig.robot.upper[dof], abs=1e-4)


def test_of_many_margins_the_last_one_counts_and_no_tick_is_left_out():
    rig, dof, coord = towards_limit()
    for k in range(150):
        rig.set(limits__position_margin=[0.02 + 0.0005 * k], ee__max_linear_speed=0.2 + 0.001 * k)
        assert rig.tick().publish
    rig.tick(seconds=1.0)
    rig.aim_joints(**{rig.robot.group.joint_names[-1]: 0.0})
    rig.tick(seconds=1.0)
    rig.aim_joints(**{rig.robot.group.joint_names[-1]: rig.robot.upper[dof]})
    rig.tick(seconds=3.0)
    rig.assert_within_limits()
    assert rig.q[coord] == pytest.approx(rig.robot.upper[dof] - 0.02 - 0.0005 * 149, abs=1e-4)


def test_at_rest_nothing_has_to_wait():
    rig, *_ = towards_limit()
    rig.change(paused=True)
    rig.tick(seconds=1.0)
    assert rig.outputs[-1].still
    rig.set(limits__velocity_scale=0.1, limits__position_margin=[0.1])
    rig.tick()
    assert rig.servo.settings == rig.settings


@pytest.mark.parametrize('others', [MARGIN, 0.0])
def test_a_motion_that_cannot_stop_before_a_wider_margin_goes_on_to_the_one_before(others):
    rig, dof, coord = towards_limit()
    rig.set(limits__position_margin=[others] * (len(rig.robot.coords) - 1) + [0.8])
    rig.tick(seconds=1.0)
    assert StatusCode.SOLVER_FAILED not in {output.code for output in rig.outputs}
    rig.assert_within_limits()
    assert rig.q[coord] == pytest.approx(rig.robot.upper[dof] - MARGIN, abs=1e-4)


def test_a_margin_that_was_changed_back_never_counts():
    rig, dof, coord = towards_limit()
    rig.set(limits__position_margin=[0.5])
    rig.tick()
    rig.set(limits__position_margin=[MARGIN])
    rig.tick(seconds=3.0)
    rig.assert_within_limits()
    assert rig.q[coord] == pytest.approx(rig.robot.upper[dof] - MARGIN, abs=1e-4)


@pytest.mark.parametrize('then', ['stops', 'goes on'])
def test_motion_does_not_count_on_braking_that_stops_are_not_checked_for(then):
    rig = Rig(limits__acceleration_scale=0.05, limits__position_margin=[0.0], reports=False)
    variable = len(rig.robot.group.joint_names) - 1
    dof, coord = rig.robot.group.variable_dof[variable], rig.robot.coords[variable]
    rig.aim_joints(panda_joint7=rig.robot.upper[dof])
    rig.tick(60)
    stops = rig.servo._solver._stops
    soft, passes = stops._deceleration.in_force.copy(), stops._blend
    # As if an obstacle blocked the shorter stop, but not the longer one.
    stops._blend = lambda *steps: np.array_equal(steps[-1], soft) and passes(*steps)
    rig.set(limits__acceleration_scale=1.0)
    rig.tick(55)
    # Then an obstacle beside the hand permits only the stop: fingers that turn away from it on one
    # side come nearer on the other.
    for k in range(300):
        pose = rig.pose()
        pose[:3] += quat_rotate(pose[3:].tolist(), [0.1, 0.1, 0.0])
        ball = Obstacle('ball', 'sphere', (0.2 + 1e-5 * k,), pose, rig.robot.base_link)
        stop = StopState.LATCHED if then == 'stops' else StopState.CLEAR
        rig.change(obstacles=(ball,), stop=stop)
        if rig.tick().still:
            break
    farthest = max(output.joint_q[coord] for output in rig.published)
    assert farthest <= rig.robot.upper[dof] + 1e-12
    rig.assert_within_limits()
