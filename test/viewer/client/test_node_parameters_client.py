# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers of a node that has restarted meanwhile."""

from types import SimpleNamespace

from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.msg import ParameterValue

from ros_ik.viewer.client import node_parameters
from ros_ik.viewer.client.node_parameters import NodeParameters

NAME = 'limits.velocity_scale'


class Answers:
    """A parameter client whose answers come when the test wants them."""

    def __init__(self, node, name):
        self.pending = []

    def services_are_ready(self):
        return True

    def later(self, response):
        future = SimpleNamespace(
            exception=lambda: None,
            result=lambda: response,
            add_done_callback=lambda done: self.pending.append(lambda: done(future)),
        )
        return future

    def list_parameters(self):
        return self.later(SimpleNamespace(result=SimpleNamespace(names=[NAME])))

    def describe_parameters(self, names):
        return self.later(SimpleNamespace(descriptors=[ParameterDescriptor(name=NAME)]))

    def get_parameters(self, names):
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5)
        return self.later(SimpleNamespace(values=[value]))

    def come(self):
        """Let all pending answers arrive."""
        pending, self.pending = self.pending, []
        for each in pending:
            each()


def made(monkeypatch):
    """Return parameters that were read, and their client."""
    monkeypatch.setattr(node_parameters, 'AsyncParameterClient', Answers)
    node = SimpleNamespace(
        resolve_topic_name=lambda name: f'/{name}', create_subscription=lambda *_: None
    )
    parameters = NodeParameters(node, 'ros_ik')
    parameters.list()
    parameters._client.come()
    return parameters, parameters._client


def test_answers_to_earlier_questions_are_ignored(monkeypatch):
    parameters, client = made(monkeypatch)
    parameters.read([NAME])
    client.come()
    # The values are on their way: alone they have no descriptors.
    parameters.forget()
    client.come()
    assert parameters.values == parameters.descriptors == {} and parameters.names == ()
    parameters.read([NAME])
    client.come()
    client.come()
    assert parameters.values == {NAME: 0.5} and NAME in parameters.descriptors


def test_a_change_that_comes_after_a_restart_is_refused(monkeypatch):
    parameters, client = made(monkeypatch)
    parameters.change(NAME, 0.7)
    assert NAME in parameters.answer and 'is not set' in parameters.answer
    assert not client.pending
