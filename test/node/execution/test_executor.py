# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The executor of the node, spun by a thread of its own."""

import contextlib
import signal
import threading
import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future
from support.processes.ros_processes import reserved_domain

from ros_ik.node.execution.executor import interrupts_raised
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import serve_one
from ros_ik.node.execution.executor import serve_queued
from ros_ik.node.execution.executor import spin_until

LONG = 30.0


@contextlib.contextmanager
def spun(context):
    """Spin an executor; yield it."""
    executor, ended = make_executor(context), threading.Event()
    thread = threading.Thread(target=spin_until, args=(executor, ended), daemon=True)
    thread.start()
    try:
        yield executor
    finally:
        ended.set()
        thread.join(LONG)
        executor.shutdown()


@pytest.fixture
def context():
    """Return a context of its own."""
    context = rclpy.Context()
    with reserved_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        yield context
        rclpy.shutdown(context=context)


def test_what_is_queued_and_what_that_queues_is_served(context):
    served = []
    with spun(context) as executor:

        def second():
            time.sleep(0.05)
            served.append('second')

        def first():
            time.sleep(0.05)
            served.append('first')
            executor.create_task(second)

        executor.create_task(first)
        serve_queued(executor, LONG)
        assert served == ['first', 'second']


def test_an_executor_that_serves_nothing_is_not_waited_for(context):
    executor = make_executor(context)
    served = []
    executor.create_task(lambda: served.append(1))
    serve_queued(executor, 0.05)
    assert not served
    executor.shutdown()


class Interrupted:
    """Something in whose destructor Ctrl-C arrives."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        self.is_ended = False  # where the handler is called at the latest


@pytest.mark.filterwarnings('ignore::pytest.PytestUnraisableExceptionWarning')
def test_no_interrupt_is_lost_in_a_destructor(context):
    executor, before = make_executor(context), signal.getsignal(signal.SIGINT)
    with interrupts_raised():
        serve_one(executor, 0.0)
        Interrupted()
        with pytest.raises(KeyboardInterrupt):
            serve_one(executor, 0.0)
        serve_one(executor, 0.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    # Nothing is left of the last one.
    assert signal.getsignal(signal.SIGINT) is before
    serve_one(executor, 0.0)
    executor.shutdown()


@pytest.mark.parametrize('make', [make_executor, SingleThreadedExecutor])
def test_an_error_in_a_callback_of_a_future_is_reported_and_the_next_is_served(context, make):
    executor, ended, faults = make(context=context), threading.Event(), []
    failing, good = Future(executor=executor), Future(executor=executor)

    def fail(future):
        raise ZeroDivisionError(future.result())

    failing.add_done_callback(fail)
    good.add_done_callback(lambda future: ended.set())
    for future in (failing, good):
        future.set_result('an answer')
    spin_until(executor, ended, lambda where, error: faults.append((where, error)))
    ((where, error),) = faults
    assert where == 'the executor' and repr(error) == "ZeroDivisionError('an answer')"
    executor.shutdown()
