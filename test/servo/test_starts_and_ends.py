# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Starts and ends of motion: each row of the table of defined behaviours."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.rigs.servo_rig import moving_rig
from support.rigs.servo_rig import Rig

from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.solvers import SolveStatus


@pytest.fixture
def moving():
    """Return a rig in full motion."""
    return moving_rig()


def assert_comes_to_rest(rig, code, silent=True):
    """Check deceleration within the limits, the last point at rest, then silence."""
    published = len(rig.published)
    codes = [rig.tick().code for _ in range(60)]
    assert set(codes) == {code}
    assert np.all(rig.published[-1].joint_qd == 0.0)
    assert len(rig.published) > published + 2
    last = rig.published[-1].joint_q.copy()
    count = len(rig.published)
    rig.tick(20)
    assert (len(rig.published) == count) == silent
    np.testing.assert_array_equal(rig.published[-1].joint_q, last)
    rig.assert_within_limits()


def test_a_stale_target_stops_within_the_limits_and_is_followed_by_silence(moving):
    moving.quiet()
    moving.set(command_timeout=0.305)
    moving.tick(30)
    assert moving.outputs[-1].code == StatusCode.OK
    assert_comes_to_rest(moving, StatusCode.COMMAND_STALE)


def test_publish_when_idle_repeats_the_held_position():
    rig = Rig.shared(publish_when_idle=True)
    rig.tick(3)
    assert rig.outputs[-1].publish
    rig.aim(rig.moved((0.0, 0.2, 0.0)))
    rig.tick(40)
    rig.quiet()
    rig.tick(20)
    assert_comes_to_rest(rig, StatusCode.COMMAND_STALE, silent=False)


@pytest.mark.parametrize(('timeout', 'holds'), [(0.1, True), (0.3, False)])
def test_joint_states_of_ten_hertz_need_a_timeout_of_several_periods(timeout, holds):
    """They come up to 2 ms early or late, as docs/troubleshooting.md tells."""
    rig, rng = Rig.shared(joint_state_timeout=timeout), np.random.default_rng(1)
    rig.aim(rig.moved((0.0, 0.15, 0.0)))
    rig.received = rig.now
    codes, next_state = [], rig.now + 0.1
    for _ in range(300):
        if rig.now + rig.dt >= next_state:
            rig.received = next_state
            next_state += 0.1 + rng.uniform(-0.002, 0.002)
        codes.append(rig.tick().code)
    assert (StatusCode.JOINT_STATE_STALE in codes) == holds
    assert set(codes) <= {StatusCode.JOINT_STATE_STALE, StatusCode.OK}
    assert holds or rig.outputs[-1].tasks[0].reached


def test_stale_joint_states_stop_and_tracking_goes_on_without_a_jump(moving):
    moving.received = moving.now
    moving.tick(10)
    codes = [moving.tick().code for _ in range(60)]
    assert set(codes) == {StatusCode.JOINT_STATE_STALE}
    assert moving.outputs[-1].waiting_for[0] == 'panda_joint1'
    count = len(moving.published)
    moving.tick(5)
    assert len(moving.published) == count
    moving.q = moving.q + 0.01 * np.where(np.arange(len(moving.q)) < 7, 1.0, 0.0)
    moved_by_hand = moving.q.copy()
    moving.received = None
    moving.tick()
    assert moving.outputs[-1].code == StatusCode.OK
    np.testing.assert_allclose(moving.published[-1].joint_q, moved_by_hand, atol=1e-3)


def test_joint_states_that_were_never_heard_are_named():
    rig = Rig.shared(activate=False)
    rig.received = -np.inf
    output = rig.tick()
    assert output.code == StatusCode.WAITING_FOR_JOINT_STATES
    assert set(output.waiting_for) == {f'panda_joint{k}' for k in range(1, 8)}
    assert 'panda_joint1' in output.text


def test_pause_holds_and_drops_the_targets(moving):
    moving.change(paused=True)
    assert_comes_to_rest(moving, StatusCode.PAUSED)
    moving.quiet()
    moving.change(paused=False)
    output = moving.tick()
    assert not output.publish, 'a target from before the pause moved the robot'
    moving.aim(moving.moved((0.0, 0.05, 0.0)))
    moving.tick(2)
    assert moving.outputs[-1].code == StatusCode.OK and moving.outputs[-1].publish


def test_stop_latches_until_reset(moving):
    moving.command = moving.command.with_stop()
    assert_comes_to_rest(moving, StatusCode.STOPPED)
    moving.change(paused=True)
    moving.change(paused=False)
    assert moving.tick().code == StatusCode.STOPPED
    moving.quiet()
    moving.command = moving.command.with_reset()
    assert moving.tick().code == StatusCode.OK
    assert not moving.outputs[-1].publish


