# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A driver that freezes but continues to publish joint states, over DDS."""

import math

from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from support.rigs.action_rig import ABORTED
from support.rigs.action_rig import ActionUser
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from trajectory_msgs.msg import JointTrajectory

from ros_ik_interfaces.action import MoveToPose
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
# Largest lead of the first command over a standing joint [rad]: docs/troubleshooting.md.
TRIAL = 0.01
# Status text while the command returns to standing joints.
STANDS = 'does not follow its command'
# Speeds of the frame [m/s]: a freeze whose request is repeated still meets the slow motion.
SLOW, FAST = 0.01, 0.5
# The default: as much as the lag and a stop need.
NO_BOUND = Parameter('following_error.max', Parameter.Type.DOUBLE_ARRAY, [])
DEFAULTS = {
    'ee__max_linear_speed': FAST,
    'following_error__action': 'stop',
    'following_error__delay': 0.1,
    'following_error__max': NO_BOUND,
}


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('freeze')) as client:
        start_node(client, control_rate=100.0, **NEVER_STALE)
        # At the same rate, its states might come just before each tick, and those of the second
        # publisher below never be the last ones.
        start_robot(client, 97.0)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=120.0)
        yield client


@pytest.fixture(autouse=True)
def released(client):
    """Leave a robot that moves and a node without targets, even after a failure."""
    yield
    for topic in ('pose', 'joints'):
        client.stream(topic, None)
    freeze(client, False)
    client.forget_targets()
    assert all(result.successful for result in client.set(**DEFAULTS).values())
    client.wait_for_silence()
    client.wait_for_rest()


def freeze(client, frozen):
    assert client.call(SetBool, 'mock_robot/freeze', SetBool.Request(data=frozen)).success


def commanded(client):
    """Return the positions of the newest command."""
    return np.array(client.sent[-1][1].points[0].positions)


def is_at_command(client):
    """Return True if the robot is where the newest command, if any, has sent it."""
    return not client.sent or np.abs(commanded(client) - measured(client)).max() < 1e-3


def ahead(client, where, count):
    """Return the distances of the last commands from the robot's position [rad]."""
    sent = [message.points[0].positions for _, message, _ in client.sent[-count:]]
    return np.abs(np.array(sent) - where).max()


def measured(client):
    positions = client.positions()
    return np.array([positions[name] for name in ARM])


def moved(client):
    """Return a target far enough away for a long motion."""
    pose = client.moved_pose((-0.1, 0.35, -0.2))
    return pose


def test_the_command_waits_where_the_robot_stands(client):
    client.set(ee__max_linear_speed=SLOW)
    begin = measured(client)
    client.stream('pose', moved(client))
    client.wait_for(lambda: np.abs(measured(client) - begin).max() > 0.005, 'motion')
    freeze(client, True)
    status = client.wait_for_code(IkStatus.FOLLOWING_ERROR)
    assert tuple(status.joint_names) == ARM and len(status.following_errors) == len(ARM)
    assert np.isfinite(status.following_errors).all()
    # Nothing else moves it from here on.
    where = measured(client)
    client.wait_for(
        lambda: ahead(client, where, 50) <= TRIAL, 'commands that have come back to the robot'
    )
    status = client.wait_for_code(IkStatus.FOLLOWING_ERROR)
    assert not status.tasks[0].reached and status.tasks[0].measured_linear > 0.05

    def is_told():
        told = {s.name: s for s in client.diagnostics}.get('ros_ik: joint states')
        return told and int.from_bytes(told.level, 'little') == 1 and 'follow' in told.message

    client.diagnostics.clear()
    client.wait_for(is_told, 'a diagnostic of it')
    # 0.65 rad without: the command went on to the target.
    np.testing.assert_array_equal(measured(client), where)
    assert ahead(client, where, 50) <= TRIAL
    freeze(client, False)
    client.set(ee__max_linear_speed=FAST)
    client.wait_for_arrival()
    assert client.status.tasks[0].measured_linear <= 1e-3
    client.assert_trajectories_are_accepted()


def test_an_action_does_not_succeed_where_the_robot_stands(client):
    user = ActionUser(client, MoveToPose, 'move_to_pose')
    target: PoseStamped = client.moved_pose((0.1, -0.3, 0.1))
    freeze(client, True)
    goal = user.send(MoveToPose.Goal(target=target, timeout=6.0))
    status, result = goal.result()
    assert status == ABORTED and not result.reached
    assert 'follow' in result.message and result.linear_error > 0.1
    assert IkStatus.FOLLOWING_ERROR in {message.code for message in goal.feedback}
    assert math.isfinite(result.angular_error)


