# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The client of the demo with joint states that are late, interrupted or missing."""

import contextlib
import dataclasses
import os
import signal
import threading

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from support.rigs.ros_rig import PATIENCE
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

import ros_ik.demo.__main__
from ros_ik.demo.report.evaluation import evaluate
from ros_ik.demo.robots.demo_robot import DemoRobot
import ros_ik.demo.scenario.client
from ros_ik.demo.scenario.client import DemoClient
from ros_ik.demo.scenario.phase import Phase
from ros_ik.demo.scenario.phase import Requirement
from ros_ik.demo.scenario.scenario import make_scenario
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

PERIOD = 0.01


@pytest.fixture(scope='module')
def robot():
    return DemoRobot.load('six_axis')


@pytest.fixture
def client(domain, robot):
    rclpy.init(domain_id=domain, signal_handler_options=SignalHandlerOptions.SIGTERM)
    client = DemoClient(robot, uses_orientation=True, ball_radius=0.1, control_rate=100.0)
    yield client
    client.close()
    rclpy.try_shutdown()


@contextlib.contextmanager
def broadcaster(domain, robot, start, end=np.inf):
    """Publish statuses of a node that is ready, and joint states from the start to the end [s]."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node('broadcaster', context=context)
    states = node.create_publisher(JointState, 'joint_states', 1)
    statuses = node.create_publisher(IkStatus, 'ros_ik/status', 10)
    # The message also contains a gripper that is not in the description.
    names = [*robot.group.joint_names, 'gripper']
    position = [*robot.home[robot.coords].tolist(), 0.02]
    begun = node.get_clock().now().nanoseconds

    def tick():
        statuses.publish(IkStatus(code=IkStatus.OK, ticks=1, text='following'))
        if start <= 1e-9 * (node.get_clock().now().nanoseconds - begun) < end:
            states.publish(JointState(name=names, position=position))

    node.create_timer(PERIOD, tick)
    executor, ended = SingleThreadedExecutor(context=context), threading.Event()
    executor.add_node(node)

    def run():
        while not ended.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def phase(robot, seconds):
    """Return a phase whose target is the present pose, so that it ends at once."""
    poses = robot.tip_poses(robot.home[None])
    return Phase('at home', 'stays', seconds, poses=poses)


def test_a_phase_waits_for_the_joint_states_by_which_it_is_judged(client, domain, robot):
    with broadcaster(domain, robot, start=2.0):
        assert client.play(phase(robot, 0.05)) == ''
    client.recording.commands.append(robot.home[robot.coords])
    client.recording.velocities.append(np.zeros(len(robot.coords)))
    (result,) = evaluate(robot, make_scenario(robot, 0), client.recording).phases
    assert result.linear < 1e-6


def test_a_robot_rests_once_the_status_stays_the_same(client):
    # On a busy machine the robot may stand still on its way while the node is at the limit.
    press = Phase('press', 'stops', 2.5, requirement=Requirement.PRESS_LIMIT)
    client._still_states = 100
    for _ in range(12):
        client._on_status(IkStatus(code=IkStatus.OK))
    assert client._is_over(press, 1.3)
    client._on_status(IkStatus(code=IkStatus.JOINT_BOUND))
    assert not client._is_over(press, 1.3)
    for _ in range(10):
        client._on_status(IkStatus(code=IkStatus.JOINT_BOUND))
    assert client._is_over(press, 1.3)


def test_a_robot_rests_once_it_is_where_the_node_commands_it_to_be(client, robot):
    # On a busy machine the robot may not have heard the newest commands yet.
    press = Phase('press', 'stops', 2.5, requirement=Requirement.PRESS_BOX)
    client._still_states = client._still_statuses = 100
    client.recording.commands.append(client._joint_q[robot.coords] + 0.02)
    assert not client._is_over(press, 1.3)
    client.recording.commands.append(client._joint_q[robot.coords] + 0.001)
    assert client._is_over(press, 1.3)


def test_joint_states_without_positions_are_ignored(client, robot):
    """A gripper may publish efforts alone, on the same topic."""
    before = client._joint_q.copy()
    client._on_state(JointState(name=['gripper'], effort=[1.0]))
    client._on_state(JointState(name=[robot.group.joint_names[0]], velocity=[1.0]))
    np.testing.assert_array_equal(client._joint_q, before)


def test_commands_without_a_controlled_joint_are_ignored(client, robot):
    """Another program may send them to the same controller."""
    joints = robot.group.joint_names
    values = np.arange(1.0, len(joints) + 1.0)
    point = JointTrajectoryPoint(positions=values.tolist())
    client._on_command(JointTrajectory(joint_names=joints[1:], points=[point]))
    client._on_command(JointTrajectory(joint_names=joints))
    client._on_command_state(JointState(name=joints, position=values.tolist()))
    assert not client.recording.commands and not client.recording.velocities
    client._on_command(JointTrajectory(joint_names=joints[::-1], points=[point]))
    client._on_command_state(JointState(name=[*joints, 'gripper'], velocity=[*values, 9.0]))
    np.testing.assert_array_equal(client.recording.commands, [values[::-1]])
    np.testing.assert_array_equal(client.recording.velocities, [values])


def test_silence_ends_a_phase_with_a_sentence(client, domain, robot, monkeypatch):
    monkeypatch.setattr(ros_ik.demo.scenario.client, '_SILENT', 1.0)
    sentence = client.play(phase(robot, 0.05))
    assert sentence.startswith("no joint states were heard for 1 s in the phase 'at home'")
    assert 'publishers of joint_states: 0; the node says: nothing. Look at' in sentence
    # States of the phase before do not count.
    with broadcaster(domain, robot, start=0.0), monkeypatch.context() as patient:
        patient.setattr(ros_ik.demo.scenario.client, '_SILENT', PATIENCE)
        assert client.play(phase(robot, 0.05)) == ''
    # Messages that DDS still holds were sent before.
    client.settle(0.2)
    assert 'no joint states were heard' in client.play(phase(robot, 0.05))


@pytest.fixture
def tour(domain, monkeypatch):
    """Return a function that makes a tour without phases, and returns its exit code."""

    def without_phases(robot, seed):
        return dataclasses.replace(make_scenario(robot, seed), phases=())

    def run(wait_until_ready):
        monkeypatch.setattr(DemoClient, 'wait_until_ready', wait_until_ready)
        return ros_ik.demo.__main__.main(['--running', '--robot', 'six_axis'])

    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
    monkeypatch.setattr(ros_ik.demo.__main__, 'make_scenario', without_phases)
    return run


def test_a_tour_ends_with_what_may_come_next(tour, capfd):
    assert tour(lambda *_: '') == 0
    assert 'ros2 ' in capfd.readouterr().out


def test_ctrl_c_ends_a_tour_that_was_started_with_it_ignored(tour, capfd):
    def interrupt(*_):
        os.kill(os.getpid(), signal.SIGINT)
        return ''

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert tour(interrupt) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert 'ros2 ' not in capfd.readouterr().out


@pytest.fixture
def interrupted_message(monkeypatch):
    """Send Ctrl-C while rclpy creates the first joint state of a subscription."""
    make, interrupts = JointState.__init__, []

    def interrupt(message, **fields):
        # rclpy makes messages without fields, and fills them.
        if not fields and not interrupts:
            interrupts.append(message)
            os.kill(os.getpid(), signal.SIGINT)
        make(message, **fields)

    monkeypatch.setattr(JointState, '__init__', interrupt)
    return interrupts


def test_ctrl_c_while_a_message_is_made_is_no_other_error(
    client, domain, robot, interrupted_message
):
    with broadcaster(domain, robot, start=0.0):
        with pytest.raises(KeyboardInterrupt):
            client.settle(PATIENCE)
        assert interrupted_message
        client.settle(0.1)


def test_a_robot_that_went_silent_before_the_first_phase_is_not_ready(client, domain, robot):
    with broadcaster(domain, robot, start=0.0, end=2.0):
        sentence = client.wait_until_ready(5.0, lambda: '', lambda text: None)
    assert 'not ready after 5 s; the node says: following; no joint states were heard' in sentence
    assert 'publishers of joint_states: 1' in sentence
