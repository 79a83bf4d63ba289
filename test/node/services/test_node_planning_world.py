# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of ~/obstacles reach the planners' services, and so does their removal."""

import contextlib
import math
import os
import signal
import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.processes.ros_processes import without_shared_memory
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import ask
from support.rigs.services_rig import begin
from support.rigs.services_rig import points
from support.rigs.services_rig import pose_message
from support.rigs.services_rig import process_ids
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


def post(distance=0.0):
    """Return an obstacle of 0.1 m in the way, or beside it."""
    solid = Obstacle(id='post', type=Obstacle.SPHERE, dimensions=[0.1])
    center = np.array(CENTER) * (1.0 + distance / np.linalg.norm(CENTER))
    solid.pose = pose_message([*center, 0.0, 0.0, 0.0, 1.0])
    return solid


@contextlib.contextmanager
def ball_rig(folder, **options):
    """Yield a client of a node, a publisher of obstacles, a check, and the state of the robot."""
    with ros_rig(folder, planners=True, **options) as client:
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

        yield client, obstacles, check, state


def test_answers_include_every_change_that_was_confirmed_before(tmp_path):
    with ball_rig(tmp_path) as (client, obstacles, check, _):
        client.wait_for(lambda: check().safe, 'a first check', LONG)
        confirmed = []
        client.node.create_subscription(
            ObstacleArray,
            'ros_ik/current_obstacles',
            lambda message: confirmed.append(len(message.obstacles) - 1),
            LATCHED,
        )
        client.wait_for(lambda: confirmed, 'the first obstacles')
        for count in (1, 0) * 15:
            change = post() if count else Obstacle(operation=Obstacle.CLEAR)
            confirmed.clear()
            obstacles.publish(ObstacleArray(obstacles=[change]))
            client.wait_for(lambda: confirmed, 'the change of the obstacles')
            assert confirmed[-1] == count
            assert check().safe == (not count)
        # The ball passes its surface at 0.05 m.
        obstacles.publish(ObstacleArray(obstacles=[post(0.2)]))
        client.wait_for(lambda: 1 in confirmed, 'a distant obstacle')
        for margin in (0.2, 0.0) * 15:
            assert client.set(barriers__world__margin=margin)['barriers.world.margin'].successful
            assert check().safe == (not margin)


def test_a_process_that_was_killed_knows_the_world_again(tmp_path):
    with (
        without_shared_memory(),
        ball_rig(tmp_path, children=False) as (client, obstacles, check, _),
    ):
        client.wait_for(lambda: check().safe, 'a first check', LONG)
        # The ball passes its surface at 0.05 m, and the margin was 0.02 m at the start.
        obstacles.publish(ObstacleArray(obstacles=[post(0.2)]))
        assert client.set(barriers__world__margin=0.2)['barriers.world.margin'].successful
        client.wait_for(lambda: not check().safe, 'the margin')
        (child,) = process_ids(client)[1]
        os.kill(child, signal.SIGKILL)
        client.wait_for(
            lambda: process_ids(client)[1] not in ([], [child]), 'another process', LONG
        )
        # Requests may still go to the killed process, which DDS regards as alive for a while.
        future, asked = None, -math.inf
        while future is None or not future.done():
            if time.monotonic() > asked + 3.0:
                request = CheckTrajectory.Request(trajectory=way())
                future = begin(client, CheckTrajectory, 'check_trajectory', request)
                asked = time.monotonic()
            client.spin(0.1)
        report = future.result()
        assert report.success and report.violated == 'world', report


def test_an_obstacle_of_a_moving_link_stays_where_it_was(tmp_path):
    with ball_rig(tmp_path) as (client, obstacles, check, state):
        client.wait_for(lambda: check().safe, 'a first check', LONG)
        # At zero the link has the pose of the base.
        hung = post()
        hung.header.frame_id = 'upper'
        obstacles.publish(ObstacleArray(obstacles=[hung]))
        client.wait_for(lambda: not check().safe, 'the obstacle')
        state.position = [-1.5, 0.0, 0.0]
        client.wait_for(
            lambda: client.poses and client.poses[-1].pose.position.y < -0.99, 'a motion by hand'
        )
        for distance in (5.0, 6.0):
            other = post(distance)
            other.id = 'far'
            obstacles.publish(ObstacleArray(obstacles=[other]))
            client.wait_for_ticks(20)
            # It had moved with its link at the next change of any obstacle.
            assert not check().safe


def test_obstacles_are_seen_by_every_service_while_they_are_there(tmp_path):
    with ball_rig(tmp_path) as (client, obstacles, check, _):

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
        obstacles.publish(ObstacleArray(obstacles=[post()]))
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
