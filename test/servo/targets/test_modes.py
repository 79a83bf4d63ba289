# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Modes, the newest kind of target, and targets that last: none of them makes a jump."""

import numpy as np
import pytest
from support.rigs.servo_rig import moving_rig
from support.rigs.servo_rig import Rig

from ros_ik.servo import Mode
from ros_ik.servo import StatusCode


@pytest.fixture
def moving():
    """Return a rig in full motion towards a pose."""
    return moving_rig()


def test_hold_comes_to_rest_and_continues_with_the_fresh_target(moving):
    moving.change(mode=Mode.HOLD)
    outputs = [moving.tick() for _ in range(60)]
    assert {output.code for output in outputs} == {StatusCode.OK}
    assert {output.text for output in outputs} == {'holding: mode HOLD'}
    assert not outputs[-1].publish and outputs[-1].still
    assert np.all(moving.published[-1].joint_qd == 0.0)
    assert not outputs[-1].tasks[0].active
    where = moving.q.copy()
    moving.change(mode=Mode.AUTO)
    assert moving.tick().publish, 'the fresh target was dropped'
    np.testing.assert_allclose(moving.q, where, atol=2e-3)
    moving.tick(30)
    assert moving.outputs[-1].tasks[0].active
    moving.assert_within_limits()


@pytest.mark.parametrize(
    ('mode', 'counts', 'text'),
    [
        (Mode.POSE, 'pose', 'waiting for a pose (mode POSE)'),
        (Mode.TWIST, 'twist', 'waiting for a velocity (mode TWIST)'),
        (Mode.JOINT, 'joints', 'waiting for a joint target (mode JOINT)'),
    ],
)
def test_a_mode_counts_one_kind_of_target(mode, counts, text):
    rig = Rig.shared()
    rig.change(mode=mode)
    give = {
        'pose': lambda: rig.aim(rig.moved((0.0, 0.1, 0.0))),
        'twist': lambda: rig.aim_twist((0.0, 0.1, 0.0)),
        'joints': lambda: rig.aim_joints(panda_joint7=1.5),
    }
    for kind in give:
        if kind != counts:
            give[kind]()
    output = rig.tick(10)
    assert output.code == StatusCode.OK and text in output.text and not output.publish
    give[counts]()
    rig.tick(10)
    assert rig.outputs[-1].publish and not rig.outputs[-1].still
    del rig._streams[{'pose': 0, 'twist': ('twist', 0), 'joints': 'joints'}[counts]]
    rig.tick(80)
    assert rig.outputs[-1].code == StatusCode.COMMAND_STALE
    rig.assert_within_limits()


def test_a_change_of_mode_follows_the_fresh_target_of_the_other_kind(moving):
    moving.aim_twist((0.0, -0.2, 0.0))
    moving.change(mode=Mode.POSE)
    moving.tick(20)
    before = moving.pose()
    moving.change(mode=Mode.TWIST)
    moving.tick(30)
    assert moving.pose()[1] < before[1] + 0.05
    after = moving.pose()
    moving.tick(20)
    assert (moving.pose()[1] - after[1]) / 0.2 == pytest.approx(-0.2, abs=0.01)
    moving.change(mode=Mode.JOINT)
    moving.aim_joints(panda_joint1=0.1)
    moving.tick(60)
    moving.change(mode=Mode.POSE)
    moving.tick(60)
    assert {output.code for output in moving.outputs[1:]} == {StatusCode.OK}
    moving.assert_within_limits()


def test_the_newest_kind_wins_without_a_jump_and_without_a_stop(moving):
    before, now = (moving.pose(output.joint_q)[:3] for output in moving.published[-2:])
    speed = np.linalg.norm(now - before)
    moving.quiet()
    moving.aim_twist(tuple((now - before) / moving.dt))
    points = [moving.pose()[:3]]
    for _ in range(20):
        moving.tick()
        points.append(moving.pose()[:3])
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert speeds.min() > 0.8 * speed, 'the change of kind stopped the frame'
    moving.quiet()
    moving.aim(moving.moved(0.3 * (now - before) / speed))
    points = [moving.pose()[:3]]
    for _ in range(15):
        moving.tick()
        points.append(moving.pose()[:3])
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert speeds.min() > 0.8 * speed, 'the change back stopped the frame'
    moving.quiet()
    moving.aim_joints(panda_joint1=0.0)
    moving.tick(30)
    moving.quiet()
    moving.aim(moving.moved((0.0, 0.0, 0.1)))
    moving.tick(200)
    assert moving.outputs[-1].tasks[0].reached
    moving.assert_within_limits()


