# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages, requests and goals of which the middleware never notified the executor.

When the executor of events begins to listen to an entity, rmw_fastrtps first counts the data that
wait in its reader and then asks for notifications. Data that arrive in between stay in the reader
unnoticed until more data arrive; after a latched message nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import time
from typing import Any
import weakref

from rclpy.action import ActionServer
from rclpy.exceptions import InvalidHandle
from rclpy.executors import Executor
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.service import Service
from rclpy.subscription import Subscription

# Time between two searches for new entities [s]. The executor registers an entity much sooner.
_PERIOD = 1.0
# Most messages or requests of an entity in a search, so that a fast sender does not prolong it.
_MOST = 100


class MissedEvents:
    """Search of new entities for data without an event, once for each entity."""

    def __init__(self, executor: Executor) -> None:
        """Prepare the search.

        Args:
            executor: Executor of the entities; its thread calls :meth:`serve`.
        """
        self._executor = executor
        # Executors with a wait set look into each reader themselves.
        self._may_miss = not isinstance(executor, SingleThreadedExecutor)
        self._due = time.monotonic() + _PERIOD
        self._new: weakref.WeakSet[Any] = weakref.WeakSet()
        self._searched: weakref.WeakSet[Any] = weakref.WeakSet()

    def serve(self) -> None:
        """Serve data that wait in entities which the executor has had for some time."""
        now = time.monotonic()
        if not self._may_miss or now < self._due:
            return
        self._due = now + _PERIOD
        entities = [each for node in self._executor.get_nodes() for each in _entities(node)]
        for entity, serve in entities:
            if entity in self._new:
                self._new.discard(entity)
                self._searched.add(entity)
                # The callback of another entity may have destroyed it.
                with contextlib.suppress(InvalidHandle):
                    serve(entity, self._executor)
            elif entity not in self._searched:
                self._new.add(entity)


def take_message(subscription: Subscription) -> bool:
    """Call a subscription's callback with a message that waits in its reader, as rclpy does.

    Returns:
        False if no message was waiting.
    """
    with subscription.handle:
        taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    if taken is None:
        return False
    kind = getattr(subscription, '_callback_type', None)  # callbacks of Humble have one argument
    with_info = kind is not None and kind.name == 'WithMessageInfo'
    subscription.callback(*(taken if with_info else taken[:1]))
    return True


def take_requests(service: Service, most: int) -> Iterator[tuple[Any, Any]]:
    """Take the requests that wait in a service, as rclpy does.

    Args:
        service: The service.
        most: Most requests to take.

    Yields:
        Request and header, for ``send_response``.
    """
    for _ in range(most):
        with service.handle:
            request, header = service.handle.service_take_request(service.srv_type.Request)
        if header is None:
            return
        yield request, header


def _entities(node: Node) -> Iterable[tuple[Any, Callable[[Any, Executor], None]]]:
    """Return the entities that receive data, each with the function that serves it."""
    yield from ((each, _serve_subscription) for each in node.subscriptions)
    yield from ((each, _serve_service) for each in node.services)
    actions = (each for each in node.waitables if isinstance(each, ActionServer))
    yield from ((each, _serve_action) for each in actions)


def _serve_subscription(subscription: Subscription, executor: Executor) -> None:
    for _ in range(_MOST):
        if not take_message(subscription):
            return


def _serve_service(service: Service, executor: Executor) -> None:
    for request, header in take_requests(service, _MOST):
        response = service.callback(request, service.srv_type.Response())
        service.send_response(response, header)


def _serve_action(action: ActionServer, executor: Executor) -> None:
    """Serve one goal, one request to cancel and one for a result, if they wait."""
    context = executor.context.handle
    assert context is not None  # as long as the executor spins
    counts = action.get_num_entities()
    with action, context:
        ready = rclpy_implementation.WaitSet(
            counts.num_subscriptions, counts.num_guard_conditions, counts.num_timers,
            counts.num_clients, counts.num_services, counts.num_events, context,
        )  # fmt: skip
        with ready:
            ready.clear_entities()
            action.add_to_wait_set(ready)
            ready.wait(0)
            if action.is_ready(ready):
                executor.create_task(action.execute, action.take_data())
