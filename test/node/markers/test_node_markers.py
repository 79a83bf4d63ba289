# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Markers over DDS: a viewer sees the scene, and nothing is drawn without subscribers."""

import os
from pathlib import Path
import signal
import time

from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from support.processes.ros_processes import without_shared_memory
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import is_gone
from support.rigs.services_rig import process_ids
from support.robots.two_arms import TwoArms
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds
RADIUS, PLACE = 0.15, (0.9, 0.2, 0.2)


@pytest.fixture(scope='module')
def arms(tmp_path_factory):
    folder = tmp_path_factory.mktemp('markers')
    with without_shared_memory(), ros_rig(folder, children=False) as client:
        arms = TwoArms(client)
        arms.obstacles = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        # It exists before the node.
        arms.obstacles.publish(ObstacleArray(obstacles=[ball('early')]))
        arms.start(folder)
        arms.seen = []
        assert not painters(client), 'it draws although nobody looks'
        arms.viewer = client.node.create_subscription(
            MarkerArray, 'ros_ik/markers', lambda m: arms.seen.append(m), QoSProfile(depth=10)
        )
        yield arms


def ball(name, radius=RADIUS, place=PLACE, operation=Obstacle.ADD):
    obstacle = Obstacle(id=name, operation=operation, type=Obstacle.SPHERE, dimensions=[radius])
    obstacle.header.frame_id = 'torso'
    position = obstacle.pose.position
    position.x, position.y, position.z = place
    return obstacle


def painters(client):
    """Return the process ids of the node's children that draw."""
    _, children = process_ids(client)
    return [child for child in children if b'markers.marker_main' in command_line(child)]


def command_line(process_id):
    """Return the command line of a process, '' if it has ended."""
    try:
        return Path(f'/proc/{process_id}/cmdline').read_bytes()
    except OSError:
        return b''


def look(arms, *namespaces):
    """Return the newest message that shows all of these, by namespace."""
    arms.seen.clear()

    def shown():
        return [m for m in arms.seen if set(namespaces) <= {marker.ns for marker in m.markers}]

    arms.client.wait_for(shown, f'markers of {namespaces}', LONG)
    found = {}
    for marker in shown()[-1].markers:
        found.setdefault(marker.ns, []).append(marker)
    return found


def xyz(point):
    return np.array([point.x, point.y, point.z])


def ends(marker):
    return np.array([xyz(point) for point in marker.points]).reshape(-1, 2, 3)


def commanded_obstacles(arms):
    """Return how many obstacles /diagnostics reports, None before the first."""
    arms.client.diagnostics.clear()
    arms.client.wait_for(
        lambda: [d for d in arms.client.diagnostics if d.name.endswith('command')], 'diagnostics'
    )
    entry = [d for d in arms.client.diagnostics if d.name.endswith('command')][-1]
    return int({value.key: value.value for value in entry.values}['obstacles'])


def wait_for_obstacles(arms, number):
    arms.client.wait_for(lambda: commanded_obstacles(arms) == number, f'{number} obstacles')


def test_shapes_obstacles_and_the_closest_pairs_are_shown(arms):
    found = look(arms, 'collision_shapes', 'obstacles', 'closest_pairs', 'frames')
    assert all(m.header.frame_id == 'torso' for markers in found.values() for m in markers)
    (shown,) = found['obstacles']
    assert shown.type == Marker.SPHERE
    assert xyz(shown.pose.position) == pytest.approx(PLACE)
    assert shown.scale.x == pytest.approx(2.0 * RADIUS)
    identifiers = [(m.ns, m.id) for markers in found.values() for m in markers]
    assert len(set(identifiers)) == len(identifiers) <= 1000
    lines = [m for m in found['closest_pairs'] if m.type == Marker.LINE_LIST]
    (segments,) = lines
    assert len(segments.colors) == len(segments.points)
    # The label of the first pair has its distance, as in the status: negative inside.
    (words,) = (m for m in found['closest_pairs'] if m.type == Marker.TEXT_VIEW_FACING)
    distance = np.linalg.norm(np.diff(ends(segments)[0], axis=0))
    said = float(words.text.split(': ')[1].removesuffix(' m'))
    assert abs(said) == pytest.approx(distance, abs=1e-3)


