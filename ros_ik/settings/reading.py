# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of names and values, as ROS gives them, to checked settings."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import difflib
import math
import re
from typing import Any

from ros_ik.settings.parameter import Parameter
from ros_ik.settings.parameter import SettingsError
from ros_ik.settings.schema import SCHEMA
from ros_ik.settings.values import BarrierSettings
from ros_ik.settings.values import JointLimitSettings
from ros_ik.settings.values import OutputSettings
from ros_ik.settings.values import Settings
from ros_ik.settings.values import TaskSettings

_GENERAL = {entry.name: entry for entry in SCHEMA if not entry.placeholder}
# Reserved names of tasks, whose parameters would collide with those of the node.
_RESERVED = {entry.name.partition('.')[0] for entry in SCHEMA} - {'<task>'}
_DEVICE = re.compile(r'auto|cpu|cuda(:\d+)?')
# Parameters that ROS declares on every node. It ends one whose value is not a bool.
ROS_FLAGS = {
    name: Parameter(name, 'bool', default, description='')
    for name, default in (('use_sim_time', False), ('start_type_description_service', True))
}
_OF_ROS = (*ROS_FLAGS, 'qos_overrides')


def expand_parameters(given: Mapping[str, object]) -> dict[str, Parameter]:
    """List every parameter that exists, given the names and values that the user chose.

    Args:
        given: Values by name. ``frame_tasks`` and ``output_names`` list tasks and outputs; joints
            and barriers come from the names of their parameters.

    Returns:
        The parameters by full name.

    Raises:
        SettingsError: An invalid list of names: wrong type, empty, repeated or reserved.
    """
    names = {
        'task': _name_list('frame_tasks', given, _RESERVED),
        'output': _name_list('output_names', given, ()),
        'joint': names_between('joint_limits.', given),
        'barrier': names_between('barriers.position.', given),
    }
    expanded = dict(_GENERAL)
    for entry in SCHEMA:
        for name in names.get(entry.placeholder, ()):
            parameter = entry.named(name)
            expanded[parameter.name] = parameter
    return expanded


def unknown_parameters(given: Iterable[str], expanded: Mapping[str, Parameter]) -> list[str]:
    """Return a message for each unknown name, with the closest known one."""
    return [
        f"there is no parameter '{name}'{_hint(name, expanded)}"
        for name in given
        if not _exists(name, expanded)
    ]


def known_values(given: Mapping[str, object]) -> dict[str, object]:
    """Return the values of the parameters that exist, as a node that warns of others keeps them.

    Args:
        given: Values by full name.

    Raises:
        SettingsError: See :func:`expand_parameters`.
    """
    expanded = expand_parameters(given)
    return {name: value for name, value in given.items() if name in expanded}


def read_settings(given: Mapping[str, object]) -> Settings:
    """Check values and convert them to settings; missing values have their defaults.

    Args:
        given: Values by full name.

    Returns:
        The settings.

    Raises:
        SettingsError: A name that no parameter has; a value that violates the schema or conflicts
            with another value.
    """
    expanded = expand_parameters(given)
    for name in given:
        if not _exists(name, expanded):
            raise SettingsError(name, f'there is no such parameter{_hint(name, expanded)}')
    values: dict[str, Any] = {
        name: parameter.checked(given.get(name, parameter.default))
        for name, parameter in expanded.items()
    }
    general = {
        name.replace('.', '_'): values[name]
        for name in _GENERAL
        if name not in ('frame_tasks', 'output_names')
    }
    settings = Settings(
        **general,
        tasks=tuple(_task(name, values) for name in values['frame_tasks']),
        joint_limits=tuple(
            _joint_limit(n, values) for n in names_between('joint_limits.', given)
        ),
        barriers=tuple(
            _barrier(name, values) for name in names_between('barriers.position.', given)
        ),
        outputs=tuple(_output(name, values) for name in values['output_names']),
    )
    _check_together(settings)
    return settings


def _exists(name: str, expanded: Mapping[str, Parameter]) -> bool:
    """Return True for a parameter of the node or of ROS."""
    return name in expanded or name.partition('.')[0] in _OF_ROS


def _hint(name: str, expanded: Iterable[str]) -> str:
    """Return a question for the closest known name, or ''."""
    close = difflib.get_close_matches(name, expanded, n=1)
    return f"; did you mean '{close[0]}'?" if close else ''


def _name_list(
    parameter: str, given: Mapping[str, object], reserved: Iterable[str]
) -> tuple[str, ...]:
    """Return the names of a list parameter, or raise SettingsError."""
    entry = _GENERAL[parameter]
    names: tuple[str, ...] = entry.checked(given.get(parameter, entry.default))  # type: ignore[assignment]
    if not names:
        raise SettingsError(parameter, 'expected at least one name, got none')
    for index, name in enumerate(names):
        if not (name.isascii() and name.isidentifier()):
            raise SettingsError(
                parameter,
                f'expected names of ASCII letters, digits and _, the first no digit, got {name!r}',
            )
        if name in names[:index]:
            raise SettingsError(parameter, f'{name!r} is named twice')
        if name in reserved:
            raise SettingsError(
                parameter, f'{name!r} is the name of a group of parameters; choose another'
            )
    return names


def names_between(prefix: str, given: Iterable[str]) -> tuple[str, ...]:
    """Return the middle of names like ``joint_limits.<joint>.max_velocity``; may contain dots."""
    middles = (name[len(prefix) :].rpartition('.')[0] for name in given if name.startswith(prefix))
    return tuple(dict.fromkeys(middle for middle in middles if middle))


