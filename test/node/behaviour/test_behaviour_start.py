# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions end within limits, start at the measured state, and continue from the command.

The test plays the robot: it moves while it has no command, and its encoders have errors.
"""

from lifecycle_msgs.msg import Transition
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

# Inputs that become stale, only in the tests of that.
IMPATIENT = 0.2


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('start')) as client:
        start_node(
            client, outputs__default__publish_velocities=True, **NEVER_STALE,
        )  # fmt: skip
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client


@pytest.fixture
def robot(client):
    """Return the robot at home without a target; judge the commands afterwards."""
    robot = client.robot
    robot.bias = robot.noise = 0.0
    robot.parts, robot.silent, robot.follows = [ARM], False, True
    quiet(client)
    client.set(**NEVER_STALE)
    client.forget_targets()
    robot.place(**HeldRobot.home())
    robot.wait_until_seen()
    client.sent.clear()
    yield robot
    assert client.processes.is_alive('node'), client.processes.text('node')
    if client.sent:
        motion_of(client).assert_within(panda_ranges())


def quiet(client):
    """Stream nothing."""
    for topic in ('pose', 'ee', 'joints'):
        client.stream(topic, None)


def aim(client, **shift):
    """Stream joint targets at a displacement from the robot's position; return them."""
    goal = {name: client.robot.position[name] + value for name, value in shift.items()}
    client.stream('joints', JointState(name=list(goal), position=list(goal.values())))
    return goal


def wait_for_speed(client, speed=0.5):
    """Wait until a joint is commanded to move at this speed [rad/s]."""
    client.wait_for(
        lambda: client.sent and max(map(abs, client.sent[-1][1].points[0].velocities)) > speed,
        f'motion at {speed} rad/s',
    )


def withdraw_stop_request(client):
    """Allow motion again."""
    client.request_stop(False)
    client.wait_for(lambda: client.trigger('reset').success, 'a reset')


def let_target_expire(client):
    """Send no targets."""
    quiet(client)
    client.set(command_timeout=IMPATIENT)


def fall_silent(client):
    """Send no joint states."""
    client.robot.silent = True
    client.set(joint_state_timeout=IMPATIENT)


def speak(client):
    """Send joint states again."""
    client.statuses.clear()
    client.robot.silent = False
    # The last message must not become fresh again. The robot moves at once: the node must not see
    # it at its old position.
    client.wait_for(
        lambda: any(s.code != IkStatus.JOINT_STATE_STALE for s in client.statuses), 'fresh states'
    )
    client.set(**NEVER_STALE)


# Cause of the end of a motion, its status, and the action that permits motion again.
ENDS = {
    'stale target': (
        let_target_expire, IkStatus.COMMAND_STALE, 'older than command_timeout',
        lambda c: c.set(**NEVER_STALE),
    ),
    'stale joint states': (fall_silent, IkStatus.JOINT_STATE_STALE, 'panda_joint1', speak),
    'pause': (lambda c: c.pause(True), IkStatus.PAUSED, 'paused', lambda c: c.pause(False)),
    'stop': (
        lambda c: c.trigger('stop'), IkStatus.STOPPED, 'reset', lambda c: c.trigger('reset'),
    ),
    'stop request': (
        lambda c: c.request_stop(True), IkStatus.STOPPED, 'reset', withdraw_stop_request,
    ),
    'deactivation': (
        lambda c: c.transition(Transition.TRANSITION_DEACTIVATE), IkStatus.OK, 'inactive',
        lambda c: c.transition(Transition.TRANSITION_ACTIVATE),
    ),
}  # fmt: skip


