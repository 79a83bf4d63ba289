# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that appear on the path or inside the robot; judged by coal and real meshes."""

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
import numpy as np
import pytest
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.mesh_rig import mesh_rig
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import PACKAGES
from support.robots.held_robot import HeldRobot
from support.robots.robots import pin

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds

RADIUS = 0.08
# The default of barriers.world.margin.
MARGIN = 0.02
BLOCKED = (IkStatus.SLOWED_BY_BARRIER, IkStatus.HALTED_BY_BARRIER, IkStatus.STATIONARY)


class Shapes:
    """The meshes of the Panda in coal."""

    def __init__(self):
        path = str(find_robot('panda').urdf_path)
        folders = [str(folder) for folder in PACKAGES]
        self._model = pin.buildModelFromXML(panda_urdf())
        self._geometry = pin.buildGeomFromUrdf(
            self._model, path, pin.GeometryType.COLLISION, package_dirs=folders
        )
        self._data = self._model.createData()
        self._placements = pin.GeometryData(self._geometry)
        self._coords = [self._model.joints[self._model.getJointId(name)].idx_q for name in ARM]

    def distance(self, position, centre):
        """Return the distance of the robot from a ball, less than 0 inside it [m]."""
        q = pin.neutral(self._model)
        q[self._coords] = position
        pin.updateGeometryPlacements(self._model, self._data, self._geometry, self._placements, q)
        place = coal.Transform3s(np.eye(3), np.asarray(centre, dtype=float))
        least = np.inf
        for item, placed in zip(self._geometry.geometryObjects, self._placements.oMg, strict=True):
            at = coal.Transform3s(placed.rotation, placed.translation)
            # A point, because the surface of a mesh does not tell its inside from its outside.
            found = coal_distance(item.geometry, at, coal.Sphere(1e-6), place)[0]
            least = min(least, found - RADIUS)
        return least


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with mesh_rig(tmp_path_factory.mktemp('obstacles')) as client:
        start_node(
            client, outputs__default__publish_velocities=True,
            **UNWATCHED, diagnostics_period=0.1, **NEVER_STALE,
            collision__ignore_pairs=['panda_link5:panda_link7'],
        )  # fmt: skip
        client.robot, client.shapes = HeldRobot(client), Shapes()
        client.obstacles = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture(autouse=True)
def at_home(client):
    """Begin each test at home, with nothing in the world."""
    client.stream('ee', None)
    client.forget_targets()
    change(client, Obstacle(operation=Obstacle.CLEAR))
    wait_for_count(client, 0)
    client.robot.place(**HeldRobot.home())
    client.robot.wait_until_seen()
    client.sent.clear()


def change(client, *changes):
    """Send changes of the world."""
    client.wait_for(lambda: client.obstacles.get_subscription_count() > 0, 'the node')
    client.obstacles.publish(ObstacleArray(obstacles=list(changes)))


def wait_for_count(client, number):
    """Wait until the node reports a number of obstacles."""
    client.diagnostics.clear()

    def counts():
        return [
            int(value.value)
            for entry in client.diagnostics for value in entry.values
            if value.key == 'obstacles'
        ]  # fmt: skip

    client.wait_for(lambda: counts() and counts()[-1] == number, f'{number} obstacles')


def ball(centre):
    """Return the message that adds a ball at a position."""
    message = Obstacle(
        id='ball', operation=Obstacle.ADD, type=Obstacle.SPHERE, dimensions=[RADIUS],
        pose=Pose(position=Point(x=centre[0], y=centre[1], z=centre[2])),
    )  # fmt: skip
    message.header.frame_id = 'panda_link0'
    return message


def place_of(pose):
    """Return the position of a pose message."""
    p = pose.pose.position
    return np.array([p.x, p.y, p.z])


def distances(client, centre, since=0):
    """Return the distance of the robot from the ball at each command."""
    positions = motion_of(client, since=since).position
    return np.array([client.shapes.distance(row, centre) for row in positions])


def test_an_obstacle_that_appears_on_the_path_is_not_touched(client):
    # So slowly that even a machine that stalls for a while sends the ball in time.
    assert client.set(ee__max_linear_speed=0.1)['ee.max_linear_speed'].successful
    target = client.moved_pose((0.0, 0.4, 0.0))
    centre = (place_of(target) - [0.0, 0.05, 0.0]).tolist()
    client.stream('ee', target)
    client.wait_for(
        lambda: client.sent and max(map(abs, client.sent[-1][1].points[0].velocities)) > 0.1,
        'motion',
    )
    change(client, ball(centre))
    blocked = client.wait_for_code(*BLOCKED, text='world')
    assert 'ball' in (blocked.limiting_pair_a + blocked.limiting_pair_b + blocked.text)
    client.wait_for_ticks(50)
    assert not client.status.tasks[0].reached
    motion = motion_of(client)
    motion.assert_within(panda_ranges())
    assert distances(client, centre).min() > 0.5 * MARGIN
    change(client, Obstacle(id='ball', operation=Obstacle.REMOVE))
    assert client.set(ee__max_linear_speed=0.5)['ee.max_linear_speed'].successful
    client.wait_for_arrival()
    motion_of(client).assert_within(panda_ranges())


def test_an_obstacle_that_appears_where_the_robot_is_lets_it_move_away_only(client):
    here = place_of(client.moved_pose())
    centre = (here + [0.0, 0.03, -0.02]).tolist()
    change(client, ball(centre))
    wait_for_count(client, 1)
    client.wait_for_ticks(10)
    assert client.shapes.distance([client.robot.position[name] for name in ARM], centre) < 0.0
    client.stream('ee', client.moved_pose((0.0, 0.15, 0.0)))
    client.wait_for_code(*BLOCKED)
    client.wait_for_ticks(30)
    client.stream('ee', client.moved_pose((0.0, -0.3, 0.1)))
    client.wait_for_arrival()
    motion_of(client).assert_within(panda_ranges())
    gap = distances(client, centre)
    assert gap[0] < 0.0 < gap[-1]
    inside = gap < 0.0
    assert np.all(np.diff(gap[inside]) > -2e-3), 'it went deeper'
