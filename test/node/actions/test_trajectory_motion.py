# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A trajectory's goal drives the servo, tick by tick: the command keeps up with it."""

import types

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from support.motions.polled_ticks import accelerations
from support.motions.polled_ticks import polled_ticks
from support.rigs.servo_rig import Rig
from support.robots.urdf_limits import still_model

from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.follow_trajectory import FollowTrajectoryMotion
from ros_ik.node.control.command_messages import duration
from ros_ik.node.transport.mailbox import Mailbox

ARM = [f'panda_joint{k}' for k in range(1, 8)]


def commander_of(rig):
    """Return a goal's view of a servo, with the commands of the rig."""

    def replace_joints(before, target):
        if rig.command.joints is before:
            rig.change(joints=target)

    return types.SimpleNamespace(
        now=lambda: rig.now,
        ros_nanoseconds=lambda: int(1e9 * rig.now),
        servo=rig.servo,
        settings=rig.settings,
        reader=rig.reader,
        conditions=lambda: None,
        check_ready=lambda *modes: None,
        interruption=lambda conditions, *modes: '',
        preempting_target=lambda before, now: '',
        command=rig.command,
        replace_joints=replace_joints,
        start_positions=lambda: rig.q[rig.robot.coords],
        measured_positions=lambda: rig.q[rig.robot.coords],
    )


def goal_of(names, times, knots, speeds):
    points = [
        types.SimpleNamespace(
            positions=q.tolist(), velocities=v.tolist(), accelerations=[], effort=[],
            time_from_start=duration(t),
        )
        for t, q, v in zip(times, knots, speeds, strict=True)
    ]  # fmt: skip
    stamp = types.SimpleNamespace(sec=0, nanosec=0)
    return types.SimpleNamespace(
        trajectory=types.SimpleNamespace(
            joint_names=names, points=points, header=types.SimpleNamespace(stamp=stamp)
        ),
        multi_dof_trajectory=types.SimpleNamespace(points=[], joint_names=[]),
        path_tolerance=[],
        goal_tolerance=[],
        goal_time_tolerance=duration(0.0),
    )


@pytest.mark.parametrize('rate', [50.0, 100.0, 500.0])
def test_the_command_is_on_the_trajectory_at_its_speed(rate):
    rig = Rig('panda', control_rate=rate)
    start = rig.q[rig.robot.coords].copy()
    change = np.array([1.2, 0.3, -0.6, 0.4, -1.0, 0.3, 1.5])
    knots, speeds, times = np.array([start + change]), np.zeros((1, 7)), [1.2]
    expected = CubicHermiteSpline([0.0, 1.2], [start, knots[0]], np.zeros((2, 7)))
    commander = commander_of(rig)
    motion = FollowTrajectoryMotion(commander, goal_of(ARM, times, knots, speeds))
    began = rig.now
    motion.begin()
    worst = 0.0
    while rig.now - began < 1.2 - rig.dt:
        rig.tick()
        commander.command = rig.command
        # The command of a tick is where the robot is to be one period later.
        error = rig.q[rig.robot.coords] - expected(rig.now + rig.dt - began)
        worst = max(worst, np.abs(error).max())
        assert motion.poll(rig.now, False) is None
    # The command is behind by v dt a / (2 a_max) at most, at 1.9 rad/s and half the acceleration
    # limit. Braking towards each target would cost 0.1 rad and more.
    assert worst < 0.25 * rig.dt * 1.9
    rig.assert_within_limits()


@pytest.mark.parametrize('rate', [50.0, 100.0, 500.0])
def test_the_command_is_as_smooth_as_the_trajectory_whenever_it_is_polled(rate):
    rig, rng = Rig('panda', control_rate=rate), np.random.default_rng(0)
    start = rig.q[rig.robot.coords].copy()
    change = 0.3 * np.array([1.2, 0.3, -0.6, 0.4, -1.0, 0.3, 1.5])
    commander = commander_of(rig)
    goal = goal_of(ARM, [4.0], np.array([start + change]), np.zeros((1, 7)))
    motion = FollowTrajectoryMotion(commander, goal)
    began = rig.now
    motion.begin()

    def poll(now):
        commander.command = rig.command
        return now > began + 4.05 or motion.poll(now, False) is not None

    for _ in polled_ticks(rig, poll, rng, 0.3):
        pass
    np.testing.assert_allclose(rig.q[rig.robot.coords] - start, change, atol=1e-4)
    # The trajectory needs 0.013 of the limits; targets of the polls took all of it.
    assert np.abs(accelerations(rig)).max() < 0.05


