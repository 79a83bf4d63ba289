# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""~/move_to_pose over DDS: the reached pose is judged by Pinocchio's kinematics."""

import contextlib
import math
import signal
import time

from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import Transition
import numpy as np
import pytest
from support.motions.motion import motion_of
from support.rigs.action_rig import ABORTED
from support.rigs.action_rig import ActionUser
from support.rigs.action_rig import at_rest
from support.rigs.action_rig import CANCELED
from support.rigs.action_rig import SUCCEEDED
from support.rigs.planning_rig import make_planner
from support.rigs.planning_rig import Twin
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED

from ros_ik_interfaces.action import MoveToPose
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
TCP, BASE = 'panda_hand_tcp', 'panda_link0'


def begin(client, **parameters):
    """Start node and robot and wait until it is ready; return a user of the action."""
    values = {
        'base_frame': BASE, 'ee__max_linear_speed': 0.15, **NEVER_STALE,
        **UNWATCHED,
        'outputs__default__publish_velocities': True, **parameters,
    }  # fmt: skip
    start_node(client, **values)
    start_robot(client)
    client.describe(panda_urdf())
    client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
    return ActionUser(client, MoveToPose, 'move_to_pose')


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('actions')) as client:
        yield client, begin(client)
        assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture
def client(rig):
    return at_rest(rig[0])


@pytest.fixture
def user(rig):
    return rig[1]


@pytest.fixture(scope='module')
def twin():
    return Twin(make_planner('panda'), 'panda')


def row(pose):
    """Return the 7 numbers of a message."""
    p, q = pose.pose.position, pose.pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])


def errors_of(client, twin, target):
    """Return distance and angle of the measured robot to a target, by Pinocchio."""
    client.wait_for_rest()
    planner, measured = twin.planner, client.positions()
    coords = planner.coordinates(list(measured))
    joint_q = planner.configurations(coords, np.array([list(measured.values())]))[0]
    return twin.errors(joint_q, TCP, BASE, target)


def send(client, user, xyz, **fields):
    """Send a goal displaced from the present pose; return it and its target."""
    target = client.moved_pose(xyz)
    return user.send(MoveToPose.Goal(target=target, **fields)), target


@contextlib.contextmanager
def slowly(client):
    """Move so slowly that the motion outlasts the events of the test even on a busy machine."""
    assert client.set(ee__max_linear_speed=0.03)['ee.max_linear_speed'].successful
    try:
        yield
    finally:
        client.set(ee__max_linear_speed=0.15)


def wait_until_moving(client):
    client.states.clear()
    client.wait_for(
        lambda: any(max(map(abs, s.velocity), default=0.0) > 0.02 for s in client.states), 'motion'
    )


def test_a_pose_is_reached_and_feedback_comes_at_a_bounded_rate(client, user, twin):
    missed = client.status.missed_ticks
    goal, target = send(client, user, (0.05, 0.2, -0.05), task='ee')
    status, result = goal.result()
    assert status == SUCCEEDED and result.reached and not result.message
    assert result.linear_error <= 1e-3 and result.angular_error <= 1e-2
    distance, angle = errors_of(client, twin, row(target))
    assert distance <= 1e-3 and angle <= 1e-2
    times = np.array(goal.feedback_times)
    assert 3 <= len(times) <= 20.0 * (times[-1] - times[0]) + 2, times
    errors = [message.linear_error for message in goal.feedback]
    # After a missed tick the motion continues from the robot's position, up to a sample behind.
    rise = 1e-3 if client.status.missed_ticks > missed else 0.0
    assert np.max(np.diff(errors)) <= rise and errors[-1] < 0.5 * errors[0]
    good = {*range(IkStatus.JOINT_BOUND + 1), IkStatus.DEADLINE_MISSED}
    assert {message.code for message in goal.feedback} <= good
    client.assert_trajectories_are_accepted()


def test_a_pose_in_a_moving_link_is_taken_where_it_is_when_the_goal_begins(client, user, twin):
    before = row(client.moved_pose())
    target = PoseStamped()
    target.header.frame_id = TCP
    target.pose.position.z = -0.08
    target.pose.orientation.w = 1.0
    status, result = user.send(MoveToPose.Goal(target=target)).result()
    assert status == SUCCEEDED, result.message
    x, y, z, w = before[3:]
    axis = np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])
    expected = before.copy()
    expected[:3] -= 0.08 * axis
    distance, angle = errors_of(client, twin, expected)
    assert distance <= 2e-3 and angle <= 1e-2


def test_the_goal_has_its_own_tolerances(client, user):
    with slowly(client):
        goal, _ = send(
            client, user, (0.0, -0.15, 0.0), linear_tolerance=0.12, angular_tolerance=0.5
        )
        status, result = goal.result()
    assert status == SUCCEEDED
    assert 1e-3 < result.linear_error <= 0.12