def test_the_frames_are_where_the_poses_are(arms):
    found = look(arms, 'frames')
    starts = [ends(marker)[0, 0] for marker in found['frames']]
    for task in ('left', 'right'):
        position = xyz(arms.pose(task).pose.position)
        assert min(np.linalg.norm(start - position) for start in starts) < 2e-3


def test_a_target_is_shown_while_it_counts(arms):
    target = arms.pose('left', (0.0, 0.1, 0.05))
    arms.streams['left/target_pose'] = target
    found = look(arms, 'targets')
    starts = [ends(marker)[0, 0] for marker in found['targets']]
    wanted = xyz(target.pose.position)
    assert min(np.linalg.norm(start - wanted) for start in starts) < 1e-6
    arms.streams.clear()
    arms.client.wait_for(
        lambda: arms.seen and all(m.ns != 'targets' for m in arms.seen[-1].markers), 'no target'
    )


def test_a_twist_is_an_arrow_and_an_arc_while_it_counts(arms):
    twist = TwistStamped()
    twist.header.frame_id = 'torso'
    linear, angular = np.array([0.02, -0.03, 0.01]), np.array([0.0, 0.1, 0.2])
    for vector, values in ((twist.twist.linear, linear), (twist.twist.angular, angular)):
        vector.x, vector.y, vector.z = values.tolist()
    arms.streams['left/target_twist'] = twist
    found = look(arms, 'frames', 'twists')
    shapes = {marker.type: marker for marker in found['twists'][::-1]}
    assert [m.type for m in found['twists']] == [Marker.ARROW, Marker.LINE_STRIP, Marker.ARROW]
    start, end = (xyz(point) for point in shapes[Marker.ARROW].points)
    assert min(np.linalg.norm(ends(m)[0, 0] - start) for m in found['frames']) < 1e-9
    # Its displacement in a second, along the axes in which it is given.
    np.testing.assert_allclose(end - start, linear, atol=1e-9)
    spokes = np.array([xyz(point) for point in shapes[Marker.LINE_STRIP].points]) - start
    np.testing.assert_allclose(np.linalg.norm(spokes, axis=1), 0.1, atol=1e-9)
    np.testing.assert_allclose(spokes @ angular, 0.0, atol=1e-9)
    turned = np.cross(spokes[:-1], spokes[1:])
    assert np.all(turned @ angular > 0.0), 'it turns the other way'
    speed = np.linalg.norm(angular)
    assert np.linalg.norm(turned, axis=1).sum() / 0.1**2 == pytest.approx(speed, rel=1e-2)
    tip = [m for m in found['twists'] if m.type == Marker.ARROW][1]
    np.testing.assert_allclose(xyz(tip.points[0]) - start, spokes[-1], atol=1e-9)
    arms.streams.clear()
    arms.client.wait_for(
        lambda: arms.seen and all(m.ns != 'twists' for m in arms.seen[-1].markers), 'no twist'
    )


def test_a_close_pair_ends_on_the_surfaces_in_the_colour_of_its_value(arms):
    hand = xyz(arms.pose('right').pose.position)
    for gap, is_red in ((0.2, False), (0.0, True)):
        place = (float(hand[0] + RADIUS + gap), float(hand[1]), float(hand[2]))
        arms.obstacles.publish(ObstacleArray(obstacles=[ball('near', place=place)]))

        shades = []

        def near(place=place, shades=shades):
            found = look(arms, 'closest_pairs', 'obstacles')
            if not any(np.allclose(xyz(m.pose.position), place) for m in found['obstacles']):
                return False
            (segments,) = [m for m in found['closest_pairs'] if m.type == Marker.LINE_LIST]
            shades += [
                shade
                for pair, shade in zip(ends(segments), segments.colors[::2], strict=True)
                for end in pair
                if abs(np.linalg.norm(end - place) - RADIUS) < 1e-6
            ]
            return bool(shades)

        arms.client.wait_for(near, 'a pair with the obstacle', LONG)
        assert any(shade.g < 0.5 for shade in shades) == is_red
    arms.obstacles.publish(ObstacleArray(obstacles=[ball('near', operation=Obstacle.REMOVE)]))


