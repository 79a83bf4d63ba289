# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""~/follow_joint_trajectory over DDS, with control_msgs or its stand-in; the judge is SciPy."""

import math
import time

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from support.controller_messages.build import controller_messages
from support.rigs.action_rig import ABORTED
from support.rigs.action_rig import ActionUser
from support.rigs.action_rig import at_rest
from support.rigs.action_rig import CANCELED
from support.rigs.action_rig import LONG
from support.rigs.action_rig import SUCCEEDED
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import Twin
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.control.command_messages import duration
from ros_ik_interfaces.action import MoveToPose
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
TCP, BASE = 'panda_hand_tcp', 'panda_link0'
# The tool starts at y = 0 and must not move to the left.
WALL = 0.25


@pytest.fixture(scope='module', autouse=True)
def messages():
    with controller_messages():
        yield


def action():
    """Return the type of the action."""
    from control_msgs.action import FollowJointTrajectory

    return FollowJointTrajectory


@pytest.fixture(scope='module')
def rig(messages, tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('follow')) as client:
        start_node(
            client,
            base_frame=BASE,
            # A robot that a busy machine stops is late, no robot that does not follow.
            actions__goal_time=60.0,
            **NEVER_STALE,
            **UNWATCHED,
            barriers__position__wall__frame=TCP,
            barriers__position__wall__min=[-2.0, -2.0, -2.0],
            barriers__position__wall__max=[2.0, WALL, 2.0],
        )
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        yield client, ActionUser(client, action(), 'follow_joint_trajectory')
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture
def client(rig):
    return at_rest(rig[0])


@pytest.fixture
def user(rig):
    return rig[1]


def goal_to(client, changes, seconds=1.0, **fields):
    """Return a cubic trajectory from rest to rest that changes some joints."""
    now = client.positions()
    names = list(changes)
    last = [now[name] + change for name, change in changes.items()]
    point = JointTrajectoryPoint(
        positions=last, velocities=[0.0] * len(names), time_from_start=duration(seconds)
    )
    return action().Goal(
        trajectory=JointTrajectory(joint_names=names, points=[point]), **fields
    )


def go_home(client, user):
    """Follow a trajectory to where the robot was at the start."""
    home, now = HeldRobot.home(), client.positions()
    way = {name: home[name] - now[name] for name in ARM}
    status, result = user.send(goal_to(client, way, 1.5)).result()
    assert status == SUCCEEDED, result.error_string


def tolerance(name, position=0.0, **values):
    from control_msgs.msg import JointTolerance

    return JointTolerance(name=name, position=position, **values)


def assert_at(client, expected, within=0.01):
    client.wait_for_rest()
    measured = client.positions()
    for name, position in expected.items():
        assert abs(measured[name] - position) <= within, name


def test_a_trajectory_through_points_is_followed_and_reported(client, user):
    now = client.positions()
    start = np.array([now[name] for name in ARM])
    rng = np.random.default_rng(1)
    knots = start + np.vstack([np.zeros(7), rng.uniform(-0.15, 0.15, (3, 7))])
    knots[:, 0] = start[0]
    times = np.array([0.0, 0.8, 1.6, 2.4])
    speeds = np.vstack([np.zeros(7), rng.uniform(-0.1, 0.1, (2, 7)), np.zeros(7)])
    expected = CubicHermiteSpline(times, knots, speeds)
    points = [
        JointTrajectoryPoint(
            positions=q.tolist(), velocities=v.tolist(), time_from_start=duration(t)
        )
        for t, q, v in zip(times[1:].tolist(), knots[1:], speeds[1:], strict=True)
    ]
    order = ARM[::-1]
    for point in points:
        point.positions, point.velocities = point.positions[::-1], point.velocities[::-1]
    started = time.monotonic()
    goal = user.send(
        action().Goal(
            trajectory=JointTrajectory(joint_names=list(order), points=points)
        )
    )
    status, result = goal.result()
    seconds = time.monotonic() - started
    assert status == SUCCEEDED, result.error_string
    assert result.error_code == action().Result.SUCCESSFUL
    sent = goal.feedback_times
    assert 2.4 <= seconds and 10 <= len(sent) <= 20.0 * (sent[-1] - sent[0]) + 2, sent
    for message in goal.feedback:
        assert message.joint_names == list(order)
        at = message.desired.time_from_start
        at = min(at.sec + 1e-9 * at.nanosec, 2.4)
        desired = np.array(message.desired.positions)[::-1]
        # The path begins at the measured position, which has noise.
        np.testing.assert_allclose(desired, expected(at), atol=1e-3)
        speed = np.array(message.desired.velocities)[::-1]
        np.testing.assert_allclose(speed, expected(at, 1) if at < 2.4 else 0.0, atol=1e-2)
        # The controller and the mock robot follow with a delay.
        assert np.max(np.abs(np.array(message.error.positions))) < 0.15
    assert_at(client, dict(zip(ARM, knots[-1], strict=True)))
    client.assert_trajectories_are_accepted()


