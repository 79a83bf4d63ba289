# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The process that answers planners: its bounds, its start and its end with the node."""

import math
import os
from pathlib import Path
import signal
import time

from lifecycle_msgs.msg import Transition
import pytest
from rclpy.qos import QoSProfile
from support.long_forms import either
from support.processes.ros_processes import without_shared_memory
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.services_rig import begin
from support.rigs.services_rig import connect
from support.rigs.services_rig import costs
from support.rigs.services_rig import is_gone
from support.rigs.services_rig import process_ids
from support.rigs.services_rig import solve
from support.rigs.services_rig import start
from support.rigs.services_rig import unreachable
from support.rigs.services_rig import wait_until_gone
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.srv import SolveFk
from ros_ik_interfaces.srv import SolveIk

pytestmark = pytest.mark.dds
# A node ends the same way after the first two.
SIGNALS = either([], [signal.SIGINT]) + [signal.SIGTERM, signal.SIGKILL]

# As on a machine where imports take long.
SLOW_START = """
import sys
import time

if 'ros_ik.node.services.planner_main' in sys.orig_argv:
    time.sleep(600.0)
"""


@pytest.fixture
def client(tmp_path):
    with without_shared_memory(), ros_rig(tmp_path, children=False, planners=True) as client:
        yield client


@pytest.fixture(scope='module')
def lasting(tmp_path_factory):
    """Return the client of a node whose planning process these tests replace in turn."""
    folder = tmp_path_factory.mktemp('process')
    with without_shared_memory(), ros_rig(folder, children=False, planners=True) as client:
        start(client, services__nice=1, services__max_poses=20000, services__max_waiting=1)
        yield client
        assert client.processes.is_alive('node'), client.processes.text('node')


def connected(client):
    """Return a client of solve_ik that loses no request."""
    return connect(client, SolveIk, 'solve_ik', SolveIk.Request(poses=unreachable(1)))


def ask_for_long(client, poses=20000, caller=None):
    """Send a long request; return the future of its answer once the work has begun."""
    caller = connected(client) if caller is None else caller
    (child,) = process_ids(client)[1]
    before = costs(child)[0]
    future = caller.call_async(SolveIk.Request(poses=unreachable(poses)))
    client.wait_for(lambda: costs(child)[0] > before + 0.2, 'work', LONG)
    assert not future.done()
    return future


def test_the_services_live_in_a_process_of_their_own(lasting):
    """No byte of a request passes through the process with the control thread."""
    client = lasting
    (child,) = process_ids(client)[1]
    assert os.getpriority(os.PRIO_PROCESS, child) == os.getpriority(os.PRIO_PROCESS, 0) + 1
    assert Path(f'/proc/{child}/oom_score_adj').read_text().strip() == '1000'

    def services_of(node):
        if node not in client.node.get_node_names():
            return set()
        return {name for name, _ in client.node.get_service_names_and_types_by_node(node, '/')}

    names = {f'/ros_ik/{name}' for name in ('solve_ik', 'solve_fk', 'check_trajectory')}
    client.wait_for(lambda: services_of('ros_ik_planning') >= names, 'the services')
    assert not names & services_of('ros_ik')


def test_sizes_times_and_numbers_of_requests_are_bounded(lasting):
    client, one = lasting, unreachable(1)
    for fields, size in (
        ({'poses': one * 20001}, 20001),
        ({'poses': one, 'max_solutions': 20001}, 20001),
    ):
        answer = solve(client, **fields)
        assert not answer.success
        assert 'services.max_poses' in answer.message and str(size) in answer.message
    # One runs, one waits, the third is refused; each of them gets an answer.
    # All are sent by one client: others may be overtaken, or lost before the service knows them.
    caller = connected(client)
    long = ask_for_long(client, 5000, caller)
    waiting = caller.call_async(SolveIk.Request(poses=one, timeout=0.1))
    third = caller.call_async(SolveIk.Request(poses=one))
    client.wait_for(third.done, 'the third answer', LONG)
    refused = third.result()
    assert not refused.success and 'busy' in refused.message and not long.done()
    client.wait_for(lambda: long.done() and waiting.done(), 'answers', LONG)
    assert long.result().success and set(long.result().codes) == {SolveIk.Response.UNREACHABLE}
    # Its time is counted from its receipt.
    assert waiting.result().success and [*waiting.result().codes] == [SolveIk.Response.TIMED_OUT]
    limited = solve(client, poses=unreachable(10000), timeout=1.0)
    assert limited.success and 'in 1 s' in limited.message
    assert limited.codes[-1] == SolveIk.Response.TIMED_OUT
    assert set(limited.codes) <= {SolveIk.Response.UNREACHABLE, SolveIk.Response.TIMED_OUT}
    late = solve(client, poses=unreachable(500), timeout=0.001)
    assert late.success and late.codes[-1] == SolveIk.Response.TIMED_OUT