def test_a_pose_after_joints_continues_the_motion_of_the_frame():
    rig = Rig.shared(max_target_step_linear=10.0, max_target_step_angular=4.0)
    rig.aim_joints(panda_joint1=1.0)
    rig.tick(60)
    before, now = (rig.pose(output.joint_q)[:3] for output in rig.published[-2:])
    speed = np.linalg.norm(now - before)
    rig.quiet()
    rig.aim(rig.moved(0.3 * (now - before) / speed))
    rig.tick(20)
    points = [rig.pose(output.joint_q)[:3] for output in rig.published[-21:]]
    # The frame also stops turning; one that started at rest would fall to a sixth.
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).min() > 0.5 * speed
    rig.assert_within_limits()


def lasting_pose(rig, xyz):
    pose = rig.moved(xyz)
    return rig.reader.pose(0, '', pose[:3], pose[3:], rig.now, lasting=True)


def test_a_lasting_pose_is_followed_until_it_is_taken_away():
    rig = Rig.shared()
    rig.aim_joints(panda_joint1=0.1)
    rig.tick(40)
    rig.quiet()
    assert rig.tick(80).code == StatusCode.COMMAND_STALE
    rig.change(poses=(lasting_pose(rig, (0.0, 0.3, 0.0)),))
    rig.tick(60)
    assert rig.outputs[-1].code == StatusCode.OK and not rig.outputs[-1].still
    rig.change(poses=(None,))
    outputs = [rig.tick() for _ in range(60)]
    assert {output.code for output in outputs} == {StatusCode.OK}
    assert outputs[-1].still and not outputs[-1].publish
    assert np.isnan(outputs[-1].tasks[0].linear_error)
    rig.change(poses=(lasting_pose(rig, (0.0, -0.1, 0.0)),))
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached
    rig.assert_within_limits()


def test_a_shorter_command_takes_a_lasting_pose_away_too():
    rig = Rig.shared()
    rig.change(poses=(lasting_pose(rig, (0.0, 0.3, 0.0)),))
    rig.tick(60)
    rig.change(poses=())
    rig.tick(60)
    assert rig.outputs[-1].still and rig.outputs[-1].code == StatusCode.OK


def test_a_lasting_pose_that_another_one_replaces_is_over():
    rig = Rig.shared()
    rig.change(poses=(lasting_pose(rig, (0.0, 0.3, 0.0)),))
    rig.tick(40)
    rig.aim(rig.moved((0.0, 0.05, 0.0)))
    rig.tick(20)
    rig.quiet()
    rig.tick(80)
    assert rig.outputs[-1].code == StatusCode.COMMAND_STALE


def test_lasting_joints_are_followed_until_they_are_taken_away():
    rig = Rig.shared()
    rig.change(joints=rig.reader.joints(['panda_joint1'], [1.0], rig.now, lasting=True))
    rig.tick(60)
    assert not rig.outputs[-1].still
    rig.change(joints=None)
    outputs = [rig.tick() for _ in range(60)]
    assert {output.code for output in outputs} == {StatusCode.OK} and outputs[-1].still
    rig.change(joints=rig.reader.joints(['panda_joint1'], [1.0], rig.now, lasting=True))
    rig.tick(seconds=3.0)
    assert rig.q[rig.robot.coords[0]] == pytest.approx(1.0, abs=1e-6)
    rig.assert_within_limits()


def test_a_pause_ends_a_lasting_target():
    rig = Rig.shared()
    rig.change(poses=(lasting_pose(rig, (0.0, 0.3, 0.0)),))
    rig.tick(40)
    rig.change(paused=True)
    rig.tick(60)
    rig.change(paused=False)
    rig.tick(10)
    assert rig.outputs[-1].still and not rig.outputs[-1].publish


def test_a_target_from_a_clock_ahead_goes_stale_too():
    rig = Rig.shared()
    pose = rig.moved((0.0, 0.1, 0.0))
    rig.change(poses=(rig.reader.pose(0, '', pose[:3], pose[3:], rig.now + 1.0),))
    assert rig.tick().code == StatusCode.COMMAND_STALE
    rig.change(poses=(rig.reader.pose(0, '', pose[:3], pose[3:], rig.now + 0.05),))
    assert rig.tick().publish
