# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The control thread by itself: what it does where a topic cannot be read."""

import time
from types import SimpleNamespace

import pytest
from support.ros_rig import panda_urdf

from ros_ik import Model
from ros_ik.node.control_loop import Controlled
from ros_ik.node.control_loop import ControlLoop
from ros_ik.node.control_loop import Inbox
from ros_ik.node.mailbox import Mailbox
from ros_ik.node.measuring import JointStateMerger
from ros_ik.node.schedule import SteadySchedule
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.settings import read_settings

PATIENCE = 10.0


@pytest.fixture
def servo():
    model = Model.from_urdf(panda_urdf(), device='cpu')
    return Servo(model, read_settings({'ee.frame': 'panda_hand_tcp', 'control_rate': 500.0}))


@pytest.fixture
def loop(servo):
    """Return a loop that runs, without a servo and without publishers."""
    inbox = Inbox.empty()
    inbox.settings.put(servo.settings)
    schedule = SteadySchedule(servo.settings.period)
    status = SimpleNamespace(is_heard=lambda: False)
    loop = ControlLoop(inbox, status, schedule, time.time_ns, Mailbox(None), ('ee',))
    loop.start()
    yield loop
    begin = time.monotonic()
    loop.finish()
    assert time.monotonic() - begin < 1.0


def controlled(servo):
    measurement = JointStateMerger(servo, None).measurement
    return Controlled(servo, SimpleNamespace(base_frame=''), 1, measurement)


def wait(condition):
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, 'it did not come'
        time.sleep(0.001)


def test_a_topic_that_cannot_be_read_ends_the_servo_but_not_the_thread(loop, servo):
    def fail(now):
        raise KeyError('unforeseen')

    streams = loop.inbox.streams
    reading = streams.get()
    streams.put(SimpleNamespace(read=fail))
    wait(lambda: 'unforeseen' in loop.fault)
    assert loop.failed is None
    run = controlled(servo)
    loop.inbox.controlled.put(run)
    wait(lambda: loop.failed is run)
    assert loop.output.code == StatusCode.SOLVER_FAILED
    assert 'unforeseen' in loop.output.text
    streams.put(reading)
    wait(lambda: loop.output.code != StatusCode.SOLVER_FAILED)
