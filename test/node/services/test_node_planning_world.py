# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of ~/obstacles reach the planners' services, and so does their removal."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import ask
from support.rigs.services_rig import points
from support.rigs.services_rig import pose_message
from support.rigs.services_rig import solve
from support.robots.ball_robot import NAMES
from support.robots.ball_robot import place_of_ball
from support.robots.ball_robot import RADIUS
from support.robots.ball_robot import URDF
from trajectory_msgs.msg import JointTrajectory

from ros_ik.node.control.command_messages import duration
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import JointCost
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveIk
from ros_ik_interfaces.srv import SolveOptimal

pytestmark = pytest.mark.dds
CENTER = [0.7, 0.72, 0.0]


def way():
    """Return a trajectory past the obstacle."""
    trajectory = JointTrajectory(
        joint_names=list(NAMES), points=points([[0.0, 0.0, 0.0], [1.4, 0.0, 0.0]])
    )
    trajectory.points[1].time_from_start = duration(4.0)
    return trajectory


def test_obstacles_are_seen_by_every_service_while_they_are_there(tmp_path):
    with ros_rig(tmp_path) as client:
        client.processes.start(
            'node', 'ros_ik.node.ros_ik_node', ee__frame='ball', services__nice=0,
            **NEVER_STALE,
        )  # fmt: skip
        state = JointState(name=list(NAMES), position=[0.0, 0.0, 0.0])
        states = client.node.create_publisher(JointState, 'joint_states', 1)
        client.node.create_timer(0.05, lambda: states.publish(state))
        obstacles = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        client.describe(URDF)
        client.wait_for_code(IkStatus.OK, timeout=LONG)

        def check():
            request = CheckTrajectory.Request(trajectory=way())
            return ask(client, CheckTrajectory, 'check_trajectory', request)

        def optimal():
            request = SolveOptimal.Request(
                joint_costs=[JointCost(joint='shoulder', target=1.4, weight=1.0)]
            )
            answer = ask(client, SolveOptimal, 'solve_optimal', request)
            assert answer.success, answer.message
            rows = [place_of_ball(point.positions) for point in answer.trajectory.points]
            return np.min(np.linalg.norm(np.array(rows) - CENTER, axis=1))

        target = pose_message([*place_of_ball([0.8, 0.0, 0.0]), 0.0, 0.0, 0.0, 1.0])
        wanted = {'poses': [target], 'rotation_tolerance': np.inf, 'check_collisions': True}
        client.wait_for(lambda: check().safe, 'a first check', LONG)
        assert optimal() < 0.1 + RADIUS
        solid = Obstacle(id='post', type=Obstacle.SPHERE, dimensions=[0.1])
        solid.pose = pose_message([*CENTER, 0.0, 0.0, 0.0, 1.0])
        obstacles.publish(ObstacleArray(obstacles=[solid]))
        client.wait_for(lambda: not check().safe, 'the obstacle', LONG)
        report = check()
        assert report.violated == 'world'
        assert {report.worst_pair_a, report.worst_pair_b} == {'ball', 'post'}
        assert optimal() >= 0.1 + RADIUS
        assert list(solve(client, **wanted).codes) == [SolveIk.Response.IN_COLLISION]
        obstacles.publish(ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)]))
        client.wait_for(lambda: check().safe, 'a free way', LONG)
        assert list(solve(client, **wanted).codes) != [SolveIk.Response.IN_COLLISION]
        assert client.processes.is_alive('node'), client.processes.text('node')