def test_a_stop_request_outlasts_a_reset(moving):
    moving.command = moving.command.with_stop_request(True)
    assert_comes_to_rest(moving, StatusCode.STOPPED)
    moving.command = moving.command.with_reset()
    assert moving.tick().code == StatusCode.STOPPED
    moving.command = moving.command.with_stop_request(False)
    assert moving.tick().code == StatusCode.STOPPED
    moving.command = moving.command.with_reset()
    moving.tick()
    assert moving.tick().code == StatusCode.OK


def test_deactivation_comes_to_rest_and_activation_starts_from_the_measured_state(moving):
    moving.change(active=False)
    assert_comes_to_rest(moving, StatusCode.OK)
    moving.q[:7] += 0.2
    where = moving.q.copy()
    moving.change(active=True)
    moving.tick(2)
    np.testing.assert_allclose(moving.published[-1].joint_q, where, atol=2e-3)


def test_a_stop_repeats_nothing_while_another_controller_may_hold_the_robot(moving):
    moving.set(publish_when_idle=True)
    moving.command = moving.command.with_stop()
    assert_comes_to_rest(moving, StatusCode.STOPPED, silent=False)
    moving.change(active=False)
    moving.q[:7] += 0.3
    moving.published.clear()
    moving.tick(20)
    assert moving.outputs[-1].code == StatusCode.STOPPED and not moving.published
    moving.change(active=True)
    moving.tick(2)
    np.testing.assert_allclose(moving.published[-1].joint_q, moving.q, atol=1e-9)


def test_a_stop_before_any_joint_state_sends_nothing():
    rig = Rig(activate=True, publish_when_idle=True)
    rig.servo = Servo(rig.model, rig.settings)
    rig.command = rig.command.with_stop()
    count = rig.model.joint_coord_count
    nothing = Measurement(np.zeros(count), np.full(count, -np.inf))
    for _ in range(3):
        rig.now += rig.dt
        output = rig.servo.step(rig.now, nothing, rig.command)
        assert output.code == StatusCode.STOPPED and not output.publish


@pytest.mark.parametrize('switch', [Command.with_pause, Command.with_activation])
def test_a_pause_or_deactivation_that_ends_before_the_next_tick_drops_the_targets(moving, switch):
    moving.set(command_timeout=10.0)
    moving.quiet()
    begins = switch is Command.with_pause
    moving.command = switch(switch(moving.command, begins), not begins)
    moving.tick(60)
    assert moving.outputs[-1].still and not moving.outputs[-1].publish


_HOLDS = pytest.mark.parametrize(
    ('hold', 'release'),
    [
        (lambda command: command.with_pause(True), lambda command: command.with_pause(False)),
        (lambda command: command.with_stop(), lambda command: command.with_reset()),
        (
            lambda command: command.with_activation(False),
            lambda command: command.with_activation(True),
        ),
    ],
    ids=['pause', 'stop', 'deactivation'],
)


@_HOLDS
def test_while_no_time_passes_a_hold_is_noticed_and_moves_nothing(moving, hold, release):
    published = len(moving.published)
    measured = Measurement(moving.q, np.full(len(moving.q), moving.now))
    where = moving.servo.joint_q.copy()
    moving.command = hold(moving.command)
    for _ in range(20):
        output = moving.servo.step(moving.now, measured, moving.command, has_time_passed=False)
        assert not (output.publish or output.still)
        assert output.text.endswith('; braking as soon as time passes')
        np.testing.assert_array_equal(moving.servo.joint_q, where)
    moving.command = release(moving.command)
    # The targets from before are not stale, and are dropped all the same.
    moving.quiet()
    moving.tick(60)
    assert len(moving.published) > published + 2
    assert np.all(moving.published[-1].joint_qd == 0.0)
    assert not moving.outputs[-1].publish
    assert moving.outputs[-1].text == 'ready, waiting for a target'
    moving.assert_within_limits()


@_HOLDS
def test_a_target_between_the_release_and_the_next_tick_counts(moving, hold, release):
    moving.command = hold(moving.command)
    moving.tick(100)
    moving.quiet()
    moving.command = release(moving.command)
    goal = moving.moved((0.0, 0.05, 0.0))
    target = moving.reader.pose(0, '', goal[:3], goal[3:], moving.now)
    moving.command = moving.command.with_pose(0, target)
    moving.tick(2)
    assert moving.outputs[-1].publish and not moving.outputs[-1].still
    # Again: earlier targets are dropped.
    moving.command = hold(moving.command)
    moving.tick(100)
    moving.command = release(moving.command)
    moving.tick(2)
    assert not moving.outputs[-1].publish


