# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""~/current_obstacles: every present obstacle, of any sender, also for late subscribers."""

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import pytest
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import ros_rig
from support.robots.ball_robot import NAMES
from support.robots.ball_robot import URDF

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds

SIZES = {
    Obstacle.SPHERE: [0.1], Obstacle.BOX: [0.1, 0.2, 0.3], Obstacle.CYLINDER: [0.1, 0.4],
    Obstacle.CAPSULE: [0.1, 0.5], Obstacle.HALF_SPACE: [],
}  # fmt: skip
KEPT = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('obstacles')) as client:
        early = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', KEPT)
        sent = [obstacle(f'early {k}') for k in range(3)]
        for entry in sent:
            early.publish(ObstacleArray(obstacles=[entry]))
        client.processes.start(
            'node', 'ros_ik.node.ros_ik_node', ee__frame='ball', barriers__max_obstacles=5,
            **NEVER_STALE,
        )  # fmt: skip
        state = JointState(name=list(NAMES), position=[0.0, 0.0, 0.0])
        states = client.node.create_publisher(JointState, 'joint_states', 1)
        client.node.create_timer(0.05, lambda: states.publish(state))
        client.describe(URDF)
        client.wait_for_code(IkStatus.OK, timeout=LONG)
        # A node that starts later receives every message that a publisher keeps.
        World(client).wait_for(all_of(*sent))
        client.node.destroy_publisher(early)
        World(client).change(Obstacle(operation=Obstacle.CLEAR))
        yield client


@pytest.fixture
def world(client):
    """Return the messages that an early subscriber receives."""
    heard = World(client)
    # The list for subscribers before the first obstacle is empty.
    client.wait_for(lambda: heard.obstacles is not None, 'first list')
    yield heard
    heard.change(Obstacle(operation=Obstacle.CLEAR))
    heard.wait_for({})


class World:
    """Listener to the obstacles of the node, beside another client that changes them."""

    def __init__(self, client):
        self._client, self.obstacles, self.frames = client, None, {}
        node, kind = client.node, ObstacleArray
        node.create_subscription(kind, 'ros_ik/current_obstacles', self._on_list, LATCHED)
        self._changes = node.create_publisher(kind, 'ros_ik/obstacles', LATCHED)

    def _on_list(self, message):
        first, *rest = message.obstacles
        assert first.operation == Obstacle.CLEAR
        assert all(entry.operation == Obstacle.ADD for entry in rest)
        self.obstacles = {entry.id: described(entry) for entry in rest}
        self.frames = {entry.id: entry.header.frame_id for entry in rest}

    def change(self, *changes):
        self._client.wait_for(lambda: self._changes.get_subscription_count() > 0, 'node')
        self._changes.publish(ObstacleArray(obstacles=changes))

    def wait_for(self, obstacles):
        def is_there():
            return self.obstacles == obstacles

        self._client.wait_for(is_there, f'{obstacles}, there is {self.obstacles}')


def described(entry):
    """Return the fields that distinguish obstacles of one name."""
    p, q = entry.pose.position, entry.pose.orientation
    pose = [round(value, 9) for value in (p.x, p.y, p.z, q.x, q.y, q.z, q.w)]
    return entry.type, list(entry.dimensions), pose


def obstacle(name, kind=Obstacle.SPHERE, x=3.0, frame=''):
    entry = Obstacle(
        id=name, operation=Obstacle.ADD, type=kind, dimensions=SIZES[kind],
        pose=Pose(position=Point(x=x), orientation=Quaternion(z=0.6, w=0.8)),
    )  # fmt: skip
    entry.header.frame_id = frame
    return entry


def all_of(*entries):
    return {entry.id: described(entry) for entry in entries}


def test_every_change_is_published_and_a_late_joiner_gets_all(client, world):
    world.wait_for({})
    several = [obstacle(f'/odd name {kind}/..', kind) for kind in SIZES]
    world.change(*several[:2])
    world.wait_for(all_of(*several[:2]))
    # Another client adds to them.
    other = World(client)
    other.wait_for(all_of(*several[:2]))
    other.change(*several[2:])
    world.wait_for(all_of(*several))
    moved = obstacle(several[0].id, x=4.0)
    world.change(moved)
    world.wait_for(all_of(moved, *several[1:]))
    other.change(Obstacle(id=several[1].id, operation=Obstacle.REMOVE))
    world.wait_for(all_of(moved, *several[2:]))
    World(client).wait_for(all_of(moved, *several[2:]))
    world.change(Obstacle(operation=Obstacle.CLEAR))
    other.wait_for({})
    World(client).wait_for({})


def test_no_change_of_a_burst_replaces_another(client, world):
    """A latched and a volatile publisher send one obstacle a message, faster than it is read."""
    senders = [
        client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', qos) for qos in (KEPT, 100)
    ]
    for sender in senders:
        client.wait_for(lambda sender=sender: sender.get_subscription_count() > 0, 'node')
    added = [obstacle(f'added {k}') for k in range(5)]
    for round_trip in range(10):
        for k, entry in enumerate(added):
            senders[(k + round_trip) % 2].publish(ObstacleArray(obstacles=[entry]))
        world.wait_for(all_of(*added))
        for entry in added[1:]:
            removal = Obstacle(id=entry.id, operation=Obstacle.REMOVE)
            senders[round_trip % 2].publish(ObstacleArray(obstacles=[removal]))
        world.wait_for(all_of(added[0]))


def test_what_the_node_refuses_is_not_published(client, world):
    kept = obstacle('kept')
    world.change(kept)
    world.wait_for(all_of(kept))
    refused = client.dropped().get('too_many_obstacles', 0)
    # One too many, all of them or none.
    world.change(*(obstacle(f'another {k}') for k in range(5)))
    # Both of the node's readers hear it.
    client.wait_for(lambda: client.dropped().get('too_many_obstacles', 0) > refused, 'a refusal')
    client.wait_for_ticks(50)
    assert client.dropped()['too_many_obstacles'] == refused + 1
    last = obstacle('last')
    world.change(last)
    world.wait_for(all_of(kept, last))


def test_poses_are_in_links_that_do_not_move(client, world):
    world.change(obstacle('standing'), obstacle('hung', frame='ball'))
    # At zero the ball is 1 m in front of the base.
    hung = obstacle('hung', x=4.0)
    world.wait_for(all_of(obstacle('standing'), hung))
    assert world.frames == {'standing': 'base', 'hung': 'base'}
    # A new description keeps them.
    generation = client.status.model_generation
    client.describe(URDF.replace('<robot ', '<robot version="1.0" '))
    client.wait_for(lambda: client.status.model_generation > generation, 'other robot', LONG)
    World(client).wait_for(all_of(obstacle('standing'), hung))
