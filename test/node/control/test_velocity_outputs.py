# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot driven by velocities over DDS: it arrives, and never continues to move alone."""

import signal
import time

from lifecycle_msgs.msg import Transition
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

TOPIC = 'velocity_controller/commands'
# Part of the commanded velocity at which the drives run.
SLOW = 0.95
# Longest step of the drives [s]: they stand still with the client.
_STEP = 0.03


class VelocityRobot:
    """Drives that continue at the last velocity, as those behind forward_velocity_controller.

    Attributes:
        stalls: True if they stand still.
    """

    def __init__(self, client):
        home = HeldRobot.home()
        self.position = [home[name] for name in ARM]
        self.commands, self.stalls = [], False
        client.node.create_subscription(
            Float64MultiArray, TOPIC, lambda message: self.commands.append(list(message.data)), 100
        )
        self._publisher = client.node.create_publisher(JointState, 'joint_states', 1)
        self._last = time.monotonic()
        client.node.create_timer(0.01, self._step)

    @property
    def moves(self):
        return bool(self.commands) and any(self.commands[-1])

    def _step(self):
        now = time.monotonic()
        passed, self._last = min(now - self._last, _STEP), now
        if self.commands and not self.stalls:
            for k, velocity in enumerate(self.commands[-1]):
                self.position[k] += SLOW * velocity * passed
        self._publisher.publish(JointState(name=list(ARM), position=self.position))


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('v')) as client:
        client.processes.start(
            'node', 'support.processes.failing_node', ee__frame='panda_hand_tcp', device='cpu',
            **NEVER_STALE, **UNWATCHED, outputs__default__topic=f'/{TOPIC}',
            outputs__default__type='float64_multi_array_velocities',
            outputs__default__position_gain=3.0,
        )  # fmt: skip
        robot = VelocityRobot(client)
        robot.client = client
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        robot.goal = client.moved_pose((0.0, 0.1, 0.0))
        yield robot


def start_to_move(robot):
    robot.client.stream('ee', robot.goal)
    robot.client.wait_for(
        lambda: robot.commands and max(map(abs, robot.commands[-1])) > 0.05, 'motion'
    )


def test_drives_that_are_slow_arrive_and_stand(robot):
    client = robot.client
    start_to_move(robot)
    # By the measured frame: the error of the drives is corrected.
    client.wait_for_arrival()
    assert {len(command) for command in robot.commands} == {len(ARM)}
    client.stream('ee', None)
    client.set(command_timeout=0.1)
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.wait_for(lambda: not robot.moves, 'velocity zero')
    count = len(robot.commands)
    client.wait_for_ticks(20)
    assert len(robot.commands) == count, 'it is not silent at rest'
    client.trigger('reset')
    client.set(**NEVER_STALE)
    robot.goal = client.moved_pose((0.0, -0.3, 0.0))


@pytest.mark.parametrize('woken', ['return', 'rest'])
def test_drives_that_start_late_get_no_velocity_backwards(robot, woken):
    client, states = robot.client, []
    client.set(following_error__max=[1.0])
    heard = client.node.create_subscription(
        JointState, 'ros_ik/command_state', states.append, 100
    )
    client.wait_for_rest()
    robot.commands.clear()
    robot.stalls, start = True, robot.position[0]
    jog = JointState(name=[ARM[0]], velocity=[0.3])
    client.stream('joints', jog)
    # It was -0.98 rad/s while the command returned to the robot.
    client.wait_for(lambda: states and states[-1].velocity[0] < -0.1, 'return of the command')
    if woken == 'rest':
        client.wait_for_text('the command waits')
    robot.stalls = False
    client.wait_for(lambda: robot.position[0] > start + 0.1, 'motion')
    # Where ticks come late, drives overrun the command, and the correction is negative.
    assert min(command[0] for command in robot.commands) > -0.05
    client.stream('joints', None)
    client.node.destroy_subscription(heard)
    client.set(following_error__max=[0.0])
    client.trigger('reset')


def test_a_failed_tick_stops_them(robot):
    client = robot.client
    start_to_move(robot)
    client.processes.signal('node', signal.SIGUSR1)
    client.wait_for_code(IkStatus.SOLVER_FAILED)
    client.wait_for(lambda: not robot.moves, 'velocity zero')
    client.wait_for(lambda: client.state() == 'inactive', 'the way to inactive')
    assert not robot.moves


def test_the_end_of_the_process_stops_them(robot):
    client = robot.client
    client.wait_for(
        lambda: client.state() == 'active' or client.transition(Transition.TRANSITION_ACTIVATE),
        'activity', 60.0,
    )  # fmt: skip
    # It may have arrived at the goal before.
    robot.goal = client.moved_pose((0.0, 0.2, 0.0))
    start_to_move(robot)
    client.processes.signal('node', signal.SIGTERM)
    assert client.processes.wait('node', PATIENCE) == 0
    client.wait_for(lambda: not robot.moves, 'velocity zero')
