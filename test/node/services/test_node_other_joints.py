# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers to planners about joints that the node does not control, from a running node."""

import contextlib

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.rigs.ball_arms import ALL
from support.rigs.ball_arms import B
from support.rigs.ball_arms import place_of_ball
from support.rigs.ball_arms import RADIUS
from support.rigs.ball_arms import URDF
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import ask
from support.rigs.services_rig import points
from support.rigs.services_rig import pose_message
from trajectory_msgs.msg import JointTrajectory

from ros_ik.node.control.command_messages import duration
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import CheckTrajectory

pytestmark = pytest.mark.dds


@contextlib.contextmanager
def arms_rig(folder, joints=ALL, **values):
    """Yield a client of a node for arm a, and the positions that it publishes, by joint."""
    with ros_rig(folder, planners=True) as client:
        client.processes.start(
            'node', 'ros_ik.node.ros_ik_node', ee__frame='a_ball', base_frame='torso',
            services__nice=0, **{**NEVER_STALE, **values},
        )  # fmt: skip
        positions = dict.fromkeys(joints, 0.0)
        states = client.node.create_publisher(JointState, 'joint_states', 1)
        client.node.create_timer(
            0.05,
            lambda: states.publish(
                JointState(name=list(positions), position=list(positions.values()))
            ),
        )
        client.describe(URDF)
        client.wait_for_code(IkStatus.OK, timeout=LONG)
        yield client, positions


def check(client, names, *rows):
    """Check a trajectory of joints through rows of positions, a second apart."""
    trajectory = JointTrajectory(joint_names=list(names), points=points(rows))
    for second, point in enumerate(trajectory.points):
        point.time_from_start = duration(float(second))
    request = CheckTrajectory.Request(trajectory=trajectory)
    return ask(client, CheckTrajectory, 'check_trajectory', request)


def test_a_trajectory_of_the_other_arm_meets_an_obstacle(tmp_path):
    with arms_rig(tmp_path) as (client, _):
        x, y = place_of_ball('b', 0.5, 0.0)
        post = Obstacle(id='post', type=Obstacle.SPHERE, dimensions=[0.1])
        post.pose = pose_message([x, y, 0.0, 0.0, 0.0, 0.0, 1.0])
        publisher = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        placed = []
        client.node.create_subscription(
            ObstacleArray, 'ros_ik/current_obstacles',
            lambda message: placed.append(len(message.obstacles)), LATCHED,
        )  # fmt: skip
        publisher.publish(ObstacleArray(obstacles=[post]))
        client.wait_for(lambda: 2 in placed, 'the obstacle')
        found = check(client, B, (0.0, 0.0), (1.0, 0.0))
        assert found.success and not found.safe and found.violated == 'world'
        assert {found.worst_pair_a, found.worst_pair_b} == {'b_ball', 'post'}
        world = found.barriers.index('world')
        assert found.minimum_values[world] == pytest.approx(-RADIUS - 0.1, abs=1e-2)
        assert check(client, B, (-1.0, 0.0), (0.0, 0.0)).safe
        gaps = [np.linalg.norm(place_of_ball('b', q, 0.0) - (x, y)) for q in (0.0, -1.0)]
        assert min(gaps) > 0.2
