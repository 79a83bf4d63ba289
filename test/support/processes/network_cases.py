# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Node and robot on two hosts with a bad cable: packets late, lost, or all of them lost.

test/node/behaviour/test_behaviour_network.py runs these in a process of their own: Fast DDS looks
at the network interfaces of a process once.
"""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.processes import network
from support.processes.ros_processes import without_shared_memory
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    """Return a client on the host of the robot; the node is on the other one."""
    # Memory is shared between the hosts here, as it never is between two.
    with (
        without_shared_memory(),
        pytest.MonkeyPatch.context() as patch,
        network.two_namespaces() as cable,
    ):
        patch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')
        here, there = cable.names
        with network.entered(here), ros_rig(tmp_path_factory.mktemp('network')) as client:
            start_node(
                client, prefix=network.inside(there), **NEVER_STALE,
                **UNWATCHED, outputs__default__publish_velocities=True,
            )  # fmt: skip
            client.robot, client.cable = HeldRobot(client), cable
            client.describe(panda_urdf())
            client.wait_for_text('waiting for a target', timeout=LONG)
            yield client
            cable.spoil()
            assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture(autouse=True)
def good_cable(client):
    """Begin each test with a good cable and no pending messages."""
    client.stream('joints', None)
    client.cable.spoil()
    client.forget_targets()
    client.wait_for_silence()
    client.sent.clear()


def aim(client, goal):
    """Stream a target of the first joint."""
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))


def is_there(client, goal):
    """Return True if the robot is at its goal."""
    return abs(client.robot.position['panda_joint1'] - goal) < 1e-6


def test_losses_and_delays_cost_messages_but_no_motion(client):
    client.cable.spoil(loss=0.1, delay=0.02, jitter=0.01)
    for goal in (0.9, -0.9):
        aim(client, goal)
        client.wait_for(lambda goal=goal: is_there(client, goal), 'arrival')
    motion = motion_of(client)
    assert not motion.follows.all(), 'the cable lost nothing'
    assert motion.starts == [0]
    # The first commands may be lost, but not four in a row.
    ranges = panda_ranges()
    assert np.all(np.abs(motion.velocity[0]) <= 5 * ranges.acceleration * motion.period)
    motion.assert_within(ranges, from_rest=False)


def test_a_cut_cable_stops_it_and_a_new_one_lets_it_start_where_the_robot_is(client):
    stale = client.set(joint_state_timeout=0.5, command_timeout=0.5)
    assert all(result.successful for result in stale.values())
    goal = 0.9 if client.robot.position['panda_joint1'] < 0.0 else -0.9
    aim(client, goal)
    client.wait_for(
        lambda: client.sent and abs(client.sent[-1][1].points[0].velocities[0]) > 1.0, 'motion'
    )
    known = times_silent(client)
    client.cable.spoil(loss=1.0)
    # The node is disconnected now. Its last trajectory ends at rest, so the robot is at rest.
    client.wait_for(lambda: times_silent(client) > known, 'end of the motion in the log')
    motion_of(client).assert_within(panda_ranges())
    client.stream('joints', None)
    client.statuses.clear()
    client.cable.spoil()
    client.wait_for_text('older than command_timeout')
    # DDS repeats the last commands before the cut, within its heartbeats of 3 s: the robot follows
    # them, and only then receives new ones from the first on.
    client.spin(4.0)
    client.robot.place(panda_joint4=-1.7)
    client.robot.wait_until_seen()
    put = array_of(client.robot.position)
    client.sent.clear()
    aim(client, goal)

    # A robot that had arrived when the cable was cut is at its goal at once.
    client.wait_for(lambda: client.sent and is_there(client, goal), 'arrival')
    motion = motion_of(client)
    np.testing.assert_allclose(motion.began[motion.starts[0]], put, atol=ROUNDING)
    motion.assert_within(panda_ranges())


def times_silent(client):
    """Return the number of lines in which the node reports missing joint states."""
    return client.processes.text('node').count('JOINT_STATE_STALE')
