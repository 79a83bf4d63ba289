# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Another permitted value for every dynamic parameter, including future ones."""

from ros_ik.settings import expand_parameters


def dynamic_parameters(given):
    """Return the dynamic parameters that exist with these values, by name."""
    entries = expand_parameters(given)
    return {name: entry for name, entry in entries.items() if not entry.read_only}


def other_value(entry, value, n_joints):
    """Return a different permitted value, of the same or another permitted size."""
    if entry.choices:
        return next(choice for choice in entry.choices if choice != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, (list, tuple)):
        length = len(value) or n_joints
        numbers = [*value] or [0.0] * length
        return [_other_number(entry, number) for number in numbers]
    return _other_number(entry, value)


def _other_number(entry, number):
    """Return a number nearby: the double, the half or a small one."""
    kind = type(number)
    for other in (kind(number * 0.5), kind(number * 2), kind(number + 0.01), number + 1):
        high = entry.maximum is None or other <= entry.maximum
        if other != number and high and (entry.minimum is None or other > entry.minimum):
            return other
    raise AssertionError(f'no other value for {entry.name}')
