# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Floods of targets, parameters and poses to solve: the motion is not affected.

The number of missed deadlines depends on the machine: benchmarks/node/load.py measures it.
"""

import copy
import os
import threading
import time

import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from support.long_forms import either
from support.motions.motion import Arm
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED
from support.rigs.services_rig import costs
from support.rigs.services_rig import process_ids

from benchmarks.node.planner import PlannerProcess
from ros_ik_interfaces.msg import IkStatus

pytestmark = [pytest.mark.dds, pytest.mark.timeout(400)]

# `make stress` solves a hundred thousand, beside a faster loop.
POSES = int(os.environ.get('LOAD_POSES', '3000'))
RATE = either(250.0, 500.0) if POSES < 100_000 else 500.0
TRACKING = {IkStatus.OK, IkStatus.DEADLINE_MISSED}
# Least numbers of targets, and of requests to set parameters.
TARGETS, REQUESTS = either(1500, 3000), either(50, 100)
# Timeouts that a stalled machine does not exceed.
PATIENT = 60.0
# Least time for reading, solving and answering a pose, on any machine [s].
MIN_TIME = 1e-6


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('load'), children=False, planners=True) as client:
        start_node(
            client, control_rate=RATE, outputs__default__publish_velocities=True,
            status_rate=20.0, joint_state_timeout=PATIENT, command_timeout=PATIENT,
            services__nice=1, services__timeout=300.0,
            **UNWATCHED,
        )  # fmt: skip
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        client.middle = client.moved_pose()
        client.goals = [client.moved_pose((0.0, y, 0.0)) for y in (0.12, -0.12)]
        client.arm = Arm()
        go_to(client, client.middle)
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


def go_to(client, pose):
    """Stream a pose until the command has reached it."""
    p = pose.pose.position

    def is_there():
        if not client.sent:
            return False
        positions, _ = client.arm.poses([client.sent[-1][1].points[0].positions])
        return np.linalg.norm(positions[0] - (p.x, p.y, p.z)) < 1e-4

    client.stream('pose', pose)
    client.wait_for(is_there, 'arrival', LONG)


def go_to_and_fro(client, goes_on):
    """Move to both goals while ``goes_on()`` is true; check and return the motion."""
    since = len(client.sent) - 1
    client.statuses.clear()
    while True:
        for goal in client.goals:
            go_to(client, goal)
        if not goes_on():
            break
    motion = motion_of(client, 1.0 / RATE, since)
    motion.assert_within(panda_ranges(), from_rest=False)
    assert motion.starts == [0], 'it began anew'
    assert {status.code for status in client.statuses} <= TRACKING
    return motion


def test_a_thousand_targets_a_second(client):
    stopped, sent = threading.Event(), [0]
    # The node hears the newest of two that disagree by rounding only.
    twins = {id(goal): copy.deepcopy(goal) for goal in (client.middle, *client.goals)}
    for twin in twins.values():
        twin.pose.position.x += 1e-9

    def flood():
        goal = client.middle
        while not stopped.is_set():
            # It is missing for a moment while another one replaces it.
            goal = client._streams.get('pose', goal)
            for target in (goal, twins[id(goal)]):
                client._targets['pose'].publish(target)
                sent[0] += 1
            time.sleep(0.002)

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    try:
        go_to_and_fro(client, lambda: sent[0] < TARGETS)
    finally:
        stopped.set()
        thread.join()
    # The last one counts.
    go_to(client, client.middle)


# Parameters of each request, and whether they are accepted.
CHANGES = (
    ('ee.max_linear_speed', 0.3, True), ('ee.gain', 7.0, False), ('ee.gain', 0.9, True),
    ('no_such_parameter', 1.0, False), ('ee.max_linear_speed', 0.5, True), ('ee.gain', 1.0, True),
)  # fmt: skip


def wait_for_an_answer(client, caller):
    """Send an empty request until it is answered: the first answer after discovery may be lost."""
    asked = []

    def is_answered():
        if not asked or time.monotonic() > asked[-1][0] + 3.0:
            asked.append((time.monotonic(), caller.call_async(SetParameters.Request())))
        return any(future.done() for _, future in asked)

    client.wait_for(is_answered, 'an answer', LONG)


def test_a_flood_of_parameters(client):
    caller = client.node.create_client(SetParameters, 'ros_ik/set_parameters')
    client.wait_for(caller.service_is_ready, 'the service', LONG)
    wait_for_an_answer(client, caller)
    parameters = [Parameter(name, value=value).to_parameter_msg() for name, value, _ in CHANGES]
    answers, enough = [], REQUESTS

    def ask_again(future):
        answers.append([result.successful for result in future.result().results])
        if len(answers) < enough:
            ask()

    def ask():
        caller.call_async(SetParameters.Request(parameters=parameters)).add_done_callback(
            ask_again
        )

    ask()
    go_to_and_fro(client, lambda: len(answers) < enough)
    assert answers == [[accepted for *_, accepted in CHANGES]] * enough
    names = ['ee.max_linear_speed', 'ee.gain']
    request = GetParameters.Request(names=names)
    values = client.call(GetParameters, 'ros_ik/get_parameters', request).values
    assert [value.double_value for value in values] == [0.5, 1.0]


def test_many_poses_are_solved_meanwhile(client):
    node, (other,) = process_ids(client)
    niceness = os.getpriority(os.PRIO_PROCESS, node)

    def is_nicer():
        return os.getpriority(os.PRIO_PROCESS, other) == min(niceness + 1, 19)

    # It has just been started if this is the first test.
    client.wait_for(is_nicer, 'its niceness')
    with PlannerProcess(POSES, client.processes.domain) as planner:
        client.wait_for(lambda: planner.ready, 'a planner', LONG)
        before = [costs(number) for number in (node, other)]
        planner.ask()
        motion = go_to_and_fro(client, lambda: planner.is_alive() and not planner.reports)
        after = [costs(number) for number in (node, other)]
    (answer,) = planner.reports
    assert answer['success'] and not answer['message']
    assert answer['solved'] == answer['solutions'] == POSES
    assert np.any((motion.time > answer['asked']) & (motion.time < answer['answered']))
    # Another process has read, solved and answered it; no byte of it is in this one.
    assert process_ids(client) == (node, [other])
    grown, grown_there = np.subtract(after, before)
    assert grown_there[0] > POSES * MIN_TIME
    assert grown[1] < 0.2 * grown_there[1]
