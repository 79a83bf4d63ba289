# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Halt modes: decelerating, or returning to the start of the halt; filtered targets."""

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_turn
from support.rigs.servo_rig import Rig

from ros_ik.servo import StatusCode
from ros_ik.servo.motion.deceleration import Deceleration
from ros_ik.servo.motion.pose_filter import PoseFilter
from ros_ik.servo.motion.pose_math import pose_difference


def moving(**values):
    """Return a rig in full motion."""
    rig = Rig.shared(**values)
    rig.aim(rig.moved((0.0, 0.4, -0.2)))
    rig.tick(round(0.4 / rig.dt))
    assert np.abs(rig.speeds()[-1]).max() > 0.2
    return rig


@pytest.mark.parametrize(('mode', 'rate'), in_turn(['decelerate', 'hold'], [100.0, 1000.0]))
def test_a_halt_ends_where_its_mode_says(mode, rate):
    rig = moving(halt_mode=mode, control_rate=rate)
    begun = rig.q.copy()
    rig.change(paused=True)
    rig.tick(seconds=1.5)
    assert rig.outputs[-1].still and not rig.outputs[-1].publish
    assert np.all(rig.published[-1].joint_qd == 0.0)
    if mode == 'hold':
        np.testing.assert_allclose(rig.q, begun, atol=1e-8)
    else:
        assert np.abs(rig.q - begun).max() > 0.02
    rig.assert_within_limits()


@pytest.mark.parametrize('rate', [100.0, 250.0])
def test_joints_return_though_one_tick_finds_them_at_rest(rate):
    """From n equal increases of its speed a joint brakes to exactly zero in n ticks."""
    rested = 0
    for ticks in range(2, 14):
        rig = Rig.shared(halt_mode='hold', control_rate=rate)
        name = rig.robot.group.joint_names[0]
        for _ in range(ticks):
            rig.change(joints=rig.reader.joint_velocities([name], [1.5], rig.now))
            rig.tick()
        begun, first = rig.q.copy(), len(rig.published)
        rig.change(paused=True)
        rig.tick(seconds=1.0)
        assert rig.outputs[-1].still and not rig.outputs[-1].publish
        rested += not np.any(rig.speeds()[first:-1], axis=1).all()
        np.testing.assert_allclose(rig.q, begun, atol=1e-8)
        rig.assert_within_limits()
    # Otherwise rounding kept the speeds apart from zero.
    assert rested or rate == 250.0


@pytest.mark.parametrize('ticks', [2, 10])
def test_a_halt_that_may_go_back_no_longer_ends(ticks):
    rig = moving(halt_mode='hold')
    begun = rig.q.copy()
    rig.change(paused=True)
    rig.tick(ticks)
    rig.change(active=False)
    rig.tick(seconds=1.5)
    assert rig.outputs[-1].still and not rig.outputs[-1].publish
    assert np.abs(rig.q - begun).max() > 1e-3


@pytest.mark.parametrize('event', ['stale', 'inactive', 'model loading', 'joint states'])
def test_which_halts_go_back(event):
    rig = moving(halt_mode='hold')
    begun = rig.q.copy()
    if event == 'stale':
        rig.quiet()
        while rig.tick().code == StatusCode.OK:
            begun = rig.q.copy()
    elif event == 'joint states':
        rig.received = -np.inf
    else:
        rig.change(**({'active': False} if event == 'inactive' else {'model_loading': True}))
    rig.tick(seconds=1.5)
    assert rig.outputs[-1].still
    distance = np.abs(rig.published[-1].joint_q - begun).max()
    if event in ('stale', 'joint states'):
        assert distance < 0.02
    else:
        assert distance > 0.02
    rig.assert_within_limits()


def test_the_halt_mode_changes_at_run_time():
    rig = moving()
    rig.set(halt_mode='hold', limits__velocity_scale=0.05)
    begun, first = rig.q.copy(), len(rig.published)
    rig.command = rig.command.with_stop()
    rig.tick(seconds=2.0)
    np.testing.assert_allclose(rig.q, begun, atol=1e-8)
    speeds = rig.speeds()[first:]
    back = np.where(speeds * speeds[0] < 0.0, np.abs(speeds), 0.0)
    limit = 0.05 * rig.robot.velocity[rig.robot.group.variable_dof]
    assert (back <= limit + 1e-9).all() and (back.max(axis=0) > 0.9 * limit).any()


