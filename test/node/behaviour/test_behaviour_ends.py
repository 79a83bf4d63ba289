# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The process ends while the robot moves, in order or killed, and another one replaces it."""

import signal

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.processes.ros_processes import without_shared_memory
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

# Longest end of a node [s]: it takes half a second, on a busy machine some, and would take no end
# if it waited for a controller.
ENDS_IN = 10.0
# It starts the node three times.
pytestmark = [pytest.mark.dds, pytest.mark.timeout(400)]


def start_and_move(client, goal):
    """Start a node; return once it moves the robot towards a goal that is already published."""
    start_node(
        client,
        outputs__default__publish_velocities=True,
        **UNWATCHED,
        **NEVER_STALE,
    )
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))
    client.wait_for(
        lambda: client.sent and abs(client.sent[-1][1].points[0].velocities[0]) > 1.0,
        'motion', 100.0,
    )  # fmt: skip


def put_elsewhere(client, **position):
    """Move the robot by hand while no process commands it; return its position."""
    client.robot.place(**position)
    client.spin(0.1)
    client.sent.clear()
    # Messages from here on are those of the next process.
    client.statuses.clear()
    return array_of(client.robot.position)


def test_the_next_process_starts_where_the_last_one_left_the_robot(tmp_path):
    with without_shared_memory(), ros_rig(tmp_path) as client:
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        start_and_move(client, 2.0)
        client.processes.signal('node', signal.SIGKILL)
        assert client.processes.wait('node', PATIENCE) == -signal.SIGKILL
        client.wait_for_silence()
        motion_of(client).assert_within(panda_ranges())
        for number, goal in ((signal.SIGINT, -1.5), (signal.SIGTERM, 1.5)):
            put = put_elsewhere(client, panda_joint2=-0.02 * number, panda_joint4=-1.9)
            start_and_move(client, goal)
            client.processes.signal('node', number)
            assert client.processes.wait('node', PATIENCE) == 0, client.processes.text('node')
            client.wait_for_silence()
            motion = motion_of(client)
            assert motion.starts == [0]
            np.testing.assert_allclose(motion.began[0], put, atol=ROUNDING)
            motion.assert_at_rest()
            motion.assert_within(panda_ranges())
        assert 'Traceback' not in client.processes.text('node')


def test_a_controller_that_stands_still_does_not_hold_up_the_end(tmp_path):
    with ros_rig(tmp_path) as client:
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        topic = 'ros_ik/joint_trajectory'
        client.processes.start(
            'standing', 'ros_ik.demo.mock_robot', remaps=['joint_states:=none'],
            command_topic=topic,
        )  # fmt: skip
        client.wait_for(lambda: client.node.count_subscribers(topic) == 2, 'two controllers')
        start_and_move(client, 2.0)
        client.processes.signal('standing', signal.SIGSTOP)
        client.spin(0.2)
        client.processes.signal('node', signal.SIGINT)
        assert client.processes.wait('node', ENDS_IN) == 0, client.processes.text('node')
        client.wait_for_silence()
        motion_of(client).assert_at_rest()
        assert 'Traceback' not in client.processes.text('node')
