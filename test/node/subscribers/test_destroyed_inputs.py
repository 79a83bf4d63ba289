# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Requests and messages that arrived before a cleanup and are handled after it."""

import time

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.qos import QoSProfile
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import PATIENCE
from support.rigs.servo_rig import Rig

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.model_loading.srdf_lines import SrdfLines
from ros_ik.node.subscribers.control_services import ControlServices
from ros_ik.node.subscribers.obstacle_topic import ObstacleTopic
from ros_ik.node.subscribers.transforms import Transforms
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.servo import Command
from ros_ik.servo import Measurement
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import SetMode

pytestmark = pytest.mark.dds


class Cleaned(GuardedNode):
    """A node with a service that destroys inputs, and the errors of its callbacks."""

    def __init__(self, context):
        super().__init__('ros_ik', context=context)
        self.faults, self.inputs = [], None
        self.after_cleanup = self.during_transition = lambda: None
        self.create_service(Trigger, '~/cleanup', self.cleanup)
        self.create_service(Trigger, '~/transition', self.transition)

    def cleanup(self, _, response):
        self.inputs.destroy()
        self.after_cleanup()
        return response

    def transition(self, _, response):
        self.during_transition()
        return response

    def on_fault(self, where, error):
        self.faults.append((where, repr(error)))


@pytest.fixture
def cleaned():
    """Return a node, its executor, and a node of clients that the same executor serves."""
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        executor, node = make_executor(context), Cleaned(context)
        other = rclpy.create_node('client', context=context)
        for one in (node, other):
            executor.add_node(one)
        try:
            yield node, executor, other
        finally:
            executor.shutdown()
            for one in (node, other):
                one.destroy_node()
            rclpy.try_shutdown(context=context)


def spin(executor, until):
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, 'it never came'
        executor.spin_once(timeout_sec=0.05)


def clean_up(executor, other, send):
    """Request a cleanup, send something, and let the executor serve both only then."""
    client = other.create_client(Trigger, '/ros_ik/cleanup')
    spin(executor, client.service_is_ready)
    answer = client.call_async(Trigger.Request())
    time.sleep(0.2)
    sent = send()
    time.sleep(0.2)
    spin(executor, answer.done)
    return sent


def test_control_services_answer_what_came_before_they_were_destroyed(cleaned):
    node, executor, other = cleaned
    command = Mailbox(Command())
    node.inputs = ControlServices(node, command, lambda: None)
    kinds = {'pause': SetBool, 'set_mode': SetMode, 'stop': Trigger}
    clients = {name: other.create_client(kind, f'/ros_ik/{name}') for name, kind in kinds.items()}
    spin(executor, lambda: all(client.service_is_ready() for client in clients.values()))

    def send():
        return {
            name: client.call_async(kinds[name].Request()) for name, client in clients.items()
        }

    answers = clean_up(executor, other, send)
    spin(executor, lambda: all(answer.done() for answer in answers.values()))
    assert all(answer.result().success for answer in answers.values())
    assert command.get().stopped
    assert node.faults == []
    spin(executor, lambda: not any(client.service_is_ready() for client in clients.values()))


def test_control_services_answer_every_request_of_a_burst(cleaned):
    """A client of many open requests needs a depth of as many, docs/troubleshooting.md."""
    node, executor, other = cleaned
    node.inputs = ControlServices(node, Mailbox(Command()), lambda: None)
    SrdfLines(node, lambda: None)
    kinds = {
        'pause': SetBool, 'set_mode': SetMode, 'stop': Trigger, 'reset': Trigger,
        'srdf_lines': Trigger,
    }  # fmt: skip
    clients = {
        name: other.create_client(kind, f'/ros_ik/{name}', qos_profile=QoSProfile(depth=1000))
        for name, kind in kinds.items()
    }
    spin(executor, lambda: all(client.service_is_ready() for client in clients.values()))
    # The executor serves none before all have been sent.
    answers = [
        client.call_async(kinds[name].Request())
        for _ in range(100)
        for name, client in clients.items()
    ]
    time.sleep(0.2)
    spin(executor, lambda: all(answer.done() for answer in answers))


def test_control_services_answer_what_comes_until_they_are_destroyed(cleaned):
    node, executor, other = cleaned
    node.inputs = ControlServices(node, Mailbox(Command()), lambda: None)
    stop = other.create_client(Trigger, '/ros_ik/stop')
    spin(executor, stop.service_is_ready)
    asked = []

    def ask():
        assert stop.service_is_ready()
        asked.append(stop.call_async(Trigger.Request()))
        time.sleep(0.2)

    node.after_cleanup = ask
    clean_up(executor, other, lambda: None)
    spin(executor, asked[0].done)
    assert asked[0].result().success
    assert node.faults == []


def test_control_services_are_gone_before_the_next_transition(cleaned):
    """Otherwise it would receive requests, and answer none of them until the transition ends."""
    node, executor, other = cleaned
    node.inputs = ControlServices(node, Mailbox(Command()), lambda: None)
    stop = other.create_client(Trigger, '/ros_ik/stop')
    begin = other.create_client(Trigger, '/ros_ik/transition')
    spin(executor, lambda: stop.service_is_ready() and begin.service_is_ready())
    asked, ready = [], []

    def ask():
        asked.append(begin.call_async(Trigger.Request()))
        time.sleep(0.2)

    def watch():
        give_up = time.monotonic() + 0.5 * PATIENCE
        while stop.service_is_ready() and time.monotonic() < give_up:
            time.sleep(0.01)
        ready.append(stop.service_is_ready())

    node.after_cleanup, node.during_transition = ask, watch
    clean_up(executor, other, lambda: None)
    spin(executor, lambda: asked[0].done())
    assert ready == [False]


def test_obstacles_that_come_to_a_destroyed_topic_are_ignored(cleaned):
    node, executor, other = cleaned
    rig, command, stats = Rig.shared(), Mailbox(Command()), MessageStats(node)
    transforms = Transforms(node, False)
    transforms.adopt(rig.robot)
    topic = ObstacleTopic(node, rig.settings, command, transforms, stats, lambda: None)
    measured = Measurement(rig.q, np.zeros(len(rig.q)))
    topic.adopt(rig.robot, lambda: measured)
    node.inputs = topic
    publisher = other.create_publisher(ObstacleArray, '/ros_ik/obstacles', 10)
    ball = Obstacle(id='ball', type=Obstacle.SPHERE, dimensions=[0.1])
    ball.pose.orientation.w = 1.0
    spin(executor, lambda: publisher.get_subscription_count())
    publisher.publish(ObstacleArray(obstacles=[ball]))
    spin(executor, lambda: command.get().obstacles)
    clear = ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)])
    clean_up(executor, other, lambda: publisher.publish(clear))
    for _ in range(20):
        executor.spin_once(timeout_sec=0.02)
    assert node.faults == []
    assert len(command.get().obstacles) == 1
    assert stats.total == 0
