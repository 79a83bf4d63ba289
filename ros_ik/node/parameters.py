# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a ROS node from the schema: descriptors, checked values at the start and later."""

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


def descriptor(parameter: Parameter) -> ParameterDescriptor:
    """Return what ``ros2 param describe`` shows of a parameter."""
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

    A wrong value at the start does not stop the node: the default stands in for it, and
    :attr:`errors` says why the node cannot be configured.

    Attributes:
        settings: The current settings, None while there are errors.
        errors: What is wrong with the values given at the start.
        unknown: Sentences on names given at the start that no parameter has.
    """

    def __init__(self, node: Node, on_change: Callable[[Settings], str]) -> None:
        """Declare every parameter.

        Args:
            node: The node, with overrides not declared yet.
            on_change: Called with settings that passed every check, before they are in force;
                returns why they cannot be, '' if they can.
        """
        self._on_change = on_change
        self.settings: Settings | None = None
        self.errors: list[str] = []
        # The names of joints and barriers are the user's: they are found among the overrides, for
        # which rclpy has no public access before they are declared.
        overrides = node._parameter_overrides  # noqa: SLF001
        self._values = {
            name: given.value for name, given in overrides.items() if given.value is not None
        }
        expanded = self._expand()
        # Which ones exist is settled now: names of tasks, outputs, joints and barriers stay.
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
        """Return the parameters that exist; those of unusable lists of names are left out."""
        try:
            return expand_parameters(self._values)
        except SettingsError as error:
            self.errors.append(str(error))
        lists = ('frame_tasks', 'output_names')
        return expand_parameters({k: v for k, v in self._values.items() if k not in lists})

    def _declare(self, node: Node, name: str, parameter: Parameter) -> None:
        try:
            value = parameter.checked(self._values.get(name, parameter.default))
        except SettingsError as error:
            self.errors.append(str(error))
            value = parameter.default
        plain: Any = list(value) if isinstance(value, tuple) else value
        # rclpy takes an empty list for bytes: strings have a sign for it, numbers are declared by
        # type. A parameter without a value would hide all others that are asked for with it.
        if plain == [] and parameter.type == 'string[]':
            plain = ['']
        declared = _TYPES[parameter.type] if plain == [] else plain
        node.declare_parameter(name, declared, descriptor(parameter), ignore_override=True)
        if plain == []:
            node.set_parameters([RosParameter(name, _TYPES[parameter.type], [])])

    def _on_set(self, parameters: Sequence[RosParameter]) -> SetParametersResult:
        """Check a change as a whole and take it over, or say why not."""
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
    """Return unit and permitted values for a person."""
    parts = [f'unit: {parameter.unit}'] if parameter.unit else []
    if parameter.bounds_text():
        parts.append(f'values: {parameter.bounds_text()}')
    if parameter.lengths:
        parts.append(f'entries: {" or ".join(map(str, parameter.lengths))}')
    return '; '.join(parts)
