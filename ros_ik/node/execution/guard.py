# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes that survive errors in callbacks, including those of rclpy's own services.

An executor raises the error of a callback in the loop that spins it, and leaves other pending
requests in DDS. Errors are therefore caught in the callback: they are reported, the answer to a
request gives the reason, and the next callback runs normally.
"""

from __future__ import annotations

from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import inspect
from pathlib import Path
import time
import traceback
from typing import Any
import weakref

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.waitable import Waitable

from ros_ik.node.execution.missed_events import take_requests

# Minimum time between two log lines about errors in callbacks [s].
_LOG_PERIOD = 5.0
# Time for an answer to arrive [s]: DDS drops it if its service is destroyed before.
_TRANSIT = 0.01
# Services that are about to be destroyed.
_closing: weakref.WeakSet[Service] = weakref.WeakSet()
# Fields of responses for the reason; the field `success` is False by default.
_SENTENCES = ('message', 'reason', 'failure_reason')


def fault_text(error: BaseException) -> str:
    """Return an error as text for people."""
    text = ' '.join(str(error).split())
    return f'{type(error).__name__}: {text}' if text else type(error).__name__


def fault_origin(error: BaseException) -> str:
    """Return file and line of the last three calls that led to an error, the last one first."""
    return ' < '.join(
        f'{Path(frame.filename).name}:{frame.lineno}'
        for frame in reversed(traceback.extract_tb(error.__traceback__)[-3:])
    )


def log_fault(node: Node, where: str, error: Exception) -> None:
    """Log an error in a callback of a node, and where it came from, but not too often.

    Args:
        node: The node.
        where: Name of the callback.
        error: The error.
    """
    node.get_logger().error(
        f'an error in {where}: {fault_text(error)} ({fault_origin(error)})',
        throttle_duration_sec=_LOG_PERIOD,
    )


def internal_error(error: BaseException) -> str:
    """Return the text for a client whose request raised an error."""
    return f'internal error, see the log: {fault_text(error)}'


def fault_response(kind: Any, error: BaseException) -> Any:
    """Return the response of a request that raised an error.

    Args:
        kind: Type of the service.
        error: The error.
    """
    response = kind.Response()
    for name in _SENTENCES:
        if isinstance(getattr(response, name, None), str):
            setattr(response, name, internal_error(error))
    return response


def close_service(node: Node, service: Service) -> None:
    """Destroy a service once the requests that have reached it have their answers.

    An executor holds the services that it serves. Until it has dropped this one, which it may do
    only after a long callback, clients would find the service and get no answer.

    Args:
        node: A :class:`GuardedNode`; the thread of its executor calls this.
        service: Its service, whose callback is no coroutine.
    """
    count = _answer_waiting(service)
    _closing.add(service)
    executor = node.executor
    if executor is None:
        node.destroy_service(service)
    else:
        executor.wake()
        executor.create_task(_end_service, node, service, count)


def _end_service(node: Node, service: Service, count: int) -> None:
    """Destroy a service that the executor has dropped, and that has just sent ``count`` answers.

    If the node was destroyed meanwhile, there is no service.
    """
    with contextlib.suppress(InvalidHandle):
        if count + _answer_waiting(service):
            time.sleep(_TRANSIT)
            _answer_waiting(service)
    node.destroy_service(service)


def _answer_waiting(service: Service) -> int:
    """Answer the requests that wait in a service; return their number."""
    count = 0
    for request, header in take_requests(service, service.qos_profile.depth):
        service.send_response(service.callback(request, service.srv_type.Response()), header)
        count += 1
    return count


class GuardedNode(Node):
    """A node that reports errors in its callbacks; must be the first base class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create the node with the arguments of its class in rclpy."""
        self._guarded: weakref.WeakSet[Any] = weakref.WeakSet()
        super().__init__(*args, **kwargs)

    def on_fault(self, where: str, error: Exception) -> None:
        """Report an error in a callback; any thread that spins the node may call this.

        Args:
            where: Name of the service, topic, timer or action.
            error: The error.
        """
        log_fault(self, where, error)

    def fault_response(self, service: Service, error: Exception) -> Any:
        """Return the response of a request whose callback raised an error.

        Args:
            service: The service.
            error: The error.
        """
        return fault_response(service.srv_type, error)

    @property
    def services(self) -> Iterator[Service]:
        """Return the services, wrapped so that each request gets an answer."""
        for service in super().services:
            if self._is_new(service):
                self._guard_service(service)
            if service not in _closing:
                yield service

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        """Return the subscriptions that an executor is to serve."""
        for subscription in super().subscriptions:
            if self._is_new(subscription):
                name = subscription.topic_name
                subscription.callback = self.guarded(name, subscription.callback)
            yield subscription

    @property
    def timers(self) -> Iterator[Timer]:
        """Return the timers."""
        for timer in super().timers:
            if self._is_new(timer):
                timer.callback = self.guarded('a timer', timer.callback or _nothing)
            yield timer

    @property
    def waitables(self) -> Iterator[Waitable]:
        """Return other entities of the executor: actions, events of DDS."""
        for waitable in super().waitables:
            if self._is_new(waitable):
                execute = self.guarded(type(waitable).__name__, waitable.execute)
                waitable.execute = execute  # type: ignore[method-assign]
            yield waitable

    def guarded(
        self,
        where: str,
        callback: Callable[..., Any],
        instead: Callable[[Exception], Any] = lambda error: None,
    ) -> Callable[..., Any]:
        """Return a callback that reports errors instead of raising them.

        Args:
            where: Name of the callback in a report.
            callback: The callback, a function or a coroutine function.
            instead: Function that returns the result after an error.
        """

        def report(error: Exception) -> Any:
            self.on_fault(where, error)
            return instead(error)

        if inspect.iscoroutinefunction(callback):
            return functools.wraps(callback)(_guard_coroutine(callback, report))

        @functools.wraps(callback)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return callback(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 no message may end the node
                return report(error)

        return call

    def _is_new(self, entity: Any) -> bool:
        if entity in self._guarded:
            return False
        self._guarded.add(entity)
        return True

    def _guard_service(self, service: Service) -> None:
        name = service.srv_name
        service.callback = self.guarded(
            name, service.callback, lambda error: self.fault_response(service, error)
        )
        # A response that cannot be sent affects only its client.
        send = self.guarded(name, self._sender(service))
        service.send_response = send  # type: ignore[method-assign]

    def _sender(self, service: Service) -> Callable[..., None]:
        """Return the function that sends responses of a service, as long as there is one."""
        send = service.send_response

        def send_if_there(*args: Any) -> None:
            try:
                send(*args)
            except InvalidHandle:
                # Destroyed after the executor had taken the request: no one can answer it.
                if service in super(GuardedNode, self).services:
                    raise

        return send_if_there


def _nothing() -> None:
    """Do nothing, for a timer without a callback."""


def _guard_coroutine(
    callback: Callable[..., Awaitable[Any]], report: Callable[[Exception], Any]
) -> Callable[..., Awaitable[Any]]:
    async def call(*args: Any) -> Any:
        try:
            return await callback(*args)
        except Exception as error:  # noqa: BLE001 no message may end the node
            return report(error)

    return call
