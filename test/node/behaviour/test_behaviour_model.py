# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions that arrive in motion: the old model stops the robot, or stays."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.motions.motion import ROUNDING
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('model')) as client:
        start_node(
            client,
            outputs__default__publish_velocities=True,
            **UNWATCHED,
            **NEVER_STALE,
        )
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client


@pytest.fixture(autouse=True)
def moving(client):
    """Move the robot to and fro; judge the commands."""
    client.sent.clear()
    # Far enough away for a description to be read in motion on a busy machine.
    side = 2.4 if client.robot.position['panda_joint1'] < 0.0 else -2.4
    client.stream('joints', JointState(name=['panda_joint1'], position=[side]))
    client.wait_for(
        lambda: client.sent and abs(client.sent[-1][1].points[0].velocities[0]) > 1.0, 'motion'
    )
    yield
    (goal,) = client._streams['joints'].position
    client.wait_for(lambda: abs(client.robot.position['panda_joint1'] - goal) < 1e-6, 'arrival')
    motion_of(client).assert_within(panda_ranges())
    assert client.processes.is_alive('node'), client.processes.text('node')


def wait_for_generation(client, number):
    """Wait for a number of loaded models."""
    client.wait_for(lambda: client.status.model_generation == number, 'a new model', LONG)


def stops(client):
    """Return the indices of the commands at rest between two motions."""
    speed = motion_of(client).speed
    rest, moving = np.flatnonzero(speed == 0.0), np.flatnonzero(speed > 0.0)
    return rest[(rest > moving[0]) & (rest < moving[-1])] if len(moving) else rest[:0]


def test_a_bad_description_does_not_even_slow_it_down(client):
    generation = client.status.model_generation

    def is_refused(count):
        # The status may still be about the text before.
        logged = client.processes.text('node').count('robot description refused')
        return logged == count and 'refused' in client.status.text

    other = panda_urdf().replace('panda_hand_tcp', 'tip')
    texts = 'no robot', '<robot name="x"/>', panda_urdf()[:-100], other
    client.statuses.clear()
    for count, text in enumerate(texts, 1):
        client.describe(text)
        client.wait_for(lambda count=count: is_refused(count), 'a refusal')
    assert client.status.model_generation == generation
    assert motion_of(client).starts == [0]
    assert IkStatus.MODEL_CHANGED not in [status.code for status in client.statuses]


def test_a_new_description_stops_it_within_limits_and_moves_on_from_there(client):
    generation = client.status.model_generation
    client.statuses.clear()
    client.describe(panda_urdf() + '\n' * (generation + 1))
    wait_for_generation(client, generation + 1)
    codes = [status.code for status in client.statuses]
    assert IkStatus.MODEL_CHANGED in codes
    client.wait_for_text('tracking')
    client.wait_for(lambda: len(stops(client)), 'a stop and motion after it')
    motion, last = motion_of(client), stops(client)[-1]
    # From the position at which the command stopped: the robot was not moved meanwhile.
    np.testing.assert_allclose(motion.began[last + 1], motion.position[last], atol=ROUNDING)


def test_tighter_limits_of_a_new_description_are_kept(client):
    generation = client.status.model_generation
    client.describe(panda_urdf().replace('velocity="2.175"', 'velocity="0.5"'))
    wait_for_generation(client, generation + 1)

    def speed():
        """Return the speed of each command since the last stop [rad/s]."""
        found = stops(client)
        return motion_of(client).speed[found[-1] if len(found) else -1 :]

    client.wait_for(lambda: abs(speed()[-1] - 0.5) < 1e-6, 'motion at the tighter limit')
    client.wait_for_ticks(20)
    assert speed().max() == pytest.approx(0.5)
    # The rest of the motion would take 10 s.
    ahead = 0.5 * np.sign(client.sent[-1][1].points[0].velocities[0])
    goal = client.robot.position['panda_joint1'] + float(ahead)
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))
