# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Errors in callbacks of a node: which are reported, and which answers are lost."""

import time

import pytest
import rclpy
from rclpy.context import Context
from std_srvs.srv import Trigger
from support.processes.ros_processes import reserved_domain
from support.rigs.ros_rig import PATIENCE

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.guard import GuardedNode

pytestmark = pytest.mark.dds


class Node(GuardedNode):
    """A node that keeps its errors."""

    def __init__(self, name, context):
        super().__init__(name, context=context)
        self.faults = []

    def on_fault(self, where, error):
        self.faults.append((where, repr(error)))


@pytest.fixture
def served():
    """Return a node, and an executor for it."""
    with reserved_domain() as domain:
        context = Context()
        rclpy.init(context=context, domain_id=domain)
        executor, node = make_executor(context), Node('served', context)
        executor.add_node(node)
        try:
            yield node, executor
        finally:
            executor.shutdown()
            node.destroy_node()
            rclpy.try_shutdown(context=context)


def requests(node, executor, names):
    """Send a request to each service before the executor serves any; return their futures."""
    clients = [node.create_client(Trigger, name) for name in names]
    end = time.monotonic() + PATIENCE
    while not all(client.service_is_ready() for client in clients):
        assert time.monotonic() < end
        executor.spin_once(timeout_sec=0.05)
    futures = [client.call_async(Trigger.Request()) for client in clients]
    time.sleep(0.3)
    return futures


def test_an_answer_of_a_service_that_is_gone_is_no_error(served):
    node, executor = served
    services, called = {}, []

    def answer(name, other):
        def callback(request, response):
            called.append(name)
            node.destroy_service(services[other])
            return response

        return callback

    for name, other in (('one', 'two'), ('two', 'one')):
        services[name] = node.create_service(Trigger, name, answer(name, other))
    requests(node, executor, services)
    end = time.monotonic() + PATIENCE
    while len(called) < 2 and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)
    assert sorted(called) == ['one', 'two'], 'the requests were not taken together'
    assert node.faults == []


def test_an_answer_that_cannot_be_sent_is_an_error(served):
    node, executor = served
    node.create_service(Trigger, 'one', lambda request, response: 'no response')
    requests(node, executor, ['one'])
    end = time.monotonic() + PATIENCE
    while not node.faults and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)
    assert [where for where, _ in node.faults] == ['one']