def test_a_cancelled_goal_ends_at_rest_on_the_way(client, user, twin):
    with slowly(client):
        goal, target = send(client, user, (0.0, 0.3, 0.0))
        wait_until_moving(client)
        assert goal.cancel()
        status, result = goal.result()
    assert status == CANCELED and not result.reached and result.message == 'cancelled'
    distance, _ = errors_of(client, twin, row(target))
    assert distance > 0.05
    client.wait_for_code(IkStatus.OK, text='waiting for a target')


def test_a_cancelled_goal_ends_at_rest_however_long_it_brakes(client, user):
    goal, _ = send(client, user, (0.0, 0.4, 0.0))
    wait_until_moving(client)
    scale = {'limits__acceleration_scale': 0.01}
    assert client.set(**scale)['limits.acceleration_scale'].successful
    try:
        # In motion a lower scale takes effect once the robot can stop with it.
        client.spin(0.5)
        began = time.time_ns()
        assert goal.cancel()
        status, _ = goal.result()
        ended = time.time_ns()
        client.wait_for_rest()
    finally:
        client.set(limits__acceleration_scale=1.0)
    assert status == CANCELED
    late = [sent for sent, message, _ in client.sent if any(message.points[0].velocities)][-1]
    assert late < ended, f'it moved {1e-9 * (late - ended):.2f} s longer'
    assert ended - began > 1.6e9, 'it braked too soon for this test'


def test_a_newer_goal_preempts_without_a_stop(client, user, twin):
    with slowly(client):
        first, _ = send(client, user, (0.0, -0.3, 0.0))
        wait_until_moving(client)
        since = len(client.sent)
        second, target = send(client, user, (0.0, -0.2, 0.05))
        status, result = first.result()
        assert status == ABORTED and 'newer target' in result.message
        # Judged by its commands: a robot without processor time stands still between two of them.
        client.wait_for(lambda: len(client.sent) > since + 20, 'commands for the newer goal')
        assert motion_of(client, since=since).speed.min() > 1e-3
    status, _ = second.result()
    assert status == SUCCEEDED
    assert errors_of(client, twin, row(target))[0] <= 1e-3


@pytest.mark.parametrize('topic', ['pose', 'joints'])
def test_a_target_of_a_topic_preempts(client, user, topic):
    with slowly(client):
        goal, _ = send(client, user, (0.0, 0.2, 0.0))
        wait_until_moving(client)
        if topic == 'pose':
            client.send('pose', client.moved_pose())
        else:
            state = client.states[-1]
            client.send('joints', type(state)(name=state.name[:1], position=state.position[:1]))
        status, result = goal.result()
    assert status == ABORTED and 'preempted by' in result.message


def test_what_is_not_reached_in_time_is_aborted(client, user):
    goal, _ = send(client, user, (2.0, 0.0, 0.0), timeout=1.0)
    status, result = goal.result()
    assert status == ABORTED and not result.reached
    assert 'not reached within 1 s' in result.message and result.linear_error > 0.5


@pytest.mark.parametrize('event', ['stop', 'pause', 'reset', 'stale', 'mode'])
def test_what_holds_the_node_aborts_the_goal_and_it_is_not_taken_up_again(client, user, event):
    words = {
        'stop': 'stopped', 'pause': 'paused', 'reset': '~/reset', 'stale': 'joint_state_timeout',
        'mode': 'HOLD',
    }  # fmt: skip
    with slowly(client):
        goal, _ = send(client, user, (0.0, 0.1, -0.1))
        wait_until_moving(client)
        _hold(client, event)
        status, result = goal.result()
    assert status == ABORTED and words[event] in result.message, result.message
    if event != 'reset':
        if event == 'stale':
            reason = user.send(MoveToPose.Goal(target=PoseStamped())).refusal()
            assert words[event] in reason
        else:
            again, _ = send(client, user, (0.0, 0.0, 0.0))
            assert words[event] in again.refusal()
            client.wait_for(lambda: client.dropped().get('not_ready'), 'a count')
    _let_go(client, event)
    client.wait_for_code(IkStatus.OK, text='waiting for a target')
    client.wait_for_silence()
    client.wait_for_rest()  # the robot follows its commands with a lag
    before = client.positions()
    client.wait_for_ticks(50)
    after = client.positions()
    assert all(abs(after[name] - before[name]) < 1e-4 for name in before)


def _hold(client, event):
    if event == 'pause':
        client.pause(True)
    elif event == 'stale':
        client.set(joint_state_timeout=0.2)
        client.processes.signal('robot', signal.SIGSTOP)
    elif event == 'mode':
        set_mode(client, 'HOLD')
    else:
        client.trigger(event)


def _let_go(client, event):
    if event == 'stop':
        client.trigger('reset')
    elif event == 'pause':
        client.pause(False)
    elif event == 'stale':
        client.processes.signal('robot', signal.SIGCONT)
        client.wait_for_code(IkStatus.OK, text='waiting for a target')
        client.set(**NEVER_STALE)
    elif event == 'mode':
        set_mode(client, 'AUTO')


