# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles in planners' requests: a robot of one sphere, with distances by plane geometry."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest
from support.robots.ball_robot import NAMES
from support.robots.ball_robot import place_of_ball
from support.robots.ball_robot import RADIUS
from support.robots.ball_robot import URDF

from ros_ik.planning import check_trajectory
from ros_ik.planning import IkRequest
from ros_ik.planning import JointCost
from ros_ik.planning import OptimalRequest
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.planning import PoseCode
from ros_ik.planning import solve_ik
from ros_ik.planning import solve_optimal
from ros_ik.servo import Obstacle
from ros_ik.settings import read_settings
from ros_ik.solvers import StopReason

MARGIN = 0.02


@pytest.fixture(scope='module')
def kept_planner():
    return Planner(URDF, '', read_settings({'ee.frame': 'ball', 'barriers.world.margin': MARGIN}))


@pytest.fixture
def planner(kept_planner):
    """Return the planner at rest and without obstacles."""
    kept_planner.measure(np.zeros(3), np.ones(3, dtype=bool))
    kept_planner.place((), kept_planner.joint_q)
    return kept_planner


def obstacle(position, kind='sphere', dimensions=(0.1,), frame_link=0, name='o'):
    pose = np.array([*position, 0.0, 0.0, 0.0, 1.0])
    return Obstacle(name, kind, tuple(dimensions), pose, frame_link)


def line(begin, end, seconds=4.0):
    return [Point(0.0, begin), Point(seconds, end)]


def test_a_check_sees_obstacles_and_forgets_them(planner):
    begin, end = np.array([-0.5, 0.3, 0.0]), np.array([0.5, 0.3, 0.0])
    centers = np.array([place_of_ball(begin + s * (end - begin)) for s in np.linspace(0, 1, 4001)])
    solid = obstacle([1.05, 0.3, 0.0])
    distance = np.linalg.norm(centers - [1.05, 0.3, 0.0], axis=1) - 0.1 - RADIUS
    planner.place((solid,), planner.joint_q)
    report = check_trajectory(planner, NAMES, line(begin, end), max_step=1e-3)
    value = dict(zip(report.barriers, report.minimum_values, strict=True))['world']
    assert value == pytest.approx(distance.min(), abs=1e-4) and distance.min() < MARGIN
    assert report.violation.what == 'world'
    first = np.argmax(distance < MARGIN) / 1000.0
    assert report.violation.time == pytest.approx(first, abs=5e-3)
    assert set(report.closest_pair) == {'ball', 'o'}
    planner.place((), planner.joint_q)
    assert check_trajectory(planner, NAMES, line(begin, end)).violation is None


@pytest.mark.parametrize(
    ('kind', 'dimensions', 'position', 'safe'),
    [
        ('sphere', (0.1,), (1.0, 0.0, 0.2), True),
        ('sphere', (0.2,), (1.0, 0.0, 0.2), False),
        ('box', (0.2, 0.2, 0.2), (1.0, 0.0, 0.2), True),
        ('box', (0.2, 0.2, 0.3), (1.0, 0.0, 0.2), False),
        ('cylinder', (0.1, 0.2), (1.0, 0.0, 0.2), True),
        ('cylinder', (0.1, 0.3), (1.0, 0.0, 0.2), False),
        ('capsule', (0.05, 0.1), (1.0, 0.0, 0.2), True),
        ('capsule', (0.05, 0.2), (1.0, 0.0, 0.2), False),
        ('half_space', (), (0.0, 0.0, -0.1), True),
        ('half_space', (), (0.0, 0.0, -0.06), False),
    ],
)
def test_every_kind_counts_in_checks_and_in_inverse_kinematics(
    planner, kind, dimensions, position, safe
):
    solid = obstacle(position, kind, dimensions)
    planner.place((solid,), planner.joint_q)
    report = check_trajectory(planner, NAMES, [Point(0.0, [0.0, 0.0, 0.0])])
    assert (report.violation is None) == safe
    # The shapes of the arm's one pose: its solutions collide where the surfaces meet.
    deeper = dataclasses.replace(solid, pose=solid.pose.copy())
    deeper.pose[2] += np.sign(solid.pose[2] or 1.0) * -0.05 if not safe else 0.0
    planner.place((deeper,), planner.joint_q)
    pose = np.array([[*place_of_ball([0.0, 0.0, 0.0]), 0.0, 0.0, 0.0, 1.0]])
    request = IkRequest(poses=pose, check_collisions=True, rotation_tolerance=np.inf)
    expected = PoseCode.CONVERGED if safe else PoseCode.IN_COLLISION
    assert solve_ik(planner, request).codes.tolist() == [expected]
    planner.place((), planner.joint_q)


def test_an_obstacle_in_a_moving_link_stays_where_it_was_when_it_came(planner):
    tip = planner.model.body_index('ball')
    planner.measure(np.array([0.5, 0.3, 0.1]), np.ones(3, dtype=bool))
    received = planner.joint_q.copy()
    planner.place((obstacle([0.0, 0.0, 0.3], frame_link=tip),), received)
    planner.measure(np.zeros(3), np.ones(3, dtype=bool))
    report = check_trajectory(planner, NAMES, [Point(0.0, [0.5, 0.3, 0.3])])
    assert report.violation is not None and report.violation.what == 'world'
    assert check_trajectory(planner, NAMES, [Point(0.0, [0.5, 0.3, 0.0])]).violation is None


def test_optimal_motions_keep_clear(planner):
    request = OptimalRequest(joints=[JointCost('shoulder', 1.0, 1.0)])
    free = solve_optimal(planner, request)
    assert not free.fault and free.result.reason is StopReason.STOP_COST
    center = [0.7, 0.72, 0.0]
    planner.place((obstacle(center),), planner.joint_q)
    held = solve_optimal(planner, request)
    assert not held.fault
    far, near = (
        min(np.linalg.norm(place_of_ball(q) - center) for q in answer.positions)
        for answer in (held, free)
    )
    assert near < 0.1 + RADIUS and far >= 0.1 + RADIUS + MARGIN - 1e-6
    points = [
        Point(t, q, v) for t, q, v in zip(held.times, held.positions, held.velocities, strict=True)
    ]
    assert check_trajectory(planner, held.joint_names, points).violation is None
    planner.place((), planner.joint_q)
    np.testing.assert_array_equal(solve_optimal(planner, request).positions, free.positions)


def test_former_obstacles_take_no_memory(planner):
    poses = planner.body_poses(np.zeros((1, 3)))[:, planner.link('ball')]
    models = []
    for k in range(4):
        planner.place((obstacle([3.0, 0.3 * k, 0.0]),), planner.joint_q)
        solve_ik(planner, IkRequest(poses, check_collisions=True))
        solve_ik(planner, IkRequest(poses))
        models.append(weakref.ref(planner.collision_model))
    gc.collect()
    assert [model() is None for model in models] == [True] * 3 + [False]