@pytest.mark.parametrize('cause', ENDS)
def test_it_comes_to_rest_and_starts_where_the_robot_was_put_meanwhile(client, robot, cause):
    end, code, text, resume = ENDS[cause]
    aim(client, panda_joint1=1.2, panda_joint4=0.5)
    wait_for_speed(client)
    end(client)
    client.wait_for_code(code, IkStatus.DEADLINE_MISSED, text=text)
    client.wait_for_silence()
    motion = motion_of(client)
    motion.assert_at_rest()
    assert motion.starts == [0], 'something but the command moved it'
    np.testing.assert_allclose(motion.began[0], array_of(HeldRobot.home()), atol=ROUNDING)
    elsewhere = {'panda_joint1': 0.7, 'panda_joint4': -1.7, 'panda_joint6': 1.2}
    robot.place(**elsewhere)
    robot.wait_until_seen()
    client.sent.clear()
    goal = aim(client, panda_joint1=-0.4, panda_joint6=0.3)
    resume(client)
    client.wait_for(lambda: near(client, goal), 'arrival')
    motion = motion_of(client)
    assert motion.starts == [0]
    put = array_of(HeldRobot.home() | elsewhere)
    np.testing.assert_allclose(motion.began[0], put, atol=ROUNDING)


def near(client, goal):
    """Return True if the robot was commanded to a goal."""
    return bool(client.sent) and all(
        abs(client.robot.position[name] - value) < 1e-6 for name, value in goal.items()
    )


@pytest.mark.parametrize(
    ('hold', 'release'),
    [(lambda c: c.pause(True), lambda c: c.pause(False)),
     (lambda c: c.trigger('stop'), lambda c: c.trigger('reset')),
     (lambda c: c.transition(Transition.TRANSITION_DEACTIVATE),
      lambda c: c.transition(Transition.TRANSITION_ACTIVATE))],
    ids=['pause', 'stop', 'deactivation'],
)  # fmt: skip
def test_targets_that_came_while_it_held_are_forgotten(client, robot, hold, release):
    hold(client)
    aim(client, panda_joint1=0.5)
    client.wait_for_ticks(10)
    quiet(client)
    # Time for the last target to arrive; it stays fresh.
    client.wait_for_ticks(10)
    release(client)
    client.wait_for_text('waiting for a target')
    client.wait_for_ticks(20)
    assert client.sent == []


def test_a_pose_starts_from_the_measured_state_too(client, robot):
    client.stream('ee', client.moved_pose((0.0, 0.1, 0.0)))
    client.wait_for_arrival()
    let_target_expire(client)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    robot.place(panda_joint2=-0.6)
    put = array_of(robot.position)
    robot.wait_until_seen()
    client.sent.clear()
    client.stream('ee', client.moved_pose((0.0, 0.0, 0.05)))
    wait_for_speed(client, 0.05)
    np.testing.assert_allclose(motion_of(client).began[0], put, atol=ROUNDING)


def test_while_tracking_it_goes_on_from_the_command_not_from_the_measured_state(client, robot):
    goal = aim(client, panda_joint1=0.8, panda_joint3=-0.4)
    wait_for_speed(client)
    robot.bias, robot.noise = 0.05, 0.01
    client.wait_for(lambda: near(client, goal), 'arrival')
    there = len(client.sent)
    client.wait_for(lambda: len(client.sent) > there + 30, 'thirty more commands')
    motion = motion_of(client)
    assert motion.starts == [0]
    held = motion.position[there:]
    assert np.ptp(held, axis=0).max() < 1e-6, 'it drifts or trembles with the encoders'


def test_joint_states_in_parts_and_in_any_order_are_enough(client, robot):
    mixed = list(ARM)
    np.random.default_rng(3).shuffle(mixed)
    robot.parts = [mixed[:3], ['a_wheel', *mixed[3:]], mixed[::-1]]
    goal = aim(client, panda_joint2=0.4, panda_joint7=-0.5)
    client.wait_for(lambda: near(client, goal), 'arrival')
    motion = motion_of(client)
    assert motion.starts == [0]
    np.testing.assert_allclose(motion.began[0], array_of(HeldRobot.home()), atol=ROUNDING)


def test_a_joint_that_is_missing_from_the_states_is_named(client, robot):
    aim(client, panda_joint1=1.2)
    wait_for_speed(client)
    client.set(joint_state_timeout=IMPATIENT)
    robot.parts = [[name for name in ARM if name != 'panda_joint5']]
    client.statuses.clear()
    client.wait_for(
        lambda: any(list(status.waiting_for) == ['panda_joint5'] for status in client.statuses),
        'a status that waits for panda_joint5 alone',
    )
    client.wait_for_code(IkStatus.JOINT_STATE_STALE, text='panda_joint5')
    client.wait_for_silence()
    motion_of(client).assert_at_rest()
