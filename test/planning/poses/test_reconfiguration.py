# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Another configuration for a pose: Pinocchio confirms the pose, and the path to it is free."""

import numpy as np
import pytest
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import random_configurations
from support.rigs.planning_rig import Twin
from support.rigs.servo_rig import Rig
from support.robots.urdf_limits import still_model
from support.robots.urdf_limits import still_text

from ros_ik.planning import Budget
from ros_ik.planning import check_trajectory
from ros_ik.planning import Point
from ros_ik.planning import reconfigure
from ros_ik.planning import RequestError
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRegistry
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest

OFFSET = {'ee__offset_xyz': [0.0, 0.02, 0.1], 'ee__offset_rpy': [0.3, 0.0, 0.5]}


@pytest.fixture(scope='module')
def planner():
    return make_planner('panda', **OFFSET)


@pytest.fixture
def rig():
    """Return a rig at home, for its configuration and the pose of its controlled frame."""
    return Rig(**OFFSET)


def test_the_nearest_free_configuration_has_the_pose(planner, rig):
    twin, robot = Twin(planner, 'panda'), planner.robot
    planner.measure(rig.q, np.ones(len(rig.q), dtype=bool))
    start, n_found = rig.q[robot.coords], 0
    for joint_q in random_configurations(planner, 12, seed=4, margin=0.3):
        pose = rig.pose(joint_q)
        found = reconfigure(planner, 0, pose, start, budget=Budget(60.0))
        if found.message:
            continue
        n_found += 1
        reached = rig.q.copy()
        reached[planner.coordinates(found.joint_names)] = found.positions
        frame = rig.pose(reached)
        np.testing.assert_allclose(frame[:3], pose[:3], atol=1.1e-3)
        own = rig.servo._solver.diff.body_poses(reached)[robot.task_links[0]]
        distance, angle = twin.errors(reached, 'panda_hand_tcp', 'panda_link0', own)
        assert distance < 1e-6 and angle < 1e-6
        seconds = 100.0  # slowly, because only barriers are requested
        points = [Point(0.0, start), Point(seconds, np.array(found.positions))]
        report = check_trajectory(planner, found.joint_names, points)
        assert report.violation is None, report.violation
    assert n_found >= 6


def test_it_says_why_there_is_none(planner, rig):
    start = rig.q[planner.robot.coords]
    far = rig.pose()
    far[:3] = [2.0, 0.0, 0.5]
    found = reconfigure(planner, 0, far, start)
    assert not found.joint_names and 'no configuration reaches the pose' in found.message
    found = reconfigure(planner, 0, rig.pose(), start, budget=Budget(0.0))
    assert not found.joint_names and 'ran out of time' in found.message
    book = ObstacleRegistry(planner.robot, 8)
    boxes = [
        ObstacleRequest(
            ObstacleOperation.ADD, f'{k}', ObstacleKind.BOX, size, '', rig.pose()[:3] + place
        )
        for k, (size, place) in enumerate(
            [((0.02, 1.0, 1.0), (0.2, 0.0, 0.0)), ((1.0, 0.02, 1.0), (0.0, 0.3, 0.0)),
             ((1.0, 0.02, 1.0), (0.0, -0.3, 0.0))]
        )
    ]  # fmt: skip
    planner.place(book.apply(boxes), rig.q)
    try:
        beyond = rig.pose()
        beyond[0] += 0.3
        found = reconfigure(planner, 0, beyond, start, budget=Budget(60.0))
        assert 'no configuration' in found.message or 'free straight path' in found.message
    finally:
        planner.place((), rig.q)
    cancelled = Budget()
    cancelled.cancel('not wanted')
    with pytest.raises(RequestError, match='not wanted'):
        reconfigure(planner, 0, rig.pose(), start, budget=cancelled)


@pytest.mark.parametrize('still', ['panda_joint1', 'panda_joint3', 'panda_joint6'])
def test_joints_that_cannot_move_keep_their_positions(still):
    rig = Rig(model=still_model(still), **OFFSET)
    planner = make_planner('panda', text=still_text(still), **OFFSET)
    robot, n_found = planner.robot, 0
    start, held = rig.q[robot.coords], robot.coord_of[still]
    for joint_q in random_configurations(planner, 12, seed=4, margin=0.3):
        joint_q[held] = rig.q[held]
        pose = rig.pose(joint_q)
        found = reconfigure(planner, 0, pose, start, budget=Budget(60.0))
        assert 'no configuration' not in found.message
        if found.message:
            continue
        n_found += 1
        reached = rig.q.copy()
        reached[planner.coordinates(found.joint_names)] = found.positions
        assert reached[held] == rig.q[held]
        np.testing.assert_allclose(rig.pose(reached)[:3], pose[:3], atol=1.1e-3)
    assert n_found >= 3
