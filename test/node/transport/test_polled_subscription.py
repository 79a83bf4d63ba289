# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Topics read by the control thread: real messages over DDS, and no executor that takes them."""

import math
import threading
import time

from geometry_msgs.msg import PoseStamped
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE

from ros_ik import Model
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.subscribers.inputs import Inputs
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.polled_subscription import Stream
from ros_ik.node.transport.polled_subscription import StreamNode
from ros_ik.node.transport.polled_subscription import StreamPoller
from ros_ik.node.transport.qos_profiles import LATEST_STATES
from ros_ik.node.transport.qos_profiles import LATEST_TARGET
from ros_ik.servo import Servo
from ros_ik.settings import read_settings

pytestmark = pytest.mark.dds


@pytest.fixture
def node():
    """Return a node on a domain of its own."""
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        node = StreamNode('streams', context=context)
        try:
            yield node
        finally:
            node.destroy_node()
            rclpy.try_shutdown(context=context)


class Heard:
    """Messages that a stream has passed on, by the name of their frame."""

    def __init__(self, node, topic='poses', qos=LATEST_TARGET):
        self.frames = []
        self.stream = Stream(node, PoseStamped, topic, self._receive, qos)
        self._publisher = node.create_publisher(PoseStamped, topic, 100)

    def _receive(self, data):
        self.frames.append(deserialize_message(data, PoseStamped).header.frame_id)

    def publish(self, *frames):
        for frame in frames:
            self._publisher.publish(pose_in(frame))

    def read_until(self, frame):
        wait(lambda: self.stream.read(0.0) or frame in self.frames)


def pose_in(frame):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.orientation.w = 1.0
    return message


def wait(condition):
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, 'nothing came'
        time.sleep(0.001)


def settle(node, topic, count=1):
    """Wait until a topic has a publisher and its messages have arrived."""
    wait(lambda: node.count_publishers(topic) >= count)
    time.sleep(0.1)


@pytest.mark.parametrize('make', [make_executor, SingleThreadedExecutor])
def test_no_executor_takes_what_a_stream_reads(node, make):
    heard, delivered = Heard(node), []
    node.create_subscription(PoseStamped, 'poses', delivered.append, 10)
    executor = make(context=node.context)
    executor.add_node(node)
    try:
        heard.publish('a')
        wait(lambda: executor.spin_once(timeout_sec=0.01) or delivered)
        for _ in range(5):
            executor.spin_once(timeout_sec=0.01)
        assert heard.frames == []
        heard.read_until('a')
        assert heard.frames == ['a']
    finally:
        executor.shutdown()


def test_the_newest_target_is_read_and_states_in_their_order(node):
    newest, states = Heard(node), Heard(node, 'states', LATEST_STATES)
    for heard in (newest, states):
        heard.publish('first')
        heard.read_until('first')
    frames = [str(k) for k in range(LATEST_STATES.depth + 5)]
    for heard in (newest, states):
        heard.publish(*frames)
    settle(node, 'states')
    for heard in (newest, states):
        heard.stream.read(1.0)
        heard.stream.read(2.0)
        assert heard.stream.heard == 1.0
    assert newest.frames == ['first', frames[-1]]
    assert states.frames == ['first', *frames[-LATEST_STATES.depth :]]


def test_what_is_discarded_is_never_read(node):
    heard = Heard(node)
    heard.publish('a')
    heard.read_until('a')
    heard.publish('b')
    time.sleep(0.2)
    heard.stream.discard()
    heard.stream.read(1.0)
    heard.publish('c')
    heard.read_until('c')
    assert heard.frames == ['a', 'c']


def test_a_stream_may_be_destroyed_while_it_is_read(node):
    ended, read = threading.Event(), 0
    heard = Heard(node, qos=LATEST_STATES)

    def go_on():
        nonlocal read
        while not ended.is_set():
            heard.stream.read(0.0)
            read += 1

    reader = threading.Thread(target=go_on, daemon=True)
    reader.start()
    try:
        heard.publish('a')
        wait(lambda: heard.frames)
        heard.stream.destroy()
        before = read
        wait(lambda: read > before + 10)
    finally:
        ended.set()
        reader.join(PATIENCE)
    assert not reader.is_alive()
    wait(lambda: node.count_subscribers('poses') == 0)


class Counted:
    """A stream that counts its reads, with a message at some of them."""

    def __init__(self):
        self.heard, self.readings, self.full = -math.inf, 0, False

    def read(self, now):
        self.readings += 1
        if self.full:
            self.heard = now


@pytest.mark.parametrize(('rate', 'looks'), [(1000.0, 1), (500.0, 2), (100.0, 6), (10.0, 6)])
def test_a_silent_stream_is_looked_at_in_turn_and_a_lively_one_each_tick(rate, looks):
    streams = [Counted() for _ in range(6)]
    streams[2].full = True
    turns = StreamPoller(streams, 1.0 / rate)
    now = 0.0
    for _ in range(6):
        turns.read(now)
        now += 1.0 / rate
    readings = [each.readings for each in streams]
    others = readings[:2] + readings[3:]
    assert others == [looks] * 5
    # Found within a round at the latest, and read at each tick since.
    assert 4 <= readings[2] <= 6
    # No message for a second: it counts as silent again.
    streams[2].full = False
    for each in streams:
        each.readings = 0
    for _ in range(6):
        turns.read(now + 1.5)
    assert [each.readings for each in streams] == [looks] * 6


def test_no_stream_is_read_where_there_is_none():
    StreamPoller((), 0.0).read(1.0)


