# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot that starts outside limits or beyond a wall, and its way back."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import Arm
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

# Floor of the hand, and a posture in which the hand is below it.
FLOOR = 0.2
LOW = {'panda_joint2': 0.9, 'panda_joint4': -2.0}
OUTSIDE = {
    'panda_joint1': 3.0, 'panda_joint2': -1.9, 'panda_joint4': -0.01, 'panda_joint6': -0.1,
}  # fmt: skip


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('limits')) as client:
        start_node(
            client, outputs__default__publish_velocities=True,
            barriers__position__floor__frame='panda_hand',
            barriers__position__floor__min=[-9.0, -9.0, FLOOR], **NEVER_STALE, **UNWATCHED,
        )  # fmt: skip
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


def put(client, **position):
    """Place the robot by hand while no command moves it."""
    for topic in ('ee', 'joints'):
        client.stream(topic, None)
    client.forget_targets()
    client.robot.place(**{**HeldRobot.home(), **position})
    client.robot.wait_until_seen()
    client.sent.clear()


def send_to(client, **goal):
    """Stream a joint target."""
    client.stream('joints', JointState(name=list(goal), position=list(goal.values())))


@pytest.mark.parametrize('joint', OUTSIDE)
def test_a_joint_outside_its_limits_moves_inwards_only(client, joint):
    index = int(joint[-1]) - 1
    low, high = panda_ranges().lower[index], panda_ranges().upper[index]
    start = OUTSIDE[joint]
    inwards = -1.0 if start > high else 1.0
    put(client, **{joint: start})
    # Beyond the limit, to which the target is clamped, and then well inside.
    send_to(client, **{joint: start - inwards})
    client.wait_for(lambda: len(client.sent) > 30, 'commands')
    goal = (low + high) / 2.0
    send_to(client, **{joint: goal})
    client.wait_for(lambda: abs(client.robot.position[joint] - goal) < 1e-6, 'arrival')
    motion = motion_of(client)
    motion.assert_within(panda_ranges(), positions=False)
    assert motion.starts == [0]
    np.testing.assert_allclose(
        motion.began[0], array_of({**HeldRobot.home(), joint: start}), atol=ROUNDING
    )
    beyond = np.maximum(low - motion.position, motion.position - high)[:, index]
    assert np.all(np.diff(beyond[beyond > 0.0]) <= ROUNDING), 'it moved further out'
    # Every joint that was inside stays inside.
    others = np.arange(7) != index
    assert np.all(motion.position[:, others] >= panda_ranges().lower[others] - ROUNDING)
    assert np.all(motion.position[:, others] <= panda_ranges().upper[others] + ROUNDING)


# At rest before the barrier, a pose target has a code of its own.
HELD_BACK = (
    IkStatus.SLOWED_BY_BARRIER,
    IkStatus.HALTED_BY_BARRIER,
    IkStatus.STATIONARY,
)


def heights(motion):
    """Return the height of the hand at each command."""
    return Arm().poses(motion.position, 'panda_hand')[0][:, 2]


def test_a_frame_beyond_a_wall_may_come_back_and_go_no_further(client):
    put(client, **LOW)
    # Down, then up over the floor, then down against it.
    client.stream('ee', client.moved_pose((0.0, 0.0, -0.1)))
    client.wait_for_code(*HELD_BACK, text='floor')
    client.wait_for_ticks(30)
    client.stream('ee', client.moved_pose((0.0, 0.0, FLOOR + 0.2)))
    client.wait_for_arrival()
    above = len(client.sent)
    client.stream('ee', client.moved_pose((0.0, 0.0, -0.6)))
    client.wait_for(lambda: heights(motion_of(client, since=-1))[-1] < FLOOR + 0.02, 'the floor')
    client.wait_for_code(*HELD_BACK, text='floor')
    motion = motion_of(client)
    motion.assert_within(panda_ranges())
    height = heights(motion)
    assert height[0] < FLOOR, 'it did not begin beyond'
    assert np.all(np.diff(height[height < FLOOR]) >= -1e-6), 'it went further beyond'
    assert height[above:].min() >= FLOOR - 1e-6, 'it went through'


def test_only_finite_numbers_within_limits_leave_the_node_whatever_is_asked(client):
    put(client)
    generator = np.random.default_rng(17)
    for _ in range(15):
        target = client.moved_pose(generator.uniform(-0.6, 0.6, 3))
        q = generator.normal(size=4)
        orientation = target.pose.orientation
        orientation.x, orientation.y, orientation.z, orientation.w = q / np.linalg.norm(q)
        client.stream('ee', target)
        client.wait_for_ticks(12)
    motion = motion_of(client)
    motion.assert_within(panda_ranges())
    assert heights(motion).min() >= FLOOR - 1e-6
