# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Pose targets: arrival, accuracy, limits, speed, several tasks, frames, barriers."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from ros_ik.servo import StatusCode
from ros_ik.servo.motion.pose_math import move_pose
from ros_ik.servo.motion.pose_math import pose_difference

ROBOTS = ['panda', 'ur5', 'talos_left_arm']


@pytest.mark.parametrize(('robot', 'rate'), in_turn(ROBOTS, [100.0, 500.0]))
def test_a_steady_target_is_reached_smoothly_and_exactly(robot, rate):
    rig = Rig.shared(robot, control_rate=rate)
    target = rig.reachable(seed=3, spread=0.4)
    rig.aim(target)
    rig.settle(4.0, slowest=1e-4)
    report = rig.outputs[-1].tasks[0]
    assert report.reached and report.active
    assert report.linear_error < 1e-4 and report.angular_error < np.radians(0.01)
    rig.assert_within_limits()
    errors = np.array([o.tasks[0].linear_error for o in rig.outputs[2:]])
    closest = int(np.argmax(errors < 1e-3))
    assert np.all(errors[closest:] < 2e-3), 'it swings'
    rest = rig.speeds()[-20:]
    assert np.all(np.abs(rest) < 1e-3)


def test_speed_and_acceleration_towards_the_target_are_bounded():
    rig = Rig.shared(ee__max_linear_speed=0.1, ee__max_angular_speed=0.2)
    rig.aim(rig.moved((0.0, 0.2, -0.1)))
    start = rig.pose()
    points = [start[:3]]
    for _ in range(150):
        rig.tick()
        points.append(rig.pose()[:3])
    speed = np.linalg.norm(np.diff(points, axis=0), axis=1) / rig.dt
    assert speed.max() == pytest.approx(0.1, rel=0.02)
    rig.set(ee__max_linear_speed=0.05)
    before = rig.pose()[:3]
    rig.tick()
    assert np.linalg.norm(rig.pose()[:3] - before) / rig.dt < 0.055


def test_a_moving_target_is_followed_closely():
    rig = Rig.shared()
    centre, errors = rig.pose(), []
    for k in range(400):
        angle = 2.0 * np.pi * 0.25 * k * rig.dt
        pose = centre.copy()
        pose[:3] += 0.1 * np.array([0.0, np.sin(angle), np.cos(angle) - 1.0])
        rig.aim(pose)
        rig.tick()
        errors.append(np.linalg.norm(rig.pose()[:3] - pose[:3]))
    assert max(errors[100:]) < 0.012
    rig.assert_within_limits()


def test_out_of_reach_comes_as_near_as_possible_and_back():
    rig = Rig.shared()
    home = rig.pose()
    far = home.copy()
    far[:3] = [0.0, 2.0, 0.6]
    rig.aim(far)
    rig.settle(6.0)
    assert not rig.outputs[-1].tasks[0].reached
    # A stretched arm is damped: it covers the last millimetres slowly.
    assert np.abs(rig.speeds()[-10:]).max() < 0.08
    rig.aim(home)
    rig.settle(6.0)
    assert rig.outputs[-1].tasks[0].reached
    rig.assert_within_limits()


def test_zero_weights_leave_axes_free():
    rig = Rig.shared(ee__position_weight=[1.0, 1.0, 0.0], ee__orientation_weight=0.0)
    target = rig.moved((0.1, 0.1, 0.5))
    rig.aim(target)
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].tasks[0].reached
    np.testing.assert_allclose(rig.pose()[:2], target[:2], atol=1e-4)
    assert abs(rig.pose()[2] - target[2]) > 0.1


def test_the_gain_counts_for_position_and_orientation():
    rig = Rig.shared(ee__target_prediction='off')
    goal = rig.moved((0.0, 0.02, 0.0))
    goal[3:] = move_pose(goal, np.zeros(3), np.array([0.0, 0.0, 0.05]))[3:]
    rig.aim(goal)
    rig.set(ee__gain=0.1)
    rig.tick(30)
    before = rig.outputs[-1].tasks[0]
    after = rig.tick().tasks[0]
    assert after.linear_error == pytest.approx(0.9 * before.linear_error, rel=5e-3)
    assert after.angular_error == pytest.approx(0.9 * before.angular_error, rel=5e-3)


