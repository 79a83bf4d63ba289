# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocity targets: speed, path, axes, drift, barriers, joint limits, staleness."""

import itertools

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.servo import StatusCode
from ros_ik.servo.motion.pose_math import pose_difference
from ros_ik.servo.motion.pose_math import quat_rotate
from ros_ik.servo.targets.tracking import TargetKind

SIDES = ('left', 'right')


def drive(rig, seconds):
    """Make ticks and return the pose of the frame at each, the start first."""
    poses = [rig.pose()]
    for _ in range(round(seconds / rig.dt)):
        rig.tick()
        poses.append(rig.pose())
    return np.array(poses)


@pytest.mark.parametrize(('robot', 'rate'), in_turn(['panda', 'ur5'], [100.0, 1000.0]))
def test_the_commanded_velocity_is_reached_on_a_straight_path(robot, rate):
    rig = Rig.shared(robot, control_rate=rate)
    rig.aim_twist((0.0, 0.1, -0.05), (0.0, 0.0, 0.2))
    path = drive(rig, 1.0)
    velocity = np.diff(path[:, :3], axis=0) * rate
    np.testing.assert_allclose(velocity[-1], [0.0, 0.1, -0.05], atol=1e-5)
    acceleration = np.linalg.norm(np.diff(velocity, axis=0), axis=1) * rate
    assert acceleration.max() < 2.5 * 1.01
    assert np.abs(path[:, 0] - path[0, 0]).max() < 1e-5
    turned = pose_difference(path[-1], path[0])[1]
    assert np.abs(turned[:2]).max() < 1e-5 and turned[2] > 0.15
    assert {output.code for output in rig.outputs[1:]} == {StatusCode.OK}
    assert rig.outputs[-1].tasks[0].active and np.isnan(rig.outputs[-1].tasks[0].linear_error)
    rig.assert_within_limits()


def test_nothing_drifts_over_many_cycles():
    rig, turns = Rig.shared(reports=False), either(4, 10)
    start = rig.pose()
    for k in range(200 * turns):
        angle = 2.0 * np.pi * k / 200
        rig.aim_twist((0.0, 0.1 * np.cos(angle), 0.1 * np.sin(angle)))
        rig.tick()
    rig.aim_twist()
    rig.tick(seconds=1.0)
    linear, angular = pose_difference(rig.pose(), start)
    # The velocity ramps up at the start and down at the end: y is off by less than one ramp.
    assert abs(linear[0]) < 1e-5 and np.linalg.norm(linear) < 0.01
    assert np.linalg.norm(angular) < 1e-4
    held = rig.pose()
    rig.tick(seconds=either(2.0, 5.0))
    linear, angular = pose_difference(rig.pose(), held)
    assert np.linalg.norm(linear) < 1e-6 and np.linalg.norm(angular) < 1e-6
    rig.assert_within_limits()


def test_speeds_are_limited_by_one_factor_on_the_whole_velocity():
    rig = Rig.shared(ee__max_linear_speed=0.1, ee__max_angular_speed=0.2)
    rig.aim_twist((0.0, 0.3, -0.4), (0.1, 0.0, 0.0))
    path = drive(rig, 1.0)
    velocity = (path[-1, :3] - path[-2, :3]) / rig.dt
    np.testing.assert_allclose(velocity, [0.0, 0.06, -0.08], atol=5e-4)
    turn = pose_difference(path[-1], path[-2])[1] / rig.dt
    np.testing.assert_allclose(turn, [0.02, 0.0, 0.0], atol=5e-4)


@pytest.mark.parametrize(
    'linear', [(0.0, MAX_MAGNITUDE, 0.0), (MAX_MAGNITUDE, -MAX_MAGNITUDE, MAX_MAGNITUDE)]
)
def test_an_immense_velocity_is_a_fast_one(linear):
    rig = Rig.shared()
    rig.aim_twist(linear)
    rig.tick(30)
    assert all(np.isfinite(output.joint_q).all() for output in rig.outputs)
    assert np.abs(rig.speeds()[-1]).max() > 0.1
    rig.assert_within_limits()


def test_a_velocity_in_the_tool_turns_with_the_tool():
    rig = Rig.shared()
    rig.aim_twist((0.0, 0.0, -0.1), (0.2, 0.0, 0.0), frame='panda_hand_tcp')
    path = drive(rig, 2.0)
    for before, after in zip(path[-50:-1], path[-49:], strict=True):
        axis = quat_rotate(before[3:], (0.0, 0.0, -0.1))
        np.testing.assert_allclose((after - before)[:3] / rig.dt, axis, atol=2e-4)
    rig.assert_within_limits()


