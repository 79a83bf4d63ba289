# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The scene that is drawn, in the base frame, against matrices of the robot's joints."""

import io
import math

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from scipy.spatial.transform import Rotation
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray

from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.node.markers import scene as scene_module
from ros_ik.node.markers import shapes
from ros_ik.node.markers.marker_main import serve
from ros_ik.node.markers.process_link import DrawnRobot
from ros_ik.node.markers.process_link import DrawnTask
from ros_ik.node.markers.process_link import MarkerState
from ros_ik.node.markers.process_link import ReceivedObstacle
from ros_ik.node.markers.scene import MarkerScene
from ros_ik.node.transport.pipe_objects import read_object
from ros_ik.node.transport.pipe_objects import write_object
from ros_ik.servo import Obstacle
from ros_ik.servo import TwistTarget
from ros_ik.settings import read_settings

TURN = 0.7
# Origins of the joints: x y z and roll pitch yaw.
STAND, ARM = ((0.3, -0.2, 0.1), (0.4, -0.3, 0.8)), ((0.2, 0.0, 0.4), (0.1, 0.2, 0.3))
BOX = ((0.05, 0.02, 0.0), (0.0, 0.0, 0.5))


def _origin(place):
    xyz, rpy = (' '.join(map(str, part)) for part in place)
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


URDF = f"""<robot name="slider">
<link name="root"/>
<link name="stand"><collision>{_origin(BOX)}<geometry><box size="0.1 0.2 0.3"/></geometry>
</collision></link>
<link name="arm"/>
<link name="tip"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="bolt" type="fixed"><parent link="root"/><child link="stand"/>{_origin(STAND)}</joint>
<joint name="turn" type="revolute"><parent link="stand"/><child link="arm"/>{_origin(ARM)}
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/>
<mimic joint="turn" multiplier="0.5" offset="0.1"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
</robot>"""
SETTINGS = {'ee.frame': 'tip', 'ee.reference_frame': 'arm', 'base_frame': 'stand'}


def matrix(xyz=(0.0, 0.0, 0.0), rotation=None):
    """Return a pose as a matrix."""
    made = np.eye(4)
    made[:3, :3] = np.eye(3) if rotation is None else rotation.as_matrix()
    made[:3, 3] = xyz
    return made


def of_origin(place):
    xyz, rpy = place
    return matrix(xyz, Rotation.from_euler('xyz', rpy))


def of_row(row):
    return matrix(row[:3], Rotation.from_quat(row[3:]))


# Links in the base frame: the arm turns about z, the tip slides along x.
IN_BASE = {'stand': np.eye(4)}
IN_BASE['arm'] = of_origin(ARM) @ matrix(rotation=Rotation.from_euler('z', TURN))
IN_BASE['tip'] = IN_BASE['arm'] @ matrix((0.5 * TURN + 0.1, 0.0, 0.0))
POSE = np.array([0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5])
TARGET = np.array([0.3, -0.1, 0.2, *Rotation.from_euler('xyz', (0.3, 0.5, 0.7)).as_quat()])


def xyz(point):
    return np.array([point.x, point.y, point.z])


def ends(marker):
    return np.array([xyz(point) for point in marker.points]).reshape(-1, 2, 3)


def assert_pose(pose, expected):
    q = pose.orientation
    turned = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    np.testing.assert_allclose(xyz(pose.position), expected[:3, 3], atol=1e-9)
    np.testing.assert_allclose(turned, expected[:3, :3], atol=1e-9)


def drawn_robot(urdf=URDF, **values):
    return DrawnRobot(urdf, '', read_settings({**SETTINGS, **values}), ())


@pytest.fixture(scope='module')
def scene():
    return MarkerScene(drawn_robot())


def state(scene, tasks=None, center=None, obstacles=()):
    """Return a state in which the joint has turned; the mimic joint is not measured."""
    joint_q = np.array([TURN, 0.0])
    received = tuple(ReceivedObstacle(obstacle, joint_q) for obstacle in obstacles)
    return MarkerState(joint_q, tasks or (DrawnTask(None, None, False),), center, received, 2.5)