def test_an_axis_that_was_free_for_a_moment_keeps_its_velocity():
    rig = Rig.shared(reports=False)
    rig.aim(rig.moved((0.0, 3.0, -3.0)))
    rig.tick(30)
    rig.set(ee__position_weight=[1.0, 1.0, 0.0])
    rig.tick(2)
    rig.set(ee__position_weight=1.0)
    before = rig.pose()[:3]
    rig.tick()
    assert np.linalg.norm(rig.pose()[:3] - before) / rig.dt == pytest.approx(0.5, rel=0.1)


def test_the_offset_is_applied_and_changes_at_run_time():
    plain = Rig.shared().pose()
    rig = Rig.shared(ee__offset_xyz=[0.0, 0.0, 0.1], ee__offset_rpy=[0.0, 0.0, 0.3])
    tool = rig.pose()
    assert np.linalg.norm(tool[:3] - plain[:3]) == pytest.approx(0.1)
    rig.aim(tool)
    rig.tick(50)
    rig.set(ee__offset_xyz=[0.0, 0.0, 0.0], ee__offset_rpy=[0.0, 0.0, 0.0])
    rig.tick(seconds=2.0)
    np.testing.assert_allclose(rig.pose()[:3], tool[:3], atol=1e-4)


@pytest.mark.parametrize('offset', [(0.15, 0.0, 0.0), (0.0, 0.15, 0.0), (0.0, 0.0, 0.15)])
@pytest.mark.parametrize('kind', ['pose', 'velocity'])
def test_an_offset_that_changes_in_motion_takes_no_speed_away(kind, offset):
    rig = Rig.shared(reports=False)
    if kind == 'pose':
        # So far away that the way there is the same for the new point.
        rig.aim(rig.moved((0.0, 5.0, 0.0)))
    else:
        rig.aim_twist(linear=(0.0, 0.2, 0.0))
    rig.tick(40)
    rig.set(ee__offset_xyz=list(offset))
    points = [rig.pose()[:3]]
    for _ in range(10):
        rig.tick()
        points.append(rig.pose()[:3])
    velocity = (0.0, 0.5 if kind == 'pose' else 0.2, 0.0)
    np.testing.assert_allclose(np.diff(points, axis=0) / rig.dt, [velocity] * 10, atol=0.02)


def test_a_target_in_a_link_is_taken_where_the_link_was():
    rig = Rig.shared()
    start = rig.pose()
    rig.quiet()
    pose = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    poses = rig.servo._solver.diff.body_poses(rig.q)
    assert np.allclose(poses[rig.robot.task_links[0]], start, atol=1e-9)
    target = rig.reader.pose(0, 'panda_hand_tcp', pose[:3], pose[3:], rig.now)
    for _ in range(15):
        rig.change(poses=(target,))
        rig.tick()
    goal = rig.servo.targets.trackers[0].accepted.pose
    linear, angular = pose_difference(goal, start)
    assert np.linalg.norm(linear) == pytest.approx(0.1, abs=1e-9)
    assert np.linalg.norm(angular) < 1e-9


def test_two_tasks_and_the_one_without_target_rests():
    rig = Rig.shared(
        'baxter',
        home={'right_s0': 0.3, 'right_s1': -0.6, 'right_e1': 1.3, 'right_w1': 0.8},
        frame_tasks=['left', 'right'],
        left__frame='left_gripper',
        right__frame='right_gripper',
    )
    right = rig.pose(task=1)
    rig.aim(rig.pose(task=0) + np.array([0.0, 0.05, 0.1, 0, 0, 0, 0]), task=0)
    rig.tick(5)
    rig.set(left__orientation_weight=0.4, right__max_linear_speed=0.02, right__gain=0.9)
    rig.tick(seconds=2.0)
    left, other = rig.outputs[-1].tasks
    assert left.reached and not other.active
    np.testing.assert_allclose(rig.pose(task=1), right, atol=1e-9)
    rig.set(right__offset_xyz=[0.0, 0.1, 0.0])
    right = rig.pose(task=1) + np.array([0.0, 0.0, 0.05, 0, 0, 0, 0])
    rig.aim(right, task=1)
    rig.tick(seconds=0.5)
    assert right[2] - rig.pose(task=1)[2] == pytest.approx(0.04, abs=1e-3), 'it has its own speed'
    rig.set(right__max_linear_speed=0.5)
    rig.tick(seconds=1.5)
    assert all(report.reached for report in rig.outputs[-1].tasks)
    rig.assert_within_limits()