def test_the_first_command_after_silence_starts_from_the_measured_state(moving):
    moving.quiet()
    moving.tick(80)
    moving.q[:7] -= 0.1
    where = moving.q.copy()
    moving.aim(moving.moved((0.0, 0.0, 0.2)))
    moving.tick()
    np.testing.assert_allclose(moving.published[-1].joint_q, where, atol=2e-3)


def test_tracking_integrates_the_command_and_not_the_measured_state(moving):
    # A robot that lags behind must not delay the command.
    q = moving.q.copy()
    reference = Rig()
    reference.aim(reference.moved((0.0, 0.4, -0.2)))
    reference.tick(40)
    for _ in range(20):
        moving.q = q.copy()
        moving.tick()
        reference.tick()
    np.testing.assert_allclose(
        moving.outputs[-1].joint_q, reference.outputs[-1].joint_q, atol=1e-12
    )


def test_a_reset_in_motion_drops_targets_and_brakes(moving):
    moving.command = moving.command.with_reset()
    moving.quiet()
    moving.tick(60)
    assert not moving.outputs[-1].publish
    moving.assert_within_limits()


def test_a_clock_that_goes_backwards_drops_targets(moving):
    moving.quiet()
    moving.now -= 10.0
    codes = {moving.tick().code for _ in range(60)}
    assert codes == {StatusCode.CLOCK_JUMP}
    assert not moving.outputs[-1].publish
    moving.assert_within_limits()
    moving.aim(moving.moved((0.0, 0.05, 0.0)))
    moving.tick(3)
    assert moving.outputs[-1].code == StatusCode.OK
    moving.quiet()
    moving.now += 100.0
    assert moving.tick().code == StatusCode.COMMAND_STALE


def test_a_step_that_is_not_finite_never_leaves(moving, monkeypatch):
    def poisoned(joint_q, last_step, step):
        step[:] = np.nan
        return SolveStatus.CONVERGED

    monkeypatch.setattr(moving.servo._solver, 'solve', poisoned)
    for _ in range(40):
        output = moving.tick()
        assert output.code == StatusCode.NON_FINITE_BLOCKED
        assert np.isfinite(output.joint_q).all() and np.isfinite(output.joint_qd).all()
    assert output.still
    monkeypatch.undo()
    moving.tick(3)
    assert moving.outputs[-1].code == StatusCode.OK
    moving.assert_within_limits()


def test_a_failed_solve_holds(moving, monkeypatch):
    def failing(joint_q, last_step, step):
        step[:] = 0.0
        return SolveStatus.ITERATION_LIMIT

    monkeypatch.setattr(moving.servo._solver, 'solve', failing)
    codes = {moving.tick().code for _ in range(40)}
    assert codes == {StatusCode.SOLVER_FAILED} and moving.outputs[-1].still
    moving.assert_within_limits()


def test_a_step_over_a_limit_never_leaves(moving, monkeypatch):
    def hasty(joint_q, last_step, step):
        step[:] = 0.0
        step[0] = 1.0
        return SolveStatus.CONVERGED

    monkeypatch.setattr(moving.servo._solver, 'solve', hasty)
    output = moving.tick()
    assert output.code == StatusCode.SOLVER_FAILED and 'velocity' in output.text
    moving.assert_within_limits()


def test_a_joint_at_its_limit_is_named():
    rig = Rig.shared()
    rig.aim_joints(panda_joint4=0.0)
    rig.tick(seconds=4.0)
    assert rig.outputs[-1].code == StatusCode.JOINT_BOUND
    assert 'panda_joint4' in rig.outputs[-1].text
    limit = rig.robot.upper[rig.robot.group.variable_dof[3]]
    assert rig.q[rig.robot.coords[3]] == pytest.approx(limit - 0.02, abs=1e-5)


