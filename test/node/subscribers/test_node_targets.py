# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Velocities and the centre of mass over DDS; the end is checked by Pinocchio."""

from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
import pinocchio as pin
import pytest
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot
from support.robots.two_arms import LEFT
from support.robots.two_arms import RIGHT
from support.robots.two_arms import TwoArms

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SetMode

pytestmark = pytest.mark.dds
BAXTER, PANDA = find_robot('baxter'), find_robot('panda')


class Twin:
    """A robot in Pinocchio."""

    def __init__(self, files):
        self.model = pin.buildModelFromUrdf(str(files.urdf_path))
        self.data = self.model.createData()

    def configuration(self, position):
        q = pin.neutral(self.model)
        for name, value in position.items():
            joint = self.model.joints[self.model.getJointId(name)]
            assert joint.nq == 1
            q[joint.idx_q] = value
        return q

    def pose(self, position, frame, base):
        """Return rotation and position of a frame in another."""
        pin.framesForwardKinematics(self.model, self.data, self.configuration(position))
        placed = [self.data.oMf[self.model.getFrameId(name)] for name in (frame, base)]
        found = placed[1].actInv(placed[0])
        return found.rotation, found.translation

    def center(self, position):
        moving = pin.centerOfMass(self.model, self.data, self.configuration(position))
        # Links fixed to the world have mass too, which Pinocchio leaves out.
        base, mass = self.model.inertias[0], self.data.mass[0]
        return (mass * moving + base.mass * base.lever) / (mass + base.mass)


@pytest.fixture(scope='module')
def arms(tmp_path_factory):
    folder = tmp_path_factory.mktemp('targets')
    with ros_rig(folder) as client:
        arms = TwoArms(client)
        arms.start(folder)
        arms.twin = Twin(BAXTER)
        yield arms
        assert client.processes.is_alive('node'), client.processes.text('node')


def twist(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0), frame=''):
    message = TwistStamped()
    message.header.frame_id = frame
    for part, values in ((message.twist.linear, linear), (message.twist.angular, angular)):
        part.x, part.y, part.z = values
    return message


def move(arms, message, is_far):
    """Stream a twist to the left hand until it is far; return its poses before and after.

    Args:
        arms: The robot.
        message: The twist.
        is_far: Tells of the way [m, 3] and the turn [rad, 3] since the start whether that is so.
    """
    arms.quiet()
    turned, here = arms.twin.pose(arms.position, 'left_gripper', 'torso')
    others = {name: arms.position[name] for name in RIGHT}

    def has_moved():
        turned_now, now = arms.twin.pose(arms.position, 'left_gripper', 'torso')
        return is_far(now - here, pin.log3(turned_now @ turned.T))

    arms.streams['left/target_twist'] = message
    arms.client.wait_for_code(IkStatus.OK, text='tracking')
    # While the client is suspended the twist becomes stale: the distance counts, not the time.
    arms.client.wait_for(has_moved, 'way of the hand')
    arms.streams.clear()
    arms.client.wait_for_code(IkStatus.COMMAND_STALE)
    arms.client.wait_for_ticks(25)
    for name, value in others.items():
        assert arms.position[name] == pytest.approx(value, abs=2e-3), 'the other arm moved'
    return (turned, here), arms.twin.pose(arms.position, 'left_gripper', 'torso')


# Before the others: two clients in one process may disturb each other as they end.
def test_the_centre_of_mass_goes_where_it_is_told(tmp_path):
    with ros_rig(tmp_path) as client:
        robot, twin = HeldRobot(client), Twin(PANDA)
        start_node(client, com__weight=1.0, joint_state_timeout=60.0)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        target = PointStamped()
        target.header.frame_id = 'panda_link0'
        wanted = twin.center(robot.position) + (0.0, 0.02, -0.01)
        target.point.x, target.point.y, target.point.z = wanted.tolist()
        publisher = client.node.create_publisher(PointStamped, 'ros_ik/target_com', 1)
        timer = client.node.create_timer(0.02, lambda: publisher.publish(target))
        client.wait_for_code(IkStatus.OK, text='tracking')
        client.wait_for(
            lambda: np.linalg.norm(twin.center(robot.position) - wanted) < 2e-3, 'arrival', LONG
        )
        # A second program sends other targets.
        other = PointStamped(header=target.header)
        other.point.x, other.point.y, other.point.z = (wanted + (0.0, -0.01, 0.0)).tolist()
        second = client.node.create_publisher(PointStamped, 'ros_ik/target_com', 1)
        second_timer = client.node.create_timer(0.03, lambda: second.publish(other))
        told = ('its targets alternate', 'several publishers')[client.tells_publishers_apart]
        client.wait_for_text(f'tracking; com: {told}')
        client.node.destroy_timer(second_timer)
        client.node.destroy_timer(timer)
        client.wait_for_code(IkStatus.COMMAND_STALE)
        client.assert_trajectories_are_accepted(ARM)


def test_a_twist_in_the_base_frame_moves_the_hand_that_way(arms):
    (turned, here), (turned_after, there) = move(
        arms, twist((0.0, 0.05, 0.0)), lambda way, turn: way[1] > 0.03
    )
    way = there - here
    assert way[1] > 0.02
    assert np.linalg.norm(way[[0, 2]]) < 0.1 * way[1]
    assert np.linalg.norm(pin.log3(turned.T @ turned_after)) < 0.05


def test_a_twist_in_the_frame_of_the_hand_goes_along_its_axes(arms):
    (turned, here), (_, there) = move(
        arms,
        twist((0.0, 0.0, -0.05), frame='left_gripper'),
        lambda way, turn: np.linalg.norm(way) > 0.03,
    )
    way = turned.T @ (there - here)
    assert way[2] < -0.02
    assert np.linalg.norm(way[:2]) < 0.15 * abs(way[2])


def test_a_rotation_turns_the_hand_on_the_spot(arms):
    (turned, here), (turned_after, there) = move(
        arms, twist(angular=(0.0, 0.0, 0.2)), lambda way, turn: turn[2] > 0.1
    )
    turn = pin.log3(turned_after @ turned.T)
    assert turn[2] > 0.08
    assert np.linalg.norm(turn[:2]) < 0.1 * turn[2]
    assert np.linalg.norm(there - here) < 0.01


def test_a_bad_twist_is_dropped_and_the_mode_decides(arms):
    arms.quiet()
    before = dict(arms.client.dropped())
    arms.streams['left/target_twist'] = twist((float('nan'), 0.0, 0.0))
    arms.client.wait_for(
        lambda: arms.client.dropped().get('non_finite', 0) > before.get('non_finite', 0), 'drops'
    )
    assert arms.client.call(SetMode, 'ros_ik/set_mode', SetMode.Request(mode=2)).success
    arms.streams['left/target_twist'] = twist((0.0, 0.0, 0.05))
    start = {name: arms.position[name] for name in LEFT}
    arms.client.wait_for_ticks(25)
    assert {name: arms.position[name] for name in LEFT} == start, 'a twist counts in mode POSE'
    assert arms.client.call(SetMode, 'ros_ik/set_mode', SetMode.Request(mode=3)).success
    arms.client.wait_for_code(IkStatus.OK, text='tracking')
    assert arms.client.call(SetMode, 'ros_ik/set_mode', SetMode.Request(mode=1)).success
    arms.quiet()