def draw(scene, **parts):
    """Return the markers of a state by namespace."""
    found = {}
    for marker in scene.draw(state(scene, **parts)).markers:
        found.setdefault(marker.ns, []).append(marker)
    return found


def ball(place, name='ball', radius=0.02, link=0):
    return Obstacle(name, 'sphere', (radius,), np.array([*place, 0.0, 0.0, 0.0, 1.0]), link)


def link_of(scene, name):
    return scene._model.body_index(name)


def test_shapes_of_links_are_where_the_joints_take_them(scene):
    found = draw(scene)
    assert not {*found} & {'frames', 'targets', 'twists', 'obstacles', 'center_of_mass'}
    solids = {marker.type: marker for marker in found['collision_shapes']}
    assert {*solids} == {Marker.CUBE, Marker.SPHERE}
    assert_pose(solids[Marker.CUBE].pose, of_origin(BOX))
    scale = xyz(solids[Marker.CUBE].scale)
    np.testing.assert_allclose(scale, [0.1, 0.2, 0.3], atol=1e-9)
    np.testing.assert_allclose(xyz(solids[Marker.SPHERE].scale), 0.1, atol=1e-9)
    position = xyz(solids[Marker.SPHERE].pose.position)
    np.testing.assert_allclose(position, IN_BASE['tip'][:3, 3], atol=1e-9)
    for markers in found.values():
        assert [marker.id for marker in markers] == [*range(len(markers))]
        for marker in markers:
            assert marker.header.frame_id == 'stand'
            assert (marker.lifetime.sec, marker.lifetime.nanosec) == (2, 500_000_000)


@pytest.mark.parametrize('reached', [True, False])
def test_frames_and_targets_are_those_of_the_reference_link(scene, reached):
    found = draw(scene, tasks=(DrawnTask(TARGET, POSE, reached),))
    expected = [IN_BASE['arm'] @ of_row(row) for row in (POSE, TARGET)]
    (axes,), (target_axes, line) = found['frames'], found['targets']
    for marker, frame in zip((axes, target_axes), expected, strict=True):
        drawn = ends(marker)
        np.testing.assert_allclose(drawn[:, 0], [frame[:3, 3]] * 3, atol=1e-9)
        tips = (drawn[:, 1] - drawn[:, 0]).T
        np.testing.assert_allclose(tips, 0.1 * frame[:3, :3], atol=1e-9)
        # Red, green and blue, both ends of a line alike.
        shades = [(shade.r, shade.g, shade.b) for shade in marker.colors]
        assert [int(np.argmax(shade)) for shade in shades] == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(ends(line)[0], [frame[:3, 3] for frame in expected], atol=1e-9)
    assert all((shade.g > 0.8 > 0.2 > shade.r) == reached for shade in line.colors)
    assert all((shade.r > shade.g) != reached for shade in line.colors)


@pytest.mark.parametrize('part', ['linear', 'angular'])
def test_a_velocity_is_drawn_along_the_axes_of_its_link(scene, part):
    vector, nothing = np.array([0.02, -0.03, 0.01]), np.zeros(3)
    given = (vector, nothing) if part == 'linear' else (nothing, vector)
    twist = TwistTarget(*given, link_of(scene, 'tip'), 0.0, 1)
    found = draw(scene, tasks=(DrawnTask(None, POSE, False, twist),))
    start = (IN_BASE['arm'] @ of_row(POSE))[:3, 3]
    turned = IN_BASE['tip'][:3, :3] @ vector
    if part == 'linear':
        (arrow,) = found['twists']
        np.testing.assert_allclose(ends(arrow)[0], [start, start + turned], atol=1e-9)
    else:
        arc, tip = found['twists']
        assert (arc.type, tip.type) == (Marker.LINE_STRIP, Marker.ARROW)
        spokes = np.array([xyz(point) for point in arc.points]) - start
        np.testing.assert_allclose(spokes @ turned, 0.0, atol=1e-9)
        assert (np.cross(spokes[:-1], spokes[1:]) @ turned > 0.0).all()
    assert 'targets' not in found


