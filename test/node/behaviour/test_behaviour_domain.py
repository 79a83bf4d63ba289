# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Neighbours on the domain: another robot in another namespace, and publishers of either QoS."""

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState
from support.motions.motion import array_of
from support.motions.motion import distance
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.rigs.ros_rig import Client
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot
from trajectory_msgs.msg import JointTrajectory

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
# Names that all nodes share.
SHARED = {'/diagnostics', '/rosout', '/parameter_events', '/tf', '/tf_static', '/clock'}


@pytest.fixture(scope='module')
def pair(tmp_path_factory):
    """Return the clients of two robots that publish joint states with different reliability."""
    with ros_rig(tmp_path_factory.mktemp('domain')) as everybody:
        clients = [Client(everybody.processes, name, everybody) for name in ('left', 'right')]
        for client, qos in zip(clients, (BEST_EFFORT, RELIABLE), strict=True):
            start_node(
                client,
                outputs__default__publish_velocities=True,
                **NEVER_STALE,
                **UNWATCHED,
            )
            client.robot = HeldRobot(client, qos)
            client.describe(panda_urdf())
        for client in clients:
            client.wait_for_text('waiting for a target', timeout=LONG)
        yield clients
        assert all(everybody.processes.is_alive(f'{c.namespace}node') for c in clients)


@pytest.fixture(autouse=True)
def at_home(pair):
    """Begin each test at home without targets."""
    for client in pair:
        for topic in ('pose', 'joints'):
            client.stream(topic, None)
        client.forget_targets()
        client.robot.place(**HeldRobot.home())
    for client in pair:
        client.robot.wait_until_seen()
        client.sent.clear()


def send_to(client, goal):
    """Stream a target of the first joint."""
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))


def wait_for_joint(client, goal):
    """Wait until the first joint is there."""
    client.wait_for(
        lambda: abs(client.robot.position['panda_joint1'] - goal) < 1e-6, f'arrival at {goal}'
    )


def test_two_robots_in_two_namespaces_do_not_hear_each_other(pair):
    left, right = pair
    send_to(left, 0.8)
    send_to(right, -0.8)
    wait_for_joint(left, 0.8)
    wait_for_joint(right, -0.8)
    for client, sign in ((left, 1.0), (right, -1.0)):
        motion = motion_of(client)
        motion.assert_within(panda_ranges())
        assert motion.starts == [0]
        np.testing.assert_allclose(motion.began[0], array_of(HeldRobot.home()), atol=ROUNDING)
        assert np.all(sign * motion.velocity[:, 0] >= -0.05), 'it heard the other target'


def test_a_stop_of_one_robot_does_not_stop_the_other(pair):
    left, right = pair
    assert left.trigger('stop').success
    left.wait_for_code(IkStatus.STOPPED)
    send_to(right, 0.5)
    wait_for_joint(right, 0.5)
    assert left.sent == [] and left.status.code == IkStatus.STOPPED


def test_no_name_lies_outside_of_the_namespaces(pair):
    names = {name for name, _ in pair[0].node.get_topic_names_and_types()}
    assert '/left/ros_ik/status' in names and '/right/ros_ik/joint_trajectory' in names
    # Only the client of the rig has names without a namespace.
    mine = {name for name in names if name.startswith(('/ros_ik/', '/joint_states', '/robot_'))}
    listed = {name for name in names if pair[0].node.count_publishers(name)} - mine
    outside = {name for name in listed if not name.startswith(('/left/', '/right/'))}
    assert outside <= SHARED


@pytest.mark.parametrize('qos', [BEST_EFFORT, RELIABLE], ids=['best effort', 'reliable'])
def test_targets_of_either_reliability_are_heard(pair, qos):
    left = pair[0]
    node = left.node
    target = left.moved_pose((0.0, 0.1, 0.0))
    poses = node.create_publisher(PoseStamped, 'ros_ik/ee/target_pose', qos)
    joints = node.create_publisher(JointState, 'ros_ik/target_joints', qos)
    heard = []
    listener = node.create_subscription(
        JointTrajectory, 'ros_ik/joint_trajectory', lambda message: heard.append(message), qos
    )
    left.wait_for(lambda: listener.get_publisher_count() > 0, 'trajectories to listen to')
    timer = node.create_timer(0.02, lambda: poses.publish(target))
    left.wait_for(lambda: distance(left.poses[-1], target) < 2e-3, 'arrival')
    node.destroy_timer(timer)
    message = JointState(name=['panda_joint1'], position=[0.4])
    timer = node.create_timer(0.02, lambda: joints.publish(message))
    wait_for_joint(left, 0.4)
    message.position = [-0.4]
    wait_for_joint(left, -0.4)
    node.destroy_timer(timer)
    assert heard, 'a subscriber of this reliability hears nothing'
    node.destroy_subscription(listener)
    for publisher in (poses, joints):
        node.destroy_publisher(publisher)
