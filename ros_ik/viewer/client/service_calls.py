# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Calls of the node's services for the buttons of the page."""

from __future__ import annotations

import functools
from typing import Any

from rclpy.client import Client
from rclpy.node import Node
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger

from ros_ik_interfaces.srv import SetMode

# Modes by their names on the page.
MODES = {
    'auto': SetMode.Request.AUTO,
    'pose': SetMode.Request.POSE,
    'twist': SetMode.Request.TWIST,
    'joint': SetMode.Request.JOINT,
    'hold': SetMode.Request.HOLD,
}
_SERVICES: dict[str, tuple[Any, str, Any]] = {
    'stop': (Trigger, 'stop', Trigger.Request()),
    'pause': (SetBool, 'pause', SetBool.Request(data=True)),
    'resume': (SetBool, 'pause', SetBool.Request(data=False)),
    'reset': (Trigger, 'reset', Trigger.Request()),
    'mode': (SetMode, 'set_mode', None),
}


class ServiceCalls:
    """Asynchronous service calls; for the ROS thread."""

    def __init__(self, node: Node, name: str) -> None:
        """Prepare the calls to the node of a name."""
        kinds = {service: kind for kind, service, _ in _SERVICES.values()}
        self._clients: dict[str, Client] = {
            service: node.create_client(kind, f'{name}/{service}')
            for service, kind in kinds.items()
        }
        # Last request of each kind.
        self._pending: dict[str, Any] = {}
        self._answer = ''

    def call(self, kind: str, value: Any) -> None:
        """Call the service of a button: stop, pause, resume, reset, or mode with its value.

        It is called again though the last answer is missing: that request may have come before a
        reset. The late answer is ignored.
        """
        _, name, request = _SERVICES[kind]
        if kind == 'mode':
            request = SetMode.Request(mode=MODES[value])
        client = self._clients[name]
        waiting = self._pending.pop(kind, None)
        if waiting is not None and not waiting.done():
            client.remove_pending_request(waiting)
        if not client.service_is_ready():
            self._answer = f'{kind}: there is no service {client.srv_name}'
            return
        future = client.call_async(request)
        self._pending[kind] = future
        future.add_done_callback(functools.partial(self._on_answer, kind))

    def take_answer(self) -> str:
        """Return the newest answer of the node, or '' if none arrived since the last call."""
        taken, self._answer = self._answer, ''
        return taken

    def _on_answer(self, kind: str, future: Any) -> None:
        response = future.result()
        if response is not None:
            done = 'done' if response.success else 'refused'
            self._answer = f'{kind}: {response.message or done}'