@pytest.fixture(scope='module')
def servo():
    model = Model.from_urdf(panda_urdf(), device='cpu')
    return Servo(model, read_settings({'ee.frame': 'panda_hand_tcp'}))


@pytest.fixture
def inputs(node, servo):
    """Return the inputs of a node for a Panda, and its inbox."""
    inbox = Inbox.empty()
    inbox.settings.put(servo.settings)
    stats = MessageStats(node)
    inputs = Inputs(node, servo.settings, inbox, time.monotonic, stats, lambda: None)
    inputs.adopt(servo)
    yield inputs, inbox
    inputs.destroy()


def send(node, topic, message):
    """Publish a message and wait until it is there to be read."""
    publisher = node.create_publisher(type(message), topic, 1)
    wait(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(message)
    time.sleep(0.2)


def read_all(inbox):
    """Read every topic, as some ticks do."""
    for _ in range(10):
        inbox.streams.get().read(time.monotonic())


def forgetful(topics):
    """Return the events that drop a node's targets, by name."""
    services = topics._services
    return {
        'reset': lambda: services._on_reset(Trigger.Request(), Trigger.Response()),
        'pause': lambda: services._on_pause(SetBool.Request(data=False), SetBool.Response()),
        'activation': lambda: topics.activate(True),
    }


def test_a_target_that_came_before_an_event_is_forgotten_even_if_no_tick_has_read_it(node, inputs):
    topics, inbox = inputs
    for name, event in forgetful(topics).items():
        send(node, '~/target_pose', pose_in('panda_link0'))
        event()
        read_all(inbox)
        assert inbox.command.get().newest_target() == 0, name
    send(node, '~/target_pose', pose_in('panda_link0'))
    read_all(inbox)
    assert inbox.command.get().newest_target() > 0


@pytest.mark.parametrize('event', ['reset', 'pause', 'activation'])
def test_a_target_that_is_being_read_is_forgotten_too(node, inputs, monkeypatch, event):
    """The event comes after DDS has handed the message to the control thread."""
    topics, inbox = inputs
    find = topics.transforms.find

    def find_late(frame_id, stamp):
        monkeypatch.setattr(topics.transforms, 'find', find)
        forgetful(topics)[event]()
        return find(frame_id, stamp)

    monkeypatch.setattr(topics.transforms, 'find', find_late)
    send(node, '~/target_pose', pose_in('panda_link0'))
    read_all(inbox)
    assert inbox.command.get().newest_target() == 0
    send(node, '~/target_pose', pose_in('panda_link0'))
    read_all(inbox)
    assert inbox.command.get().newest_target() > 0


def test_a_target_of_the_robot_before_is_none_for_the_next(node, inputs, servo, monkeypatch):
    """The robot changes while the control thread reads a target."""
    topics, inbox = inputs
    find = topics.transforms.find

    def find_late(frame_id, stamp):
        monkeypatch.setattr(topics.transforms, 'find', find)
        topics.adopt(servo)
        return find(frame_id, stamp)

    monkeypatch.setattr(topics.transforms, 'find', find_late)
    send(node, '~/target_pose', pose_in('panda_link0'))
    read_all(inbox)
    assert inbox.command.get().poses == (None,)
    send(node, '~/target_pose', pose_in('panda_link0'))
    read_all(inbox)
    assert inbox.command.get().poses[0] is not None


def test_states_of_several_publishers_between_two_ticks_are_merged(node, inputs, servo):
    topics, inbox = inputs
    measurement = topics.adopt(servo)
    publishers = [node.create_publisher(JointState, 'joint_states', 10) for _ in range(3)]
    wait(lambda: all(publisher.get_subscription_count() == 1 for publisher in publishers))
    for k, publisher in enumerate(publishers):
        for turn in range(4):
            names = ARM[2 * k : 2 * k + 2]
            publisher.publish(JointState(name=names, position=[0.1 * k, 0.1 * turn]))
    time.sleep(0.2)
    read_all(inbox)
    q = measurement.get().joint_q[servo.robot.coords]
    assert q[:6] == pytest.approx([0.0, 0.3, 0.1, 0.3, 0.2, 0.3])


@pytest.mark.parametrize('last', [math.nan, math.inf])
def test_numbers_that_are_none_cost_their_joint_alone(node, inputs, servo, last):
    topics, inbox = inputs
    measurement = topics.adopt(servo)
    values = [0.1, 0.2, last]
    send(node, 'joint_states', JointState(name=ARM[:3], position=values))
    read_all(inbox)
    coords = servo.robot.coords[:3]
    assert measurement.get().joint_q[coords][:2] == pytest.approx(values[:2])
    assert list(measurement.get().received[coords] > 0.0) == [True, True, False]


def test_drops_are_counted_by_two_threads_and_logged_by_one(node, monkeypatch):
    message_stats, lines = MessageStats(node), []
    node.get_logger().warning = lines.append
    # The log repeats it after some time, which may pass on a busy machine.
    monkeypatch.setattr('ros_ik.node.transport.message_stats._LOG_PERIOD', 1e3)
    threads = [
        threading.Thread(
            target=lambda topic=topic: [
                message_stats.add_in_tick(topic, Drop.TOO_LARGE, lambda: 'much')
                for _ in range(20_000)
            ]
        )
        for topic in 'ab'
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert message_stats.counts == {'too_large': 40_000}
    assert message_stats.total == 40_000
    assert lines == []
    message_stats.log()
    assert sorted(lines) == [f'dropped a message on {topic}: too_large: much' for topic in 'ab']
    message_stats.log()
    assert len(lines) == 2