def test_joints_that_are_left_out_stay(client, user):
    before = client.positions()
    goal = user.send(goal_to(client, {'panda_joint5': 0.2, 'panda_joint2': -0.1}))
    assert goal.result()[0] == SUCCEEDED
    expected = dict(before)
    expected['panda_joint5'] += 0.2
    expected['panda_joint2'] -= 0.1
    assert_at(client, expected)


def test_a_cancelled_goal_ends_at_rest_on_the_way(client, user):
    before = client.positions()
    goal = user.send(goal_to(client, {'panda_joint6': 0.6}, 3.0))
    client.wait_for(lambda: client.states[-1].velocity[5] > 0.05, 'motion')
    assert goal.cancel()
    status, result = goal.result()
    assert status == CANCELED and result.error_string == 'cancelled'
    client.wait_for_rest()
    moved = client.positions()['panda_joint6'] - before['panda_joint6']
    assert 0.005 < moved < 0.5


def test_path_tolerances(client, user):
    goal = goal_to(client, {'panda_joint3': 0.5}, 0.8)
    goal.path_tolerance = [tolerance('panda_joint3', 1e-3)]
    status, result = user.send(goal).result()
    assert status == ABORTED and result.error_code == action().Result.PATH_TOLERANCE_VIOLATED
    assert 'panda_joint3' in result.error_string and '0.001' in result.error_string


def test_a_barrier_keeps_the_robot_from_the_end(client, user):
    go_home(client, user)
    # Joints without a target would move.
    goal = goal_to(client, {**dict.fromkeys(ARM, 0.0), 'panda_joint1': 1.4}, 1.5)
    goal.goal_time_tolerance = duration(0.5)
    client.statuses.clear()
    status, result = user.send(goal).result()
    assert status == ABORTED and result.error_code == action().Result.GOAL_TOLERANCE_VIOLATED
    assert 'goal tolerance violated: panda_joint' in result.error_string
    # The joints compensate each other, so the tool may still be sliding along the wall.
    held = (IkStatus.SLOWED_BY_BARRIER, IkStatus.HALTED_BY_BARRIER)
    assert any(s.code in held and s.limiting_barrier == 'wall' for s in client.statuses)
    client.wait_for_rest()
    planner = make_planner('panda')
    measured = client.positions()
    coords = planner.coordinates(list(measured))
    joint_q = planner.configurations(coords, np.array([list(measured.values())]))[0]
    position, _ = Twin(planner, 'panda').pose(joint_q, TCP, BASE)
    assert WALL - 0.05 < position[1] <= WALL + 1e-3
    erased = goal_to(client, {'panda_joint1': 0.5})
    erased.goal_tolerance = [tolerance('panda_joint1', -1.0)]
    assert user.send(erased).result()[0] == SUCCEEDED
    go_home(client, user)


def test_a_stamp_in_the_future_is_waited_for(client, user):
    goal = goal_to(client, {'panda_joint7': 0.2}, 0.5)
    before = client.positions()['panda_joint7']
    start = client.node.get_clock().now().nanoseconds + 1_000_000_000
    stamp = goal.trajectory.header.stamp
    stamp.sec, stamp.nanosec = divmod(start, 1_000_000_000)
    assert user.send(goal).result()[0] == SUCCEEDED
    assert client.node.get_clock().now().nanoseconds >= start + 500_000_000
    # By the robot's clock, since the client of a busy machine may hear of it late.
    for state in client.states:
        if state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec < start:
            position = state.position[state.name.index('panda_joint7')]
            assert abs(position - before) < 1e-3
    assert_at(client, {'panda_joint7': before + 0.2})


@pytest.mark.parametrize('event', ['goal', 'joints', 'pose', 'move_to_pose', 'stop'])
def test_preemption_and_stops_abort(client, user, event):
    # So slow that it does not end before a client that a busy machine stops gets to the event.
    goal = user.send(goal_to(client, {'panda_joint6': 0.6}, 10.0))
    client.wait_for(lambda: client.states[-1].velocity[5] > 0.02, 'motion')
    words = {'stop': 'stopped', 'pose': 'pose target', 'move_to_pose': 'pose target'}
    if event == 'goal':
        assert user.send(goal_to(client, {'panda_joint6': -0.05}, 0.5)).accepted
    elif event == 'joints':
        state = client.states[-1]
        client.send('joints', type(state)(name=state.name[:1], position=state.position[:1]))
    elif event == 'pose':
        client.send('pose', client.moved_pose())
    elif event == 'move_to_pose':
        other = ActionUser(client, MoveToPose, 'move_to_pose')
        assert other.send(MoveToPose.Goal(target=client.moved_pose())).accepted
    else:
        client.trigger('stop')
    status, result = goal.result()
    assert status == ABORTED and words.get(event, 'joint target') in result.error_string


