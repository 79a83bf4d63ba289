# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Jerk limits of a servo: strict ones hold, and no limits make a robot swing about its target."""

import numpy as np
import pytest
import ruckig
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from benchmarks.harness.robots import load_robot
from benchmarks.motion.joint_targets import ACCELERATION
from benchmarks.motion.joint_targets import jerk_limits
from benchmarks.motion.joint_targets import ROBOT
from benchmarks.motion.joint_targets import SEVERAL
from ros_ik.servo.interface.obstacle import Obstacle
from ros_ik.settings import SettingsError

JOINTS = load_robot(ROBOT).joints
# Motion of a joint that counts as rest [rad].
STILL = 1e-6


def make_rig(ratio, mode='strict', rate=100.0, **values):
    """Return a UR5 whose jerk limits are ``ratio`` times the acceleration limits per second."""
    return Rig.shared(
        ROBOT, reports=False, control_rate=rate, **jerk_limits(ratio, mode), **values
    )


def positions(rig, ticks):
    """Make ticks; return the positions of the joints after each, rest before them."""
    rows = [rig.q[rig.robot.coords]] * 3
    for _ in range(ticks):
        rig.tick()
        rows.append(rig.q[rig.robot.coords])
    return np.array(rows)


def moved(rig, seconds):
    """Return how far any joint is from where it is now, within some time [rad]."""
    start = rig.q[rig.robot.coords]
    return np.abs(positions(rig, round(seconds / rig.dt)) - start).max()


@pytest.mark.parametrize(
    ('ratio', 'mode', 'acceleration'), in_turn([5, 10, 30, 50], ['soft', 'strict'], [1.0, 2.5])
)
def test_no_pose_is_swung_about(ratio, mode, acceleration):
    rig = make_rig(ratio, mode, ee__max_linear_acceleration=acceleration)
    target = rig.pose().copy()
    target[:3] += -0.1, 0.25, -0.15
    rig.aim(target)
    rig.tick(seconds=1.5)
    assert np.linalg.norm(rig.pose()[:3] - target[:3]) < 1e-3
    assert moved(rig, 0.5) < 1e-3
    rig.tick(seconds=0.5)
    assert moved(rig, 0.2) < 2e-5


@pytest.mark.parametrize(('mode', 'ratio'), in_turn(['soft', 'strict'], [5, 20, 50]))
def test_no_joint_swings_about_its_target_or_its_speed(mode, ratio):
    rig = make_rig(ratio, mode)
    rig.aim_joints(**dict.fromkeys(JOINTS[:3], 0.7))
    rig.tick(seconds=2.5)
    np.testing.assert_allclose(rig.q[rig.robot.coords][:3], 0.7, atol=1e-7)
    assert moved(rig, 0.3) < STILL
    rig.aim_joint_velocities(**{JOINTS[2]: -0.5})
    rig.tick(seconds=1.2)
    speeds = np.diff(positions(rig, 30)[3:, 2]) / rig.dt
    np.testing.assert_allclose(speeds, -0.5, atol=1e-6)


@pytest.mark.parametrize(
    ('ratio', 'mode', 'most'),
    in_turn(either([3, 10, 30], [3, 5, 10, 15, 30, 50]), ['soft', 'strict'], [0.05, 0.15]),
)
def test_no_velocity_of_the_frame_is_swung_about(ratio, mode, most):
    rig = make_rig(ratio, mode)
    # A reversal takes some ramps of 1 / ratio.
    patience = max(1.2, 9.0 / ratio)
    for speed in (-most, most, 0.0):
        rig.aim_twist(linear=(0.0, 0.0, speed))
        rig.tick(seconds=patience)
        heights = [rig.pose()[2]]
        for _ in range(40):
            rig.tick()
            heights.append(rig.pose()[2])
        np.testing.assert_allclose(np.diff(heights) / rig.dt, speed, atol=2e-3)
    # The distance to the target fades within three ramps.
    rig.settle(max(0.1, 36.0 / ratio - 1.2), slowest=1e-6)
    assert moved(rig, 0.3) < STILL


