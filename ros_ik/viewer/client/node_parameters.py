# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the shown node, read and set asynchronously."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import functools
import time
from typing import Any
from typing import NamedTuple

from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import DescribeParameters
from rcl_interfaces.srv import GetParameters
from rcl_interfaces.srv import ListParameters
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future
import yaml

# Time without an answer after which a request is repeated [s].
_PATIENCE = 2.0
# Services of the parameters of every node.
_SERVICES: dict[str, Any] = {
    'list_parameters': ListParameters,
    'describe_parameters': DescribeParameters,
    'get_parameters': GetParameters,
    'set_parameters': SetParameters,
}


class _Asked(NamedTuple):
    """A request without an answer so far: its time [s], its client and the future answer."""

    since: float
    client: Client
    answer: Future


class NodeParameters:
    """Names, descriptors and values of the parameters of one node; for the ROS thread.

    Attributes:
        names: Names of all parameters, empty before the first answer.
        descriptors: Requested descriptors, by name.
        values: Requested values by name, kept up to date.
    """

    def __init__(self, node: Node, name: str) -> None:
        """Create clients to the node with a given name, relative to the namespace of ``node``."""
        # rclpy of ROS 2 Humble has no client of parameters.
        self._clients = {
            service: node.create_client(kind, f'{name}/{service}')
            for service, kind in _SERVICES.items()
        }
        self._full_name = node.resolve_topic_name(name)
        self._asked: dict[str, _Asked] = {}
        self.names: tuple[str, ...] = ()
        self.descriptors: dict[str, ParameterDescriptor] = {}
        self.values: dict[str, Any] = {}
        self._answer = ''
        self._refused = set[str]()
        node.create_subscription(ParameterEvent, '/parameter_events', self._on_event, 10)

    @property
    def sections(self) -> tuple[str, ...]:
        """Sections of the parameters: the part before the last dot of a name."""
        return tuple(sorted({section_of(name) for name in self.names}))

    def list(self) -> None:
        """Request the names, if unknown."""
        if not self.names:
            self._ask('list', 'list_parameters', ListParameters.Request(), self._on_list)

    def read(self, names: Sequence[str]) -> None:
        """Request descriptors and values, if unknown."""
        unknown = [name for name in names if name not in self.values]
        if unknown:
            key = ' '.join(unknown)
            request = DescribeParameters.Request(names=unknown)
            then = functools.partial(self._on_describe, unknown)
            self._ask(f'describe {key}', 'describe_parameters', request, then)

    def change(self, name: str, value: Any) -> None:
        """Request a new value; :meth:`take_answer` returns the result.

        Args:
            name: A parameter whose descriptor is known.
            value: The value; a list, or what may be a list, as text in YAML.
        """
        if name not in self.values:
            self._answer = f'{name} is not set: the node is another one, or its robot'
            return
        try:
            parameter = Parameter(name, value=self._converted(name, value))
        except (yaml.YAMLError, TypeError, ValueError) as error:
            self._answer = f'{name} is not set: {value!r} is not a value: {error}'
            self._refused.add(name)
            return
        if not self._is_ready():
            self._answer = f'{name} is not set: the node does not serve its parameters'
            self._refused.add(name)
            return
        request = SetParameters.Request(parameters=[parameter.to_parameter_msg()])
        self._withdraw(name)
        self._ask(name, 'set_parameters', request, functools.partial(self._on_set, name))

    def take_answer(self) -> str:
        """Return the result of the newest change, or '' if there is none since the last call."""
        taken, self._answer = self._answer, ''
        return taken

    def take_refused(self) -> set[str]:
        """Return the parameters whose changes were rejected since the last call."""
        refused, self._refused = self._refused, set()
        return refused

    def forget(self) -> None:
        """Forget everything, also pending requests, after a restart of the node."""
        for key in tuple(self._asked):
            self._withdraw(key)
        self.names, self.descriptors, self.values, self._asked = (), {}, {}, {}

    def _converted(self, name: str, value: Any) -> Any:
        """Return a value in the current type of the parameter."""
        before = self.values[name]
        if isinstance(value, str) and not isinstance(before, str):
            value = yaml.safe_load(value)
        is_real = isinstance(before, float) or (
            isinstance(before, list | tuple) and all(isinstance(v, float) for v in before)
        )
        if is_real and isinstance(value, list):
            return [float(each) for each in value]
        return float(value) if is_real else value

    def _ask(
        self, key: str, service: str, request: Any, then: Callable[[Any], None]
    ) -> None:
        """Send a request to a service, unless one with this key is pending."""
        now, before = time.monotonic(), self._asked.get(key)
        if (before is not None and now - before.since < _PATIENCE) or not self._is_ready():
            return
        self._withdraw(key)
        client = self._clients[service]
        answer = client.call_async(request)
        self._asked[key] = _Asked(now, client, answer)

        def take(future: Any) -> None:
            asked = self._asked.get(key)
            if asked is None or asked.answer is not future:
                # Withdrawn meanwhile.
                return
            del self._asked[key]
            if future.exception() is None and future.result() is not None:
                then(future.result())

        answer.add_done_callback(take)

    def _withdraw(self, key: str) -> None:
        """Forget the request with a key, which the client would keep until its answer comes."""
        asked = self._asked.pop(key, None)
        if asked is not None:
            asked.client.remove_pending_request(asked.answer)

    def _is_ready(self) -> bool:
        return all(client.service_is_ready() for client in self._clients.values())

    def _on_list(self, response: Any) -> None:
        self.names = tuple(response.result.names)

    def _on_describe(self, names: Sequence[str], response: Any) -> None:
        described = {each.name: each for each in response.descriptors}
        self.descriptors.update(described)
        request = GetParameters.Request(names=list(names))
        then = functools.partial(self._on_get, names)
        self._ask(f'get {" ".join(names)}', 'get_parameters', request, then)

    def _on_get(self, names: Sequence[str], response: Any) -> None:
        values = map(parameter_value_to_python, response.values)
        self.values.update(zip(names, values, strict=False))

    def _on_set(self, name: str, response: Any) -> None:
        (result,) = response.results
        if result.successful:
            self._answer = f'{name} is set'
        else:
            self._answer = f'{name} is not set: {result.reason}'
            self._refused.add(name)

    def _on_event(self, event: ParameterEvent) -> None:
        """Process changes by any node."""
        if event.node == self._full_name:
            for parameter in event.changed_parameters:
                if parameter.name in self.values:
                    self.values[parameter.name] = parameter_value_to_python(parameter.value)


def section_of(name: str) -> str:
    """Return the section of a parameter: the part before the last dot, or 'general'."""
    return name.rpartition('.')[0] or 'general'