def test_the_target_of_the_centre_of_mass_is_in_its_link(scene):
    position = np.array([0.1, 0.2, -0.3])
    found = draw(scene, center=(link_of(scene, 'tip'), position))
    (dot,) = found['center_of_mass']
    expected = IN_BASE['tip'] @ [*position, 1.0]
    np.testing.assert_allclose(xyz(dot.points[0]), expected[:3], atol=1e-9)


def test_obstacles_and_pairs_are_in_the_base_frame_in_the_colour_of_their_margin(scene):
    # In the tip, 0.08 m from its centre: 0.01 m between the surfaces.
    obstacle = ball((0.0, 0.08, 0.0), link=link_of(scene, 'tip'))
    box = Obstacle('box', 'box', (0.2, 0.4, 0.6), POSE, link_of(scene, 'stand'))
    centers = [(IN_BASE['tip'] @ [0.0, y, 0.0, 1.0])[:3] for y in (0.0, 0.08)]
    for margin, is_red in ((0.03, True), (0.0, False)):
        scene.apply(read_settings({**SETTINGS, 'barriers.world.margin': margin}))
        found = draw(scene, obstacles=(obstacle, box))
        solids = {marker.type: marker for marker in found['obstacles']}
        drawn = xyz(solids[Marker.SPHERE].pose.position)
        np.testing.assert_allclose(drawn, centers[1], atol=1e-9)
        assert xyz(solids[Marker.SPHERE].scale) == pytest.approx(0.04)
        assert_pose(solids[Marker.CUBE].pose, of_row(POSE))
        segments, dots, words = found['closest_pairs']
        radii = np.array([0.05, 0.02])
        is_pair = [
            np.allclose(np.linalg.norm(pair - centers, axis=1), radii, atol=1e-6)
            or np.allclose(np.linalg.norm(pair[::-1] - centers, axis=1), radii, atol=1e-6)
            for pair in ends(segments)
        ]
        assert sum(is_pair) == 1
        shade = segments.colors[2 * is_pair.index(True)]
        assert (shade.r, shade.g) == ((1.0, 0.0) if is_red else pytest.approx((1.0, 0.2)))
        assert len(dots.points) == len(segments.points) == len(segments.colors)
        # The label has the distance of the first pair, whatever the margin.
        assert words.text == 'tip - ball: 0.010 m'
    scene.apply(read_settings(SETTINGS))


def test_the_last_markers_are_left_out_of_a_long_message(scene, monkeypatch):
    monkeypatch.setattr(scene_module, 'MAX_MARKERS', 3)
    obstacles = tuple(ball((k, 0.0, 0.0), f'ball {k}') for k in range(2, 8))
    message = scene.draw(state(scene, obstacles=obstacles))
    assert [marker.ns for marker in message.markers] == ['obstacles'] * 3