def test_changes_of_obstacles_apply_in_order_and_as_a_whole(arms):
    wait_for_obstacles(arms, 1)
    clear = ball('', operation=Obstacle.CLEAR)
    arms.obstacles.publish(ObstacleArray(obstacles=[ball('a'), clear, ball('b'), ball('c')]))
    wait_for_obstacles(arms, 2)
    before = arms.client.dropped()
    arms.obstacles.publish(ObstacleArray(obstacles=[clear, ball('d'), ball('e', radius=-1.0)]))
    arms.client.wait_for(
        lambda: arms.client.dropped().get('bad_obstacle', 0) > before.get('bad_obstacle', 0),
        'a counter',
    )
    # It is counted before it is logged.
    arms.client.wait_for(
        lambda: "obstacle 'e'" in arms.client.processes.text('node'), 'a line in the log'
    )
    assert commanded_obstacles(arms) == 2, 'a part of a bad message was taken over'
    lost = ball('f')
    lost.header.frame_id = 'nowhere'
    arms.obstacles.publish(ObstacleArray(obstacles=[lost]))
    arms.client.wait_for(lambda: 'tf_unavailable' in arms.client.dropped(), 'a counter')
    arms.obstacles.publish(ObstacleArray(obstacles=[ball(f'o{k}') for k in range(100)]))
    arms.client.wait_for(lambda: 'too_many_obstacles' in arms.client.dropped(), 'a counter')
    arms.obstacles.publish(ObstacleArray(obstacles=[ball('o') for k in range(1000)]))
    arms.client.wait_for(lambda: 'too_large' in arms.client.dropped(), 'a counter')
    assert commanded_obstacles(arms) == 2
    arms.obstacles.publish(ObstacleArray(obstacles=[ball('g')]))
    wait_for_obstacles(arms, 3)
    arms.obstacles.publish(ObstacleArray(obstacles=[clear]))
    wait_for_obstacles(arms, 0)


def test_the_rate_is_applied(arms):
    stamps = []
    arms.client.listen(
        MarkerArray, 'ros_ik/markers', lambda _, info: stamps.append(info['source_timestamp']), 10
    )
    for rate, longest in ((2.0, np.inf), (10.0, 0.45)):
        assert arms.client.set(marker_rate=rate)['marker_rate'].successful
        taken_over = time.time_ns()

        def steps(taken_over=taken_over):
            """Return the times between messages that were sent after that [s]."""
            return 1e-9 * np.diff([stamp for stamp in stamps if stamp > taken_over])

        # A busy machine may draw later, but never sooner.
        arms.client.wait_for(
            lambda steps=steps, longest=longest: len(steps()) >= 3 and min(steps()) < longest,
            f'markers at {rate} Hz',
            LONG,
        )
        assert min(steps()) > 0.95 / rate
    assert not arms.client.set(marker_rate=0.0)['marker_rate'].successful
    arms.client.set(marker_rate=20.0)


def test_another_model_clears_what_is_shown_and_keeps_the_obstacles(arms):
    arms.obstacles.publish(ObstacleArray(obstacles=[ball('kept')]))
    wait_for_obstacles(arms, 1)
    arms.seen.clear()
    arms.client.describe(find_robot('baxter').urdf_path.read_text() + '\n')
    arms.client.wait_for(lambda: arms.client.status.model_generation == 2, 'a model', LONG)

    def cleared():
        return any(m.action == Marker.DELETEALL for a in arms.seen for m in a.markers)

    arms.client.wait_for(cleared, 'DELETEALL', LONG)
    (shown,) = look(arms, 'obstacles', 'collision_shapes')['obstacles']
    assert xyz(shown.pose.position) == pytest.approx(PLACE)


def test_a_crash_of_the_drawing_process_does_no_harm(arms):
    look(arms, 'collision_shapes')
    (painter,) = painters(arms.client)
    os.kill(painter, signal.SIGKILL)
    arms.client.wait_for(
        lambda: 'cannot draw ~/markers' in arms.client.processes.text('node'), 'a line in the log'
    )
    arms.client.wait_for_code(IkStatus.OK)
    arms.client.wait_for(lambda: painters(arms.client), 'another process', LONG)
    look(arms, 'collision_shapes')


def test_it_ends_with_the_node(arms):
    look(arms, 'collision_shapes')
    (painter,) = painters(arms.client)
    arms.client.processes.signal('node', signal.SIGINT)
    arms.client.wait_for(lambda: not arms.client.processes.is_alive('node'), 'the end')
    assert arms.client.processes.wait('node', PATIENCE) == 0
    assert is_gone(painter)
