# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Bad messages on any topic: dropped, counted and named, and the motion continues."""

import math
import random
import struct
import time

from geometry_msgs.msg import Point
from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import Pose
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import TwistStamped
from geometry_msgs.msg import Vector3
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_msgs.msg import String
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds

INPUTS = {
    'ros_ik/target_pose': PoseStamped,
    'ros_ik/ee/target_pose': PoseStamped,
    'ros_ik/ee/target_twist': TwistStamped,
    'ros_ik/target_joints': JointState,
    'ros_ik/target_com': PointStamped,
    'ros_ik/obstacles': ObstacleArray,
    'ros_ik/stop_request': Bool,
    'joint_states': JointState,
    'robot_description': String,
    'robot_description_semantic': String,
}
LATCHING = {
    'ros_ik/obstacles', 'ros_ik/stop_request', 'robot_description', 'robot_description_semantic',
}  # fmt: skip
NAN, INF = math.nan, math.inf


def pose(frame='', x=0.4, w=1.0, y=0.0):
    """Return a pose, bad in one way at most."""
    message = PoseStamped(
        pose=Pose(position=Point(x=x, y=y, z=0.4), orientation=Quaternion(x=0.0, w=w))
    )
    message.header.frame_id = frame
    return message


def twist(frame='', x=0.0, turn=0.0):
    """Return a velocity."""
    message = TwistStamped()
    message.header.frame_id = frame
    message.twist.linear, message.twist.angular = Vector3(x=x), Vector3(z=turn)
    return message


def point(frame='', x=0.0):
    """Return a position of the centre of mass."""
    message = PointStamped(point=Point(x=x))
    message.header.frame_id = frame
    return message


def obstacle(kind=Obstacle.SPHERE, dimensions=(0.1,), frame='panda_link0', operation=Obstacle.ADD,
             **numbers):  # fmt: skip
    """Return one obstacle far away from the robot."""
    solid = Obstacle(id='x', operation=operation, type=kind, dimensions=list(dimensions))
    solid.header.frame_id = frame
    solid.pose = pose(**{'x': 5.0, **numbers}).pose
    return ObstacleArray(obstacles=[solid])


def joints(**positions):
    """Return joint positions."""
    return JointState(name=list(positions), position=list(positions.values()))


TWICE = JointState(name=['panda_joint1', 'panda_joint1'], position=[0.0, 0.0])
# Topic, bad message, and its counter.
BAD = [
    *((topic, message, reason)
      for topic in ('ros_ik/target_pose', 'ros_ik/ee/target_pose')
      for message, reason in (
          (pose(x=NAN), 'non_finite'),
          (pose(y=-INF), 'non_finite'),
          (pose(w=NAN), 'non_finite'),
          (pose(w=0.0), 'zero_quaternion'),
          (pose(w=1e-12), 'zero_quaternion'),
          (pose(w=1.02), 'not_unit_quaternion'),
          (pose(x=1e300), 'too_large_number'),
          (pose('no_such_link'), 'unknown_frame'),
      )),
    ('ros_ik/target_joints', joints(panda_joint1=NAN), 'non_finite'),
    ('ros_ik/target_joints', joints(panda_joint1=0.0, panda_joint2=INF), 'non_finite'),
    ('ros_ik/target_joints', joints(no_such_joint=0.0), 'unknown_joint'),
    ('ros_ik/target_joints', JointState(name=list(ARM), position=[0.0]), 'wrong_size'),
    ('ros_ik/target_joints', JointState(), 'wrong_size'),
    ('ros_ik/target_joints', TWICE, 'repeated_joint'),
    ('ros_ik/target_joints', joints(panda_joint1=1e300), 'too_large_number'),
    ('joint_states', joints(panda_joint1=-1e300), 'too_large_number'),
    ('joint_states', joints(panda_joint1=NAN), 'non_finite'),
    ('joint_states', joints(panda_joint1=INF), 'non_finite'),
    ('joint_states', JointState(name=list(ARM), position=[0.0]), 'wrong_size'),
    ('ros_ik/ee/target_twist', twist(x=NAN), 'non_finite'),
    ('ros_ik/ee/target_twist', twist(turn=INF), 'non_finite'),
    ('ros_ik/ee/target_twist', twist('no_such_link'), 'unknown_frame'),
    ('ros_ik/target_com', point(x=NAN), 'non_finite'),
    ('ros_ik/target_com', point(x=1e10), 'too_large_number'),
    ('ros_ik/target_com', point('no_such_link'), 'unknown_frame'),
    ('ros_ik/ee/target_twist', twist(x=1e10), 'too_large_number'),
    ('ros_ik/obstacles', obstacle(x=NAN), 'non_finite'),
    ('ros_ik/obstacles', obstacle(w=0.0), 'zero_quaternion'),
    ('ros_ik/obstacles', obstacle(w=1.4), 'not_unit_quaternion'),
    ('ros_ik/obstacles', obstacle(x=1e300), 'too_large_number'),
    ('ros_ik/obstacles', obstacle(dimensions=(INF,)), 'non_finite'),
    ('ros_ik/obstacles', obstacle(dimensions=(0.1, 0.1)), 'wrong_size'),
    ('ros_ik/obstacles', obstacle(dimensions=(-0.1,)), 'bad_obstacle'),
    ('ros_ik/obstacles', obstacle(kind=77), 'bad_obstacle'),
    ('ros_ik/obstacles', obstacle(operation=77), 'bad_obstacle'),
    ('ros_ik/obstacles', obstacle(frame='no_such_link'), 'unknown_frame'),
]  # fmt: skip


