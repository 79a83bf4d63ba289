# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node's side of ~/markers: what the process that draws is told, and when it runs.

The process and the control loop are played; the tests move the clock.
"""

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from visualization_msgs.msg import Marker

from ros_ik.node.markers import marker_client
from ros_ik.node.markers.marker_client import Markers
from ros_ik.node.markers.process_link import DrawnRobot
from ros_ik.node.markers.process_link import MarkerState
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.servo import Measurement
from ros_ik.servo import Obstacle
from ros_ik.servo import TaskReport
from ros_ik.servo import TwistTarget
from ros_ik.servo.targets.tracking import TargetKind
from ros_ik.settings import read_settings

POSE, TARGET = np.arange(7.0), np.arange(7.0, 14.0)
TWIST = TwistTarget(np.ones(3), np.ones(3), 0, 0.0, 1)
NAN = math.nan


class Process:
    """A process that draws."""

    def __init__(self):
        self.got, self.answer, self.ended = [], b'drawn', False

    def send(self, news):
        self.got.append(news)

    def request(self, state):
        self.got.append(state)
        return self.answer

    def end(self):
        self.ended = True

    def take(self):
        """Return what came since the last call."""
        got, self.got = self.got, []
        return got


class Rig:
    """Markers of a servo, without a thread."""

    def __init__(self):
        self.now, self.subscribers, self.published, self.lines = 100.0, 1, [], []
        self.processes, self.commands = [], 0
        publisher = SimpleNamespace(
            get_subscription_count=lambda: self.subscribers,
            publish=self.published.append,
            wait_for_all_acked=lambda timeout: self.published.append('acknowledged'),
        )
        node = SimpleNamespace(
            create_publisher=lambda *_: publisher,
            get_logger=lambda: SimpleNamespace(error=self.lines.append),
        )
        inbox = SimpleNamespace(controlled=Mailbox(None), command=Mailbox(None))
        self.inbox = inbox
        self.loop = SimpleNamespace(inbox=inbox, output=None)
        self.command()
        self.settings = read_settings({'ee.frame': 'x'})
        self.markers = Markers(node, self.settings, self.loop)

    @property
    def process(self):
        return self.processes[-1]

    def command(self, obstacles=(), center=None):
        self.inbox.command.put(SimpleNamespace(obstacles=obstacles, center_of_mass=center))

    def measure(self, *positions, received=1.0):
        measured = np.full(len(positions), received)
        measured[np.isnan(positions)] = NAN
        self.measurement.put(Measurement(np.array(positions), measured))

    def run_servo(self, adopt=True):
        """Run another servo; its robot has two joints."""
        tracker = SimpleNamespace(
            accepted=SimpleNamespace(pose=TARGET, twist=TWIST), target_kind=TargetKind.NONE
        )
        model = SimpleNamespace(
            neutral_joint_q=lambda: np.array([7.0, 8.0]), apply_mimic=lambda joint_q: joint_q
        )
        servo = SimpleNamespace(
            targets=SimpleNamespace(trackers=[tracker]), robot=SimpleNamespace(model=model)
        )
        self.tracker, self.measurement = tracker, Mailbox(None)
        self.measure(0.1, 0.2)
        self.report()
        if adopt:
            self.markers.adopt(servo, '<robot/>', '<srdf/>')
        self.inbox.controlled.put(
            SimpleNamespace(servo=servo, measurement=self.measurement)
        )
        return servo

    def report(self, kind=TargetKind.NONE, center=None, **fields):
        """Set the report of the last tick."""
        self.tracker.target_kind = kind
        report = TaskReport('ee', current_pose=POSE, **fields)
        self.loop.output = SimpleNamespace(tasks=[report], center_of_mass=center)

    def step(self, seconds=0.1):
        """Make one round after a time; return the state that was drawn, or None."""
        self.now += seconds
        self.markers._publish_once()
        got = self.processes[-1].got if self.processes else []
        return got[-1] if got and isinstance(got[-1], MarkerState) else None


@pytest.fixture
def rig(monkeypatch):
    rig = Rig.__new__(Rig)
    still = SimpleNamespace(Thread=lambda **_: SimpleNamespace(start=lambda: None),
                            Event=threading.Event)  # fmt: skip
    monkeypatch.setattr(marker_client, 'threading', still)
    monkeypatch.setattr(marker_client, 'time', SimpleNamespace(monotonic=lambda: rig.now))
    monkeypatch.setattr(
        marker_client, '_MarkerProcess',
        lambda: rig.processes.append(Process()) or rig.processes[-1],
    )  # fmt: skip
    rig.__init__()
    return rig


def is_clearing(message):
    return [marker.action for marker in getattr(message, 'markers', ())] == [Marker.DELETEALL]


def test_a_robot_is_sent_once_and_changed_settings_once(rig):
    rig.run_servo()
    rig.step()
    robot, state = rig.process.take()
    assert isinstance(robot, DrawnRobot) and isinstance(state, MarkerState)
    assert (robot.urdf, robot.srdf, robot.settings) == ('<robot/>', '<srdf/>', rig.settings)
    # Everything that was shown before is deleted, and that arrives first.
    assert is_clearing(rig.published[0]) and rig.published[1:] == ['acknowledged', b'drawn']
    changed = read_settings({'ee.frame': 'x', 'marker_rate': 0.5})
    rig.markers.apply(changed)
    for expected in ([changed, MarkerState], [MarkerState]):
        rig.step()
        got = rig.process.take()
        assert [one if one is changed else type(one) for one in got] == expected
    assert len(rig.published) == 5 and len(rig.processes) == 1


def test_another_robot_or_none_clears_what_is_shown(rig):
    rig.run_servo()
    rig.step()
    rig.process.take()
    rig.published.clear()
    rig.run_servo()
    rig.step()
    assert is_clearing(rig.published[0]) and isinstance(rig.process.take()[0], DrawnRobot)
    rig.published.clear()
    rig.inbox.controlled.put(None)
    for _ in range(3):
        rig.step()
    assert is_clearing(rig.published[0]) and rig.published[1:] == ['acknowledged']
    assert not rig.process.take()


def test_a_robot_whose_description_is_not_known_yet_is_not_drawn(rig):
    rig.run_servo()
    rig.step()
    rig.process.take()
    rig.published.clear()
    servo = rig.run_servo(adopt=False)
    rig.step()
    assert not rig.process.take() and not rig.published
    rig.markers.adopt(servo, '<other/>', '')
    rig.step()
    assert rig.process.take()[0].urdf == '<other/>'


def test_obstacles_keep_the_state_of_their_arrival(rig):
    one, two, three = (
        Obstacle(name, 'sphere', (0.1,), np.zeros(7), 0) for name in ('one', 'two', 'three')
    )
    rig.run_servo()
    found = []
    for first, obstacles in (
        (0.1, (one,)), (0.2, (one, two)), (0.3, (one, two)), (0.4, (two,)), (0.5, (three,)),
        (0.6, ()),
    ):  # fmt: skip
        rig.measure(first, 0.0)
        rig.command(obstacles)
        found.append([
            (received.obstacle.name, received.joint_q[0]) for received in rig.step().obstacles
        ])  # fmt: skip
    assert found == [
        [('one', 0.1)], [('one', 0.1), ('two', 0.2)], [('one', 0.1), ('two', 0.2)],
        [('two', 0.2)], [('three', 0.5)], [],
    ]  # fmt: skip
    # Without a subscriber, too.
    rig.subscribers = 0
    rig.measure(0.7, 0.0)
    rig.command((one,))
    rig.step()
    rig.subscribers = 1
    rig.measure(0.8, 0.0)
    assert [received.joint_q[0] for received in rig.step().obstacles] == [0.7]


def test_joints_without_a_state_are_drawn_where_they_are_neutral(rig):
    rig.run_servo()
    rig.measure(0.1, NAN)
    assert rig.step().joint_q.tolist() == [0.1, 8.0]


@pytest.mark.parametrize(
    ('kind', 'fields', 'target', 'twist'),
    [
        (TargetKind.POSE, {'active': True, 'linear_error': 0.1}, TARGET, None),
        (TargetKind.POSE, {'active': False, 'linear_error': 0.1}, None, None),
        (TargetKind.TWIST, {'active': True, 'linear_error': NAN}, None, TWIST),
        (TargetKind.TWIST, {'active': False}, None, None),
    ],
)
@pytest.mark.parametrize('reached', [True, False])
def test_only_the_target_that_a_task_follows_is_drawn(rig, kind, fields, target, twist, reached):
    rig.run_servo()
    rig.report(kind, reached=reached, **fields)
    (task,) = rig.step().tasks
    assert task.target is target and task.twist is twist
    assert task.pose is POSE and task.reached is reached


def test_the_target_of_the_centre_of_mass_is_drawn_while_it_is_followed(rig):
    rig.run_servo()
    rig.command(center=SimpleNamespace(frame_link=3, position=POSE[:3]))
    assert rig.step().center_of_mass is None
    rig.report(center='a report')
    link, position = rig.step().center_of_mass
    assert (link, position.tolist()) == (3, [0.0, 1.0, 2.0])
    rig.command()
    assert rig.step().center_of_mass is None


@pytest.mark.parametrize(('rate', 'lifetime'), [(20.0, 1.0), (3.0, 1.0), (0.5, 6.0)])
def test_markers_live_until_they_are_drawn_again(rig, rate, lifetime):
    rig.run_servo()
    rig.markers.apply(read_settings({'ee.frame': 'x', 'marker_rate': rate}))
    assert rig.step().lifetime == pytest.approx(lifetime)


def test_the_process_ends_half_a_minute_after_the_last_subscriber(rig):
    rig.subscribers = 0
    rig.run_servo()
    rig.step()
    assert not rig.processes
    rig.subscribers = 1
    rig.step()
    rig.subscribers = 0
    rig.step(29.0)
    assert not rig.process.ended
    rig.step(2.0)
    assert rig.process.ended
    rig.subscribers = 1
    rig.step()
    first, second = rig.processes
    # The new process knows nothing.
    assert isinstance(second.take()[0], DrawnRobot) and not second.ended


@pytest.mark.parametrize(('answer', 'text'), [(None, 'it ended'), ('no such link', 'no such')])
def test_a_process_that_fails_is_replaced_after_ten_seconds(rig, answer, text):
    rig.run_servo()
    rig.step()
    rig.process.answer = answer
    rig.published.clear()
    rig.step()
    assert rig.process.ended and not rig.published
    assert len(rig.lines) == 1 and text in rig.lines[0]
    rig.step(9.5)
    assert len(rig.processes) == 1
    rig.step(1.0)
    assert len(rig.processes) == 2 and rig.published[-1] == b'drawn' and len(rig.lines) == 1


def test_the_end_ends_the_process(rig):
    rig.markers._thread = SimpleNamespace(join=lambda timeout: None)
    rig.run_servo()
    rig.step()
    rig.published.clear()
    rig.markers.end()
    assert rig.process.ended
    # An answer that comes now must not be published: the publisher may be gone.
    rig.step()
    assert not rig.published


def test_an_error_ends_the_process_and_not_the_thread(rig):
    rig.run_servo()
    rig.step()
    process, rounds = rig.process, iter((False, True))
    rig.process.request = lambda state: 1 / 0
    rig.markers._ended = SimpleNamespace(wait=lambda _: next(rounds), is_set=lambda: False)
    rig.markers._run()
    assert process.ended
    assert rig.lines == [
        'cannot draw ~/markers: ZeroDivisionError: division by zero; trying again in 10 s'
    ]
    assert rig.step(11.0) is not None and len(rig.processes) == 2
