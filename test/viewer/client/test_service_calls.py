# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers to the buttons of the viewer."""

from types import SimpleNamespace

from rclpy.task import Future
from std_srvs.srv import Trigger

from ros_ik.viewer.client.service_calls import ServiceCalls


def made_client(kind, name):
    return SimpleNamespace(srv_name=f'/{name}', service_is_ready=lambda: False)


def test_each_answer_is_taken_once_and_the_same_one_again_is_new():
    calls = ServiceCalls(SimpleNamespace(create_client=made_client), 'ros_ik')
    assert calls.take_answer() == ''
    for _ in range(2):
        calls.call('stop', None)
        answers = [calls.take_answer() for _ in range(2)]
        assert answers == ['stop: there is no service /ros_ik/stop', '']


class SilentClient:
    """A client whose node answers nothing."""

    srv_name = '/ros_ik/stop'

    def __init__(self):
        self.sent, self.pending = [], []

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.sent.append(request)
        self.pending.append(Future())
        return self.pending[-1]

    def remove_pending_request(self, future):
        self.pending.remove(future)


def test_a_stop_is_sent_again_though_the_last_one_is_unanswered():
    client = SilentClient()
    calls = ServiceCalls(SimpleNamespace(create_client=lambda kind, name: client), 'ros_ik')
    for number in (1, 2, 3):
        calls.call('stop', None)
        assert len(client.sent) == number and len(client.pending) == 1
    client.pending[0].set_result(Trigger.Response(success=True, message='stopping'))
    assert calls.take_answer() == 'stop: stopping'