def test_jumps_are_refused_where_asked_for(moving):
    rig = Rig.shared(target_jump_policy='reject')
    near, accepted = rig.moved((0.0, 0.1, 0.0)), rig.servo.targets.trackers[0].accepted
    # Another test may have had this servo before.
    before = accepted.jumps
    rig.aim(near)
    rig.tick(20)
    rig.aim(rig.moved((0.0, 0.0, 0.3)))
    codes = [rig.tick().code for _ in range(19)]
    assert set(codes) == {StatusCode.TARGET_JUMP}
    assert accepted.jumps == before + 19
    np.testing.assert_allclose(accepted.pose, near)
    codes = [rig.tick().code for _ in range(40)]
    assert set(codes) == {StatusCode.TARGET_JUMP} and rig.outputs[-1].still
    rig.aim(near)
    assert rig.tick().code == StatusCode.OK
    rig.aim(rig.moved((0.0, 0.0, 0.3)))
    rig.tick(2)
    for name, there, back in (
        ('max_target_step_linear', 0.4, 0.25), ('ee__position_weight', [1.0, 1.0, 0.0], 1.0),
    ):  # fmt: skip
        rig.set(**{name: there})
        assert rig.tick().code == StatusCode.OK
        rig.set(**{name: back})
        assert rig.tick().code == StatusCode.TARGET_JUMP
    rig.set(target_jump_policy='saturate')
    rig.tick(seconds=3.0)
    assert rig.outputs[-1].tasks[0].reached


@pytest.mark.parametrize('part', ['position', 'orientation'])
def test_a_jump_counts_on_the_axes_that_a_target_has_now(part):
    rig = Rig.shared(
        target_jump_policy='reject', max_target_step_linear=0.25, max_target_step_angular=0.5
    )
    home, weight = rig.pose(), f'ee__{part}_weight'
    for axis in range(3):
        pose, one = home.copy(), np.eye(3)[axis]
        if part == 'position':
            pose[:3] += 0.3 * one
        else:
            pose[3:] = (Rotation.from_rotvec(0.6 * one) * Rotation.from_quat(home[3:])).as_quat()
        rig.aim(pose)
        for weights, is_jump in ((1.0 - one, False), (one, True), (np.ones(3), True)):
            rig.set(**{weight: weights.tolist()})
            assert (rig.tick().code == StatusCode.TARGET_JUMP) == is_jump, (axis, weights)
    limit = f'max_target_step_{"linear" if part == "position" else "angular"}'
    rig.set(**{limit: 0.7})
    assert rig.tick().code == StatusCode.OK


def test_dynamic_settings_change_the_limits_at_once(moving):
    moving.set(limits__velocity_scale=0.1, limits__acceleration_scale=0.5)
    moving.tick(50)
    assert {output.code for output in moving.outputs[-50:]} == {StatusCode.OK}
    moving.assert_within_limits()
    dofs = moving.robot.group.variable_dof
    assert np.all(np.abs(moving.speeds()[-1]) <= 0.1 * moving.robot.velocity[dofs] + 1e-9)
    moving.set(limits__velocity_scale=1.0)
    moving.tick(20)
    assert np.any(np.abs(moving.speeds()[-1]) > 0.15 * moving.robot.velocity[dofs])
    slow = Rig.shared(limits__velocity_scale=0.02)
    slow.aim(slow.moved((0.0, 0.4, -0.2)))
    slow.tick(30)
    assert np.all(np.abs(slow.speeds()) <= 0.02 * slow.robot.velocity[dofs] + 1e-9)
    margin = Rig.shared()
    margin.aim_joints(panda_joint4=0.0)
    margin.set(limits__position_margin=[0.3])
    margin.tick(seconds=4.0)
    limit = margin.robot.upper[dofs[3]]
    assert margin.q[margin.robot.coords[3]] == pytest.approx(limit - 0.3, abs=1e-5)


def test_a_target_of_a_tick_that_failed_is_not_lost(monkeypatch):
    rig = Rig.shared()
    rig.aim(rig.moved((0.0, 0.2, 0.0)))
    target = rig._streams[0]()
    rig.quiet()
    rig.command = rig.command.with_pose(0, dataclasses.replace(target, lasting=True))

    def fail(command):
        raise RuntimeError('unforeseen')

    monkeypatch.setattr(rig.servo.targets, 'new_poses', fail)
    with pytest.raises(RuntimeError, match='unforeseen'):
        rig.tick()
    rig.servo.interrupt()
    monkeypatch.undo()
    rig.tick(20)
    assert not rig.outputs[-1].still


def test_after_a_tick_that_failed_motion_starts_where_the_robot_is(moving):
    moving.servo.interrupt()
    moving.q = moving.q + 0.001
    began = moving.q.copy()
    moving.published.clear()
    moving.tick(30)
    assert not moving.outputs[-1].still
    first = moving.published[0]
    np.testing.assert_allclose(first.joint_q - first.joint_qd * moving.dt, began, atol=1e-12)
    most = moving.robot.acceleration[moving.robot.group.variable_dof] * moving.dt
    assert np.all(np.abs(moving.speeds()[0]) <= most * (1.0 + 1e-9))
    moving.assert_within_limits()
