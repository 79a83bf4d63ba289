# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Frames that are not links of the model: tf2 if it is installed, otherwise a stand-in."""

import copy
import importlib.util
import math
import os
from pathlib import Path
import sys

from geometry_msgs.msg import TransformStamped
from geometry_msgs.msg import TwistStamped
import pytest
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
PATIENT = {**NEVER_STALE, **UNWATCHED}
STUB = Path(__file__).parents[2] / 'support' / 'tf_stub'
REAL = importlib.util.find_spec('tf2_ros') is not None
STATIC = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A quarter turn about z.
TURN = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))


@pytest.fixture(scope='module')
def tf(tmp_path_factory):
    """Return a client of a node that has tf2, and the types of its messages."""
    patch = pytest.MonkeyPatch()
    if not REAL:
        patch.syspath_prepend(STUB)
        paths = [str(STUB), os.environ.get('PYTHONPATH', '')]
        patch.setenv('PYTHONPATH', os.pathsep.join(paths))
    from tf2_msgs.msg import TFMessage

    def message(transform):
        return TFMessage(transforms=[transform]) if REAL else transform

    try:
        with ros_rig(tmp_path_factory.mktemp('tf')) as client:
            client.robot = HeldRobot(client)
            static = client.node.create_publisher(TFMessage, 'tf_static', STATIC)
            dynamic = client.node.create_publisher(TFMessage, 'tf', 100)
            start_node(client, **PATIENT)
            client.describe(panda_urdf())
            client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
            yield (
                client,
                lambda transform: static.publish(message(transform)),
                lambda transform: dynamic.publish(message(transform)),
            )
            assert client.processes.is_alive('node'), client.processes.text('node')
    finally:
        patch.undo()
        for name in [name for name in sys.modules if name.startswith(('tf2_ros', 'tf2_msgs'))]:
            del sys.modules[name]


def frame(parent, child, xyz, turn=(0.0, 0.0, 0.0, 1.0)):
    """Return a transform."""
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    move, rotation = transform.transform.translation, transform.transform.rotation
    move.x, move.y, move.z = xyz
    rotation.x, rotation.y, rotation.z, rotation.w = turn
    return transform


def in_turned_frame(pose, xyz):
    """Return a pose of the base frame in a frame at ``xyz``, turned by a quarter about z."""
    x, y, z = (
        getattr(pose.pose.position, axis) - shift for axis, shift in zip('xyz', xyz, strict=True)
    )
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = y, -x, z
    q, h = pose.pose.orientation, math.sqrt(0.5)
    # The inverse of the turn times q.
    q.x, q.y, q.z, q.w = (
        h * (q.x + q.y), h * (q.y - q.x), h * (q.z - q.w), h * (q.w + q.z)
    )  # fmt: skip
    return pose


# Before the others: two clients in one process may disturb each other as they end.
def test_without_use_tf_the_frame_is_unknown(tmp_path):
    with ros_rig(tmp_path) as client:
        client.robot = HeldRobot(client)
        start_node(client, use_tf=False, **PATIENT)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        client.stream('pose', client.moved_pose(frame='table'))
        client.wait_for(lambda: client.dropped().get('unknown_frame', 0) > 0, 'a counter')
        assert 'unknown_frame' in client.status.text


def test_a_target_in_a_frame_of_tf_is_reached(tf):
    client, publish_static, _ = tf
    client.stream('pose', client.moved_pose(frame='table'))
    client.wait_for_code(IkStatus.TF_UNAVAILABLE)
    publish_static(frame('panda_link0', 'table', (0.3, -0.2, 0.1), TURN))
    wanted = client.moved_pose((0.05, 0.1, 0.05))
    x, y, z = (getattr(wanted.pose.position, axis) for axis in 'xyz')
    target = in_turned_frame(copy.deepcopy(wanted), (0.3, -0.2, 0.1))
    target.header.frame_id = 'table'
    target.header.stamp = client.node.get_clock().now().to_msg()
    client.stream('pose', target)
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.wait_for_arrival(wanted)

    def is_reached():
        reached = client.poses[-1].pose.position
        return (reached.x, reached.y, reached.z) == pytest.approx((x, y, z), abs=2e-3)

    client.wait_for(is_reached, 'the robot where its command is')


def test_a_stamp_that_tf_does_not_know_yet_means_the_newest_transform(tf):
    client, _, publish = tf
    client.stream('pose', None)
    client.forget_targets()
    moving = frame('panda_link0', 'belt', (0.0, 0.0, 0.0))
    moving.header.stamp = client.node.get_clock().now().to_msg()
    # Repeated: one may be lost.
    timer = client.node.create_timer(0.1, lambda: publish(moving))
    target = client.moved_pose((0.0, 0.0, 0.05), frame='belt')
    target.header.stamp = client.node.get_clock().now().to_msg()
    target.header.stamp.sec += 2
    client.stream('pose', target)
    client.wait_for_code(IkStatus.OK, text='tracking')
    client.wait_for_arrival()
    client.node.destroy_timer(timer)


def test_a_velocity_is_turned_into_the_base_frame(tf):
    client, publish_static, _ = tf
    client.stream('pose', None)
    client.forget_targets()
    client.wait_for_silence()
    publish_static(frame('panda_link0', 'belt_end', (5.0, 5.0, 5.0), TURN))
    before = client.moved_pose().pose.position
    here = before.x, before.y, before.z
    message = TwistStamped()
    message.header.frame_id = 'belt_end'
    message.twist.linear.x = 0.05
    publisher = client.node.create_publisher(TwistStamped, 'ros_ik/ee/target_twist', 1)
    timer = client.node.create_timer(0.02, lambda: publisher.publish(message))
    # Its x axis is the y axis of the base.
    client.wait_for(lambda: client.moved_pose().pose.position.y > here[1] + 0.03, 'motion')
    client.node.destroy_timer(timer)
    there = client.moved_pose().pose.position
    client.trigger('reset')
    assert (there.x, there.z) == pytest.approx((here[0], here[2]), abs=0.01)


def test_a_frame_that_tf_does_not_know_is_named(tf):
    client, _, _ = tf
    before = client.dropped().get('tf_unavailable', 0)
    client.stream('pose', client.moved_pose(frame='moon'))
    status = client.wait_for_code(IkStatus.TF_UNAVAILABLE)
    assert client.dropped()['tf_unavailable'] > before and list(status.waiting_for) == ['moon']
    client.stream('pose', None)


def test_tf_is_not_asked_for_a_time_before_the_epoch(tf):
    client, publish_static, _ = tf
    publish_static(frame('panda_link0', 'shelf', (0.3, 0.0, 0.0)))
    before = client.dropped().get('tf_unavailable', 0)
    target = client.moved_pose(frame='shelf')
    target.header.stamp.sec = -1
    client.stream('pose', target)
    client.wait_for(lambda: client.dropped().get('tf_unavailable', 0) > before, 'a refusal')
    client.wait_for(lambda: 'before the epoch' in client.processes.text('node'), 'the reason')
    client.stream('pose', None)