def test_free_axes_take_no_command():
    rig = Rig.shared(ee__position_weight=[1.0, 1.0, 0.0], ee__orientation_weight=0.0)
    still = rig.q.copy()
    rig.aim_twist((0.0, 0.0, 0.3), (1.0, 1.0, 1.0))
    rig.tick(50)
    np.testing.assert_allclose(rig.q, still, atol=1e-9)
    rig.aim_twist((0.1, 0.0, 3.0))
    path = drive(rig, 1.0)
    np.testing.assert_allclose((path[-1] - path[-2])[:2] / rig.dt, [0.1, 0.0], atol=1e-4)


def test_a_velocity_ends_by_its_timeout_within_the_limits():
    rig = Rig.shared()
    rig.aim_twist((0.0, 0.4, -0.2))
    rig.tick(40)
    assert np.abs(rig.speeds()[-1]).max() > 0.2
    rig.quiet()
    rig.tick(19)
    assert rig.outputs[-1].code == StatusCode.OK
    codes = [rig.tick().code for _ in range(60)]
    assert set(codes[2:]) == {StatusCode.COMMAND_STALE}
    assert not rig.outputs[-1].publish and np.all(rig.published[-1].joint_qd == 0.0)
    rig.assert_within_limits()


def stroke(rig, linear, angular):
    """Move by velocities for 0.4 s, then let them become stale, and come to rest."""
    rig.aim_twist(linear, angular)
    rig.tick(seconds=0.4)
    rig.quiet()
    rig.tick(seconds=1.0)
    assert rig.outputs[-1].still and rig.outputs[-1].code == StatusCode.COMMAND_STALE


@pytest.mark.parametrize(
    ('robot', 'rate', 'linear', 'angular'),
    in_turn(
        ['panda', 'ur5'], [100.0, 1000.0],
        [(0.4, 0.0, 0.0), (0.0, 0.0, 0.2), (0.0, 0.0, 0.0)], [(0.0, 0.0, 0.0), (0.0, 0.0, 0.8)],
    ),
)  # fmt: skip
def test_a_velocity_that_ends_in_silence_leaves_other_axes_where_they_are(
    robot, rate, linear, angular
):
    rig = Rig.shared(robot, control_rate=rate, reports=False)
    start, ways = rig.pose(), np.array([linear, angular])
    for k in range(6):
        stroke(rig, *(ways * (-1) ** k))
    moved = np.array(pose_difference(rig.pose(), start))
    moved[ways != 0.0] = 0.0
    # Up to 32 mm and 126 mrad where each joint braked independently.
    assert np.linalg.norm(moved[0]) < 3e-3 and np.linalg.norm(moved[1]) < 5e-3
    rig.assert_within_limits()


@pytest.mark.parametrize(('robot', 'rate'), in_turn(['panda', 'ur5'], [100.0, 500.0]))
def test_a_stop_on_the_path_takes_no_longer_than_one_of_each_joint(robot, rate):
    rig = Rig.shared(robot, control_rate=rate, reports=False)
    stroke(rig, (0.4, 0.0, 0.0), (0.0, 0.3, 0.0))
    braking = [output.code == StatusCode.COMMAND_STALE for output in rig.published]
    dofs = rig.robot.group.variable_dof
    speeds = np.abs(rig.published[braking.index(True) - 1].joint_qd[dofs])
    ticks = np.ceil(speeds / (rig.robot.acceleration[dofs] * rig.dt) - 1e-9)
    assert sum(braking) == ticks.max() > 5


@pytest.mark.parametrize(('robot', 'mode'), in_turn(['panda', 'ur5'], ['decelerate', 'hold']))
def test_a_velocity_that_ends_in_silence_keeps_every_limit(robot, mode):
    rng, rig = np.random.default_rng(7), Rig.shared(robot, reports=False, halt_mode=mode)
    for _ in range(either(12, 60)):
        rig.aim_twist(0.5 * rng.normal(size=3), rng.normal(size=3))
        rig.tick(rng.integers(2, 120))
        rig.quiet()
        rig.tick(seconds=0.2 + rng.uniform(0.0, 0.3))
    rig.tick(seconds=1.0)
    assert rig.outputs[-1].still
    rig.assert_within_limits()


@pytest.mark.parametrize('rate', either([100.0], [100.0, 1000.0]))
def test_a_velocity_that_ends_in_silence_before_a_barrier_does_not_cross_it(rate):
    wall = {
        'barriers__world__enabled': False, 'barriers__position__wall__frame': 'panda_hand_tcp',
        'barriers__position__wall__max': [10.0, 0.1, 10.0],
    }  # fmt: skip
    for seconds in np.linspace(0.1, 0.5, either(5, 20)):
        rig = Rig.shared(control_rate=rate, reports=False, **wall)
        rig.aim_twist((0.2, 0.5, -0.1), (0.0, 0.5, 0.0))
        rig.tick(seconds=seconds)
        rig.quiet()
        rig.tick(seconds=0.8)
        assert rig.outputs[-1].still
        places = [rig.pose(output.joint_q)[1] for output in rig.published]
        assert max(places) < 0.1 + 1e-9
        rig.assert_within_limits()


