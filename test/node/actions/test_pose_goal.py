# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Goals of ~/move_to_pose and the servo's own view of their targets: place, and rejected jumps."""

import gc
import types
import weakref

import numpy as np
import pytest
from support.rigs.planning_rig import Twin
from support.rigs.servo_rig import Rig
from support.robots.simulated_drives import NO_BARRIERS

from ros_ik.node.actions.action_server import GoalError
from ros_ik.node.actions.action_server import Outcome
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.move_to_pose import MoveToPoseMotion
from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.subscribers.transforms import ResolvedFrame
from ros_ik.servo import Measurement
from ros_ik.servo import Rejection
from ros_ik_interfaces.action import MoveToPose

TCP, BASE = 'panda_hand_tcp', 'panda_link0'
HERE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
# In the frame of the tool, and how far the measured joints are from the commanded ones.
AHEAD = np.array([0.0, 0.0, -0.08, 0.0, 0.0, 0.0, 1.0])
LAG = np.array([0.02, 0.02, 0.0, -0.02, 0.0, 0.0, 0.0])


class Robot:
    """A Panda behind its command, and the node's view of it for goals."""

    def __init__(self, **values):
        self.rig = Rig(base_frame=BASE, following_error__delay=0.5, **NO_BARRIERS, **values)
        self.inbox, self.unknown = Inbox.empty(), []
        self.inbox.settings.put(self.rig.settings)
        measurement = types.SimpleNamespace(get=self.measured)
        self.inbox.controlled.put(ControlledServo(self.rig.servo, None, 1, measurement, None))
        self.loop = types.SimpleNamespace(
            inbox=self.inbox, output=self.rig.outputs[-1], now=lambda: self.rig.now,
            statistics=types.SimpleNamespace(ticks=0),
        )  # fmt: skip
        self.commander = Commander(self.loop, lambda: 0, self.find, None)
        self.inbox.command.put(self.rig.command)

    def measured(self):
        q = self.rig.q + self.rig.offset
        received = np.full(len(q), self.rig.now)
        received[self.unknown] = -np.inf
        return Measurement(q, received)

    def find(self, frame_id, stamp):
        return ResolvedFrame(frame_id, HERE)

    def tick(self, count=1):
        """Advance the servo with the command of the node."""
        for _ in range(count):
            self.rig.command = self.inbox.command.get()
            self.loop.output = self.rig.tick()

    def lag(self):
        """Let the measured joints be behind while the command holds a pose."""
        hold = self.rig.reader.pose(
            0, '', self.rig.pose()[:3], self.rig.pose()[3:], self.rig.now, lasting=True
        )
        self.inbox.command.update(lambda command: command.with_pose(0, hold))
        self.tick(20)
        self.rig.offset[self.rig.robot.coords] = LAG
        self.tick(2)

    def goal(self, pose, frame=TCP, **fields):
        goal = MoveToPose.Goal(**fields)
        goal.target.header.frame_id = frame
        p, q = goal.target.pose.position, goal.target.pose.orientation
        p.x, p.y, p.z, q.x, q.y, q.z, q.w = pose.tolist()
        return MoveToPoseMotion(self.commander, goal)

    def accepted(self):
        """Return the pose that the servo goes to."""
        return self.rig.servo.targets.trackers[0].accepted.pose


def test_the_reader_of_targets_keeps_no_servo_that_was_released():
    inbox, rig = Inbox.empty(), Rig(**NO_BARRIERS)
    inbox.controlled.put(ControlledServo(rig.servo, None, 1, None, None))
    commander = Commander(types.SimpleNamespace(inbox=inbox, now=None), None, None, None)
    assert commander.reader is commander.reader
    servo = weakref.ref(rig.servo)
    inbox.controlled.put(None)
    del rig
    gc.collect()
    assert servo() is None


def pose_ahead(joint_q):
    """Return the pose AHEAD of the tool at a configuration, by Pinocchio."""
    twin = Twin(types.SimpleNamespace(model=Rig.shared().model), 'panda')
    position, rotation = twin.pose(joint_q, TCP, BASE)
    return position + rotation @ AHEAD[:3]


