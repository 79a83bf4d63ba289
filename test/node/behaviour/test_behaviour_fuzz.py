# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Hostile messages and requests on every topic and service of the node.

Names come from the graph and are compared with docs/interface.yaml; fields are found by
introspection. FUZZ_ROUNDS sets the length: a round is some 700 messages and requests.
"""

import collections
import os
from pathlib import Path
import random
import subprocess

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from rcl_interfaces.msg import Parameter
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import DescribeParameters
from rcl_interfaces.srv import GetParameters
from rcl_interfaces.srv import ListParameters
from rcl_interfaces.srv import SetParameters
from rcl_interfaces.srv import SetParametersAtomically
from rclpy._rclpy_pybind11 import RCLError
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from support.processes.hostile import find_type
from support.processes.hostile import Hostile
from support.processes.hostile import is_bomb
from support.processes.raw_dds import RawWriter
from support.processes.ros_processes import ROOT
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot
import yaml

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import SetMode

pytestmark = pytest.mark.dds

ROUNDS = int(os.environ.get('FUZZ_ROUNDS', '1'))
# Messages and requests of one interface in a round, each way.
COUNT = 8
# Pending requests at a time: DDS keeps ten, and drops the oldest.
TOGETHER = 4
NODES = ('ros_ik', 'ros_ik_planning')
# Purposes of rclpy's own topics; the node does not use them.
_IGNORED = {'/parameter_events', '/rosout', '/clock'}
# A node has some 30 MB of buffers that DDS and the allocator keep [MB].
MAX_GROWTH = 150


def interfaces():
    """Return the documented topics and services by resolved name, those that can exist here."""
    table = yaml.safe_load((ROOT / 'docs' / 'interface.yaml').read_text())
    names = {
        kind: [
            entry['name'].replace('<task>', 'ee').replace('~', '/ros_ik')
            for entry in table[kind]
            if 'needs' not in entry
        ]
        for kind in ('subscriptions', 'services', 'actions')
    }
    absolute = {k: {'/' + name.lstrip('/') for name in v} for k, v in names.items()}
    standard = {name.replace('~', '/ros_ik') for name in table['standard']['node']['services']}
    return absolute['subscriptions'], absolute['services'] | standard, absolute['actions']


class Target:
    """The node under attack, and its return to a state that can be judged."""

    def __init__(self, client):
        self.client, self.counts = client, collections.Counter()
        self.robot, self.side = HeldRobot(client), 1
        node = client.node
        self.stop = node.create_publisher(Bool, 'ros_ik/stop_request', LATCHED)
        self.obstacles = node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        self.joints = node.create_publisher(JointState, 'ros_ik/target_joints', 1)

    def find(self):
        """Find all topics and services on the graph."""
        graph = self.client.node
        if not set(NODES) <= set(graph.get_node_names()):
            return False
        self.topics = {
            name: find_type(kinds[0])
            for name, kinds in graph.get_subscriber_names_and_types_by_node(NODES[0], '/')
            if name not in _IGNORED
        }
        self.services = {
            name: find_type(kinds[0])
            for node in NODES
            for name, kinds in graph.get_service_names_and_types_by_node(node, '/')
        }
        topics, services, actions = interfaces()
        hidden = {
            f'{name}/_action/{part}'
            for name in actions
            for part in ('send_goal', 'cancel_goal', 'get_result')
        }
        return topics <= set(self.topics) and services | hidden <= set(self.services)

    def processes(self):
        """Return the identifiers of the node and of the process that answers planners."""
        pid = self.client.processes.pid('node')
        children = subprocess.run(
            ['ps', '-o', 'pid=,args=', '--ppid', str(pid)],
            capture_output=True, text=True, check=False,
        ).stdout.splitlines()  # fmt: skip
        return [pid, *(int(c.split()[0]) for c in children if 'services.planner_main' in c)]

    def memory(self):
        """Return the memory of each of them [MB]."""
        return [
            int(line.split()[1]) // 1024
            for pid in self.processes()
            for line in Path(f'/proc/{pid}/status').read_text().splitlines()
            if line.startswith('VmRSS')
        ]

    def parameters(self):
        """Return every parameter and its value."""
        names = self.client.call(
            ListParameters, 'ros_ik/list_parameters', ListParameters.Request()
        ).result.names
        values = self.client.call(
            GetParameters, 'ros_ik/get_parameters', GetParameters.Request(names=names)
        ).values
        assert len(values) == len(names)
        return dict(zip(names, values, strict=True))

    def recover(self, original):
        """Undo the permitted effects of hostile messages."""
        client = self.client
        # Pending requests might undo the following ones: each turn of the node's executor, and so
        # each answer to one of these, serves at least one request of every service.
        for _ in range(COUNT + 2):
            client.state()
        self.stop.publish(Bool(data=False))
        self.obstacles.publish(ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)]))
        changed = [
            Parameter(name=name, value=original[name])
            for name, value in self.parameters().items()
            if value != original[name] and value.type != ParameterType.PARAMETER_NOT_SET
        ]
        if changed:
            answer = client.call(
                SetParametersAtomically, 'ros_ik/set_parameters_atomically',
                SetParametersAtomically.Request(parameters=changed),
            ).result  # fmt: skip
            assert answer.successful, answer.reason
        if client.state() == 'unconfigured':
            assert client.transition(Transition.TRANSITION_CONFIGURE)
        if client.state() == 'inactive':
            assert client.transition(Transition.TRANSITION_ACTIVATE)
        client.pause(False)
        request = SetMode.Request(mode=SetMode.Request.AUTO)
        assert client.call(SetMode, 'ros_ik/set_mode', request).success
        client.wait_for(lambda: client.trigger('reset').success, 'a reset')

    def judge(self, pids):
        """Check that the node lives, ticks, answers, takes a target and moves to it."""
        client = self.client
        assert client.processes.is_alive('node'), client.processes.text('node')[-3000:]
        assert self.processes() == pids
        client.wait_for_ticks(5)
        self.side = -self.side
        start = HeldRobot.home()
        goal = start['panda_joint1'] + 0.1 * self.side

        def is_there():
            self.joints.publish(JointState(name=['panda_joint1'], position=[goal]))
            client.spin(0.02)
            return abs(self.robot.position['panda_joint1'] - goal) < 1e-6

        client.wait_for(is_there, 'motion')


@pytest.fixture(scope='module')
def target(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('fuzz'), children=False, planners=True) as client:
        start_node(
            client, use_tf=False, services__timeout=0.2,
            **UNWATCHED, **NEVER_STALE,
        )  # fmt: skip
        found = Target(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        client.wait_for(found.find, 'the documented interfaces')
        yield found
        if not client.processes.is_alive('node'):
            print(client.processes.text('node')[-5000:])


def is_fair(request):
    """Return True if a request is a permitted one that ends the node."""
    if not isinstance(request, ChangeState.Request):
        return True
    shutdowns = {
        Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, Transition.TRANSITION_INACTIVE_SHUTDOWN,
        Transition.TRANSITION_ACTIVE_SHUTDOWN,
    }  # fmt: skip
    return request.transition.id not in shutdowns and 'shutdown' not in request.transition.label


def attack_topics(target, hostile):
    """Publish hostile messages, and bytes that are no messages."""
    for name, kind in target.topics.items():
        publisher = target.client.node.create_publisher(kind, name, LATCHED)
        target.client.wait_for(publisher.get_subscription_count, f'a subscriber of {name}')
        for _ in range(COUNT):
            publisher.publish(hostile.message(kind))
            target.counts['messages'] += 1
            try:
                publisher.publish(hostile.bytes(kind))
                target.counts['malformed messages'] += 1
            except RCLError:  # the sender's own middleware checks them
                target.counts['not sent'] += 1
            target.client.spin(0.002)
        target.client.node.destroy_publisher(publisher)


def attack_services(target, hostile):
    """Send hostile requests, each of which is answered."""
    client = target.client
    for name, kind in target.services.items():
        caller = client.node.create_client(kind, name)
        client.wait_for(caller.service_is_ready, name)
        requests = [hostile.message(kind.Request) for _ in range(COUNT)]
        requests = [request for request in requests if is_fair(request)]
        for first in range(0, len(requests), TOGETHER):
            futures = [caller.call_async(r) for r in requests[first : first + TOGETHER]]
            if not name.endswith('get_result'):  # which waits for the end of a goal
                client.wait_for(
                    lambda futures=futures: all(f.done() for f in futures), f'answers of {name}'
                )
            target.counts['requests'] += len(futures)
        client.node.destroy_client(caller)


def attack_requests_with_bytes(target, hostile):
    """Write bytes where requests are expected."""
    client = target.client
    for name, kind in target.services.items():
        writer = RawWriter(client.node, kind.Request, f'rq{name}Request')
        client.wait_for(lambda writer=writer: writer.matched, name)
        for _ in range(COUNT):
            data = hostile.bytes(kind.Request)
            if is_bomb(data, kind.Request):
                target.counts['not tried'] += 1
                continue
            if kind is ChangeState and any(number in data for number in (5, 6, 7)):
                continue
            writer.write(data)
            target.counts['malformed requests'] += 1
            client.spin(0.002)
        writer.destroy()


@pytest.mark.timeout(400 * ROUNDS)
def test_nothing_on_the_graph_ends_or_blocks_the_node(target):
    client, original = target.client, target.parameters()
    words = [*ARM, *original, 'ee', 'panda_hand_tcp', 'panda_link0', 'sphere', 'configure']
    pids = target.processes()
    assert len(pids) == len(NODES)
    target.judge(pids)
    memory = None
    for turn in range(ROUNDS):
        hostile = Hostile(random.Random(turn), words)
        for attack in (attack_topics, attack_services, attack_requests_with_bytes):
            attack(target, hostile)
            target.recover(original)
            target.judge(pids)
        memory = memory or target.memory()
    growth = [now - before for now, before in zip(target.memory(), memory, strict=True)]
    faults = client.dropped().get('internal_error', 0)
    print(f'{ROUNDS} rounds: {dict(target.counts)}, growth {growth} MB, {faults} internal errors')
    assert max(growth) < MAX_GROWTH


def test_a_type_of_parameter_that_does_not_exist_is_refused(target):
    client = target.client
    wrong = Parameter(name='limits.velocity_scale', value=ParameterValue(type=250))
    good = Parameter(
        name='limits.velocity_scale',
        value=ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5),
    )
    request = SetParameters.Request(parameters=[wrong, good])
    first, second = client.call(SetParameters, 'ros_ik/set_parameters', request).results
    assert not first.successful
    assert 'limits.velocity_scale' in first.reason and '250' in first.reason
    assert second.successful
    together = SetParametersAtomically.Request(parameters=[good, wrong])
    answer = client.call(
        SetParametersAtomically, 'ros_ik/set_parameters_atomically', together
    ).result
    assert not answer.successful and '250' in answer.reason
    target.judge(target.processes())


@pytest.mark.parametrize('name', ['', 'no.such', 'x' * 5000])
def test_a_parameter_that_does_not_exist_is_not_made(target, name):
    client, value = target.client, ParameterValue(type=ParameterType.PARAMETER_BOOL)
    wrong = Parameter(name=name, value=value)
    request = SetParameters.Request(parameters=[wrong])
    (result,) = client.call(SetParameters, 'ros_ik/set_parameters', request).results
    assert not result.successful and name[:50] in result.reason
    assert name not in target.parameters()


def test_a_hundred_thousand_names_are_refused(target):
    client, names = target.client, ['limits.velocity_scale'] * 100_000
    request = DescribeParameters.Request(names=names)
    answer = client.call(DescribeParameters, 'ros_ik/describe_parameters', request)
    assert not answer.descriptors
    parameters = [Parameter(name='limits.velocity_scale')] * 2000
    request = SetParametersAtomically.Request(parameters=parameters)
    answer = client.call(SetParametersAtomically, 'ros_ik/set_parameters_atomically', request)
    assert not answer.result.successful and '2000' in answer.result.reason
    target.judge(target.processes())
    client.wait_for_code(IkStatus.OK)


def test_no_value_does_not_remove_a_parameter(target):
    client, before = target.client, target.parameters()
    request = SetParameters.Request(parameters=[Parameter(name=name) for name in before])
    results = client.call(SetParameters, 'ros_ik/set_parameters', request).results
    for name, result in zip(before, results, strict=True):
        assert not result.successful and name in result.reason
    assert target.parameters().keys() == before.keys()