def test_a_halt_with_any_speed_and_limit_ends_in_finite_time():
    rng = np.random.default_rng(5)
    for _ in range(either(10, 60)):
        count, dt = 5, 10.0 ** rng.uniform(-3, -1)
        speed = 10.0 ** rng.uniform(-2, 1, count)
        acceleration = 10.0 ** rng.uniform(-1, 2, count)
        last, position = rng.uniform(-1, 1, count) * speed * dt, np.zeros(count)
        halt, steps = Deceleration(), 0
        while last.any():
            step = halt.step(last, position, speed, acceleration, dt, returns=True)
            assert np.all(np.abs(step - last) <= acceleration * dt**2 * (1 + 1e-9))
            assert np.all(np.abs(step) <= speed * dt * (1 + 1e-9))
            last, position, steps = step, position + step, steps + 1
            assert steps < 1e5
        np.testing.assert_allclose(position, 0.0, atol=1e-6)


def test_the_filter_follows_a_step_with_its_time_constant():
    target = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, np.sin(0.5), np.cos(0.5)])
    follower = PoseFilter(0.01)
    follower.tau = 0.1
    filtered = [np.array(follower.step(target, pose)) for _ in range(30)]
    left = np.exp(-0.01 * np.arange(1, 31) / 0.1)
    np.testing.assert_allclose([p[0] for p in filtered], 1.0 - left, atol=1e-12)
    turned = [np.linalg.norm(pose_difference(target, p)[1]) for p in filtered]
    np.testing.assert_allclose(turned, left, atol=1e-12)


def test_a_filter_quietens_a_noisy_target():
    rng = np.random.default_rng(3)
    noise = rng.normal(0.0, 0.0005, (300, 3))
    jitter = []
    for tau in (0.0, 0.1):
        rig = Rig.shared(
            target_filter_tau=tau, ee__max_linear_acceleration=100.0, ee__target_prediction='off'
        )
        centre, points = rig.pose(), []
        for shift in noise:
            pose = centre.copy()
            pose[:3] += shift
            rig.aim(pose)
            rig.tick()
            points.append(rig.pose()[:3])
        jitter.append(np.std(np.diff(points[100:], axis=0)))
        rig.assert_within_limits()
    assert jitter[1] < 0.35 * jitter[0]


def test_a_filter_starts_at_the_commanded_pose_each_time_and_arrives():
    rig = Rig.shared(target_filter_tau=0.3)
    target = rig.moved((0.0, 0.1, 0.0))
    rig.aim(target)
    rig.tick(10)
    assert rig.outputs[-1].tasks[0].linear_error > 0.08, 'the filter does nothing'
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached
    rig.quiet()
    rig.tick(80)
    rig.set(target_filter_tau=2.0)
    rig.q[rig.robot.coords] += 0.1
    where = rig.pose()
    rig.aim(target)
    rig.tick(15)
    assert np.linalg.norm(rig.pose()[:3] - where[:3]) < 0.012, 'it starts at its old pose'
    rig.set(target_filter_tau=0.0)
    rig.tick(seconds=2.0)
    assert rig.outputs[-1].tasks[0].reached
    rig.assert_within_limits()


def test_a_filter_that_a_moving_target_gets_starts_where_the_target_is():
    rig = Rig.shared(reports=False)
    begin, ways = rig.pose(), []
    for k in range(120):
        pose = begin.copy()
        pose[1] += 0.2 * k * rig.dt
        rig.aim(pose)
        if k == 60:
            rig.set(target_filter_tau=0.3)
        rig.tick()
        ways.append(rig.pose()[1])
    # It waits for the filter, which it may overshoot a little.
    assert np.max(np.maximum.accumulate(ways) - ways) < 2e-3
    late = ways[-1] - begin[1] - 0.2 * 59 * rig.dt
    assert 0.03 < late < 0.09, 'the filter does nothing'