@pytest.mark.parametrize('sender', ['topic', 'action'])
@pytest.mark.parametrize('moves', [False, True])
def test_a_pose_in_a_moving_link_is_taken_at_the_command_whoever_sends_it(sender, moves):
    robot = Robot()
    if moves:
        robot.lag()
    robot.rig.offset[robot.rig.robot.coords] = LAG if moves else 0.0
    expected = pose_ahead(robot.rig.q)
    if sender == 'topic':
        target = robot.rig.reader.pose(0, TCP, AHEAD[:3], AHEAD[3:], robot.rig.now)
        robot.inbox.command.update(lambda command: command.with_pose(0, target))
    else:
        robot.goal(AHEAD).begin()
    robot.tick()
    np.testing.assert_allclose(robot.accepted()[:3], expected, atol=1e-6)


def test_the_errors_of_a_goal_are_those_of_the_measured_robot_to_the_pose_of_the_servo():
    robot = Robot()
    robot.lag()
    motion = robot.goal(AHEAD)
    motion.begin()
    expected = pose_ahead(robot.rig.q)
    robot.tick()
    assert motion.poll(robot.rig.now, False) is None
    report = robot.loop.output.tasks[0]
    error = np.linalg.norm(expected - report.current_pose[:3])
    assert abs(motion.feedback().linear_error - error) < 1e-6
    assert abs(report.measured_linear_error - error) < 1e-6


@pytest.mark.parametrize('frame', [BASE, TCP])
def test_a_jump_is_one_from_the_command_for_a_goal_too(frame):
    """The measured tool is nearer to the one target, and farther from the other, by 15 mm."""
    robot = Robot(target_jump_policy='reject', max_target_step_linear=0.1)
    robot.lag()
    commanded = robot.rig.pose()
    measured = robot.rig.pose(robot.rig.q + robot.rig.offset)
    towards = measured[:3] - commanded[:3]
    assert np.linalg.norm(towards) > 0.015
    towards /= np.linalg.norm(towards)
    for distance, is_jump in ((0.108, True), (0.095, False), (-0.095, False), (-0.108, True)):
        pose = commanded.copy()
        pose[:3] += distance * towards
        if frame == TCP:
            twin = Twin(types.SimpleNamespace(model=robot.rig.model), 'panda')
            _, rotation = twin.pose(robot.rig.q, TCP, BASE)
            pose = HERE.copy()
            pose[:3] = rotation.T @ (distance * towards)
        if is_jump:
            with pytest.raises(GoalError, match='target_jump_policy is reject') as raised:
                robot.goal(pose, frame)
            assert raised.value.reason is Rejection.TARGET_JUMP
        else:
            robot.goal(pose, frame)


@pytest.mark.parametrize('joint', ['panda_joint2', 'panda_finger_joint1'])
def test_a_goal_needs_the_state_of_each_joint_that_the_task_needs_and_of_no_other(joint):
    robot = Robot()
    robot.unknown = [robot.rig.robot.coord_of[joint]]
    if joint in robot.rig.robot.needed:
        with pytest.raises(GoalError, match='no state') as raised:
            robot.goal(AHEAD)
        assert raised.value.reason is Rejection.NOT_READY
    else:
        robot.goal(AHEAD)


def go_away(robot):
    """Let another target move the command down by 66 mm."""
    away = robot.rig.moved((0.0, 0.0, -0.08))
    target = robot.rig.reader.pose(0, '', away[:3], away[3:], robot.rig.now, lasting=True)
    robot.inbox.command.update(lambda command: command.with_pose(0, target))
    robot.tick(30)


def test_a_goal_is_followed_though_another_target_comes_between_its_check_and_its_start():
    robot = Robot()
    pose = robot.rig.moved((0.0, 0.0, 0.02))
    motion = robot.goal(pose, BASE)
    go_away(robot)
    motion.begin()
    robot.tick()
    np.testing.assert_allclose(robot.accepted(), pose, atol=1e-12)


def test_a_goal_ends_if_the_servo_rejects_its_target():
    """The command moves on between the check of a goal and the tick that accepts its target."""
    robot = Robot(target_jump_policy='reject', max_target_step_linear=0.1)
    motion = robot.goal(robot.rig.moved((0.0, 0.0, 0.095)), BASE)
    go_away(robot)
    motion.begin()
    robot.tick()
    assert robot.rig.servo.targets.trackers[0].accepted.jumps == 1
    end = motion.poll(robot.rig.now, False)
    assert end is not None and end.outcome is Outcome.ABORTED
    assert 'too far away' in end.result.message
    assert robot.inbox.command.get().poses[0] is None