@pytest.mark.parametrize(('rate', 'ratio'), [(100.0, 10), (250.0, 100), (1000.0, 500)])
def test_strict_limits_hold_in_motion_and_in_stops(rate, ratio):
    rig, rng = make_rig(ratio, rate=rate, limits__position_margin=[0.0]), np.random.default_rng(1)
    home, rows = rig.pose().copy(), [rig.q[rig.robot.coords]] * 3
    for kind in ('pose', 'joints', 'quiet', 'twist', 'jog', 'quiet', 'pose', 'stop'):
        if kind in ('quiet', 'joints', 'jog', 'twist'):
            rig.quiet()
        if kind == 'pose':
            target = home.copy()
            target[:3] += rng.normal(0.0, 0.3, 3)
            rig.aim(target)
        elif kind == 'joints':
            rig.aim_joints(**dict(zip(JOINTS, rng.uniform(-2.0, 2.0, 6), strict=True)))
        elif kind == 'jog':
            rig.aim_joint_velocities(**dict(zip(JOINTS, rng.uniform(-4.0, 4.0, 6), strict=True)))
        elif kind == 'twist':
            rig.aim_twist(linear=rng.normal(0.0, 0.5, 3), angular=rng.normal(0.0, 1.0, 3))
        elif kind == 'stop':
            rig.command = rig.command.with_stop()
        rows.extend(positions(rig, round(rng.uniform(0.15, 0.5) * rate))[3:])
    rows.extend(positions(rig, round(1.5 * rate))[3:])
    steps = np.diff(rows, axis=0) * rate
    changes = np.diff(steps, axis=0) * rate
    jerks = np.diff(changes, axis=0) * rate
    velocity = rig.robot.velocity[rig.robot.group.variable_dof]
    assert (np.abs(steps) <= velocity * (1.0 + 1e-9)).all()
    assert np.abs(changes).max() <= ACCELERATION * (1.0 + 1e-6)
    assert np.abs(jerks).max() <= ratio * ACCELERATION * (1.0 + 1e-6)
    # The limits were reached, and the stop ended.
    assert np.abs(changes).max() > 0.99 * ACCELERATION
    assert not steps[-1].any()


def test_strict_limits_hold_where_a_motion_follows_a_stop_at_once():
    rig = make_rig(500, rate=1000.0)
    rows = [rig.q[rig.robot.coords]] * 3
    rig.aim_joints(**{JOINTS[0]: 2.0})
    for seconds in (0.1, 0.07, 0.043):
        rows.extend(positions(rig, round(seconds * 1000.0))[3:])
        rig.command = rig.command.with_pause(True)
        rows.extend(positions(rig, 2)[3:])
        rig.command = rig.command.with_pause(False)
        while not rig.outputs[-1].still:
            rows.extend(positions(rig, 1)[3:])
        rows.extend(positions(rig, 1)[3:])
        assert rows[-1][0] > rows[-2][0] == rows[-3][0]
    rows.extend(positions(rig, 100)[3:])
    jerks = np.diff(rows, 3, axis=0) / rig.dt**3
    assert np.abs(jerks).max() <= 500 * ACCELERATION * (1.0 + 1e-6)


def test_strict_limits_hold_where_a_barrier_is_seen_late(monkeypatch):
    # The ball appears little more than the length of a stop before the tool.
    rig = make_rig(10, ee__frame='tool0')
    rig.reports = True
    rig.aim_twist(linear=(0.0, 0.0, 0.5))
    rows, distances, cuts = [*positions(rig, 40)], [], []
    pose = np.array([*rig.pose()[:3] + [0.0, 0.0, 0.22], 0.0, 0.0, 0.0, 1.0])
    rig.change(obstacles=(Obstacle('ball', 'sphere', (0.1,), pose, rig.robot.base_link),))
    enforce = rig.servo._solver.limit_to_stoppable
    monkeypatch.setattr(
        rig.servo._solver,
        'limit_to_stoppable',
        lambda *steps: cuts.append(enforce(*steps)) or cuts[-1],
    )
    for _ in range(160):
        rows.extend(positions(rig, 1)[3:])
        distances.append(rig.outputs[-1].barrier_distance)
    margin = rig.settings.barriers_world_margin
    assert any(cuts) and margin - 1e-6 <= min(distances) < margin + 0.01
    jerks = np.diff(rows, 3, axis=0) / rig.dt**3
    assert np.abs(jerks).max() <= 10 * ACCELERATION * (1.0 + 1e-6)


def test_several_joints_arrive_about_as_soon_as_those_of_ruckig():
    rig, target = make_rig(30, rate=250.0), SEVERAL
    start, velocity = rig.q[rig.robot.coords], rig.robot.velocity[rig.robot.group.variable_dof]
    given, trajectory = ruckig.InputParameter(6), ruckig.Trajectory(6)
    given.current_position, given.target_position = start.tolist(), target.tolist()
    given.max_velocity, given.max_acceleration = velocity.tolist(), [ACCELERATION] * 6
    given.max_jerk = [30 * ACCELERATION] * 6
    assert ruckig.Ruckig(6).calculate(given, trajectory) == ruckig.Result.Working
    rig.aim_joints(**dict(zip(JOINTS, target.tolist(), strict=True)))
    rows = positions(rig, round(1.1 * trajectory.duration / rig.dt))
    np.testing.assert_allclose(rows[-1], target, atol=1e-6)
    # As quick as the acceleration and the jerk permit, and no quicker.
    before = np.abs(rows[round(0.97 * trajectory.duration / rig.dt)] - target).max()
    assert before > 1e-5


def test_strict_limits_name_the_joint_that_has_none():
    values = {'joint_limits__elbow_joint__has_jerk_limits': True,
              'joint_limits__elbow_joint__max_jerk': 100.0}  # fmt: skip
    with pytest.raises(SettingsError, match='shoulder_pan_joint'):
        Rig('ur5', limits__jerk='strict', **values)


