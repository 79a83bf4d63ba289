# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Entry of the schema: a parameter with its type, default, unit, bounds and description."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math
import re

from ros_ik.errors import RosIkError
from ros_ik.numbers import shown

Value = bool | int | float | str | tuple[float, ...] | tuple[bool, ...] | tuple[str, ...]

_SCALAR_TYPES: dict[str, tuple[type, ...]] = {
    'bool': (bool,),
    'int': (int,),
    'double': (float, int),
    'string': (str,),
}
# Name of a topic in ROS: parts of letters, digits and _ that begin with no digit; {node}, {ns} and
# {namespace} stand for those of the node.
_PART = r'([A-Za-z_]|{(node|ns|namespace)})([A-Za-z0-9_]|{(node|ns|namespace)})*'
_TOPIC = re.compile(rf'~|(~?/)?{_PART}(/{_PART})*')
# Largest weight of a task [1/m, 1/rad or 1], so that sums of its squares are finite.
MAX_WEIGHT = 1e6
# Least acceleration towards a target [m/s^2 or rad/s^2], so that braking takes a finite number of
# ticks.
MIN_ACCELERATION = 1e-6
# Largest rate of the control loop, and of the joint states of the demo's robot [Hz].
MAX_RATE = 1000.0


class SettingsError(RosIkError, ValueError):
    """A parameter with an invalid value.

    Attributes:
        parameter: Name of the parameter.
        reason: The given value and the expected one.
    """

    def __init__(self, parameter: str, reason: str) -> None:
        super().__init__(f"parameter '{parameter}': {reason}")
        self.parameter = parameter
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of the node.

    Attributes:
        name: Full name; ``<task>``, ``<joint>``, ``<barrier>`` and ``<output>`` stand for names
            that the user chooses.
        type: ``bool``, ``int``, ``double``, ``string``, an array of one of them such as
            ``double[]``, or ``double|double[]`` for one number or several.
        default: Default value.
        description: Description, with the reason for the default.
        unit: Unit, or ''.
        minimum: Smallest value of each number, or None.
        maximum: Largest value of each number, or None.
        exclusive_minimum: True if ``minimum`` itself is invalid.
        choices: Permitted strings; empty for all.
        lengths: Permitted lengths of an array; empty for all.
        read_only: True if it can only be set at the start; others apply at the next tick.
        finite: True if infinite values are invalid. NaN always is.
        is_topic: True for the name of a topic, or ''.
    """

    name: str
    type: str
    default: Value
    description: str
    unit: str = ''
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    choices: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    read_only: bool = False
    finite: bool = True
    is_topic: bool = False

    @property
    def is_array(self) -> bool:
        """True if the parameter accepts arrays only."""
        return self.type.endswith('[]') and '|' not in self.type

    @property
    def placeholder(self) -> str:
        """Name within angle brackets, or ''."""
        return self.name.partition('<')[2].partition('>')[0]

    def named(self, name: str) -> Parameter:
        """Return this parameter with its placeholder replaced by ``name``."""
        return dataclasses.replace(self, name=self.name.replace(f'<{self.placeholder}>', name))

    def checked(self, value: object) -> Value:
        """Return a value converted to the type of the schema: numbers to float, arrays to tuples.

        Raises:
            SettingsError: A wrong type, length or choice, NaN, or a number outside the bounds.
        """
        if self._takes_arrays and isinstance(value, Sequence) and not isinstance(value, str):
            # In ROS an empty list has no type, so a list with one empty name is used instead.
            if self.type == 'string[]' and list(value) == ['']:
                value = ()
            if self.lengths and len(value) not in self.lengths:
                expected = ' or '.join(str(length) for length in self.lengths)
                raise SettingsError(self.name, f'expected {expected} entries, got {shown(value)}')
            return tuple(self._checked_scalar(entry) for entry in value)  # type: ignore[return-value]
        if self.is_array:
            raise SettingsError(self.name, f'expected an array ({self.type}), got {shown(value)}')
        return self._checked_scalar(value)

    def bounds_text(self) -> str:
        """Return the permitted values as text, or '' if all are."""
        if self.choices:
            return ', '.join(f"'{choice}'" for choice in self.choices)
        if self.minimum is None and self.maximum is None:
            return ''
        is_open = self.exclusive_minimum if self.minimum is not None else self.finite
        opening = '(' if is_open else '['
        low = '-inf' if self.minimum is None else f'{self.minimum:g}'
        high = 'inf' if self.maximum is None else f'{self.maximum:g}'
        closing = ')' if self.maximum is None and self.finite else ']'
        return f'{opening}{low}, {high}{closing}'

    @property
    def _takes_arrays(self) -> bool:
        return '[]' in self.type

    @property
    def _scalar_type(self) -> str:
        return self.type.partition('|')[0].removesuffix('[]')

    def _checked_scalar(self, value: object) -> bool | int | float | str:
        """Return a scalar in the type of the parameter, or raise SettingsError."""
        expected = self._scalar_type
        wrong_bool = isinstance(value, bool) and expected != 'bool'
        if wrong_bool or not isinstance(value, _SCALAR_TYPES[expected]):
            raise SettingsError(self.name, f'expected {self.type}, got {shown(value)}')
        if isinstance(value, str):
            if self.choices and value not in self.choices:
                raise SettingsError(
                    self.name, f'expected one of {self.bounds_text()}, got {shown(value)}'
                )
            if self.is_topic and value and not _TOPIC.fullmatch(value):
                raise SettingsError(
                    self.name, f'expected the name of a topic, got {shown(value)}'
                )
            return value
        if isinstance(value, bool):
            return value
        number = value if expected == 'int' else float(value)  # type: ignore[arg-type]
        self._check_number(number)  # type: ignore[arg-type]
        return number  # type: ignore[return-value]

    def _check_number(self, number: float) -> None:
        if math.isnan(number) or (self.finite and math.isinf(number)):
            raise SettingsError(self.name, f'expected a finite number, got {number}')
        low = self.minimum is not None and (
            number < self.minimum or (self.exclusive_minimum and number == self.minimum)
        )
        if low or (self.maximum is not None and number > self.maximum):
            unit = f' {self.unit}' if self.unit else ''
            raise SettingsError(
                self.name, f'expected a value in {self.bounds_text()}{unit}, got {number}'
            )
