# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inputs over DDS: joint states of every form, frames, stamps, modes, absurd sizes."""

import math
import time

from geometry_msgs.msg import PoseStamped
import pytest
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SetMode

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('inputs')) as client:
        robot = HeldRobot(client)
        start_node(client, joint_state_timeout=0.3)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield client, robot
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture(autouse=True)
def quiet_at_rest(rig):
    client, robot = rig
    client.stream('pose', None)
    robot.silent, robot.parts = False, [ARM]
    client.set(command_time_source='receive')
    set_mode(client, SetMode.Request.AUTO)
    client.forget_targets()


def count(client, reason):
    return client.dropped().get(reason, 0)


def set_mode(client, mode):
    return client.call(SetMode, 'ros_ik/set_mode', SetMode.Request(mode=mode))


def wait_for_count(client, reason, before):
    client.wait_for(lambda: count(client, reason) > before, f'counter {reason}')


def test_states_of_several_broadcasters_in_any_order_are_merged(rig):
    client, robot = rig
    robot.parts = [ARM[::-1][:3], (*ARM[:4], 'a_joint_of_a_gripper')]
    client.spin(0.3)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')
    client.stream('pose', client.moved_pose((0.0, 0.05, 0.0)))
    client.wait_for_arrival()


@pytest.mark.parametrize('value', [math.nan, math.inf])
def test_one_joint_without_a_number_costs_that_joint_alone(rig, value):
    client, robot = rig
    before, robot.silent = count(client, 'non_finite'), True
    spoilt = JointState(name=list(ARM), position=robot.read())
    spoilt.position[2] = value
    timer = client.node.create_timer(0.01, lambda: robot.publisher.publish(spoilt))
    client.wait_for_code(IkStatus.JOINT_STATE_STALE)
    # While this process is suspended every joint is stale.
    client.wait_for(
        lambda: list(client.status.waiting_for) == ['panda_joint3'], 'the joint by its name'
    )
    assert count(client, 'non_finite') > before
    client.node.destroy_timer(timer)
    robot.silent = False
    client.wait_for_code(IkStatus.OK, text='waiting for a target')


def test_of_a_joint_named_twice_the_first_counts(rig):
    client, robot = rig
    before, here = count(client, 'repeated_joint'), client.moved_pose().pose.position
    robot.silent = True
    twice = JointState(name=[*ARM, 'panda_joint1'], position=[*robot.read(), 2.0])
    timer = client.node.create_timer(0.02, lambda: robot.publisher.publish(twice))
    wait_for_count(client, 'repeated_joint', before)
    told = 'dropped a part of a message on joint_states: repeated_joint: panda_joint1 named twice'
    client.wait_for(lambda: told in client.processes.text('node'), 'a line in the log')
    client.node.destroy_timer(timer)
    there = client.moved_pose().pose.position
    assert (there.x, there.y, there.z) == pytest.approx((here.x, here.y, here.z), abs=1e-3)


def test_wrong_sizes_are_dropped_and_velocities_alone_are_no_error(rig):
    client, _ = rig
    before = count(client, 'wrong_size')
    publisher = client.node.create_publisher(JointState, 'joint_states', 1)
    client.wait_for(lambda: publisher.get_subscription_count() > 1, 'subscribers')
    velocities = JointState(name=list(ARM), velocity=[0.0] * 7)
    timer = client.node.create_timer(0.05, lambda: publisher.publish(velocities))
    client.spin(0.5)
    assert count(client, 'wrong_size') == before
    client.node.destroy_timer(timer)
    short = JointState(name=list(ARM), position=[0.0] * 6)
    timer = client.node.create_timer(0.05, lambda: publisher.publish(short))
    wait_for_count(client, 'wrong_size', before)
    client.node.destroy_timer(timer)
    client.node.destroy_publisher(publisher)


def test_two_programs_that_send_to_one_topic_are_told_of(rig):
    client, _ = rig
    client.stream('pose', client.moved_pose((0.0, 0.0, 0.01)))
    other = client.moved_pose((0.0, 0.03, -0.02))
    publisher = client.node.create_publisher(PoseStamped, 'ros_ik/target_pose', 1)
    timer = client.node.create_timer(0.03, lambda: publisher.publish(other))
    told = 'several publishers send' if client.tells_publishers_apart else 'its targets alternate'
    client.wait_for(lambda: client.status.text.startswith(f'tracking; ee: {told}'), told)
    client.node.destroy_timer(timer)
    # On a busy machine the status says so too.
    alone = 'tracking', 'tracking; more than 10% of the deadlines were missed'
    client.wait_for(lambda: client.status.text in alone, 'one sender')
    client.wait_for_arrival()
    client.assert_trajectories_are_accepted()
    client.node.destroy_publisher(publisher)


