# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot whose links cut into each other at the start; judged by coal on the hulls of meshes."""

import numpy as np
import pytest
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.rigs.mesh_rig import mesh_rig
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import pin
from support.robots.collision_oracle import SRDFS
from support.robots.held_robot import HeldRobot

from ros_ik.demo.robots import robot_data_path
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

SRDF = robot_data_path() / SRDFS['panda']
# The default of barriers.self_collision.margin.
MARGIN = 0.01
HELD_BACK = (IkStatus.SLOWED_BY_BARRIER, IkStatus.HALTED_BY_BARRIER, IkStatus.STATIONARY)
# The hand cuts 25 mm into the first link; every other pair is 40 mm apart or more.
FOLDED = dict(zip(ARM, (0.0, -0.01, -0.08, -3.02, -0.97, 0.9, 0.78), strict=True))
# The barrier uses capsules around the meshes, whose nearest points may differ [m].
SHAPE_TOLERANCE = 5e-4


class SelfDistance:
    """The links of the Panda in coal, without the pairs that its SRDF lets touch."""

    def __init__(self):
        oracle = collision_oracle('panda')
        self._robot, self._geometry, self._data = oracle.robot, oracle.geometry.copy(), oracle.data
        self._shapes, self._pose = oracle.hulls, oracle._pose
        self._geometry.removeAllCollisionPairs()
        self._geometry.addAllCollisionPairs()
        pin.removeCollisionPairs(self._robot.pin, self._geometry, str(SRDF))
        model = self._robot.pin
        self._coords = [model.joints[model.getJointId(name)].idx_q for name in ARM]

    def __call__(self, position):
        """Return the least distance of two links, negative if they overlap [m]."""
        robot = self._robot
        q = pin.neutral(robot.pin)
        q[self._coords] = position
        pin.updateGeometryPlacements(robot.pin, robot.data, self._geometry, self._data, q)
        return min(
            coal_distance(
                self._shapes[pair.first], self._pose(pair.first),
                self._shapes[pair.second], self._pose(pair.second),
            )[0]
            for pair in self._geometry.collisionPairs
        )  # fmt: skip

    def slope(self, position):
        """Return the gradient by central differences, [joints]."""
        steps = 1e-4 * np.eye(len(ARM))
        return np.array([self(position + e) - self(position - e) for e in steps]) / 2e-4


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with mesh_rig(tmp_path_factory.mktemp('collision')) as client:
        start_node(
            client, outputs__default__publish_velocities=True,
            **NEVER_STALE, **UNWATCHED,
        )  # fmt: skip
        client.robot, client.distance = HeldRobot(client, **FOLDED), SelfDistance()
        semantic = client.node.create_publisher(String, 'robot_description_semantic', LATCHED)
        semantic.publish(String(data=SRDF.read_text()))
        client.wait_for(lambda: semantic.get_subscription_count() > 0, 'the node')
        # A robot is built without it if the other description arrives first.
        assert semantic.wait_for_all_acked(Duration(seconds=PATIENCE))
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture(autouse=True)
def folded(client):
    """Begin each test with the hand in the first link."""
    for topic in ('ee', 'joints'):
        client.stream(topic, None)
    client.forget_targets()
    client.robot.place(**FOLDED)
    client.robot.wait_until_seen()
    client.sent.clear()


def assert_it_grows(client):
    """Check that links that overlap, or are nearer than the margin, never come nearer."""
    motion = motion_of(client)
    motion.assert_within(panda_ranges())
    assert motion.starts == [0]
    np.testing.assert_allclose(motion.began[0], array_of(FOLDED), atol=ROUNDING)
    gap = np.array([client.distance(row) for row in (motion.began[0], *motion.position)])
    assert gap[0] < -0.02, 'it did not begin in collision'
    lost = np.maximum.accumulate(gap) - gap
    assert lost[gap < MARGIN].max() <= SHAPE_TOLERANCE, 'links came nearer to each other'
    return gap


def test_joints_that_start_in_collision_go_no_deeper_and_come_out(client):
    start = array_of(FOLDED)
    slope = client.distance.slope(start)
    deeper = np.clip(
        start - 0.4 * slope / np.linalg.norm(slope), panda_ranges().lower, panda_ranges().upper
    )
    assert client.distance(deeper) < client.distance(start) - 0.02
    client.stream('joints', JointState(name=list(ARM), position=deeper.tolist()))
    held = client.wait_for_code(*HELD_BACK)
    assert held.limiting_barrier == 'self_collision'
    assert {held.limiting_pair_a, held.limiting_pair_b} == {'panda_link1', 'panda_hand'}
    client.wait_for_ticks(30)
    home = HeldRobot.home()
    client.stream('joints', JointState(name=list(home), position=list(home.values())))
    client.wait_for(
        lambda: all(abs(client.robot.position[name] - home[name]) < 1e-6 for name in home), 'home'
    )
    assert assert_it_grows(client)[-1] > MARGIN


def test_a_frame_that_starts_in_collision_is_tracked_outwards_only(client):
    client.stream('ee', client.moved_pose((-0.1, 0.0, 0.0)))
    client.wait_for_code(*HELD_BACK, text='panda_hand')
    client.wait_for_ticks(30)
    client.stream('ee', client.moved_pose((0.2, 0.0, 0.1)))
    client.wait_for_arrival()
    assert assert_it_grows(client)[-1] > MARGIN