def wrong_goals():
    """Yield name, a change that makes a goal invalid, and the words of the log."""

    def names(goal):
        goal.trajectory.joint_names = ['panda_joint1', 'no_joint']

    def twice(goal):
        goal.trajectory.joint_names = ['panda_joint1', 'panda_joint1']

    def none(goal):
        goal.trajectory.points = []

    def short(goal):
        goal.trajectory.points[0].positions = [0.0]

    def finite(goal):
        goal.trajectory.points[0].positions = [math.nan, 0.0]

    def times(goal):
        goal.trajectory.points = goal.trajectory.points * 2

    def speed(goal):
        goal.trajectory.points[-1].velocities = [0.1, 0.0]

    def velocities_only(goal):
        goal.trajectory.points[0].positions = []
        goal.trajectory.points[0].velocities = [0.1, 0.1]

    def velocities_of_others(goal):
        goal.trajectory.points[-1].velocities = [0.1]

    def accelerations(goal):
        goal.trajectory.points[0].accelerations = [0.1]

    def effort(goal):
        goal.trajectory.points[0].effort = [1.0, 1.0]

    def old(goal):
        goal.trajectory.header.stamp.sec = 1000

    def late(goal):
        goal.trajectory.points[0].time_from_start.sec = 1_000_000

    def stranger(goal):
        goal.path_tolerance = [tolerance('panda_joint7', 0.1)]

    def negative(goal):
        goal.goal_tolerance = [tolerance('panda_joint1', -0.5)]

    def velocity(goal):
        goal.goal_tolerance = [tolerance('panda_joint1', velocity=0.5)]

    def goal_time(goal):
        goal.goal_time_tolerance.sec = -1

    def floating(goal):
        goal.multi_dof_trajectory.joint_names = ['base']

    return [
        (names, 'no_joint'), (twice, 'twice'), (none, 'no points'),
        (short, 'point 0: expected 2 positions, one per joint, got 1'),
        (finite, 'must be finite'), (times, 'time_from_start'), (speed, 'last point'),
        (velocities_only, 'point 0: expected 2 positions, one per joint, got 0'),
        (velocities_of_others, 'point 0: expected 2 velocities, one per joint, got 1'),
        (accelerations, 'point 0: expected 2 accelerations, one per joint, got 1'),
        (effort, 'effort'), (old, 'ended'), (late, 'lasts'),
        (stranger, 'path_tolerance'), (negative, 'goal_tolerance'), (velocity, 'only positions'),
        (goal_time, 'goal_time_tolerance'), (floating, 'multi_dof_trajectory'),
    ]  # fmt: skip


def test_wrong_goals_are_refused_and_counted(client, user):
    counters = {'names': 'unknown_joint', 'twice': 'repeated_joint', 'old': 'too_old'}
    codes = {'names': 'INVALID_JOINTS', 'twice': 'INVALID_JOINTS', 'old': 'OLD_HEADER_TIMESTAMP'}
    for change, words in wrong_goals():
        counter = counters.get(change.__name__, 'invalid_goal')
        before = client.dropped().get(counter, 0)
        goal = goal_to(client, {'panda_joint1': 0.1, 'panda_joint2': 0.1})
        change(goal)
        sent = user.send(goal)
        assert words in sent.refusal(), change.__name__
        code = codes.get(change.__name__, 'INVALID_GOAL')
        assert sent.result()[1].error_code == getattr(action().Result, code)
        client.wait_for(
            lambda before=before, counter=counter: client.dropped().get(counter, 0) == before + 1,
            'a count',
        )


@pytest.mark.parametrize(('change', 'words'), wrong_goals())
def test_the_reason_names_what_is_wrong(change, words):
    from ros_ik.node.actions.action_server import GoalError
    from ros_ik.node.actions.trajectory_goal import read_goal

    planner = make_planner('panda')
    point = JointTrajectoryPoint(
        positions=[0.0, 0.0], velocities=[0.0, 0.0], time_from_start=duration(1.0)
    )
    goal = action().Goal(
        trajectory=JointTrajectory(joint_names=['panda_joint1', 'panda_joint2'], points=[point])
    )
    arguments = planner.robot, planner.settings, np.zeros(7), 1e6
    assert read_goal(goal, *arguments).spline.end() == 1.0
    change(goal)
    with pytest.raises(GoalError, match=words):
        read_goal(goal, *arguments)
