# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocities as users of MoveIt Servo send them, over DDS, on the topics of Servo."""

import math

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.dynamic_rig import arm
from support.dynamic_rig import change
from support.dynamic_rig import come_to_rest
from support.held_robot import HeldRobot
from support.motion import motion_of
from support.motion import panda_ranges
from support.ros_rig import ARM
from support.ros_rig import panda_urdf
from support.ros_rig import ROOT
from support.ros_rig import ros_rig
from support.ros_rig import start_node

from ros_ik.node.target_topics import JointJog
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

# The rules of docs/migration.md.
REMAPS = (
    '~/ee/target_twist:=/servo_node/delta_twist_cmds',
    '~/target_joint_jog:=/servo_node/delta_joint_cmds',
    '~/target_pose:=/servo_node/pose_target_cmds',
)
NAN = math.nan


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('jog')) as client:
        start_node(
            client, remaps=REMAPS, use_tf=False, outputs__default__publish_velocities=True,
            joint_state_timeout=60.0, command_timeout=60.0, command_in_type='unitless',
            scale__linear=0.2, scale__rotational=0.6, scale__joint=0.4,
        )  # fmt: skip
        client.robot = HeldRobot(client)
        create = client.node.create_publisher
        client.twists = create(TwistStamped, 'servo_node/delta_twist_cmds', 1)
        client.poses_out = create(PoseStamped, 'servo_node/pose_target_cmds', 1)
        client.joints = create(JointState, 'ros_ik/target_joints', 1)
        client.outlets = [client.twists, client.poses_out, client.joints]
        if JointJog is not None:
            client.jogs = create(JointJog, 'servo_node/delta_joint_cmds', 1)
            client.outlets.append(client.jogs)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=60.0)
        client.wait_for(
            lambda: all(outlet.get_subscription_count() for outlet in client.outlets), 'topics'
        )
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture
def client(node):
    """Return the client with the robot at home, at rest; check what was commanded afterwards."""
    node.robot.place(**HeldRobot.home())
    node.robot.wait_until_seen()
    node.sent.clear()
    yield node
    come_to_rest(node)
    if node.sent:
        motion_of(node).assert_within(panda_ranges())
    change(
        node, command_in_type='unitless', scale__linear=0.2, scale__rotational=0.6,
        scale__joint=0.4, command_timeout=60.0,
    )  # fmt: skip


