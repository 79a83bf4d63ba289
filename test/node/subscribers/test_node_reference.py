# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""References of controllers over DDS: motions begin there; control_msgs, or its stand-in."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.controller_messages.build import controller_messages
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
TOPIC = 'ros_ik/controller_state'
# References count as long as joint states, targets for less than it takes to fall silent [s].
TIMEOUTS = {'joint_state_timeout': 1.0, 'command_timeout': 0.3}
# Difference between the controller's positions and the encoders [rad].
SAG = 0.03


class Controller:
    """A controller that publishes its reference: the position of the robot that the test plays."""

    def __init__(self, client, kind):
        self.kind, self.speaks, self.names = kind, True, ARM
        self._robot = client.robot
        self._publisher = client.node.create_publisher(kind, TOPIC, 1)
        client.node.create_timer(0.02, self._publish)

    def _publish(self):
        if not self.speaks:
            return
        self.report([self._robot.position[name] for name in ARM], [0.0] * len(ARM))

    def report(self, positions, velocities):
        """Publish a reference."""
        message = self.kind(joint_names=self.names)
        message.reference.positions, message.reference.velocities = positions, velocities
        self._publisher.publish(message)


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with controller_messages():
        from control_msgs.msg import JointTrajectoryControllerState

        with ros_rig(tmp_path_factory.mktemp('reference')) as client:
            client.robot = HeldRobot(client)
            client.robot.bias = -SAG
            client.controller = Controller(client, JointTrajectoryControllerState)
            # At a lower rate the first step of a motion is longer than what tells starts apart.
            start_node(
                client, **{'control_rate': 100.0, **NEVER_STALE, **UNWATCHED, **TIMEOUTS}
            )  # fmt: skip
            client.describe(panda_urdf())
            client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
            yield client
            assert client.processes.is_alive('node'), client.processes.text('node')


@pytest.fixture
def controller(client):
    client.controller.speaks, client.controller.names = True, ARM
    client.stream('joints', None)
    client.wait_for_silence()
    yield client.controller
    client.stream('joints', None)


def start_of(client):
    """Begin a motion; return its first distance from the held position [rad], and the status.

    The first point is the first step of the motion away.
    """
    held = np.array([client.robot.position[name] for name in ARM])
    since = len(client.sent)
    goal = client.robot.position['panda_joint1'] + 0.1
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))
    client.wait_for(lambda: len(client.sent) > since + 5, 'a motion')
    client.wait_for_text('tracking')
    first = np.array(client.sent[since][1].points[0].positions)
    return np.abs(first - held).max(), client.status.motion_start


def test_a_motion_begins_at_the_reference(client, controller):
    client.wait_for_ticks(30)
    off, source = start_of(client)
    assert off < 2e-3 and source == 'reference'


def test_after_an_activation_too(client, controller):
    client.trigger('reset')
    client.wait_for_ticks(30)
    off, source = start_of(client)
    assert off < 2e-3 and source == 'reference'


@pytest.mark.parametrize('tells_velocities', [True, False])
def test_a_restart_after_a_reference_from_before_the_stop_is_no_step(
    client, controller, tells_velocities
):
    # Velocities of the controller's setpoint, which follows the commands.
    controller.speaks = False
    client.wait_for_ticks(10)
    first, since = client.robot.position['panda_joint1'], len(client.sent)
    goal = first + np.copysign(1.5, -first)
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))
    client.wait_for(lambda: len(client.sent) > since + 15, 'a motion')
    before, last = (np.array(m.points[0].positions) for _, m, _ in client.sent[-2:])
    assert abs(last[0] - before[0]) > 5e-3
    speeds = (100.0 * (last - before)).tolist() if tells_velocities else []
    controller.report(last.tolist(), speeds)
    client.wait_for_ticks(3)
    assert client.pause(True).success
    client.wait_for_text('pause')
    client.wait_for(lambda: not client._hears_motion(), 'rest')
    rest, since = np.array(client.sent[-1][1].points[0].positions), len(client.sent)
    assert client.pause(False).success
    client.wait_for(lambda: len(client.sent) > since + 3, 'a restart')
    begun = np.array(client.sent[since][1].points[0].positions)
    # The first step of a motion at 100 Hz.
    assert np.abs(begun - rest).max() < 2e-3
    assert client.status.motion_start == 'command'


def test_without_one_it_begins_where_the_robot_is_measured(client, controller):
    controller.speaks = False
    client.trigger('reset')
    client.wait_for_ticks(130)
    off, source = start_of(client)
    assert abs(off - SAG) < 2e-3 and source == 'measured'


def test_a_reference_that_makes_no_sense_counts_as_none_and_is_told(client, controller):
    controller.names = ARM[:-1]
    client.trigger('reset')
    client.wait_for_ticks(30)
    off, source = start_of(client)
    assert abs(off - SAG) < 2e-3 and source == 'measured'
    client.wait_for(lambda: client.dropped().get('wrong_size'), 'a drop')