def test_strict_scales_that_change_in_motion_hold_for_poses():
    rig = make_rig(30)
    target = rig.reachable(2, 1.5)
    rig.aim(target)
    rig.tick(60)
    rig.set(limits__velocity_scale=0.1, limits__acceleration_scale=0.1)
    velocity = 0.1 * rig.robot.velocity[rig.robot.group.variable_dof]
    first = np.abs(rig.speeds()[-1])
    slower = first < velocity
    # Braking with all of the acceleration, and an acceleration that comes and goes.
    braking = (first.max() - velocity.min()) / ACCELERATION + 2.0 / 30
    braking_ticks = int(np.ceil(braking / rig.dt))
    assert braking_ticks < 60
    rig.tick(60)
    speeds = np.abs(rig.speeds()[-60:])
    assert (speeds <= velocity + 1e-9)[:, slower].all()
    assert (speeds <= velocity + 1e-9)[braking_ticks:].all()
    assert (speeds.max(axis=0) > 0.99 * velocity)[slower].any(), 'the test shows nothing'
    assert not slower.all()
    rig.quiet()
    rig.tick(seconds=1.0)
    rig.aim(target)
    changes = np.diff(positions(rig, 50), 2, axis=0) / rig.dt**2
    assert np.abs(changes).max() <= 0.1 * ACCELERATION * (1.0 + 1e-6)


def test_a_lower_velocity_is_come_down_to_within_the_jerk_and_the_rest_waits_for_rest():
    rig = make_rig(30)
    rig.aim_joint_velocities(**{JOINTS[0]: 1.5})
    rig.tick(seconds=0.8)
    rig.set(limits__velocity_scale=0.1, limits__acceleration_scale=0.3)
    rows = positions(rig, 80)[3:]
    jerks = np.diff(rows, 3, axis=0) / rig.dt**3
    assert np.abs(jerks).max() <= 30 * ACCELERATION * (1.0 + 1e-6)
    changes = np.diff(rows, 2, axis=0) / rig.dt**2
    assert np.abs(changes).max() > 0.9 * ACCELERATION
    velocity = rig.robot.velocity[rig.robot.group.variable_dof][0]
    assert (rows[-1, 0] - rows[-2, 0]) / rig.dt == pytest.approx(0.1 * velocity)
    rig.quiet()
    rig.tick(seconds=1.0)
    rig.aim_joints(**{JOINTS[0]: rig.q[rig.robot.coords][0] - 0.3})
    changes = np.diff(positions(rig, 50), 2, axis=0) / rig.dt**2
    assert np.abs(changes).max() <= 0.3 * ACCELERATION * (1.0 + 1e-6)


def test_a_scale_raised_at_rest_counts_for_the_next_motion():
    rig = make_rig(30)
    rig.set(limits__velocity_scale=0.1, limits__acceleration_scale=0.1)
    rig.tick()
    rig.set(limits__velocity_scale=1.0, limits__acceleration_scale=1.0)
    rig.aim_joints(**{JOINTS[0]: rig.q[rig.robot.coords][0] - 0.5})
    rows = positions(rig, 100)
    assert np.abs(np.diff(rows, 2, axis=0)).max() / rig.dt**2 > 0.9 * ACCELERATION
    velocity = rig.robot.velocity[rig.robot.group.variable_dof][0]
    assert np.abs(np.diff(rows, axis=0)).max() / rig.dt > 0.2 * velocity


@pytest.mark.parametrize('target', ['pose', 'joints'])
@pytest.mark.parametrize('mode', ['soft', 'strict'])
def test_a_margin_set_later_bounds_a_motion_as_if_it_had_been_set_from_the_start(mode, target):
    values = {'reports': False, 'control_rate': 100.0, **jerk_limits(30, mode)}
    unchanged = Rig.shared(ROBOT, **values)
    dofs = unchanged.robot.group.variable_dof
    elbow, start = JOINTS.index('elbow_joint'), unchanged.q[unchanged.robot.coords]
    bound = start[elbow] + 0.4
    margins = [0.0] * len(JOINTS)
    margins[elbow] = float(unchanged.robot.upper[dofs[elbow]] - bound)
    beyond = unchanged.q.copy()
    beyond[unchanged.robot.coords[elbow]] += 0.8
    pose = unchanged.pose(beyond)

    def motion(rig):
        if target == 'pose':
            rig.aim(pose)
        else:
            rig.aim_joints(elbow_joint=float(bound + 0.4))
        return positions(rig, 150)

    free = motion(unchanged)
    begun = motion(Rig(ROBOT, limits__position_margin=margins, **values))
    rig = Rig.shared(ROBOT, **values)
    rig.set(limits__position_margin=margins)
    changed = motion(rig)
    np.testing.assert_allclose(changed, begun, atol=1e-6)
    assert free[:, elbow].max() > bound + 0.3
    assert bound - 1e-3 < changed[:, elbow].max() < bound + 1e-9
    jerks = np.abs(np.diff(changed, 3, axis=0)) / rig.dt**3
    assert mode == 'soft' or jerks.max() <= 30 * ACCELERATION * (1.0 + 1e-6)