def title(bad):
    """Return a name for a case."""
    return f'{bad[0]}-{bad[2]}'


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('garbage')) as client:
        start_node(
            client, outputs__default__publish_velocities=True,
            use_tf=False, **NEVER_STALE, **UNWATCHED,
        )  # fmt: skip
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        client.inputs = {
            topic: client.node.create_publisher(kind, topic, LATCHED if topic in LATCHING else 1)
            for topic, kind in INPUTS.items()
        }
        yield client


def publisher(client, topic):
    """Return a publisher that the node has discovered."""
    found = client.inputs[topic]
    client.wait_for(lambda: found.get_subscription_count() > 0, f'a subscriber of {topic}')
    return found


@pytest.fixture
def tracking(client):
    """Track a distant pose; judge the commands."""
    client.set(**NEVER_STALE)
    client.sent.clear()
    side = 0.15 if client.robot.position['panda_joint1'] <= 0.0 else -0.3
    goal = client.moved_pose((0.0, side, 0.0))
    client.stream('ee', goal)
    client.wait_for_text('tracking')
    yield client
    client.wait_for_arrival(goal)
    client.stream('ee', None)
    motion = motion_of(client)
    assert motion.starts == [0]
    motion.assert_within(panda_ranges())
    assert client.processes.is_alive('node'), client.processes.text('node')
    client.forget_targets()


def count_of(client, reason):
    """Return how many messages were dropped for a reason."""
    return client.dropped().get(reason, 0)


def test_what_is_wrong_is_counted_and_the_motion_goes_on(tracking):
    client = tracking
    for topic, message, reason in BAD:
        if client.node.count_subscribers(topic) == 0:
            continue
        before, outlet = count_of(client, reason), publisher(client, topic)

        def is_counted(reason=reason, before=before, outlet=outlet, message=message):
            # Repeated: a busy reader of the newest message may never see this one.
            outlet.publish(message)
            client.spin(0.02)
            return count_of(client, reason) > before

        client.wait_for(is_counted, f'{reason} of {message} on {topic}')
        assert client.status.code in (IkStatus.OK, IkStatus.DEADLINE_MISSED), client.status


def test_the_last_valid_target_counts_until_it_is_stale(client):
    client.set(**NEVER_STALE)
    client.sent.clear()
    goal = client.robot.position['panda_joint1'] + 0.8
    # Repeated until it arrives: one message of a best-effort topic may be lost.
    client.stream('joints', joints(panda_joint1=goal))
    client.wait_for_text('tracking')
    client.stream('joints', None)
    for _ in range(20):
        client.send('joints', joints(panda_joint1=NAN))
        client.spin(0.02)
    client.wait_for(lambda: abs(client.robot.position['panda_joint1'] - goal) < 1e-6, 'arrival')
    client.set(command_timeout=0.1)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    assert motion_of(client).starts == [0]


def test_many_bad_messages_are_few_lines_in_the_log(tracking):
    client = tracking
    bad = joints(panda_joint1=NAN)
    before, lines = count_of(client, 'non_finite'), dropped_lines(client)
    began = time.monotonic()
    while count_of(client, 'non_finite') < before + 50:
        client.send('joints', bad)
        client.spin(0.002)
    # The same is logged once in 5 s.
    assert dropped_lines(client) <= lines + 3 + (time.monotonic() - began) / 5.0


def dropped_lines(client):
    """Return the number of lines on dropped messages in the log."""
    return client.processes.text('node').count('dropped a message')


def test_bytes_that_are_no_message_do_no_harm(tracking):
    client, generator = tracking, random.Random(7)
    for topic, kind in INPUTS.items():
        if client.node.count_subscribers(topic) == 0:
            continue
        outlet, good = publisher(client, topic), bytes(serialize_message(kind()))
        cuts = [good[:size] for size in range(0, len(good), 3)]
        # A sequence that claims four thousand million elements.
        endless = good[:4] + struct.pack('<I', 0xFFFFFFFF) * 12
        noise = [good[:4] + generator.randbytes(size) for size in (3, 16, 61, 400)]
        # Any byte but zero is true: that would be a stop.
        for data in (*cuts, *(() if kind is Bool else (endless, *noise))):
            outlet.publish(data)
            client.spin(0.002)
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.mark.parametrize('far', [3.0, 1e6, 9e8], ids=str)
def test_a_target_out_of_reach_stretches_the_robot_and_no_more(client, far):
    client.set(**NEVER_STALE)
    client.robot.place(**HeldRobot.home())
    client.robot.wait_until_seen()
    client.sent.clear()
    target = client.moved_pose()
    target.pose.position.x = far
    client.stream('ee', target)
    client.wait_for(lambda: len(client.sent) > 150, 'motion')
    assert not client.status.tasks[0].reached
    client.stream('ee', None)
    home = HeldRobot.home()
    client.stream('joints', joints(**home))
    client.wait_for(
        lambda: all(abs(client.robot.position[k] - v) < 1e-6 for k, v in home.items()), 'return'
    )
    client.stream('joints', None)
    client.forget_targets()
    motion_of(client).assert_within(panda_ranges())
