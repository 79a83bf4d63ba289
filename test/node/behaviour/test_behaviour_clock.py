# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Simulated time that jumps backwards, jumps forwards, and stops, while the robot moves."""

import time

from lifecycle_msgs.msg import Transition
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

# Period of the messages on /clock [s]; a busy client makes time slow, not coarse.
_PERIOD = 0.005


class Simulation:
    """Publishes simulated time whenever the client spins.

    Attributes:
        now: The time [s].
        runs: True if it passes.
        speed: Simulated seconds per second, on a machine that is not busy.
    """

    def __init__(self, client):
        self.now, self.runs, self.speed, self._client = 1000.0, True, 1.0, client
        self._timer = client.node.create_timer(_PERIOD, self._step)

    def _step(self):
        if self.runs:
            self.now += _PERIOD * self.speed
            self._client.simulate(self.now)


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('clock')) as client:
        start_node(
            client, use_sim_time=True, outputs__default__publish_velocities=True,
            joint_state_timeout=0.2,
        )  # fmt: skip
        client.robot, client.time = HeldRobot(client), Simulation(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client


@pytest.fixture(autouse=True)
def moving(client):
    """Move the robot to and fro; judge the commands."""
    client.sent.clear()
    client.time.runs, client.time.speed = True, 1.0
    client.side = 0.9 if client.robot.position['panda_joint1'] < 0.0 else -0.9
    client.stream('joints', JointState(name=['panda_joint1'], position=[client.side]))
    client.wait_for(
        lambda: client.sent and abs(client.sent[-1][1].points[0].velocities[0]) > 1.0, 'motion'
    )
    yield
    client.stream('joints', None)
    client.wait_for_code(*range(3), IkStatus.COMMAND_STALE, IkStatus.DEADLINE_MISSED)
    motion_of(client).assert_within(panda_ranges())
    assert client.processes.is_alive('node'), client.processes.text('node')


def rest_of_motion(client):
    """Wait for the end of the commands; return the motion, which ends at rest."""
    client.wait_for(lambda: not any(client.sent[-1][1].points[0].velocities), 'rest')
    motion = motion_of(client)
    motion.assert_at_rest()
    # Commands may arrive after later statuses, and would move the robot.
    client.wait_for_silence()
    return motion


def arrive_from(client, put):
    """Aim at the other side and arrive; check that the motion began at the robot's position."""
    since = len(client.sent)
    client.stream('joints', JointState(name=['panda_joint1'], position=[client.side]))
    client.wait_for(
        lambda: abs(client.robot.position['panda_joint1'] - client.side) < 1e-6, 'arrival'
    )
    np.testing.assert_allclose(motion_of(client, since=since).began[0], put, atol=ROUNDING)


def test_a_jump_backwards_drops_the_targets_and_synchronises(client):
    client.statuses.clear()
    client.stream('joints', None)
    client.time.now -= 100.0
    client.wait_for(
        lambda: any(status.code == IkStatus.CLOCK_JUMP for status in client.statuses), 'code 26'
    )
    rest_of_motion(client)
    # The target was fresh when the clock jumped; it is forgotten.
    client.wait_for_text('waiting for a target')
    client.robot.place(panda_joint4=-1.8)
    put = array_of(client.robot.position)
    client.robot.wait_until_seen()
    arrive_from(client, put)


def test_a_jump_forwards_makes_everything_stale(client):
    client.stream('joints', None)
    client.robot.silent = True
    client.statuses.clear()
    client.time.now += 100.0
    client.wait_for(
        lambda: any(status.code == IkStatus.JOINT_STATE_STALE for status in client.statuses),
        'code 23',
    )
    rest_of_motion(client)
    client.robot.silent = False
    client.wait_for_code(IkStatus.COMMAND_STALE)
    client.robot.place(panda_joint4=-2.0)
    put = array_of(client.robot.position)
    client.robot.wait_until_seen()
    arrive_from(client, put)


def stands_still(client):
    """Return the status of a clock that stands still, after all earlier commands."""
    status = client.wait_for_text('; waiting for /clock: time stands still')
    client.wait_for_ticks(10)
    return status


def test_a_clock_that_stands_still_stops_the_motion_and_is_no_loss(client):
    client.time.runs = False
    stands_still(client)
    sent = len(client.sent)
    # Ticks go on; otherwise the command would run ahead of a robot that stands.
    client.wait_for_ticks(25)
    assert len(client.sent) == sent
    assert any(client.sent[-1][1].points[0].velocities), 'it is not on its way any more'
    client.time.runs = True
    client.wait_for(
        lambda: abs(client.robot.position['panda_joint1'] - client.side) < 1e-6, 'arrival'
    )


def test_a_slow_clock_slows_the_motion(client):
    client.time.speed = 0.02
    client.wait_for_ticks(2)
    begin, sent = client.time.now, len(client.sent)
    client.wait_for(lambda: client.time.now - begin > 0.1, 'a tenth of a simulated second')
    client.wait_for_ticks(2)
    # At least one tick later than the last command.
    due = (client.time.now - begin) * RATE
    assert 2 < len(client.sent) - sent <= due + 2.0
    client.time.speed = 1.0
    client.wait_for(
        lambda: abs(client.robot.position['panda_joint1'] - client.side) < 1e-6, 'arrival'
    )


@pytest.mark.parametrize('hold', ['stop', 'pause'])
def test_a_hold_waits_for_a_clock_that_stands_still(client, hold):
    client.time.runs = False
    status = stands_still(client)
    assert status.text.startswith('tracking') and list(status.waiting_for) == ['/clock']
    sent = len(client.sent)
    if hold == 'stop':
        client.trigger('stop')
    else:
        client.pause(True)
    code, text = {
        'stop': (IkStatus.STOPPED, 'stopped; call ~/reset to continue'),
        'pause': (IkStatus.PAUSED, 'paused'),
    }[hold]
    braking = f'{text}; braking as soon as time passes; waiting for /clock: time stands still'
    client.wait_for_code(code, text=braking)
    client.wait_for_ticks(10)
    # A robot that is simulated would pass the whole way to rest at once.
    assert len(client.sent) == sent
    client.time.runs = True
    rest_of_motion(client)
    assert client.wait_for_code(code).text == text
    client.stream('joints', None)
    client.trigger('reset')
    client.pause(False)


def test_a_deactivation_brakes_while_the_clock_runs(client):
    assert client.transition(Transition.TRANSITION_DEACTIVATE)
    answered = time.time_ns()
    client.stream('joints', None)
    rest_of_motion(client)
    # The thread that waits for rest is the one that hears /clock.
    late = [sent for sent, message, _ in client.sent if sent > answered]
    assert not late, f'{len(late)} commands after the end of the transition'
    assert client.transition(Transition.TRANSITION_ACTIVATE)


def test_time_follows_the_clock_not_the_wall(client):
    client.time.runs = True
    client.statuses.clear()

    def stamps():
        return [s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in client.statuses]

    client.wait_for(lambda: len(stamps()) > 0 and stamps()[-1] > stamps()[0] + 1.0, 'a second')
    # A tick after the longest wait for a stopped clock has the time of the previous one.
    assert 1 < len({stamp for stamp in stamps() if stamp <= stamps()[0] + 1.0}) <= 110