def set_mode(client, name):
    """Call ~/set_mode."""
    from ros_ik_interfaces.srv import SetMode

    request = SetMode.Request(mode=getattr(SetMode.Request, name))
    assert client.call(SetMode, 'ros_ik/set_mode', request).success


REFUSED = {
    'task': (MoveToPose.Goal(task='leg'), 'invalid_goal', "'leg'"),
    'linear': (MoveToPose.Goal(linear_tolerance=-1.0), 'invalid_goal', 'linear_tolerance'),
    'angular': (MoveToPose.Goal(angular_tolerance=math.nan), 'invalid_goal', 'angular_tolerance'),
    'timeout': (MoveToPose.Goal(timeout=math.inf), 'invalid_goal', 'timeout'),
    'frame': (MoveToPose.Goal(), None, "'no_such_frame'"),
    'nan': (MoveToPose.Goal(), 'non_finite', 'position.y must be'),
    'far': (MoveToPose.Goal(), 'too_large_number', 'position.y must be'),
    'quaternion': (MoveToPose.Goal(), 'zero_quaternion', 'norm of the quaternion'),
    'half filled in': (MoveToPose.Goal(), 'not_unit_quaternion', 'got 1.41421'),
}


@pytest.mark.parametrize('case', REFUSED)
def test_a_wrong_goal_is_refused_with_a_reason(client, user, case):
    goal, counter, text = REFUSED[case]
    goal.target = client.moved_pose()
    if case == 'frame':
        goal.target.header.frame_id = 'no_such_frame'
    elif case == 'nan':
        goal.target.pose.position.y = math.nan
    elif case == 'far':
        goal.target.pose.position.y = 1e300
    elif case == 'half filled in':
        goal.target.pose.orientation = type(goal.target.pose.orientation)(x=1.0)
    elif case == 'quaternion':
        goal.target.pose.orientation = type(goal.target.pose.orientation)(w=0.0)
    before = sum(client.dropped().values())
    client.statuses.clear()
    reason = user.send(goal).refusal()
    assert text in reason and 'np.' not in reason and '\n' not in reason
    client.wait_for(lambda: any(reason in s.text for s in client.statuses), 'it in the status')
    client.wait_for(lambda: sum(client.dropped().values()) > before, 'a count')
    if counter:
        assert client.dropped()[counter] >= 1
    line = f'refused a goal of move_to_pose: {counter or "tf_unavailable"}: {reason}'
    # The status may arrive before the log.
    client.wait_for(lambda: line in client.processes.text('node'), 'a line in the log')


def test_a_jump_is_refused_where_jumps_are(client, user):
    client.set(target_jump_policy='reject')
    try:
        goal, _ = send(client, user, (0.0, 0.0, 0.4))
        assert 'target_jump_policy is reject' in goal.refusal()
        client.statuses.clear()
        client.wait_for(lambda: client.dropped().get('target_jump'), 'a count')
        near, _ = send(client, user, (0.0, 0.0, 0.02))
        assert near.result()[0] == SUCCEEDED
    finally:
        client.set(target_jump_policy='saturate')


def test_deactivation_aborts_and_refuses(client, user):
    with slowly(client):
        goal, _ = send(client, user, (0.05, 0.1, 0.0))
        wait_until_moving(client)
        target = client.moved_pose()
        assert client.transition(Transition.TRANSITION_DEACTIVATE)
        status, result = goal.result()
    assert status == ABORTED and 'deactivated' in result.message
    assert 'not active' in user.send(MoveToPose.Goal(target=target)).refusal()
    assert client.transition(Transition.TRANSITION_ACTIVATE)


def test_another_robot_description_aborts(client, user):
    with slowly(client):
        goal, _ = send(client, user, (0.05, -0.2, 0.0))
        wait_until_moving(client)
        client.describe(panda_urdf().replace('2.8973', '2.7973'))
        status, result = goal.result()
    assert status == ABORTED and 'description' in result.message
    client.wait_for(lambda: client.status.model_generation == 2, 'another model', LONG)
    client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
    # Inwards: the arm may have stopped stretched out.
    again, _ = send(client, user, (-0.05, 0.02, 0.0))
    assert again.result()[0] == SUCCEEDED


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_goal_ends_with_the_node(tmp_path, number):
    with ros_rig(tmp_path) as client:
        user = begin(client, ee__max_linear_speed=0.03)
        goal, _ = send(client, user, (0.0, 0.2, 0.0))
        wait_until_moving(client)
        client.processes.signal('node', number)
        status, result = goal.result()
        assert status == ABORTED and 'shuts down' in result.message
        assert client.processes.wait('node', LONG) == 0, client.processes.text('node')