def test_every_request_of_a_burst_is_answered(lasting):
    """Here it comes while the process does not run; a busy one takes requests as late."""
    client, count = lasting, 100
    # The answers to a burst also come at once.
    caller = client.node.create_client(
        SolveFk, 'ros_ik/solve_fk', qos_profile=QoSProfile(depth=count)
    )
    client.wait_for(caller.service_is_ready, 'the service', LONG)
    (child,) = process_ids(client)[1]
    os.kill(child, signal.SIGSTOP)
    try:
        request = SolveFk.Request(configurations=[JointTrajectoryPoint()])
        asked = [caller.call_async(request) for _ in range(count)]
        client.spin(0.5)
    finally:
        os.kill(child, signal.SIGCONT)
    client.wait_for(lambda: all(future.done() for future in asked), 'all answers', LONG)
    answers = [future.result() for future in asked]
    assert all(answer.success or 'busy' in answer.message for answer in answers)
    assert {answer.success for answer in answers} == {True, False}


def test_another_robot_cancels_what_runs(lasting):
    client, running = lasting, ask_for_long(lasting)
    generation = client.status.model_generation
    client.describe(panda_urdf().replace('2.8973', '2.7973'))
    client.wait_for(running.done, 'the answer', LONG)
    answer = running.result()
    assert not answer.success and 'description changed' in answer.message
    client.wait_for(lambda: client.status.model_generation > generation, 'another model', LONG)
    client.wait_for(lambda: solve(client, poses=unreachable(1)).success, 'the next answer', LONG)


@pytest.mark.parametrize('number', SIGNALS)
def test_the_process_ends_with_the_node_whatever_ends_it(client, number):
    start(client)
    ask_for_long(client)
    (child,) = process_ids(client)[1]
    client.processes.signal('node', number)
    wait_until_gone(client, child)
    code = client.processes.wait('node', LONG)
    assert code == (-9 if number == signal.SIGKILL else 0)


def test_a_process_that_still_starts_ends_with_the_node(tmp_path, client):
    (tmp_path / 'sitecustomize.py').write_text(SLOW_START)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get('PYTHONPATH')]))
    files = find_robot('panda')
    client.processes.start(
        'node', 'ros_ik.node.ros_ik_node', prefix=('env', f'PYTHONPATH={path}'),
        ee__frame=files.tip_link, base_frame=files.base_link,
    )  # fmt: skip
    client.describe(panda_urdf())
    client.wait_for(lambda: process_ids(client)[1], 'the process', LONG)
    (child,) = process_ids(client)[1]
    client.processes.signal('node', signal.SIGINT)
    assert client.processes.wait('node', LONG) == 0
    wait_until_gone(client, child)


def test_it_comes_and_goes_with_the_configuration(lasting):
    client, waiting = lasting, ask_for_long(lasting)
    (child,) = process_ids(client)[1]
    assert client.transition(Transition.TRANSITION_DEACTIVATE)
    # Planners may ask while the robot is not to move.
    assert not waiting.done() and not is_gone(child)
    # On a busy machine the last answer may take a while.
    os.kill(child, signal.SIGSTOP)
    assert client.transition(Transition.TRANSITION_CLEANUP)
    client.spin(2.0)
    os.kill(child, signal.SIGCONT)
    client.wait_for(waiting.done, 'the last answer')
    assert 'cleaned up' in waiting.result().message
    wait_until_gone(client, child)
    client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
    assert client.transition(Transition.TRANSITION_CONFIGURE)
    client.wait_for(lambda: solve(client, poses=unreachable(1)).success, 'an answer', LONG)


def test_a_crashed_process_is_started_again(lasting):
    client = lasting
    (child,) = process_ids(client)[1]
    os.kill(child, signal.SIGKILL)
    client.wait_for(lambda: process_ids(client)[1] not in ([], [child]), 'another process', LONG)
    # Requests may still go to the killed process, which DDS regards as alive for a while.
    futures, asked = [], -math.inf
    while not any(future.done() and future.result().success for future in futures):
        assert len(futures) < 20, [future.result().message for future in futures if future.done()]
        # On a busy machine the next one may be refused while the first one is being answered.
        if time.monotonic() > asked + 3.0:
            request = SolveIk.Request(poses=unreachable(1))
            futures.append(begin(client, SolveIk, 'solve_ik', request))
            asked = time.monotonic()
        client.spin(0.1)
    assert 'ended with code -9' in client.processes.text('node')
    # SIGTERM, which some programs send to every process of a group, ends it in order.
    (child,) = process_ids(client)[1]
    os.kill(child, signal.SIGTERM)
    client.wait_for(
        lambda: client.processes.text('node').count('ended with code') == 2, 'its end', LONG
    )
    assert 'ended with code 0' in client.processes.text('node')
