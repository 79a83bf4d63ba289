# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closest pairs that are drawn: those of the enabled barriers."""

import numpy as np
import pytest

from benchmarks.motion.ticked_servo import robot_model
from ros_ik.kinematics import eval_fk
from ros_ik.node.markers.pairs import ClosestPairs
from ros_ik.node.markers.process_link import ReceivedObstacle
from ros_ik.servo import Obstacle
from ros_ik.servo.robot.collision_setup import robot_shapes
from ros_ik.settings import read_settings


@pytest.mark.parametrize('world', [True, False])
@pytest.mark.parametrize('own', [True, False])
def test_pairs_of_a_barrier_that_is_off_are_not_drawn(own, world):
    model = robot_model('six_axis')
    enabled = {'barriers.self_collision.enabled': own, 'barriers.world.enabled': world}
    settings = read_settings({'ee.frame': 'tool0', **enabled})
    pairs = ClosestPairs(robot_shapes(model, settings), settings)
    configuration = np.full(model.joint_coord_count, 0.4)
    body_q = links_at(model, configuration)
    ball = Obstacle('ball', 'sphere', (0.1,), np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]), 0)
    pairs.set_obstacles(
        (ReceivedObstacle(ball, configuration),), lambda joint_q: links_at(model, joint_q)
    )
    found = pairs.find(body_q)
    assert len(found.names) == len(found.values) == len(found.distances) == len(found.points)
    assert any('ball' in names for names in found.names) == world
    assert any('ball' not in names for names in found.names) == own


def make_pairs(model, **values):
    """Return the search for pairs of a robot."""
    settings = read_settings({'ee.frame': 'tool0', **values})
    return ClosestPairs(robot_shapes(model, settings), settings)


def ball(place, radius=0.1, name='ball', link=0):
    """Return a ball in a link."""
    pose = np.array([*place, 0.0, 0.0, 0.0, 1.0])
    return Obstacle(name, 'sphere', (radius,), pose, link)


def place(pairs, model, *obstacles, joint_q):
    """Place obstacles that arrived at a configuration."""
    received = tuple(ReceivedObstacle(obstacle, joint_q) for obstacle in obstacles)
    pairs.set_obstacles(received, lambda q: links_at(model, q))


def test_values_are_distances_less_the_margin_of_their_barrier_in_order():
    model = robot_model('six_axis')
    margins = {'barriers.self_collision.margin': 0.01, 'barriers.world.margin': 0.04}
    pairs = make_pairs(model, **margins)
    joint_q = np.full(model.joint_coord_count, 0.4)
    radii = {'near': 0.1, 'far': 0.05}
    place(
        pairs, model, ball((0.0, 0.3, 0.5), 0.05, 'far'), ball((0.0, 0.0, 0.5), 0.1, 'near'),
        joint_q=joint_q,
    )  # fmt: skip
    for scale in (1.0, 0.5):
        settings = {key: scale * margin for key, margin in margins.items()}
        pairs.apply(read_settings({'ee.frame': 'tool0', **settings}))
        found = pairs.find(links_at(model, joint_q))
        is_world = np.array([bool({*names} & {*radii}) for names in found.names])
        assert is_world.any() and not is_world.all()
        expected = found.distances - scale * np.where(is_world, 0.04, 0.01)
        np.testing.assert_allclose(found.values, expected, atol=1e-12)
        assert np.all(np.diff(found.values) >= 0.0)
    # Distant pairs are not drawn. Nearest points lie on both surfaces.
    assert found.distances.max() <= 0.3
    gaps = np.linalg.norm(found.points[:, 1] - found.points[:, 0], axis=1)
    np.testing.assert_allclose(gaps, np.abs(found.distances), atol=1e-9)
    centers = {'near': (0.0, 0.0, 0.5), 'far': (0.0, 0.3, 0.5)}
    seen = set()
    for names, points in zip(found.names, found.points, strict=True):
        for name in {*names} & {*radii}:
            seen.add(name)
            away = np.linalg.norm(points[names.index(name)] - centers[name])
            assert away == pytest.approx(radii[name], abs=1e-9)
    assert seen == {*radii}


def test_obstacles_are_those_of_the_last_message_where_their_links_were():
    model = robot_model('six_axis')
    pairs = make_pairs(model)
    tool = model.body_index('tool0')
    then, now = (np.full(model.joint_coord_count, angle) for angle in (0.4, -0.7))

    def centers():
        return {name: tuple(pose[:3]) for name, (_, pose) in pairs.placed.items()}

    def in_tool(point, joint_q):
        pose = links_at(model, joint_q)[tool]
        x, y, z, w = pose[3:]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return pose[:3] + (np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross) @ point

    hung = ball((0.0, 0.2, 0.1), link=tool)
    place(pairs, model, hung, joint_q=then)
    assert centers() == {'ball': pytest.approx(in_tool(hung.pose[:3], then), abs=1e-9)}
    # A copy of it that is no other keeps its place, though the link has moved.
    again = (ReceivedObstacle(ball((0.0, 0.2, 0.1), link=tool), then),)
    again += (ReceivedObstacle(ball((0.5, 0.0, 0.0), name='second', link=tool), now),)
    pairs.set_obstacles(again, lambda q: links_at(model, q))
    assert centers() == {
        'ball': pytest.approx(in_tool(hung.pose[:3], then), abs=1e-9),
        'second': pytest.approx(in_tool(np.array([0.5, 0.0, 0.0]), now), abs=1e-9),
    }
    # One of another place, size, shape or link replaces it.
    body_q = links_at(model, now)
    center = body_q[tool, :3] + [0.0, 0.0, 0.2]
    boxes = Obstacle('ball', 'box', (0.1, 0.1, 0.1), np.array([*center, 0, 0, 0, 1.0]), 0)
    aside = center + [0.05, 0.0, 0.0]
    for obstacle, at in (
        (ball(center), center), (ball(aside), aside), (ball(aside, 0.05), aside),
        (boxes, center), (ball(center, 0.05, link=tool), in_tool(center, now)),
    ):  # fmt: skip
        place(pairs, model, obstacle, joint_q=now)
        ((shown, pose),) = pairs.placed.values()
        assert shown is obstacle and pose[:3] == pytest.approx(at, abs=1e-9)
        if obstacle.kind == 'sphere' and obstacle.frame_link == 0:
            found = pairs.find(body_q)
            ends = [
                points[names.index('ball')]
                for names, points in zip(found.names, found.points, strict=True)
                if 'ball' in names
            ]
            away = np.linalg.norm(np.array(ends) - at, axis=1)
            np.testing.assert_allclose(away, obstacle.dimensions[0], atol=1e-9)
    place(pairs, model, ball(center), joint_q=now)
    assert any('ball' in names for names in pairs.find(body_q).names)
    place(pairs, model, joint_q=now)
    assert not pairs.placed
    assert {name for names in pairs.find(body_q).names for name in names} <= {*model.body_label}


def links_at(model, joint_q):
    """Return the poses of all links at a configuration [body_count, 7]."""
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    return body_q[0]
