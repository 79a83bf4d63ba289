# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Data that arrive while the middleware begins to listen are served, though it forgets them."""

import os
import subprocess
import sys
import sysconfig
import time

import pytest
import rclpy
from rclpy.action import ActionClient
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.processes.ros_processes import reserved_domain
from support.processes.ros_processes import ROOT

from ros_ik_interfaces.action import MoveToPose

pytestmark = pytest.mark.dds

SOURCE = ROOT / 'test' / 'support' / 'processes' / 'slow_registration.c'
# Time for a program to start and end on a busy machine [s].
LONG = 100.0
# Time after which the executor listens, within the second that its registration takes [s].
LISTENING = 0.3


@pytest.fixture
def slow_registration(tmp_path):
    """Return the path of the library that slows the registration of listeners."""
    library = tmp_path / 'slow_registration.so'
    compiler = (sysconfig.get_config_var('CC') or 'cc').split()[0]
    subprocess.run(
        [compiler, '-shared', '-fPIC', '-o', library, SOURCE, '-ldl'], check=True, timeout=LONG
    )
    return library


@pytest.fixture
def node():
    """Return a node on a domain of its own, and the number of the domain."""
    context = rclpy.Context()
    with reserved_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        node = rclpy.create_node('early', context=context)
        yield node, domain
        node.destroy_node()
        rclpy.shutdown(context=context)


def topic_of(node):
    """Return functions that tell whether the topic is found, and that publish."""
    publisher = node.create_publisher(String, 'late', 1)
    return publisher.get_subscription_count, lambda: publisher.publish(String())


def service_of(node):
    """Return functions that tell whether the service is found, and that send a request."""
    client = node.create_client(Trigger, 'late')
    return client.service_is_ready, lambda: client.call_async(Trigger.Request())


def action_of(node):
    """Return functions that tell whether the action is found, and that send a goal."""
    client = ActionClient(node, MoveToPose, 'late')
    return client.server_is_ready, lambda: client.send_goal_async(MoveToPose.Goal())


@pytest.mark.parametrize('entity', [topic_of, service_of, action_of])
def test_data_that_arrive_while_the_executor_begins_to_listen_are_served(
    node, slow_registration, entity
):
    here, domain = node
    is_found, send = entity(here)
    late = subprocess.Popen(
        [sys.executable, '-m', 'support.processes.late_listener', entity.__name__[:-3]],
        env={
            **os.environ,
            'PYTHONPATH': f'{ROOT}{os.pathsep}{ROOT / "test"}',
            'ROS_DOMAIN_ID': str(domain),
            'LD_PRELOAD': str(slow_registration),
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert late.stdout.readline() == 'made\n'
        give_up = time.monotonic() + LONG
        while not is_found():
            assert time.monotonic() < give_up
            time.sleep(0.01)
        late.stdin.write('\n')
        late.stdin.flush()
        time.sleep(LISTENING)
        send()
        text, _ = late.communicate(timeout=LONG)
    finally:
        late.kill()
        late.wait()
    assert text == 'served\n'
