# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The executor of the node, and the loop that spins it.

rclpy's usual executors rebuild their wait set for each message (0.4 ms of the interpreter with the
node's inputs and services), and the control thread has to wait for that. The executor of events,
in rclpy since ROS 2 Kilted, is notified of ready entities (0.06 ms).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import signal
import threading
import time

from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.executors import ExternalShutdownException

from ros_ik.node.execution.missed_events import MissedEvents

try:
    from rclpy.experimental.events_executor import EventsExecutor as _Executor
except ImportError:  # before ROS 2 Kilted
    from rclpy.executors import SingleThreadedExecutor as _Executor  # type: ignore[assignment]

# Longest wait for an event [s], and so the longest delay of the end.
LONGEST_WAIT = 0.1
# Time with errors only, after which an executor is considered broken [s].
GIVE_UP = 10.0
# Interrupts within :func:`interrupts_raised`, which Python may have dropped.
_interrupts: list[int] = []


def make_executor(context: Context | None = None) -> Executor:
    """Return the single-threaded executor that uses the interpreter least."""
    return _Executor(context=context)


@contextlib.contextmanager
def interrupts_raised() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt meanwhile, and no later than in :func:`serve_one`.

    Python drops what is raised in a destructor. Shells start background programs with SIGINT
    ignored.
    """
    _interrupts.clear()
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _interrupts.clear()


def _interrupt(number: int, _: object) -> None:
    _interrupts.append(number)
    raise KeyboardInterrupt


def serve_one(executor: Executor, timeout: float) -> None:
    """Serve the next event; after Ctrl-C, raise KeyboardInterrupt once it is served.

    If rclpy were interrupted while it converts a message, it would raise a RuntimeError instead.
    SIGINT must be handled by Python, not by rclpy.

    Args:
        executor: An executor of the main thread.
        timeout: Longest wait for the event [s].

    Raises:
        KeyboardInterrupt: After Ctrl-C, once the event has been served.
    """
    before = signal.signal(signal.SIGINT, lambda number, _: _interrupts.append(number))
    try:
        executor.spin_once(timeout_sec=timeout)
    finally:
        signal.signal(signal.SIGINT, before)
    if _interrupts:
        _interrupts.clear()
        raise KeyboardInterrupt


def serve_queued(executor: Executor, timeout: float) -> None:
    """Wait until all queued tasks of an executor, and those that they queue, are done.

    rclpy sends the result of a goal in a second task, after the one in which the goal ends.

    Args:
        executor: An executor that another thread spins.
        timeout: Longest wait [s].
    """
    give_up = time.monotonic() + timeout
    for _ in range(2):
        served = threading.Event()
        executor.create_task(served.set)
        if not served.wait(max(0.0, give_up - time.monotonic())):
            return


def spin_until(
    executor: Executor,
    ended: threading.Event,
    on_fault: Callable[[str, Exception], None] | None = None,
) -> None:
    """Serve ROS until an event is set.

    Nodes handle errors in callbacks (:class:`~ros_ik.node.execution.guard.GuardedNode`). Other
    errors of rclpy, such as for a message that it cannot read, are reported, and the next event is
    served. Each wait is bounded, because in rclpy 9 the events executor finds nothing in an
    unbounded one.

    Args:
        executor: Executor of :func:`make_executor`.
        ended: Set by a signal handler or another thread.
        on_fault: Function called with the origin of an error and the error; None raises it.

    Raises:
        Exception: For ``GIVE_UP`` seconds, every call of the executor has raised an error.
    """
    served = time.monotonic()
    missed = MissedEvents(executor)
    while not ended.is_set():
        try:
            executor.spin_once(timeout_sec=LONGEST_WAIT)
            missed.serve()
        except ExternalShutdownException:
            raise
        except Exception as error:  # noqa: BLE001 no message may end the node
            if on_fault is None or time.monotonic() - served > GIVE_UP:
                raise
            on_fault('the executor', error)
        else:
            served = time.monotonic()
