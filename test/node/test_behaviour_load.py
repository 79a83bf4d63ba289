# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Floods of targets, of parameters, of poses to solve: the motion goes on as if they were not.

What is judged is the node's own account of its deadlines and the times at which DDS took its
trajectories, always against the same motion without the flood on the same machine.
"""

import dataclasses
import json
import threading
import time

import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from support.motion import motion_of
from support.motion import panda_ranges
from support.ros_rig import panda_urdf
from support.ros_rig import ros_rig
from support.ros_rig import start_node
from support.ros_rig import start_robot
from support.services_rig import LONG
from support.services_rig import start_planner

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds

RATE = 500.0
TRACKING = (IkStatus.OK, IkStatus.DEADLINE_MISSED)
# An interpreter that reads a request of 100,000 poses is busy for a second, and writes the answer
# as long: pauses of 1 s, 500 deadlines each. What the scheduler of a machine with more work than
# processors costs are deadlines here and there: this part of them more than without the flood.
# Where more than a few are missed anyhow, others use the machine, and their part says nothing.
MORE_MISSED, LONGER_PAUSE, BUSY = 0.15, 0.9, 0.05


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('load')) as client:
        start_node(
            client, control_rate=RATE, outputs__default__publish_velocities=True,
            status_rate=20.0, joint_state_timeout=2.0, command_timeout=2.0,
            services__nice=0, services__timeout=90.0,
        )  # fmt: skip
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        client.goals = [client.moved_pose((0.0, y, 0.0)) for y in (0.15, -0.15)]
        client.stream('pose', client.goals[0])
        client.wait_for_text('tracking')
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


@dataclasses.dataclass
class Account:
    """What became of the deadlines while something was done.

    Attributes:
        missed: Part of the deadlines that was missed.
        pause: Longest time between two trajectories [s].
        motion: What was commanded.
    """

    missed: float
    pause: float
    motion: object


def account(client, turn):
    """Move to and fro for as long as ``turn`` returns true after each time; return the account."""
    client.wait_for_code(*TRACKING)
    first, since = client.status, max(len(client.sent) - 1, 0)
    goes_on = True
    while goes_on:
        for goal in client.goals:
            client.stream('pose', goal)
            client.spin(0.4)
        goes_on = turn()
    client.wait_for_code(*TRACKING)
    last = client.status
    motion = motion_of(client, 1.0 / RATE, since)
    motion.assert_within(panda_ranges(), from_rest=False)
    assert motion.starts == [0]
    ticks, missed = last.ticks - first.ticks, last.missed_ticks - first.missed_ticks
    return Account(missed / (ticks + missed), float(np.diff(motion.time).max()), motion)


def times(count):
    """Return a function that is true that often, less once."""
    left = iter(range(count - 1, -1, -1))
    return lambda: bool(next(left))


@pytest.fixture(scope='module')
def undisturbed(client):
    """Return the account of the motion alone."""
    return account(client, times(4))


def assert_as_good(found, undisturbed):
    """Check that a flood cost no more deadlines than the scheduler of the machine may cost."""
    assert undisturbed.missed > BUSY or found.missed <= undisturbed.missed + MORE_MISSED
    assert found.pause <= undisturbed.pause + LONGER_PAUSE


def test_a_thousand_targets_a_second(client, undisturbed):
    stopped = threading.Event()
    publisher, sent = client._targets['pose'], [0]

    def flood():
        while not stopped.is_set():
            # The node hears the newest of two that disagree by rounding only.
            for shift in (0.0, 1e-9):
                target = client._streams['pose']
                target.pose.position.x += shift
                publisher.publish(target)
                sent[0] += 1
            time.sleep(0.002)

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    try:
        found = account(client, times(4))
    finally:
        stopped.set()
        thread.join()
    assert sent[0] > 500
    assert_as_good(found, undisturbed)


# What is set in each request, and whether it is accepted.
CHANGES = (
    ('ee.max_linear_speed', 0.3, True), ('ee.gain', 7.0, False), ('ee.gain', 0.9, True),
    ('no_such_parameter', 1.0, False), ('ee.max_linear_speed', 0.5, True), ('ee.gain', 1.0, True),
)  # fmt: skip


def test_a_flood_of_parameters(client, undisturbed):
    caller = client.node.create_client(SetParameters, 'ros_ik/set_parameters')
    client.wait_for(caller.service_is_ready, 'the service')
    parameters = [Parameter(name, value=value).to_parameter_msg() for name, value, _ in CHANGES]
    answers = []

    def ask_again(future):
        answers.append([result.successful for result in future.result().results])
        ask()

    def ask():
        caller.call_async(SetParameters.Request(parameters=parameters)).add_done_callback(
            ask_again
        )

    ask()
    found = account(client, lambda: len(answers) < 100)
    assert all(answer == [accepted for *_, accepted in CHANGES] for answer in answers)
    assert_as_good(found, undisturbed)


def test_a_hundred_thousand_poses_are_solved_meanwhile(client, undisturbed):
    lines = []
    with start_planner(client, 100_000) as planner:
        # Warp writes to the same stream.
        reports = (line for line in planner.stdout if line.startswith('{'))
        reader = threading.Thread(target=lines.extend, args=(reports,), daemon=True)
        try:
            reader.start()
            client.wait_for(lambda: lines, 'a planner', LONG)
            give_up = time.monotonic() + LONG
            planner.stdin.write('ask\n')
            planner.stdin.flush()
            found = account(client, lambda: len(lines) < 2 and time.monotonic() < give_up)
        finally:
            planner.kill()
    answer = json.loads(lines[1])
    assert answer['success'] and not answer['message']
    assert answer['solved'] == answer['solutions'] == 100_000
    assert_as_good(found, undisturbed)
