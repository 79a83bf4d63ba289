# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of any origin on the pages of two viewers, over DDS."""

import signal
import time

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.processes.ros_processes import without_shared_memory
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.viewer_rig import another_viewer
from support.rigs.viewer_rig import viewed

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = [pytest.mark.dds, pytest.mark.timeout(400)]

FAR = np.array([0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 1.0])
# Names that are no path of a scene, or more than one name of ROS.
ODD_NAME = '/../robot/\u00e4 <b>"wall"</b>'


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    with (
        without_shared_memory(),
        viewed(tmp_path_factory.mktemp('rig'), 'six_axis', 25.0, **NEVER_STALE) as (client, one),
        another_viewer() as two,
    ):
        client.changes = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        client.node.create_subscription(
            ObstacleArray,
            'ros_ik/current_obstacles',
            lambda message: setattr(client, 'known', {o.id: o for o in message.obstacles[1:]}),
            LATCHED,
        )
        client.wait_for(lambda: two.robot is not None, 'robot of the other viewer')
        yield client, one, two


@pytest.fixture(autouse=True)
def empty(rig):
    yield
    client, *viewers = rig
    last = -np.inf

    def is_nothing_left():
        # Again if a page had not yet received the last change of the test, and sent its own.
        nonlocal last
        if time.monotonic() - last > 3.0:
            last = time.monotonic()
            client.changes.publish(ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)]))
        return client.known == {} and not any(v.page.obstacles.placed for v in viewers)

    client.wait_for(is_nothing_left, 'empty world')


def is_at(viewer, name, pose):
    """Return True if a page has an obstacle at a pose in the world."""
    placed = viewer.page.obstacles.placed
    return name in placed and np.abs(placed[name].pose - pose).max() < 1e-6


def test_two_viewers_agree(rig):
    client, one, two = rig
    name, other = one.page.obstacles.add('box'), two.page.obstacles.add('box')
    assert name != other and name.startswith('viewer_box_') and other.startswith('viewer_box_')
    one.page.obstacles.move(name, FAR)
    two.page.obstacles.move(other, FAR * [1, -1, 1, 1, 1, 1, 1])
    for viewer in (one, two):
        client.wait_for(lambda v=viewer: is_at(v, name, FAR), 'box of the first viewer')
        client.wait_for(lambda v=viewer: len(v.page.obstacles.placed) == 2, 'both boxes')
    # Each of them changes an obstacle of the other.
    two.page.obstacles.resize(name, (0.3, 0.4, 0.5))
    client.wait_for(
        lambda: one.page.obstacles.placed[name].size == pytest.approx((0.3, 0.4, 0.5)), 'size'
    )
    client.wait_for(lambda: one.page.obstacles.own == set(), 'other owner')
    assert two.page.obstacles.own == {name, other}
    one.page.obstacles.remove(other)
    client.wait_for(lambda: list(two.page.obstacles.placed) == [name], 'removal')
    client.wait_for(lambda: list(client.known) == [name], 'removal in the node')


def test_obstacles_of_others_are_drawn_whatever_their_names_and_shapes(rig):
    client, one, _ = rig
    sizes = {
        Obstacle.SPHERE: [0.1], Obstacle.BOX: [20.0, 0.2, 0.3], Obstacle.CYLINDER: [0.1, 0.4],
        Obstacle.CAPSULE: [0.1, 0.5], Obstacle.HALF_SPACE: [],
    }  # fmt: skip
    sent = ObstacleArray()
    for kind, dimensions in sizes.items():
        pose = Pose(position=Point(x=FAR[0], y=FAR[1], z=-FAR[2]))
        sent.obstacles.append(
            Obstacle(id=f'{ODD_NAME}{kind}', type=kind, dimensions=dimensions, pose=pose)
        )
    client.wait_for(lambda: client.changes.get_subscription_count() > 0, 'node')
    client.changes.publish(sent)
    obstacles = one.page.obstacles
    client.wait_for(lambda: len(obstacles.placed) == len(client.known) == len(sizes), 'obstacles')
    box = f'{ODD_NAME}{Obstacle.BOX}'
    assert obstacles.own == set() and is_at(one, box, FAR * [1, 1, -1, 1, 1, 1, 1])
    paths = [path for path in one.page.server.scene._handle_from_node_name if 'obst' in path]
    shapes = [path for path in paths if path.endswith('/shape')]
    assert len(shapes) == len(sizes)
    assert all(path.split('/')[2].isdigit() for path in shapes)
    # An obstacle moved on this page belongs to it; sizes that the controls cannot show stay.
    obstacles.move(box, FAR)
    obstacles.resize(box, (5.0, 0.2, 0.9))
    client.wait_for(lambda: client.known[box].pose.position.z == pytest.approx(FAR[2]), 'pose')
    client.wait_for(lambda: list(client.known[box].dimensions) == [20.0, 0.2, 0.9], 'size')
    assert obstacles.own == {box} and len(client.known) == len(sizes)


def test_a_viewer_that_comes_later_lists_what_there_is(rig):
    client, one, _ = rig
    name = one.page.obstacles.add('sphere')
    one.page.obstacles.move(name, FAR)
    client.wait_for(lambda: name in client.known, 'sphere')
    with another_viewer() as late:
        client.wait_for(lambda: is_at(late, name, FAR), 'sphere on the late page')
        assert late.page.obstacles.own == set()


@pytest.mark.parametrize('graph', ['as it is', 'late'])
def test_obstacles_are_restored_after_a_restart_of_the_node(rig, graph, monkeypatch):
    client, one, two = rig
    one.page.parameters.choose('limits')
    client.wait_for(lambda: 'limits.velocity_scale' in one.parameters.values, 'parameters')
    scale = 0.9 * one.parameters.values['limits.velocity_scale']
    if graph == 'late':
        # ROS may know of a publisher later than its messages come.
        for viewer in (one, two):
            topic = 'ros_ik/current_obstacles'
            known = viewer.get_publishers_info_by_topic(topic)
            monkeypatch.setattr(viewer, 'get_publishers_info_by_topic', lambda _, k=known: k)
    name, other = one.page.obstacles.add('box'), two.page.obstacles.add('box')
    one.page.obstacles.move(name, FAR)
    client.wait_for(lambda: set(client.known) == {name, other}, 'both')
    client.wait_for(lambda: is_at(two, name, FAR), 'both pages')
    client.processes.signal('node', signal.SIGKILL)
    client.processes.wait('node', LONG)
    client.known = {}
    robot = DemoRobot.load('six_axis')
    client.processes.start(
        'node', 'ros_ik.node.ros_ik_node', joint_group=robot.chain, ee__frame=robot.tip_link,
        control_rate=25.0, limits__velocity_scale=scale, **NEVER_STALE,
    )  # fmt: skip
    client.wait_for(lambda: set(client.known) == {name, other}, 'both in the new node', LONG)
    for viewer in (one, two):
        client.wait_for(lambda v=viewer: is_at(v, name, FAR), 'box on both pages')
        client.wait_for(lambda v=viewer: set(v.page.obstacles.placed) == {name, other}, 'both')
    assert one.page.obstacles.own == {name} and two.page.obstacles.own == {other}
    client.wait_for(
        lambda: one.parameters.values.get('limits.velocity_scale') == scale,
        'parameters of the new node',
    )