@pytest.mark.parametrize('rate', [100.0, 500.0])
def test_a_barrier_is_not_crossed_slid_along_and_left_at_once(rate):
    start = Rig.shared().pose()
    top = [2.0, float(start[1]) + 0.1, 2.0]
    rig = Rig.shared(
        control_rate=rate,
        barriers__position__wall__frame='panda_hand_tcp',
        barriers__position__wall__max=top,
    )
    rig.aim_twist((0.0, 0.3, 0.1))
    path = drive(rig, 2.0)
    room = top[1] - path[:, 1]
    assert room.min() >= -1e-6 and room[-1] < 5e-3
    assert rig.outputs[-1].code in (StatusCode.SLOWED_BY_BARRIER, StatusCode.HALTED_BY_BARRIER)
    assert rig.outputs[-1].limiting_barrier == 'wall'
    assert (path[-1, 2] - path[-2, 2]) * rate > 0.05, 'it sticks to the wall'
    assert np.abs(path[:, 0] - path[0, 0]).max() < 5e-3
    rig.aim_twist((0.0, -0.2, 0.0))
    away = drive(rig, 0.5)[:, 1]
    assert away[round(0.1 * rate)] < away[0] - 2e-3, 'the reference had run away'
    np.testing.assert_allclose((away[-1] - away[-2]) * rate, -0.2, atol=2e-3)
    rig.assert_within_limits()


def test_a_barrier_that_opens_gives_no_rush():
    start = Rig.shared().pose()
    rig = Rig.shared(
        barriers__position__wall__frame='panda_hand_tcp',
        barriers__position__wall__max=[2.0, float(start[1]) + 0.05, 2.0],
    )
    rig.aim_twist((0.0, 0.3, 0.0))
    rig.tick(seconds=2.0)
    held = rig.pose()
    reference = rig.servo.targets.trackers[0]._motion._reference
    assert np.linalg.norm(pose_difference(reference, held)[0]) < 5e-3
    rig.assert_within_limits()


def test_a_joint_limit_is_kept_named_and_left_at_once():
    rig = Rig.shared(ee__orientation_weight=0.0)
    rig.aim_twist((0.0, 0.0, 0.4))
    codes = {rig.tick().code for _ in range(400)}
    assert codes & {StatusCode.JOINT_BOUND, StatusCode.DAMPED_NEAR_SINGULARITY}
    rig.aim_twist((0.0, 0.0, -0.2))
    away = drive(rig, 1.0)[:, 2]
    assert away[15] < away[0] and (away[-1] - away[-2]) / rig.dt < -0.15
    rig.assert_within_limits()


