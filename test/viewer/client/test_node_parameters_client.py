# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers of a node that has restarted meanwhile."""

from types import SimpleNamespace

from rcl_interfaces.msg import ListParametersResult
from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import DescribeParameters
from rcl_interfaces.srv import GetParameters
from rcl_interfaces.srv import ListParameters

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
        self.pending = []

    def resolve_topic_name(self, name):
        return f'/{name}'

    def create_subscription(self, *_):
        pass

    def create_client(self, kind, name):
        return SimpleNamespace(
            service_is_ready=lambda: True, call_async=lambda request: self.later(ANSWERS[kind])
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


def test_a_change_that_comes_after_a_restart_is_refused():
    parameters, node = made()
    parameters.change(NAME, 0.7)
    assert NAME in parameters.answer and 'is not set' in parameters.answer
    assert not node.pending
