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
    settings = read_settings({'ee.frame': 'tool', **enabled})
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


def links_at(model, joint_q):
    """Return the poses of all links at a configuration [body_count, 7]."""
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    return body_q[0]