def _section(pattern: str, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the parameters that match ``pattern``, by their last component."""
    prefix = pattern.format(name)
    return {
        key[len(prefix) :]: value
        for key, value in values.items()
        if key.startswith(prefix) and '.' not in key[len(prefix) :]
    }


def _task(name: str, values: Mapping[str, Any]) -> TaskSettings:
    section = _section('{}.', name, values)
    for key in ('position_weight', 'orientation_weight'):
        if isinstance(section[key], float):
            section[key] = (section[key],) * 3
    if not section['frame']:
        raise SettingsError(f'{name}.frame', "expected the name of a link, got ''")
    if not any(section['position_weight'] + section['orientation_weight']):
        raise SettingsError(
            f'{name}.position_weight', 'expected a weight above 0 on at least one axis'
        )
    return TaskSettings(name=name, **section)


def _joint_limit(joint: str, values: Mapping[str, Any]) -> JointLimitSettings:
    """Return the limits of one joint, None for those that are not set."""
    section = _section('joint_limits.{}.', joint, values)
    limits: dict[str, float | None] = {}
    for kind in ('velocity', 'acceleration', 'jerk'):
        key = f'max_{kind}'
        limits[key] = section[key] if section[f'has_{kind}_limits'] else None
        if limits[key] == 0.0:
            raise SettingsError(f'joint_limits.{joint}.{key}', 'expected a limit above 0, got 0.0')
    for key in ('min_position', 'max_position'):
        given = section['has_position_limits'] and math.isfinite(section[key])
        limits[key] = section[key] if given else None
    if section['has_position_limits'] and not section['min_position'] < section['max_position']:
        raise SettingsError(
            f'joint_limits.{joint}.min_position',
            f'expected less than max_position, got {section["min_position"]:g} and '
            f'{section["max_position"]:g}',
        )
    return JointLimitSettings(joint, **limits)


def _barrier(name: str, values: Mapping[str, Any]) -> BarrierSettings:
    box = BarrierSettings(name=name, **_section('barriers.position.{}.', name, values))
    _check_box(f'barriers.position.{name}', box)
    return box


def _check_box(prefix: str, box: BarrierSettings) -> None:
    """Check that a box has a link, a face and room inside."""
    if not box.frame:
        raise SettingsError(f'{prefix}.frame', "expected the name of a link, got ''")
    if not all(low < high for low, high in zip(box.min, box.max, strict=True)):
        raise SettingsError(
            f'{prefix}.min', f'expected less than max on each axis, got {box.min}, {box.max}'
        )
    sides = [
        (low, high)
        for low, high, is_kept in zip(box.min, box.max, box.axes, strict=True)
        if is_kept
    ]
    if not any(math.isfinite(face) for side in sides for face in side):
        raise SettingsError(
            f'{prefix}.min', f'expected a bound, here or in max, on an axis of axes {box.axes}'
        )
    for low, high in sides:
        if not low + box.margin < high - box.margin:
            raise SettingsError(
                f'{prefix}.margin',
                f'expected less than half of each side, got {box.margin:g} and a side of '
                f'{high - low:g}',
            )


def _output(name: str, values: Mapping[str, Any]) -> OutputSettings:
    section = _section('outputs.{}.', name, values)
    if not section['topic']:
        raise SettingsError(f'outputs.{name}.topic', "expected a topic, got ''")
    return OutputSettings(name=name, **section)


def _check_horizon(output: OutputSettings, settings: Settings) -> None:
    """Check that the last point of an output comes after all others."""
    steps, horizon = settings.rollout_steps, output.command_horizon
    least = (steps + 2.0) * settings.period
    # Tolerance for a horizon that was rounded to a decimal number.
    if horizon < (least if steps == 0 else least * (1.0 - 1e-9)):
        periods = f'rollout_steps + 2 = {steps + 2}' if steps else 'two'
        raise SettingsError(
            f'outputs.{output.name}.command_horizon',
            f'expected at least {periods} control periods ({least:g} s), got {horizon:g}',
        )


def _check_aims(settings: Settings) -> None:
    """Check that secondary aims are complete and have an effect."""
    for task in settings.tasks:
        if task.elbow_speed > 0.0 and not any(task.elbow_direction):
            raise SettingsError(f'{task.name}.elbow_direction', 'expected a direction, got zeros')
    speeds = [max(task.elbow_speed, task.manipulability_speed) for task in settings.tasks]
    if settings.posture_weight == 0.0 and max(settings.posture_centering, *speeds) > 0.0:
        raise SettingsError(
            'posture.weight',
            'expected a weight above 0, without which elbow_speed, manipulability_speed and '
            'posture.centering have no effect',
        )


def _check_together(settings: Settings) -> None:
    """Check relations between parameters.

    Raises:
        SettingsError: Two outputs on one topic, a horizon too short for two control periods and
            the predicted steps, or aims without an effect.
    """
    topics = [output.topic for output in settings.outputs]
    for index, output in enumerate(settings.outputs):
        if output.topic in topics[:index]:
            raise SettingsError(
                f'outputs.{output.name}.topic', f'{output.topic!r} is the topic of another output'
            )
        _check_horizon(output, settings)
    device = settings.device
    if not all(_DEVICE.fullmatch(name.strip()) for name in device.split(',')):
        raise SettingsError(
            'device',
            "expected 'auto', 'cpu', 'cuda' or 'cuda:N', or several with commas between them, "
            f'got {device!r}',
        )
    _check_aims(settings)
    if not settings.limits_position_margin:
        raise SettingsError(
            'limits.position_margin', 'expected one number or one per joint, got none'
        )