def test_absurd_sizes_are_refused_before_python_sees_them(rig):
    client, _ = rig
    before, many = count(client, 'too_large'), 20_000
    # A separate publisher: the next state of the robot would replace this one.
    publisher = client.node.create_publisher(JointState, 'joint_states', 1)
    client.wait_for(lambda: publisher.get_subscription_count() > 1, 'subscribers')
    absurd = JointState(name=['j'] * many, position=[0.0] * many)
    timer = client.node.create_timer(0.2, lambda: publisher.publish(absurd))
    wait_for_count(client, 'too_large', before)
    client.node.destroy_timer(timer)
    client.node.destroy_publisher(publisher)
    before = count(client, 'too_large')
    pose = PoseStamped()
    pose.header.frame_id = 'f' * 30_000
    client.stream('pose', pose)
    wait_for_count(client, 'too_large', before)
    client.stream('pose', None)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')


def test_bytes_that_are_no_message_are_counted(rig):
    client, _ = rig
    before = count(client, 'unreadable')
    publisher = client.node.create_publisher(PoseStamped, 'ros_ik/target_pose', 1)
    client.wait_for(lambda: publisher.get_subscription_count() > 0, 'a subscriber')
    timer = client.node.create_timer(0.1, lambda: publisher.publish(b'\x00\x01\x00\x00garbage'))
    wait_for_count(client, 'unreadable', before)
    client.node.destroy_timer(timer)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')


def test_an_unknown_frame_is_in_the_status(rig):
    client, _ = rig
    pose = client.moved_pose(frame='camera')
    client.stream('pose', pose)
    status = client.wait_for_code(IkStatus.TF_UNAVAILABLE)
    assert 'target_pose' in status.text and 'tf_unavailable' in status.text
    client.wait_for(lambda: "frame 'camera'" in client.processes.text('node'), 'a line in the log')
    client.stream('pose', client.moved_pose((0.0, 0.05, 0.0)))
    client.wait_for_code(IkStatus.OK, text='tracking')


def stamped(client, pose, seconds):
    """Return a pose with a stamp ahead of now."""
    now = client.node.get_clock().now() + Duration(seconds=seconds)
    pose.header.stamp = now.to_msg()
    return pose


def test_stamps_count_only_where_that_is_asked_for(rig):
    client, _ = rig
    old = stamped(client, client.moved_pose((0.0, 0.05, 0.0)), -10.0)
    client.stream('pose', old)
    client.wait_for_code(IkStatus.OK, text='tracking')
    before = count(client, 'too_old')
    assert client.set(command_time_source='header')['command_time_source'].successful
    wait_for_count(client, 'too_old', before)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    old.header.stamp.sec = old.header.stamp.nanosec = 0
    client.wait_for_code(IkStatus.OK, text='tracking')


def test_a_stamp_of_the_future_keeps_no_target_alive(rig):
    client, _ = rig
    client.set(command_time_source='header')
    # Repeated: one that arrives while this process is suspended may never be tracked.
    client.stream('pose', stamped(client, client.moved_pose((0.0, 0.1, 0.0)), 3600.0))
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.stream('pose', None)
    client.wait_for_code(IkStatus.COMMAND_STALE)


def test_modes_are_applied_and_unknown_ones_refused(rig):
    client, _ = rig
    answer = set_mode(client, SetMode.Request.JOINT)
    assert (answer.success, answer.mode) == (True, SetMode.Request.JOINT)
    refused = set_mode(client, 17)
    assert not refused.success and refused.mode == SetMode.Request.JOINT
    assert '17' in refused.message and 'TWIST' in refused.message
    target = client.moved_pose((0.0, 0.1, 0.0))
    client.stream('pose', target)
    client.wait_for_ticks(50)
    assert not client.status.tasks[0].reached and 'tracking' not in client.status.text
    assert set_mode(client, SetMode.Request.POSE).success
    client.wait_for_code(IkStatus.OK, text='tracking')
    assert set_mode(client, SetMode.Request.HOLD).success
    client.wait_for_silence()
    held = len(client.trajectories)
    client.wait_for_ticks(30)
    assert len(client.trajectories) == held, 'it moves although it is to hold'


@pytest.mark.parametrize(('stream', 'topic'), [('pose', 'target_pose'), ('ee', 'ee/target_pose')])
def test_targets_refused_as_jumps_are_counted_and_logged_now_and_then(rig, stream, topic):
    client, _ = rig
    line = f'dropped a message on {topic}: target_jump'
    client.set(target_jump_policy='reject')
    try:
        before, began = count(client, 'target_jump'), time.monotonic()
        client.stream(stream, client.moved_pose((0.0, 0.5, 0.0)))
        client.wait_for(lambda: count(client, 'target_jump') >= before + 20, 'twenty of them')
        client.wait_for_code(IkStatus.TARGET_JUMP, text=line)
        # The status may be quicker than the log.
        client.wait_for(lambda: line in client.processes.text('node'), 'a line in the log')
        lines = client.processes.text('node').splitlines()
        most = 1 + (time.monotonic() - began) / 5.0
        assert sum(text.endswith('policy is reject') and line in text for text in lines) <= most
        client.stream(stream, client.moved_pose((0.0, 0.02, 0.0)))
        client.wait_for_code(IkStatus.OK, text='tracking')
        refused = count(client, 'target_jump')
        client.wait_for_arrival()
        assert count(client, 'target_jump') == refused
    finally:
        client.stream(stream, None)
        client.set(target_jump_policy='saturate')