@pytest.mark.parametrize(
    ('kind', 'size', 'radius', 'expected'),
    [
        ('SPHERE', (0, 0, 0), 0.2, [(Marker.SPHERE, (0.4, 0.4, 0.4), 0.0)]),
        ('BOX', (0.1, 0.2, 0.3), 0.0, [(Marker.CUBE, (0.2, 0.4, 0.6), 0.0)]),
        # Padding adds to each side.
        ('BOX', (0.1, 0.2, 0.3), 0.05, [(Marker.CUBE, (0.3, 0.5, 0.7), 0.0)]),
        ('CYLINDER', (0.1, 0.1, 0.3), 0.0, [(Marker.CYLINDER, (0.2, 0.2, 0.6), 0.0)]),
        ('ELLIPSOID', (0.1, 0.2, 0.3), 0.0, [(Marker.SPHERE, (0.2, 0.4, 0.6), 0.0)]),
        ('MESH', (0, 0, 0), 0.0, [(Marker.SPHERE, (1.0, 1.0, 1.0), 0.0)]),
        (
            'CAPSULE', (0, 0, 0.3), 0.1,
            [
                (Marker.CYLINDER, (0.2, 0.2, 0.6), 0.0), (Marker.SPHERE, (0.2,) * 3, -0.3),
                (Marker.SPHERE, (0.2,) * 3, 0.3),
            ],
        ),
    ],
)  # fmt: skip
def test_a_primitive_has_the_size_of_its_marker(kind, size, radius, expected):
    drawn = list(shapes.primitive(GeoType[kind], np.array(size, dtype=float), radius, 0.5))
    assert [marker.type for marker, _ in drawn] == [kind for kind, _, _ in expected]
    for (marker, pose), (_, scale, height) in zip(drawn, expected, strict=True):
        assert xyz(marker.scale) == pytest.approx(scale)
        assert pose == pytest.approx([0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ('value', 'rgb', 'part'),
    [
        (-1.0, (1.0, 0.0), 0.0), (0.0, (1.0, 0.0), 0.0), (0.025, (1.0, 0.5), 0.25),
        (0.05, (1.0, 1.0), 0.5), (0.075, (0.5, 1.0), 0.75), (0.1, (0.0, 1.0), 1.0),
        (9.0, (0.0, 1.0), 1.0),
    ],
)  # fmt: skip
def test_colours_of_barriers_go_from_red_by_yellow_to_green(value, rgb, part):
    shade = shapes.barrier_color(value)
    assert (shade.r, shade.g, shade.b, shade.a) == pytest.approx((*rgb, 0.0, 1.0))
    assert shapes.barrier_fraction(shade) == pytest.approx(part)


def test_an_arc_ends_after_a_full_turn():
    for angle, most in ((1.0, 1.0), (6.0, 6.0), (50.0, 2.0 * math.pi)):
        arc, _ = shapes.turn(np.zeros(3), np.array([0.0, angle, 0.0]))
        spokes = np.array([xyz(point) for point in arc.points]) / 0.1
        steps = np.arccos((spokes[:-1] * spokes[1:]).sum(axis=1))
        assert steps.sum() == pytest.approx(most, rel=1e-6) and steps.max() < 0.11


def served(*news):
    """Return the answers of the process to objects of the node."""
    source, sink = io.BytesIO(), io.BytesIO()
    for one in news:
        write_object(source, one)
    source.seek(0)
    serve(source, sink)
    sink.seek(0)
    return [*iter(lambda: read_object(sink), None)]


def test_the_process_applies_changed_settings(scene):
    narrow = read_settings({**SETTINGS, 'barriers.world.margin': 0.0})
    near = state(scene, obstacles=(ball((0.0, 0.08, 0.0), link=link_of(scene, 'tip')),))
    answers = served(drawn_robot(), near, near, narrow, near)
    # Bytes between fields differ at random.
    first, again, changed = (deserialize_message(answer, MarkerArray) for answer in answers)
    assert first == again != changed


def test_the_process_answers_with_the_newest_robot_or_with_its_fault(scene):
    wrong = drawn_robot(URDF.replace('"arm"', '"leg"', 1))
    answers = served(
        state(scene), drawn_robot(), state(scene), wrong, state(scene), read_settings(SETTINGS),
        state(scene), drawn_robot(), state(scene),
    )
    assert len(answers) == 5
    assert answers[0] == 'there is nothing to draw'
    # A robot that cannot be drawn does not leave the one before it on the screen.
    assert all(isinstance(text, str) and 'arm' in text for text in answers[2:4])
    for answer in (answers[1], answers[4]):
        message = deserialize_message(answer, MarkerArray)
        assert {'collision_shapes'} <= {marker.ns for marker in message.markers}


def test_the_process_answers_a_scene_that_it_cannot_draw_with_the_fault(scene):
    """Otherwise the node would wait for its answer without end."""
    most = read_settings(SETTINGS).barriers_max_obstacles
    balls = tuple(ball((0.0, 0.0, 2.0 + k), name=f'ball {k}') for k in range(most + 1))
    first, second = served(drawn_robot(), state(scene, obstacles=balls), state(scene))
    assert isinstance(first, str) and str(most) in first
    assert deserialize_message(second, MarkerArray).markers
