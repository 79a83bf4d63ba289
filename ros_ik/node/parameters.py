# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a ROS node from the schema: descriptors and checks."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import sys
from typing import Any

from rcl_interfaces.msg import FloatingPointRange
from rcl_interfaces.msg import IntegerRange
from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from ros_ik.node.execution.realtime import check_cpu
from ros_ik.settings import expand_parameters
from ros_ik.settings import Parameter
from ros_ik.settings import read_settings
from ros_ik.settings import Settings
from ros_ik.settings import SettingsError
from ros_ik.settings.reading import unknown_parameters

_TYPES = {
    'bool': RosParameter.Type.BOOL,
    'int': RosParameter.Type.INTEGER,
    'double': RosParameter.Type.DOUBLE,
    'string': RosParameter.Type.STRING,
    'bool[]': RosParameter.Type.BOOL_ARRAY,
    'double[]': RosParameter.Type.DOUBLE_ARRAY,
    'string[]': RosParameter.Type.STRING_ARRAY,
}

_CLOCK_IS_FIXED = (
    "parameter 'use_sim_time': cannot change while the node runs; start the node with it"
)


def descriptor(parameter: Parameter) -> ParameterDescriptor:
    """Return the descriptor of a parameter, as ``ros2 param describe`` shows it."""
    several = '|' in parameter.type
    message = ParameterDescriptor(
        description=parameter.description,
        additional_constraints=_constraints(parameter),
        read_only=parameter.read_only,
        dynamic_typing=several,
    )
    if not several:
        message.type = _TYPES[parameter.type].value
    low, high = parameter.minimum, parameter.maximum
    if low is None and high is None:
        return message
    if parameter.type == 'int':
        limit = 2**63 - 1
        message.integer_range = [
            IntegerRange(
                from_value=-limit if low is None else int(low),
                to_value=limit if high is None else int(high),
            )
        ]
    elif parameter.type == 'double':
        largest = sys.float_info.max if parameter.finite else float('inf')
        message.floating_point_range = [
            FloatingPointRange(
                from_value=-largest if low is None else low,
                to_value=largest if high is None else high,
            )
        ]
    return message


class NodeParameters:
    """The parameters of a node.

    An invalid value at the start does not end the node. The default replaces it, and
    :attr:`errors` explains why the node cannot be configured.

    Attributes:
        settings: Current settings, or None while there are errors.
        errors: Errors in the values given at the start.
        unknown: Messages about unknown names given at the start.
    """

    def __init__(self, node: Node, on_change: Callable[[Settings], str]) -> None:
        """Declare every parameter.

        Args:
            node: The node, with undeclared overrides.
            on_change: Function called with checked settings before they take effect; it returns
                the reason why they cannot, or ''.
        """
        self._on_change = on_change
        self._use_sim_time = node.get_parameter('use_sim_time').value
        self.settings: Settings | None = None
        self.errors: list[str] = []
        # Names of joints and barriers come from the overrides. rclpy has no public access to
        # overrides before their declaration.
        overrides = node._parameter_overrides  # noqa: SLF001
        self._values = {
            name: given.value for name, given in overrides.items() if given.value is not None
        }
        expanded = self._expand()
        # From now on the names of tasks, outputs, joints and barriers are fixed.
        self._names = frozenset(expanded)
        self.unknown = unknown_parameters(self._values, expanded)
        self._values = {name: value for name, value in self._values.items() if name in expanded}
        for name, parameter in expanded.items():
            self._declare(node, name, parameter)
        if not self.errors:
            try:
                settings = read_settings(self._values)
                check_cpu(settings.rt_cpu)
                self.settings = settings
            except SettingsError as error:
                self.errors.append(str(error))
        node.add_on_set_parameters_callback(self._on_set)

    def _expand(self) -> dict[str, Parameter]:
        """Return the existing parameters, without those of invalid lists of names."""
        try:
            return expand_parameters(self._values)
        except SettingsError as error:
            self.errors.append(str(error))
        lists = ('frame_tasks', 'output_names')
        return expand_parameters({k: v for k, v in self._values.items() if k not in lists})

    def _declare(self, node: Node, name: str, parameter: Parameter) -> None:
        """Declare one parameter with its checked value, or the default after an error."""
        try:
            value = parameter.checked(self._values.get(name, parameter.default))
        except SettingsError as error:
            self.errors.append(str(error))
            value = parameter.default
        plain: Any = list(value) if isinstance(value, tuple) else value
        # rclpy takes an empty list for bytes, so an empty list of strings has one empty string,
        # and numbers are declared by type. A parameter without a value would hide all others in
        # the same request.
        if plain == [] and parameter.type == 'string[]':
            plain = ['']
        declared = _TYPES[parameter.type] if plain == [] else plain
        node.declare_parameter(name, declared, descriptor(parameter), ignore_override=True)
        if plain == []:
            node.set_parameters([RosParameter(name, _TYPES[parameter.type], [])])

    def _on_set(self, parameters: Sequence[RosParameter]) -> SetParametersResult:
        """Check a change as a whole and apply it, or return why not."""
        clocks = [given.value for given in parameters if given.name == 'use_sim_time']
        if any(clock != self._use_sim_time for clock in clocks):
            # This callback runs before the one of rclpy, which switches the clock.
            return SetParametersResult(successful=False, reason=_CLOCK_IS_FIXED)
        known = {
            parameter.name: parameter.value
            for parameter in parameters
            if parameter.name in self._names
        }
        if not known:
            return SetParametersResult(successful=True)
        values = {**self._values, **known}
        try:
            settings = read_settings(values)
        except SettingsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        reason = self._on_change(settings)
        if reason:
            return SetParametersResult(successful=False, reason=reason)
        self._values, self.settings = values, settings
        return SetParametersResult(successful=True)


def _constraints(parameter: Parameter) -> str:
    """Return unit and permitted values as text."""
    parts = [f'unit: {parameter.unit}'] if parameter.unit else []
    if parameter.bounds_text():
        parts.append(f'values: {parameter.bounds_text()}')
    if parameter.lengths:
        parts.append(f'entries: {" or ".join(map(str, parameter.lengths))}')
    return '; '.join(parts)
