# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports of joints without a state: when each is logged, on clocks that the tests move."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from support.rigs.ball_arms import A  # noqa: E402
from support.rigs.ball_arms import URDF  # noqa: E402

from ros_ik.model import Model  # noqa: E402
from ros_ik.node.control.inbox import Inbox  # noqa: E402
from ros_ik.node.reports.unknown_joints import UnknownJoints  # noqa: E402
from ros_ik.servo import Command  # noqa: E402
from ros_ik.servo import Measurement  # noqa: E402
from ros_ik.servo.barriers.watched_joints import WatchedJoints  # noqa: E402
from ros_ik.servo.robot.controlled_robot import resolve_robot  # noqa: E402
from ros_ik.settings import read_settings  # noqa: E402


class Rig:
    """The report of a servo that makes no ticks."""

    def __init__(self):
        self.lines, self.now = [], 10.0
        self.inbox = Inbox.empty()
        self.inbox.command.put(Command(active=True))
        self.reporter = SimpleNamespace(unknown_joints=())
        logger = SimpleNamespace(warning=self.lines.append)
        self.report = UnknownJoints(logger, self.inbox, self.reporter, lambda: self.now)
        self.adopt()

    def adopt(self):
        """Run another servo."""
        settings = read_settings({'ee.frame': 'a_ball', 'base_frame': 'torso'})
        robot = resolve_robot(Model.from_urdf(URDF, device='cpu'), settings)
        self.coord_of = robot.coord_of
        self.received = np.full(robot.model.joint_coord_count, -np.inf)
        servo = SimpleNamespace(
            robot=robot, settings=settings, watched=WatchedJoints.of_barriers(robot, A)
        )
        measurement = SimpleNamespace(
            get=lambda: Measurement(np.zeros_like(self.received), self.received)
        )
        self.inbox.controlled.put(SimpleNamespace(servo=servo, measurement=measurement))

    def hear(self, *names):
        """Receive the states of joints."""
        self.received[[self.coord_of[name] for name in names]] = self.now

    def update(self, *names, later=0.0):
        """Report after a time, in which joints are heard; return the lines of the log."""
        self.now += later
        self.hear(*names)
        self.lines.clear()
        self.report.update(self.now)
        return list(self.lines)

    @property
    def told(self):
        """Joints of the diagnostics, and the sentence of the status."""
        return self.reporter.unknown_joints, self.inbox.unknown_joints.get()


def test_each_joint_is_logged_once_after_the_others_had_time_to_come():
    rig = Rig()
    assert rig.update() == [] and rig.told == ((), '')
    assert rig.update('a1', later=5.0) == [] and rig.told == ((), '')
    # The node has what it needs: the status is right at once, the log waits for other sources.
    assert rig.update(*A, later=5.0) == []
    assert rig.told[0] == ('finger', 'b1', 'b2') and 'of finger, b1, b2,' in rig.told[1]
    assert rig.update(*A, 'finger', later=0.5) == [] and rig.told[0] == ('b1', 'b2')
    (line,) = rig.update(*A, 'finger', later=0.6)
    assert line.startswith('no joint states of b1, b2: ')
    assert rig.update(*A, 'finger', later=5.0) == []
    assert rig.update(*A, 'finger', 'b1', 'b2') == [] and rig.told == ((), '')


def test_states_that_end_are_logged_once_and_again_for_another_model():
    rig = Rig()
    every = (*A, 'b1', 'b2', 'finger')
    assert rig.update(*every) == [] and rig.update(*every, later=2.0) == []
    assert rig.update(*A, 'finger', 'b1', later=0.9) == [] and rig.told == ((), '')
    (line,) = rig.update(*A, 'finger', 'b1', later=0.2)
    assert line.startswith('the joint states of b2 have ended') and rig.told[0] == ('b2',)
    assert rig.update(*every, later=0.2) == [] and rig.told == ((), '')
    (line,) = rig.update(*A, 'finger', later=1.1)
    assert 'of b1 have ended' in line and rig.told[0] == ('b1', 'b2')
    assert rig.update(*A, 'finger', later=1.1) == []
    # A joint that the node needs has codes of its own.
    (line,) = rig.update('b1', 'b2', later=3.0)
    assert 'of finger have ended' in line and rig.told[0] == ('finger',)
    rig.adopt()
    assert rig.update(*A, later=1.0) == [] and rig.told[0] == ('finger', 'b1', 'b2')
    (line,) = rig.update(*A, later=1.1)
    assert 'finger, b1, b2' in line
    rig.inbox.controlled.put(None)
    assert rig.update() == [] and rig.told == ((), '')
