# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The control thread alone: topics that cannot be read, threads that wait for a pause."""

import math
import threading
import time
from types import SimpleNamespace

import pytest
from support.rigs.ros_rig import panda_urdf

from ros_ik import Model
from ros_ik.node.control.control_loop import ControlLoop
from ros_ik.node.control.inbox import ControlledServo
from ros_ik.node.control.inbox import Inbox
from ros_ik.node.control.jump_counter import JumpCounter
from ros_ik.node.execution.schedule import SteadySchedule
from ros_ik.node.subscribers.joint_state_merger import JointStateMerger
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.settings import read_settings

PATIENCE = 10.0


@pytest.fixture
def servo():
    model = Model.from_urdf(panda_urdf(), device='cpu')
    return Servo(model, read_settings({'ee.frame': 'panda_hand_tcp', 'control_rate': 500.0}))


@pytest.fixture
def period(servo):
    return servo.settings.period


@pytest.fixture
def loop(servo, period):
    """Return a loop that runs, without a servo and without publishers."""
    inbox = Inbox.empty()
    inbox.settings.put(servo.settings)
    schedule = SteadySchedule(period)
    status = SimpleNamespace(has_subscribers=lambda: False)
    loop = ControlLoop(inbox, status, schedule, time.time_ns, ('ee',))
    loop.start()
    yield loop
    begin = time.monotonic()
    loop.finish()
    assert time.monotonic() - begin < 1.0


def controlled(servo):
    measurement = JointStateMerger(servo, None, lambda: None).measurement
    jumps = JumpCounter(servo, None)
    return ControlledServo(servo, SimpleNamespace(base_frame=''), 1, measurement, jumps)


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


def test_a_status_that_cannot_be_sent_ends_no_thread_and_moves_nothing(loop, servo):
    def fail(*_):
        raise RuntimeError('the publisher is gone')

    loop._status = SimpleNamespace(has_subscribers=lambda: True, publish=fail)
    wait(lambda: 'the control loop failed: RuntimeError: the publisher is gone' in loop.fault)
    # With a servo, the tick fails, and so does the report of it.
    loop.inbox.controlled.put(controlled(servo))
    first = loop.faults.latest.number
    wait(lambda: loop.faults.latest.number > first + 2)
    assert loop.is_resting() and not servo.state.resumes
    loop._status = SimpleNamespace(has_subscribers=lambda: False)
    last = loop.statistics.ticks
    wait(lambda: loop.statistics.ticks > last + 2)


# A pause far longer than the wake-up of a thread on a loaded machine.
@pytest.mark.parametrize('period', [0.05])
def test_threads_at_the_gate_continue_between_two_ticks(loop, period, monkeypatch):
    monkeypatch.setattr('ros_ik.node.execution.tick_gap._LONGEST', PATIENCE)
    inside = threading.Event()

    def read(now):
        inside.set()
        time.sleep(0.6 * period)
        inside.clear()

    loop.inbox.streams.put(SimpleNamespace(read=read))
    wait(inside.is_set)
    met = []
    for k in range(60):
        loop.tick_gap.wait()
        met.append(inside.is_set())
        time.sleep(0.05 * period * (k % 23))
    # At random it would be 36 of 60; the machine may delay one now and then.
    assert sum(met) < 12, f'{sum(met)} of 60 went on in a tick'


def test_no_thread_waits_at_the_gate_after_the_last_tick(loop):
    wait(lambda: math.isfinite(loop.tick_gap._until))
    loop.finish()
    assert loop.tick_gap._until == math.inf


def test_each_tick_that_fails_ends_velocities_at_once(servo, period):
    failures = []
    # Other code that ends them runs in ticks that do not fail.
    publishers = SimpleNamespace(
        stop_velocities=lambda: failures.append(loop.faults.failures),
        wait_for_all_acked=lambda: None,
    )
    inbox = Inbox.empty()
    inbox.settings.put(servo.settings)
    inbox.streams.put(SimpleNamespace(read=lambda now: 1 / 0))
    inbox.controlled.put(controlled(servo))
    status = SimpleNamespace(has_subscribers=lambda: False)
    inbox.publishers.put(publishers)
    loop = ControlLoop(inbox, status, SteadySchedule(period), time.time_ns, ('ee',))
    loop.start()
    wait(lambda: len(failures) > 2)
    assert failures[:3] == [1, 2, 3]
    loop.finish()
