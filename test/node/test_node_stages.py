# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every transition between the stages of the node, which runs in this process."""

import gc
import time

import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.motions.state_machines import record_transitions
from support.motions.state_machines import transitions
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.ik_node import IkNode
from ros_ik.node.node_stage import NODE_TRANSITIONS
from ros_ik.node.node_stage import NodeStage
from ros_ik.node.subscribers.inputs import Inputs
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode

pytestmark = pytest.mark.dds


class Rig:
    """A node, and a publisher of its robot description and joint states."""

    def __init__(self, domain, autostart):
        parameters = {'frame_tasks': "['ee']", 'ee.frame': 'panda_hand_tcp'}
        parameters['autostart'] = autostart
        words = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
        rclpy.init(args=['--ros-args', *words], domain_id=domain)
        self._executor = make_executor(rclpy.get_default_context())
        self._beside = Node('beside', use_global_arguments=False)
        self._description = self._beside.create_publisher(String, 'robot_description', LATCHED)
        self._states = self._beside.create_publisher(JointState, 'joint_states', 10)
        self._version = 0
        self.start()

    def start(self):
        """Start a node, after the end of the previous one."""
        self.node = IkNode()
        self._executor.add_node(self.node)

    def describe(self, text=None):
        """Publish a robot description, or the usual one once more, which counts as a new one."""
        self._version += 1
        self._description.publish(String(data=text or panda_urdf() + '\n' * self._version))

    def set_posture(self, *positions):
        """Set ``posture.positions``; return the result."""
        (result,) = self.node.set_parameters([Parameter('posture.positions', value=positions)])
        return result

    def reach(self, stage, met=lambda: True, states=True):
        """Serve the node until it is in a stage and a condition is met."""
        give_up = time.monotonic() + LONG
        while self.node.stage is not stage or not met():
            assert time.monotonic() < give_up, f'{stage} was not reached from {self.node.stage}'
            self.turn(states)

    def turn(self, states=True):
        """Publish joint states, and serve the node for a while."""
        now = self._beside.get_clock().now().to_msg()
        state = JointState(name=list(ARM), position=[0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
        state.header.stamp = now
        if states:
            self._states.publish(state)
        for _ in range(5):
            self._executor.spin_once(timeout_sec=0.005)

    def has_states(self):
        """Return True if the node has joint states."""
        return self.node._loop.output.code != StatusCode.WAITING_FOR_JOINT_STATES

    def get_ready(self):
        """Have a model built for the node."""
        self.describe()
        self.reach(NodeStage.READY)

    def replace(self):
        """Build and load another model while the node is configured."""
        before = self.node._servo
        self.describe()
        self.reach(self.node.stage, lambda: self.node._servo not in (before, None))

    def fail(self, monkeypatch):
        """Let ticks fail until the servo is released; the next one works."""
        with monkeypatch.context() as patch:
            patch.setattr(Servo, 'step', None)
            self.reach(NodeStage.FAILED)

    def fail_to_activate(self, monkeypatch):
        """Let the activation raise an error, which releases the model."""
        with monkeypatch.context() as patch:
            patch.setattr(Inputs, 'activate', None)
            self.node.trigger_activate()
        assert self.node.stage is NodeStage.WAITING

    def end(self):
        """End the node."""
        self.node.finish()
        self.node._source.end(timeout=LONG)
        self._executor.remove_node(self.node)
        self.node.destroy_node()

    def leave(self):
        """End everything."""
        self.end()
        self._executor.shutdown()
        self._beside.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def rig(request, monkeypatch):
    # At each model the node collects garbage among all objects: here, in seconds, those of tests.
    monkeypatch.setattr(gc, 'unfreeze', lambda: None)
    with reserved_domain() as domain:
        rig = Rig(domain, getattr(request, 'param', 'false'))
        yield rig
        rig.leave()


def test_every_transition_of_the_node_is_made(rig, monkeypatch):
    made = record_transitions(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(rig.node._source, 'wait', None)
        rig.node.trigger_configure()
    rig.get_ready()
    rig.describe()
    rig.reach(NodeStage.WAITING)
    rig.reach(NodeStage.READY)
    with monkeypatch.context() as patch:
        patch.setattr('ros_ik.node.ik_node.NodeInterface', None)
        rig.node.trigger_configure()
    assert rig.node.stage is NodeStage.READY
    rig.node.trigger_configure()
    assert rig.node.stage is NodeStage.INACTIVE
    rig.replace()
    rig.node.trigger_activate()
    assert rig.node.stage is NodeStage.ACTIVE
    rig.replace()
    rig.node.trigger_deactivate()
    assert rig.node.stage is NodeStage.INACTIVE
    rig.node.trigger_activate()
    # Ticks fail in motion, and again before the next activation.
    rig.fail(monkeypatch)
    rig.reach(NodeStage.INACTIVE)
    rig.fail(monkeypatch)
    rig.describe()
    rig.reach(NodeStage.INACTIVE)
    rig.fail(monkeypatch)
    rig.node.trigger_cleanup()
    rig.reach(NodeStage.READY)
    rig.node.trigger_configure()
    rig.node.trigger_cleanup()
    rig.reach(NodeStage.READY)
    rig.node.trigger_configure()
    rig.fail_to_activate(monkeypatch)
    rig.node.trigger_shutdown()
    assert rig.node.stage is NodeStage.SHUT_DOWN
    for reached in (NodeStage.READY, NodeStage.INACTIVE, NodeStage.ACTIVE, NodeStage.FAILED):
        rig.end()
        rig.start()
        rig.get_ready()
        if reached is not NodeStage.READY:
            rig.node.trigger_configure()
        if reached is NodeStage.ACTIVE:
            rig.node.trigger_activate()
        if reached is NodeStage.FAILED:
            rig.fail(monkeypatch)
        assert rig.node.stage is reached
        rig.node.trigger_shutdown()
        assert rig.node.stage is NodeStage.SHUT_DOWN
    stages = {one for one in made if isinstance(one[0], NodeStage)}
    assert stages == transitions(NODE_TRANSITIONS)


# Turns of a node that has time to do what it must not do.
IDLE = 20


@pytest.mark.parametrize('rig', ['true'], indirect=True)
def test_the_autostart_ends_with_a_transition_that_is_asked_for(rig):
    rig.describe()
    rig.reach(NodeStage.INACTIVE, states=False)
    rig.node.trigger_activate()
    rig.node.trigger_deactivate()
    rig.reach(NodeStage.INACTIVE, rig.has_states)
    for _ in range(IDLE):
        rig.turn()
    assert rig.node.stage is NodeStage.INACTIVE
    rig.end()
    rig.start()
    rig.reach(NodeStage.INACTIVE, states=False)
    rig.node.trigger_cleanup()
    rig.reach(NodeStage.READY)
    for _ in range(IDLE):
        rig.turn()
    assert rig.node.stage is NodeStage.READY


@pytest.mark.parametrize('rig', ['true'], indirect=True)
def test_a_configuration_that_fails_is_tried_once_and_its_reason_is_told(rig, monkeypatch):
    made, refused = [], 'no topic today'

    def fail(*_):
        made.append(None)
        raise RuntimeError(refused)

    monkeypatch.setattr('ros_ik.node.ik_node.NodeInterface', fail)
    rig.describe()
    rig.reach(NodeStage.READY)
    for _ in range(IDLE):
        rig.turn()
    assert len(made) == 1
    status = rig.node._inbox.waiting.get()
    assert status.code == StatusCode.INVALID and refused in status.text


def test_after_a_transition_that_failed_it_can_be_configured_again(rig, monkeypatch):
    rig.get_ready()
    rig.node.trigger_configure()
    assert rig.node.stage is NodeStage.INACTIVE
    rig.fail_to_activate(monkeypatch)
    rig.node.trigger_configure()
    assert rig.node.stage is NodeStage.INACTIVE
    rig.node.trigger_activate()
    assert rig.node.stage is NodeStage.ACTIVE


def test_the_error_of_ticks_is_told_if_the_next_one_succeeds(rig, monkeypatch):
    rig.get_ready()
    rig.node.trigger_configure()
    rig.node.trigger_activate()
    step, failures = Servo.step, iter(range(5))

    def fail_first(*args, **kwargs):
        if next(failures, None) is None:
            return step(*args, **kwargs)
        raise RuntimeError('lost')

    # The node looks for failures later than the control thread needs for them and another tick.
    rig.reach(NodeStage.ACTIVE, rig.has_states)
    with monkeypatch.context() as patch:
        patch.setattr(Servo, 'step', fail_first)
        give_up, loop = time.monotonic() + LONG, rig.node._loop
        while loop.failed is None or loop.output.code == StatusCode.SOLVER_FAILED:
            assert time.monotonic() < give_up
            time.sleep(0.001)
        rig.reach(NodeStage.FAILED)
    assert 'RuntimeError: lost' in rig.node._condition.failure


def test_parameters_are_checked_with_the_model_that_waits_to_be_configured(rig):
    rig.get_ready()
    result = rig.set_posture(1.0)
    assert not result.successful and 'posture.positions' in result.reason
    assert rig.set_posture(*[0.1] * 7).successful
    rig.node.trigger_configure()
    rig.node.trigger_activate()
    for _ in range(IDLE):
        rig.turn()
    assert rig.node.stage is NodeStage.ACTIVE


def test_a_model_that_parameters_set_meanwhile_do_not_fit_is_refused(rig, monkeypatch):
    rig.get_ready()
    rig.node.trigger_configure()
    rig.node.trigger_activate()
    before, source = rig.node._servo, rig.node._source
    collect = source.builder.collect

    def collect_late(timeout=0.0):
        built = collect(timeout)
        if built is not None:
            # For the robot before.
            assert rig.set_posture(*[0.1] * 7).successful
        return built

    monkeypatch.setattr(source.builder, 'collect', collect_late)
    start, end = panda_urdf().split('<joint name="panda_joint7"')
    rig.describe(start + '<joint name="panda_joint7"' + end.replace('revolute', 'fixed', 1))
    rig.reach(NodeStage.ACTIVE, lambda: source.error)
    assert 'posture.positions' in source.error
    for _ in range(IDLE):
        rig.turn()
    assert rig.node.stage is NodeStage.ACTIVE and rig.node._servo is before
    notice = rig.node._inbox.notice.get()
    assert notice.startswith('robot description refused') and 'posture.positions' in notice
