# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Answers to the buttons of the viewer."""

from types import SimpleNamespace

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
