# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints that a running node does not control: moved by planners, or without a state."""

import contextlib
import math

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.rigs.ball_arms import A
from support.rigs.ball_arms import ALL
from support.rigs.ball_arms import B
from support.rigs.ball_arms import gap
from support.rigs.ball_arms import place_of_ball
from support.rigs.ball_arms import RADIUS
from support.rigs.ball_arms import REACH
from support.rigs.ball_arms import URDF
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import UNWATCHED
from support.rigs.services_rig import ask
from support.rigs.services_rig import points
from support.rigs.services_rig import pose_message
from trajectory_msgs.msg import JointTrajectory

from ros_ik.node.control.command_messages import duration
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveIk

pytestmark = pytest.mark.dds
# Positions of arm b at which its ball is in the middle of that of arm a at 0.
MEETING = {'b1': math.pi, 'b2': 0.0}
PASSING = (-0.5, 0.0), (0.5, 0.0)


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


def of_joints(client):
    """Return the newest entry on joint states of the diagnostics: level, message, unknown ones."""
    client.diagnostics.clear()
    found = []

    def is_heard():
        found.extend(s for s in client.diagnostics if s.name.endswith('joint states'))
        return bool(found)

    client.wait_for(is_heard, 'diagnostics')
    values = {value.key: value.value for value in found[-1].values}
    return found[-1].level, found[-1].message, values['joints unknown']


def test_an_arm_that_was_never_reported_is_never_silent(tmp_path):
    known = [*A, 'finger', 'lift']
    with arms_rig(tmp_path, known, diagnostics_period=0.2, **UNWATCHED) as (client, positions):
        # Planners: the arm may be where the trajectory goes.
        found = check(client, A, *PASSING)
        assert found.success and not found.complete and not found.safe and found.violated == ''
        assert 'b1, b2' in found.message and found.unmeasured_links == []
        pose = pose_message([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        request = SolveIk.Request(poses=[pose], reference_frame='torso', check_collisions=True)
        found = ask(client, SolveIk, 'solve_ik', request)
        assert list(found.codes) == [SolveIk.Response.CONVERGED] and not found.complete
        assert 'b1, b2' in found.message
        found = check(client, ['b2'], [0.0], [0.1])
        assert not found.success and 'b1' in found.message
        # The node goes on, and says so in the status, the diagnostics and once in the log.
        target = JointState(name=['a1'], position=[0.1])
        client.stream('joints', target)
        client.wait_for(
            lambda: client.sent and client.sent[-1][1].points[0].positions[0] > 0.05, 'motion'
        )
        client.wait_for_text('no current joint states of b1, b2')
        client.stream('joints', None)
        level, text, names = of_joints(client)
        assert level == DiagnosticStatus.WARN and 'b1, b2' in text and names == 'b1, b2'
        line = 'no joint states of b1, b2: distances depend'
        client.wait_for(lambda: line in client.processes.text('node'), 'the warning')
        # Its true place is in the way.
        positions |= {'a1': 0.0, **MEETING}
        client.wait_for(lambda: of_joints(client)[2] == '', 'a known arm')
        assert of_joints(client)[0] == DiagnosticStatus.OK
        found = check(client, A, *PASSING)
        assert found.complete and not found.safe and found.violated == 'self_collision'
        assert gap((0.0, 0.0), MEETING.values()) < -0.09 and found.message == ''
        client.statuses.clear()
        client.wait_for(lambda: client.statuses, 'a status')
        assert 'no current joint states' not in client.status.text
        assert client.processes.text('node').count(line) == 1


def test_an_arm_whose_states_ended_is_told(tmp_path):
    with arms_rig(
        tmp_path, diagnostics_period=0.2, joint_state_timeout=2.0, **UNWATCHED
    ) as (client, positions):
        positions |= MEETING
        found = []

        def is_complete():
            found[:] = [check(client, A, *PASSING)]
            return found[0].complete and found[0].violated == 'self_collision'

        client.wait_for(is_complete, 'a complete answer')
        for name in B:
            del positions[name]
        client.wait_for_text('no current joint states of b1, b2')
        found = check(client, A, *PASSING)
        # It is still where it was last.
        assert found.success and not found.complete and found.violated == 'self_collision'
        assert 'b1, b2' in found.message
        line = 'the joint states of b1, b2 have ended'
        client.wait_for(lambda: line in client.processes.text('node'), 'the warning')
        positions |= MEETING
        client.wait_for(lambda: check(client, A, *PASSING).complete, 'its return')


def test_an_obstacle_in_a_link_of_unknown_place_is_placed_once_it_is_known(tmp_path):
    known = [*A, 'finger', 'b2', 'lift']
    with arms_rig(tmp_path, known, **UNWATCHED) as (client, positions):
        # On the ball of arm b, which is at a quarter of a turn.
        post = Obstacle(id='post', type=Obstacle.SPHERE, dimensions=[0.1])
        post.header.frame_id = 'b_upper'
        post.pose = pose_message([2.0 * REACH, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        publisher = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        placed = []
        client.node.create_subscription(
            ObstacleArray, 'ros_ik/current_obstacles',
            lambda message: placed.extend(o for o in message.obstacles if o.id == 'post'), LATCHED,
        )  # fmt: skip
        publisher.publish(ObstacleArray(obstacles=[post]))
        client.wait_for(lambda: placed, 'the obstacle')
        assert placed[-1].header.frame_id == 'b_upper'
        client.wait_for_text('no current joint states of b1,')
        found = check(client, A, *PASSING)
        assert not found.complete and 'b1,' in found.message
        positions['b1'] = 0.5 * math.pi
        client.wait_for(lambda: placed[-1].header.frame_id == 'base', 'its place')
        center = placed[-1].pose.position
        assert [center.x, center.y] == pytest.approx(place_of_ball('b', 0.5 * math.pi, 0.0))
        client.wait_for(lambda: check(client, A, *PASSING).safe, 'a complete answer')
        # It stays there.
        positions['b1'] = -0.5 * math.pi
        found = check(client, B, (0.4 * math.pi, 0.0), (0.6 * math.pi, 0.0))
        assert found.violated == 'world'
        assert found.minimum_values[found.barriers.index('world')] == pytest.approx(
            -RADIUS - 0.1, abs=1e-2
        )