def twist(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
    message = TwistStamped()
    for part, values in ((message.twist.linear, linear), (message.twist.angular, angular)):
        part.x, part.y, part.z = values
    return message


def jog(**velocities):
    return JointState(name=list(velocities), velocity=list(velocities.values()))


def move(client, outlet, message, ticks=60):
    """Send a velocity once, which counts for long; return what was commanded last."""
    since = len(client.sent)

    def is_tracking():
        outlet.publish(message)
        client.spin(0.02)
        return len(client.sent) > since

    client.wait_for(is_tracking, 'motion')
    client.wait_for_ticks(ticks)
    return motion_of(client, since=since)


def speed_of(motion, joint):
    """Return the velocity of a joint over the last commands [rad/s]."""
    return np.median(np.diff(motion.position[-20:, ARM.index(joint)])) / 0.01


def test_a_twist_is_a_part_of_its_scales(client):
    motion = move(client, client.twists, twist((0.0, 0.5, 0.0)))
    assert np.median(arm().speeds(motion)[0][-20:]) == pytest.approx(0.1, rel=0.05)
    change(client, scale__linear=0.1, scale__rotational=0.3)
    motion = move(client, client.twists, twist((0.0, -1.0, 0.0), (0.0, 0.0, 0.5)))
    linear, angular = arm().speeds(motion)
    assert np.median(linear[-20:]) == pytest.approx(0.1, rel=0.05)
    assert np.median(angular[-20:]) == pytest.approx(0.15, rel=0.05)


def test_units_may_change_at_run_time(client):
    motion = move(client, client.joints, jog(panda_joint1=0.5))
    assert speed_of(motion, 'panda_joint1') == pytest.approx(0.2, abs=1e-6)
    change(client, scale__joint=0.2)
    motion = move(client, client.joints, jog(panda_joint1=-1.0, panda_joint6=0.5))
    assert speed_of(motion, 'panda_joint1') == pytest.approx(-0.2, abs=1e-6)
    assert speed_of(motion, 'panda_joint6') == pytest.approx(0.1, abs=1e-6)
    change(client, command_in_type='speed_units')
    motion = move(client, client.joints, jog(panda_joint1=0.25))
    assert speed_of(motion, 'panda_joint1') == pytest.approx(0.25, abs=1e-6)


def test_the_rules_are_those_of_the_document():
    text = (ROOT / 'docs' / 'migration.md').read_text()
    assert all(f"-r '{rule}'" in text for rule in REMAPS)


def test_a_pose_on_the_topic_of_servo_is_reached(client):
    goal = client.moved_pose((0.0, 0.1, 0.0))
    move(client, client.poses_out, goal, ticks=1)
    client.wait_for_arrival(goal)


def test_a_jog_that_ends_goes_stale_and_the_robot_rests(client):
    change(client, command_timeout=0.1)
    move(client, client.joints, jog(panda_joint1=0.5), ticks=1)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.wait_for_silence()
    assert not any(client.sent[-1][1].points[0].velocities)


BAD = [
    (jog(panda_joint1=NAN), 'non_finite', 'panda_joint1'),
    (jog(panda_joint1=1e300), 'too_large_number', 'panda_joint1'),
    (jog(panda_joint1=0.1, elbow=0.1), 'unknown_joint', 'elbow'),
    (jog(panda_joint1=0.1, panda_joint2=-1.2), 'beyond_scale', 'panda_joint2'),
    (JointState(name=['panda_joint1'], velocity=[0.1, 0.1]), 'wrong_size', '2 velocities'),
    (JointState(name=['panda_joint1'] * 2, velocity=[0.1, 0.1]), 'repeated_joint', 'twice'),
    (JointState(velocity=[2.0]), 'beyond_scale', '0 names'),
    (twist((0.0, 1.5, 0.0)), 'beyond_scale', 'linear.y'),
    (twist(angular=(0.0, 0.0, -2.0)), 'beyond_scale', 'angular.z'),
    (twist((0.0, NAN, 2.0)), 'non_finite', 'linear.y'),
]  # fmt: skip


@pytest.mark.parametrize(('message', 'reason', 'named'), BAD, ids=lambda value: str(value)[:20])
def test_a_bad_velocity_is_refused_with_its_reason_and_nothing_moves(
    client, message, reason, named
):
    outlet = client.twists if isinstance(message, TwistStamped) else client.joints
    before = client.dropped().get(reason, 0)

    def is_refused():
        outlet.publish(message)
        client.spin(0.02)
        return client.dropped().get(reason, 0) > before and named in client.status.text

    client.wait_for(is_refused, f'{reason} naming {named}')
    assert not client.sent


@pytest.mark.skipif(JointJog is None, reason='control_msgs is not installed')
def test_a_joint_jog_moves_joints_by_name(client):
    message = JointJog(joint_names=['panda_joint1'], velocities=[0.5])
    motion = move(client, client.jogs, message)
    assert speed_of(motion, 'panda_joint1') == pytest.approx(0.2, abs=1e-6)


@pytest.mark.skipif(JointJog is None, reason='control_msgs is not installed')
def test_a_joint_jog_without_velocities_is_refused(client):
    message = JointJog(joint_names=['panda_joint1'], displacements=[0.5])
    before = client.dropped().get('wrong_size', 0)

    def is_refused():
        client.jogs.publish(message)
        client.spin(0.02)
        return client.dropped().get('wrong_size', 0) > before

    client.wait_for(is_refused, 'a refusal')
    assert not client.sent
