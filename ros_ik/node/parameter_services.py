# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter services that answer every request.

rclpy's own services raise for an unknown type of a value, and process any number of names.
"""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_service import ParameterService

# Maximum number of names in one request. A node of a humanoid has some 600 parameters. Describing
# one takes 0.02 ms of the interpreter, which the control thread shares.
MAX_NAMES = 1000
# Maximum length of a name in a message.
_LONGEST = 100


class BoundedParameterServices(ParameterService):
    """Parameter services of rclpy that return a reason for every refused change."""

    def __init__(self, node: Node) -> None:
        """Create the services of a node that was made with ``start_parameter_services=False``."""
        super().__init__(node)
        self._node = node

    def _describe_parameters_callback(self, request: Any, response: Any) -> Any:
        if len(request.names) > MAX_NAMES:
            return response
        return super()._describe_parameters_callback(request, response)

    def _get_parameters_callback(self, request: Any, response: Any) -> Any:
        if len(request.names) > MAX_NAMES:
            return response
        return super()._get_parameters_callback(request, response)

    def _get_parameter_types_callback(self, request: Any, response: Any) -> Any:
        if len(request.names) > MAX_NAMES:
            return response
        return super()._get_parameter_types_callback(request, response)

    def _list_parameters_callback(self, request: Any, response: Any) -> Any:
        if len(request.prefixes) > MAX_NAMES:
            return response
        return super()._list_parameters_callback(request, response)

    def _set_parameters_callback(self, request: Any, response: Any) -> Any:
        too_many = _too_many(request)
        response.results = [
            _refused(too_many) if too_many else self._set([message])
            for message in request.parameters
        ]
        return response

    def _set_parameters_atomically_callback(self, request: Any, response: Any) -> Any:
        too_many = _too_many(request)
        response.result = _refused(too_many) if too_many else self._set(request.parameters)
        return response

    def _set(self, messages: list[Any]) -> SetParametersResult:
        """Set parameters together, or return why not."""
        parameters = []
        for message in messages:
            if not self._node.has_parameter(message.name):
                # rclpy would declare a parameter with an empty name.
                return _refused(f"parameter '{message.name[:_LONGEST]}' is undeclared")
            try:
                parameters.append(Parameter.from_parameter_msg(message))
            except Exception as error:  # noqa: BLE001 rclpy checks no field of the message
                return _refused(f'{message.name}: {error}')
            if parameters[-1].type_ is Parameter.Type.NOT_SET:
                # rclpy would undeclare the parameter, and every later request that names it would
                # fail.
                return _refused(f'{message.name}: expected a value, got none')
        try:
            return self._node.set_parameters_atomically(parameters)
        except Exception as error:  # noqa: BLE001 such as a name that was never declared
            return _refused(str(error))


def _too_many(request: Any) -> str:
    """Return why a request is too large, or ''."""
    count = len(request.parameters)
    return f'at most {MAX_NAMES} parameters are set at once, got {count}' * (count > MAX_NAMES)


def _refused(reason: str) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=reason)
