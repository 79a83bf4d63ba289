# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Services that pause, stop and reset the robot, and select the mode."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger

from ros_ik.node.execution.guard import close_service
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.node.transport.qos_profiles import SERVICE
from ros_ik.servo import Command
from ros_ik.servo import Mode
from ros_ik_interfaces.srv import SetMode


class ControlServices:
    """Services that change the command; used in the executor's thread."""

    def __init__(
        self, node: Node, command: Mailbox[Command], forget_unread: Callable[[], None]
    ) -> None:
        """Create the services.

        Args:
            node: The node.
            command: Command to change.
            forget_unread: Discards targets that no tick has read yet.
        """
        self._node, self._command, self._forget_unread = node, command, forget_unread
        self._services = [
            node.create_service(SetBool, '~/pause', self._on_pause, qos_profile=SERVICE),
            node.create_service(Trigger, '~/stop', self._on_stop, qos_profile=SERVICE),
            node.create_service(Trigger, '~/reset', self._on_reset, qos_profile=SERVICE),
            node.create_service(SetMode, '~/set_mode', self._on_mode, qos_profile=SERVICE),
        ]

    def destroy(self) -> None:
        """Destroy the services, after the answers to requests that have reached them.

        These requests take effect: a stop, a pause and the mode stay in force.
        """
        for service in self._services:
            close_service(self._node, service)

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._forget_unread()
        self._command.update(lambda command: command.with_pause(request.data))
        response.success = True
        response.message = 'holding' if request.data else 'waiting for new targets'
        return response

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._command.update(Command.with_stop)
        response.success, response.message = True, 'stopping; call ~/reset to continue'
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._forget_unread()
        command = self._command.update(Command.with_reset)
        response.success = not command.stopped
        response.message = (
            'still stopped: ~/stop_request is true'
            if command.stopped
            else 'waiting for new targets'
        )
        return response

    def _on_mode(self, request: SetMode.Request, response: SetMode.Response) -> SetMode.Response:
        try:
            mode = Mode(request.mode)
        except ValueError:
            known = ', '.join(f'{mode.value} ({mode.name})' for mode in Mode)
            response.message = f'there is no mode {request.mode}; there are {known}'
        else:
            self._command.update(lambda command: command.with_changes(mode=mode))
            response.success, response.message = True, f'mode {mode.name}'
        response.mode = int(self._command.get().mode)
        return response