def two_arms(jerk=None, **values):
    """Return the servo of two arms that may pass each other, with strict jerk limits or none."""
    if jerk is not None:
        values['limits__jerk'] = 'strict'
        for side, joint in itertools.product(SIDES, ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')):
            values[f'joint_limits__{side}_{joint}__has_jerk_limits'] = True
            values[f'joint_limits__{side}_{joint}__max_jerk'] = jerk
    return Rig.shared(
        'baxter', home={'right_s0': 0.3, 'right_s1': -0.6, 'right_e1': 1.3, 'right_w1': 0.8},
        frame_tasks=list(SIDES), left__frame='left_gripper', right__frame='right_gripper',
        barriers__self_collision__enabled=False, **values,
    )  # fmt: skip


def end_left(rig, linear, right='pose', seconds=0.4):
    """Let the velocity of the left arm become stale in motion, while the right one goes on.

    Returns the pose of the left hand at its last velocity.
    """
    if right == 'pose':
        rig.aim(rig.pose(task=1), task=1)
    else:
        rig.aim_twist((0.0, 0.05, 0.05), task=1)
    rig.aim_twist(linear, task=0)
    rig.tick(seconds=seconds)
    del rig._streams['twist', 0]
    rig.tick(round(rig.settings.command_timeout / rig.dt) - 1)
    assert rig.outputs[-1].tasks[0].active
    return rig.pose(task=0)


@pytest.mark.parametrize(
    ('rate', 'jerk', 'right', 'linear'),
    in_turn(
        [100.0, 500.0], [None, 200.0], ['pose', 'twist'],
        [(0.0, 0.2, 0.0), (0.0, 0.0, -0.2), (-0.2, 0.0, 0.0)],
    ),
)  # fmt: skip
def test_a_velocity_that_ends_beside_another_target_leaves_other_axes_where_they_are(
    rate, jerk, right, linear
):
    rig = two_arms(jerk, control_rate=rate)
    left = end_left(rig, linear, right)
    rig.tick(3)
    assert not rig.outputs[-1].tasks[0].active and rig.outputs[-1].tasks[1].active
    # It comes to rest in 0.6 s with limits of acceleration alone where the posture brakes it.
    rig.tick(seconds=0.4)
    before = rig.pose(task=0)
    rig.tick()
    assert np.linalg.norm(pose_difference(rig.pose(task=0), before)[0]) < 2e-3 * rig.dt
    rig.tick(seconds=1.0)
    shift, turn = pose_difference(rig.pose(task=0), left)
    line = np.array(linear) / np.linalg.norm(linear)
    # Up to 5 mm and 4 mrad where its joints came to rest in the null space of the other target.
    assert np.linalg.norm(shift - (shift @ line) * line) < 3e-4 and np.linalg.norm(turn) < 1e-3
    assert shift @ line > 0.0 and rig.outputs[-1].tasks[1].active
    rig.assert_within_limits()
    if jerk is not None:
        change = np.diff(rig.speeds(), 2, axis=0) / rig.dt**2
        assert np.abs(change).max() < jerk * (1.0 + 1e-6)


def test_a_frame_whose_velocity_has_ended_is_free_once_it_rests():
    rig = two_arms()
    end_left(rig, (0.0, 0.2, 0.0))
    tracker = rig.servo.targets.trackers[0]
    rig.tick(3)
    assert tracker.target_kind is TargetKind.REST
    rig.tick(seconds=1.0)
    assert tracker.target_kind is TargetKind.NONE
    # One that has come to rest by velocities of zero is so at once.
    rig.aim_twist(task=0)
    rig.tick(seconds=0.7)
    del rig._streams['twist', 0]
    kinds = {rig.tick() and tracker.target_kind for _ in range(30)}
    assert kinds == {TargetKind.TWIST, TargetKind.NONE}


@pytest.mark.parametrize('ticks', either([3, 20], range(1, 40, 4)))
def test_a_frame_that_comes_to_rest_takes_the_next_target_without_a_jump(ticks):
    rig = two_arms()
    end_left(rig, (0.0, 0.2, 0.0))
    rig.tick(ticks)
    rig.aim_twist((0.0, 0.2, 0.0), task=0)
    rig.tick(seconds=0.3)
    before = rig.pose(task=0)
    rig.tick()
    moved = pose_difference(rig.pose(task=0), before)[0]
    np.testing.assert_allclose(moved / rig.dt, [0.0, 0.2, 0.0], atol=2e-3)
    # The other one ends as well, while the first comes to rest: all joints brake.
    del rig._streams['twist', 0]
    rig.tick(seconds=0.2)
    rig.tick(ticks)
    rig.quiet()
    rig.tick(seconds=1.0)
    assert rig.outputs[-1].still and rig.outputs[-1].code == StatusCode.COMMAND_STALE
    rig.assert_within_limits()


def test_a_velocity_that_ends_beside_another_target_before_a_barrier_does_not_cross_it():
    for room in either([0.09, 0.12], np.linspace(0.06, 0.16, 11)):
        start = two_arms().pose(task=0)
        rig = two_arms(
            barriers__position__wall__frame='left_gripper',
            barriers__position__wall__max=[10.0, float(start[1]) + float(room), 10.0],
        )
        end_left(rig, (0.0, 0.2, 0.0))
        rig.tick(seconds=0.8)
        places = [rig.pose(output.joint_q)[1] for output in rig.published]
        assert max(places) < start[1] + room + 1e-9
        rig.assert_within_limits()


def test_a_task_with_a_velocity_moves_beside_one_with_a_pose():
    rig = Rig.shared(
        'baxter',
        home={'right_s0': 0.3, 'right_s1': -0.6, 'right_e1': 1.3, 'right_w1': 0.8},
        frame_tasks=['left', 'right'],
        left__frame='left_gripper',
        right__frame='right_gripper',
    )
    held, before = rig.pose(task=1), rig.pose(task=0)
    rig.aim(held, task=1)
    rig.aim_twist((0.0, 0.1, 0.0), task=0)
    rig.tick(seconds=0.8)
    left, right = rig.outputs[-1].tasks
    assert left.active and right.active and right.reached
    assert rig.pose(task=0)[1] - before[1] > 0.05
    np.testing.assert_allclose(rig.pose(task=1), held, atol=1e-4)
    rig.assert_within_limits()