@pytest.mark.parametrize('scale', [0.5, 0.1])
def test_the_command_stays_on_the_trajectory_while_a_lower_acceleration_is_deferred(scale):
    """The servo brakes as before until it can stop before a limit with less."""
    rig = Rig('panda')
    dofs = rig.robot.group.variable_dof
    end = rig.q[rig.robot.coords].copy()
    end[0] = rig.robot.upper[dofs[0]] - 0.025
    rig.q[rig.robot.coords[0]] = end[0] - 1.2
    rig.tick(2)
    start = rig.q[rig.robot.coords].copy()
    expected = CubicHermiteSpline([0.0, 1.0], [start, end], np.zeros((2, 7)))
    commander = commander_of(rig)
    motion = FollowTrajectoryMotion(commander, goal_of(ARM, [1.0], end[None], np.zeros((1, 7))))
    began = rig.now
    motion.begin()
    worst, deferred = 0.0, 0
    for tick in range(99):
        if tick == 50:
            rig.set(limits__acceleration_scale=scale)
            commander.settings = rig.settings
        rig.tick()
        commander.command = rig.command
        deferred += not rig.servo._solver.limits.is_applied
        error = rig.q[rig.robot.coords] - expected(rig.now + rig.dt - began)
        worst = max(worst, np.abs(error).max())
        assert motion.poll(rig.now, False) is None
    assert scale == 0.5 or deferred > 30
    # It had run ahead by 98 mrad: the target led it by ten times the braking distance.
    assert worst < 0.01


def test_a_target_that_arrives_while_the_goal_begins_preempts_it(monkeypatch):
    """The control thread receives targets at any time, also between check and command."""
    rig = Rig('panda')
    knots = rig.q[rig.robot.coords][None] + 0.1
    commander = commander_of(rig)
    motion = FollowTrajectoryMotion(commander, goal_of(ARM, [2.0], knots, np.zeros((1, 7))))
    newer = rig.reader.joints(ARM, rig.q[rig.robot.coords].tolist(), rig.now)
    joints = rig.reader.joints

    def receive(*args, **options):
        rig.change(joints=newer)
        return joints(*args, **options)

    monkeypatch.setattr(rig.reader, 'joints', receive)
    motion.begin()
    commander.command = rig.command
    assert commander.command.joints is newer
    assert 'newer joint target' in motion._preempting_request()


def test_a_commander_replaces_only_the_target_that_is_meant():
    rig = Rig('panda')
    old, newer, mine = (
        rig.reader.joints(ARM, rig.q[rig.robot.coords].tolist(), rig.now) for _ in range(3)
    )
    inbox = types.SimpleNamespace(command=Mailbox(rig.command.with_changes(joints=newer)))
    commander = object.__new__(Commander)
    commander._loop = types.SimpleNamespace(inbox=inbox)
    commander.replace_joints(old, mine)
    assert inbox.command.get().joints is newer
    commander.replace_joints(newer, mine)
    assert inbox.command.get().joints is mine
    old, newer, mine = (
        rig.reader.pose(0, '', [0.4, 0.0, 0.4], [1.0, 0.0, 0.0, 0.0], rig.now) for _ in range(3)
    )
    inbox.command.update(lambda command: command.with_pose(0, newer))
    commander.replace_pose(0, old, mine)
    assert inbox.command.get().poses[0] is newer
    commander.replace_pose(0, newer, None)
    assert inbox.command.get().poses[0] is None


def test_a_joint_that_cannot_move_may_be_named_and_not_moved():
    rig = Rig('panda', model=still_model('panda_joint3'))
    commander, start = commander_of(rig), rig.q[rig.robot.coords].copy()
    moved = np.array([0.4, 0.1, 0.02, -0.2, 0.1, 0.0, 0.3])
    for change in (moved, -moved):
        with pytest.raises(GoalError, match="'panda_joint3' cannot move.* by 0.02"):
            FollowTrajectoryMotion(
                commander, goal_of(ARM, [2.0], [start + change], np.zeros((1, 7)))
            )
    # Measured positions of a joint at rest have noise.
    moved[2] = 1e-4
    motion = FollowTrajectoryMotion(
        commander, goal_of(ARM, [2.0], [start + moved], np.zeros((1, 7)))
    )
    began = rig.now
    motion.begin()
    while rig.now - began < 2.0:
        rig.tick()
        commander.command = rig.command
        assert motion.poll(rig.now, False) is None
    rig.settle(0.5)
    np.testing.assert_allclose(rig.q[rig.robot.coords] - start, moved, atol=1e-3)
    assert rig.q[rig.robot.coords][2] == start[2]
