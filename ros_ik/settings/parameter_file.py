# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter files of ROS as names and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ros_ik.errors import ArgumentError
from ros_ik.settings.dotted_sections import dotted_section_message

# Sections that apply to every node.
_NODES = ('/**', '/*', '**', '*')


def flat(values: Mapping[str, Any], section: str = '') -> dict[str, Any]:
    """Return nested values by dotted name."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = f'{section}{key}'
        found |= flat(value, f'{name}.') if isinstance(value, Mapping) else {name: value}
    return found


def read_parameters(text: str, node: str = 'ros_ik') -> dict[str, Any]:
    """Return the parameters of a node in a parameter file, by dotted name.

    Args:
        text: The file.
        node: Name of the node; its own section comes after those for every node.

    Raises:
        ArgumentError: No YAML, no section for this node, or a section whose name contains a dot.
            ROS loses the first part of such a name where the section ends, and puts the parameters
            that follow into a wrong section.
    """
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ArgumentError(f'the parameter file is not valid YAML: {error}') from error
    if not isinstance(tree, Mapping):
        raise ArgumentError("the parameter file has no section such as '/**:'")
    found: dict[str, Any] = {}
    sections = [*(key for key in tree if key in _NODES), *(k for k in tree if _is_of(k, node))]
    for key in sections:
        section = tree[key]
        values = section.get('ros__parameters') if isinstance(section, Mapping) else None
        if not isinstance(values, Mapping):
            raise ArgumentError(f"section {key!r} of the parameter file has no 'ros__parameters:'")
        _check_sections(values)
        found |= flat(values)
    if not sections:
        names = ', '.join(map(repr, tree))
        raise ArgumentError(f"the parameter file has sections {names}; expected '/**' or '{node}'")
    return found


def _check_sections(values: Mapping[str, Any]) -> None:
    """Raise ArgumentError if the name of a section contains a dot."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            if '.' in str(key) and value:
                raise ArgumentError(dotted_section_message(key, next(iter(value))))
            _check_sections(value)


def _is_of(key: Any, node: str) -> bool:
    """Return True if a section applies to a node, in any namespace."""
    return isinstance(key, str) and key.rpartition('/')[2] == node