def target_far_from(where):
    """Return a target of the first joint that is seconds away: past zero, away from its limit."""
    return JointState(name=[ARM[0]], position=[-2.5 if where[0] > 0.0 else 2.5])


def lead_of(client, is_watched=True):
    """Return the lead of the command over a frozen robot, and the texts until then.

    It ends when the command has returned to the robot, or has arrived without a following check.
    """
    client.stream('joints', None)
    client.forget_targets()
    client.wait_for_silence()
    client.wait_for(lambda: is_at_command(client), 'rest')
    freeze(client, True)
    try:
        where = measured(client)
        target = target_far_from(where)
        (goal,) = target.position
        since = len(client.sent)
        client.statuses.clear()
        client.stream('joints', target)

        def is_over():
            # Statuses may arrive before the first command.
            if len(client.sent) == since:
                return False
            if not is_watched:
                return abs(commanded(client)[0] - goal) < 1e-3
            texts = [status.text for status in client.statuses]
            return any(STANDS in text for text in texts) and ahead(client, where, 1) <= TRIAL

        client.wait_for(is_over, 'end of the way')
        texts = [status.text for status in client.statuses]
        return ahead(client, where, len(client.sent) - since), texts
    finally:
        freeze(client, False)
        client.stream('joints', None)


def test_action_takes_effect_at_run_time(client):
    # Joints stand for seconds, and the command waits for more than one: even a busy machine makes
    # some ticks then.
    client.set(following_error__delay=2.0, following_error__max=[0.1])
    for action, waits in (('stop', False), ('slow', True), ('stop', False)):
        client.set(following_error__action=action)
        _, texts = lead_of(client)
        until = next(k for k, text in enumerate(texts) if STANDS in text)
        # For the one tick that detects it, or for as long as joints stand.
        count = sum('the command waits for' in text for text in texts[:until])
        assert (count > 1) == waits, texts


def test_delay_takes_effect_at_run_time(client):
    leads = []
    for delay in (0.1, 2.0, 0.1):
        client.set(following_error__delay=delay)
        leads.append(lead_of(client)[0])
    assert leads[1] > leads[0] + 0.2 and leads[1] > leads[2] + 0.2, leads


def test_max_takes_effect_at_run_time(client):
    for bound in (0.0, 0.1):
        client.set(following_error__max=[bound])
        lead, texts = lead_of(client, bound > 0.0)
        assert (lead > 0.5) == (bound == 0.0), lead
        assert any('not follow' in text for text in texts) == (bound > 0.0)


def test_the_status_names_two_publishers_of_joint_states(client):
    """The robot follows, and the client sends where a joint was before."""
    client.set(following_error__delay=0.1)
    # Frozen before it is commanded: a busy machine might freeze it after it has arrived.
    freeze(client, True)
    where, node = measured(client), client.node
    client.stream('joints', target_far_from(where))
    # One publisher, for long enough that it is counted.
    for _ in range(3):
        assert 'publishers' not in client.wait_for_code(IkStatus.FOLLOWING_ERROR).text
    freeze(client, False)
    other = node.create_publisher(JointState, 'joint_states', 10)
    before = JointState(name=[ARM[0]], position=[where[0]])
    # Often enough to be the last before most ticks.
    timer = node.create_timer(0.003, lambda: other.publish(before))
    try:
        text = client.wait_for_code(IkStatus.FOLLOWING_ERROR, text='2 publishers on').text
    finally:
        node.destroy_timer(timer)
        node.destroy_publisher(other)
        client.stream('joints', None)
    assert text.count('2 publishers on') == 1
    for name in ('/joint_states', '/mock_robot', node.get_fully_qualified_name()):
        assert name in text
    freeze(client, True)
    client.stream('joints', target_far_from(measured(client)))
    client.wait_for(
        lambda: 'publishers' not in client.wait_for_code(IkStatus.FOLLOWING_ERROR).text,
        'a status without the second publisher',
    )


def test_the_status_names_two_publishers_of_commands(client):
    client.set(following_error__delay=0.1)
    other = client.node.create_publisher(JointTrajectory, 'ros_ik/joint_trajectory', 10)
    freeze(client, True)
    client.stream('joints', target_far_from(measured(client)))
    try:
        text = client.wait_for_code(IkStatus.FOLLOWING_ERROR, text='publishers on').text
    finally:
        client.node.destroy_publisher(other)
    names = f'{client.node.get_fully_qualified_name()}, /ros_ik'
    assert f'2 publishers on /ros_ik/joint_trajectory ({names}): does another program' in text
    assert '/joint_states' not in text
