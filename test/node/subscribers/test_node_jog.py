# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocities as users of MoveIt Servo send them, over DDS, on the topics of Servo."""

import math

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.controller_messages.build import controller_messages
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.processes.ros_processes import ROOT
from support.rigs.dynamic_rig import arm
from support.rigs.dynamic_rig import change
from support.rigs.dynamic_rig import come_to_rest
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot

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
    with controller_messages(), ros_rig(tmp_path_factory.mktemp('jog')) as client:
        from control_msgs.msg import JointJog

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
        client.jogs = create(JointJog, 'servo_node/delta_joint_cmds', 1)
        client.outlets = [client.twists, client.poses_out, client.joints, client.jogs]
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        client.wait_for(
            lambda: all(outlet.get_subscription_count() for outlet in client.outlets), 'topics'
        )
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture
def client(node):
    """Return the client with the robot at home, at rest; check the commands afterwards."""
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


def send(client, outlet, message):
    """Send a target with a long timeout until a command comes."""
    since = len(client.sent)

    def is_tracking():
        outlet.publish(message)
        client.spin(0.02)
        return len(client.sent) > since

    client.wait_for(is_tracking, 'motion')


def move(client, outlet, message, speeds, wanted, **tolerance):
    """Send a velocity until the last commands have the expected speeds.

    Commands for earlier messages may come first on a busy machine.
    """
    found = None

    def is_moving():
        nonlocal found
        outlet.publish(message)
        client.spin(0.02)
        if len(client.sent) > 20:
            found = speeds(motion_of(client, since=-21))
        # Lost commands leave fewer.
        is_known = found is not None and len(found) > 10
        return is_known and np.allclose(found, wanted, **tolerance)

    try:
        client.wait_for(is_moving, f'motion at {wanted}')
    except AssertionError as error:
        raise AssertionError(f'{error}; last speeds: {found}') from None


def of_hand(motion):
    """Return linear and angular speed of the hand at each command [m/s, rad/s]."""
    return np.transpose(arm().speeds(motion))


def of_joints(motion):
    """Return the velocities of the joints at each command [rad/s]."""
    return np.diff(motion.position, axis=0)[motion.follows] / motion.period


def velocities(**given):
    """Return one velocity for each joint of the arm, 0 for those that are not given."""
    return [given.get(name, 0.0) for name in ARM]


def test_a_twist_is_a_part_of_its_scales(client):
    close = {'rtol': 0.05, 'atol': 1e-3}
    move(client, client.twists, twist((0.0, 0.5, 0.0)), of_hand, [0.1, 0.0], **close)
    change(client, scale__linear=0.1, scale__rotational=0.3)
    slower = twist((0.0, -1.0, 0.0), (0.0, 0.0, 0.5))
    move(client, client.twists, slower, of_hand, [0.1, 0.15], **close)


def test_units_may_change_at_run_time(client):
    def jog_until(message, **wanted):
        move(client, client.joints, message, of_joints, velocities(**wanted), rtol=0.0, atol=1e-6)

    jog_until(jog(panda_joint1=0.5), panda_joint1=0.2)
    change(client, scale__joint=0.2)
    jog_until(jog(panda_joint1=-1.0, panda_joint6=0.5), panda_joint1=-0.2, panda_joint6=0.1)
    change(client, command_in_type='speed_units')
    jog_until(jog(panda_joint1=0.25), panda_joint1=0.25)


def test_the_rules_are_those_of_the_document():
    text = (ROOT / 'docs' / 'migration.md').read_text()
    assert all(f"-r '{rule}'" in text for rule in REMAPS)


def test_a_pose_on_the_topic_of_servo_is_reached(client):
    goal = client.moved_pose((0.0, 0.1, 0.0))
    send(client, client.poses_out, goal)
    client.wait_for_arrival(goal)


def test_a_jog_that_ends_goes_stale_and_the_robot_rests(client):
    change(client, command_timeout=0.1)
    send(client, client.joints, jog(panda_joint1=0.5))
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.wait_for_silence()
    assert not any(client.sent[-1][1].points[0].velocities)


BAD = [
    (jog(panda_joint1=NAN), 'non_finite', 'panda_joint1'),
    (jog(panda_joint1=1e300), 'too_large_number', 'panda_joint1'),
    (jog(panda_joint1=0.1, elbow=0.1), 'unknown_joint', 'elbow'),
    (jog(panda_joint1=0.1, panda_joint2=-1.2), 'beyond_scale', 'panda_joint2'),
    (JointState(name=['panda_joint1'], velocity=[0.1, 0.1]), 'wrong_size', '2 velocities'),
    (JointState(name=['panda_joint1'], position=[0.1], velocity=[0.1, 0.1]), 'wrong_size',
     '1 positions and 2 velocities'),
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
    wait_until_refused(client, outlet, message, reason, named)
    assert not client.sent


def wait_until_refused(client, outlet, message, reason, named):
    """Send a bad message until a status counts it and gives the reason.

    Only some of many have a sentence, and only the newest is in the status: the next one is sent
    after the status has reported the previous one for long.
    """
    before, sent_at = client.dropped().get(reason, 0), -math.inf

    def is_refused():
        nonlocal sent_at
        if client.status.ticks > sent_at + 50:
            sent_at = client.status.ticks
            outlet.publish(message)
        counts = ({c.name: c.count for c in s.dropped_messages} for s in client.statuses)
        told = (named in status.text for status in client.statuses)
        return any(n.get(reason, 0) > before and t for n, t in zip(counts, told, strict=True))

    client.statuses.clear()
    client.wait_for(is_refused, f'{reason} naming {named}')


def test_a_joint_jog_moves_joints_by_name(client):
    message = client.jogs.msg_type(joint_names=['panda_joint1'], velocities=[0.5])
    wanted = velocities(panda_joint1=0.2)
    move(client, client.jogs, message, of_joints, wanted, rtol=0.0, atol=1e-6)


def test_a_joint_jog_without_velocities_is_refused(client):
    message = client.jogs.msg_type(joint_names=['panda_joint1'], displacements=[0.5])
    wait_until_refused(client, client.jogs, message, 'wrong_size', '')
    assert not client.sent