def test_a_barrier_holds_the_frame_in_its_box_and_is_named():
    start = Rig.shared().pose()
    top = [float(v) for v in start[:3] + np.array([1.0, 0.1, 1.0])]
    rig = Rig.shared(
        barriers__position__wall__frame='panda_hand_tcp',
        barriers__position__wall__max=top,
    )
    rig.aim(rig.moved((0.0, 0.3, 0.0)))
    codes, values = set(), []
    for _ in range(300):
        output = rig.tick()
        codes.add(output.code)
        values.append(top[1] - rig.pose()[1])
    assert min(values[1:]) >= -1e-6
    assert values[-1] < 2e-3
    assert StatusCode.SLOWED_BY_BARRIER in codes
    assert StatusCode.HALTED_BY_BARRIER in codes
    assert rig.outputs[-1].code == StatusCode.STATIONARY
    assert 'barrier wall stops the motion' in rig.outputs[-1].text
    assert rig.outputs[-1].limiting_barrier == 'wall'
    assert rig.outputs[-1].barrier_distance == pytest.approx(values[-1], abs=1e-6)
    rig.aim(rig.moved((0.0, -0.2, 0.0)))
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].tasks[0].reached


def test_a_violated_barrier_only_lets_distance_grow():
    start = Rig.shared().pose()
    top = [1.0, float(start[1]) - 0.05, 2.0]
    rig = Rig.shared(
        barriers__position__wall__frame='panda_hand_tcp', barriers__position__wall__max=top
    )
    rig.aim(rig.moved((0.0, 0.1, -0.05)))
    values = []
    for _ in range(200):
        rig.tick()
        values.append(top[1] - rig.pose()[1])
    assert values[0] < -0.04
    assert np.all(np.diff(values[2:]) >= -1e-9)
    rig.aim(rig.moved((0.0, -0.2, 0.0)))
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].tasks[0].reached


def test_a_start_outside_the_position_limits_moves_inwards_only():
    rig = Rig.shared(activate=False)
    upper = rig.robot.upper[rig.robot.group.variable_dof]
    rig.q[rig.robot.coords[5]] = upper[5] + 0.1
    rig.change(active=True)
    rig.tick()
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    before = upper[5] + 0.1
    for _ in range(200):
        rig.tick()
        now = rig.q[rig.robot.coords[5]]
        assert now <= before + 1e-12
        before = max(now, upper[5])


def test_uncommanded_joints_do_not_drift_over_many_cycles():
    rig = Rig.shared()
    q, centre = rig.q.copy(), rig.pose()
    rig.reports = False
    for k in range(either(1000, 2000)):
        angle = 2.0 * np.pi * k / 200
        pose = centre.copy()
        pose[:3] += 0.05 * np.array([0.0, np.sin(angle), np.cos(angle) - 1.0])
        rig.aim(pose)
        if k % 10 == 0:
            # No posture starts with parameters that do not concern it.
            rig.set(ee__max_linear_speed=0.5 - 0.01 * (k % 3))
        rig.tick()
    rig.aim(centre)
    rig.tick(seconds=3.0)
    np.testing.assert_allclose(rig.q, q, atol=0.02)


def test_the_posture_moves_the_elbow_and_not_the_hand():
    rig = Rig.shared()
    target = rig.pose()
    rig.aim(target)
    rig.tick(5)
    posture = rig.q[rig.robot.coords].copy()
    posture[0] += 0.5
    rig.set(posture__positions=[float(p) for p in posture])
    before = rig.q[rig.robot.coords].copy()
    rig.tick(seconds=4.0)
    assert np.abs(rig.q[rig.robot.coords] - before).max() > 0.05
    linear, angular = pose_difference(target, rig.pose())
    assert np.linalg.norm(linear) < 1e-4 and np.linalg.norm(angular) < np.radians(0.02)


JERKS = {
    f'joint_limits__panda_joint{k}__{key}': value
    for k in range(1, 8)
    for key, value in (('has_jerk_limits', True), ('max_jerk', 2000.0))
}


@pytest.mark.parametrize('jerks', [{}, JERKS])
def test_a_slow_motion_arrives_beside_a_distant_posture(jerks):
    """The posture takes more of each step than the speed gains in a tick."""
    rig = Rig.shared(control_rate=1000.0, **jerks)
    rig.set(ee__max_linear_acceleration=0.2, ee__max_angular_acceleration=1.0)
    rig.set(posture__positions=[1.5, 0.6, -1.5, -1.2, 1.5, 2.5, -1.5])
    goal = rig.moved((0.0, 0.01, 0.0))
    rig.aim(goal)
    left = []
    for _ in range(2):
        rig.tick(seconds=0.7)
        left.append(np.linalg.norm(rig.pose()[:3] - goal[:3]))
    assert max(left) < 1e-4
