# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers of a node that has restarted meanwhile."""

import contextlib
import time
from types import SimpleNamespace

import pytest
from rcl_interfaces.msg import ListParametersResult
from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import DescribeParameters
from rcl_interfaces.srv import GetParameters
from rcl_interfaces.srv import ListParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from support.processes.ros_processes import reserved_domain

from ros_ik.viewer.client import node_parameters
from ros_ik.viewer.client.node_parameters import NodeParameters

NAME = 'limits.velocity_scale'
VALUE = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5)
ANSWERS = {
    ListParameters: ListParameters.Response(result=ListParametersResult(names=[NAME])),
    DescribeParameters: DescribeParameters.Response(descriptors=[ParameterDescriptor(name=NAME)]),
    GetParameters: GetParameters.Response(values=[VALUE]),
}


class Answers:
    """A node whose clients get their answers when the test wants them."""

    def __init__(self):
        self.pending, self.serves = [], True

    def resolve_topic_name(self, name):
        return f'/{name}'

    def create_subscription(self, *_):
        pass

    def create_client(self, kind, name):
        return SimpleNamespace(
            service_is_ready=lambda: self.serves,
            call_async=lambda request: self.later(ANSWERS[kind]),
            remove_pending_request=lambda future: None,
        )

    def later(self, response):
        future = SimpleNamespace(
            exception=lambda: None,
            result=lambda: response,
            add_done_callback=lambda done: self.pending.append(lambda: done(future)),
        )
        return future

    def come(self):
        """Let all pending answers arrive."""
        pending, self.pending = self.pending, []
        for each in pending:
            each()


def made():
    """Return parameters that were read, and the node of their clients."""
    node = Answers()
    parameters = NodeParameters(node, 'ros_ik')
    parameters.list()
    node.come()
    return parameters, node


def test_answers_to_earlier_questions_are_ignored():
    parameters, node = made()
    parameters.read([NAME])
    node.come()
    # The values are on their way: alone they have no descriptors.
    parameters.forget()
    node.come()
    assert parameters.values == parameters.descriptors == {} and parameters.names == ()
    parameters.read([NAME])
    node.come()
    node.come()
    assert parameters.values == {NAME: 0.5} and NAME in parameters.descriptors


def test_a_change_is_refused_while_the_node_serves_nothing():
    parameters, node = made()
    parameters.read([NAME])
    node.come()
    node.come()
    node.serves = False
    parameters.change(NAME, 0.7)
    answer = f'{NAME} is not set: the node does not serve its parameters'
    assert [parameters.take_answer() for _ in range(2)] == [answer, '']
    assert parameters.take_refused() == {NAME}


@pytest.mark.dds
def test_a_node_that_does_not_answer_leaves_one_request_of_each_kind(monkeypatch):
    monkeypatch.setattr(node_parameters, '_PATIENCE', 0.02)
    context = rclpy.Context()
    with contextlib.ExitStack() as stack:
        domain = stack.enter_context(reserved_domain())
        rclpy.init(args=[], context=context, domain_id=domain)
        stack.callback(context.shutdown)
        # The services of the first are never called: it has no executor.
        silent, viewer = (rclpy.create_node(name, context=context) for name in ('ros_ik', 'page'))
        stack.callback(silent.destroy_node)
        stack.callback(viewer.destroy_node)
        executor = SingleThreadedExecutor(context=context)
        stack.callback(executor.shutdown)
        executor.add_node(viewer)
        parameters, asked = NodeParameters(viewer, 'ros_ik'), 0
        client = parameters._clients['list_parameters']
        end = time.monotonic() + 20.0
        while asked < 5 and time.monotonic() < end:
            before = parameters._asked.get('list')
            parameters.list()
            executor.spin_once(timeout_sec=0.03)
            asked += parameters._asked.get('list') is not before
            assert len(client._pending_requests) <= 1
        assert asked == 5


def test_a_change_that_comes_after_a_restart_is_refused():
    parameters, node = made()
    parameters.change(NAME, 0.7)
    answer = parameters.take_answer()
    assert NAME in answer and 'is not set' in answer
    assert not node.pending
