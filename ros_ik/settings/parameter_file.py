# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter files of ROS as names and values, with the types that ROS gives them.

ROS has rules of its own for the type of a value (``rcl_yaml_param_parser``): ``1e-3`` is a number,
``y`` is true, and the entries of a list have one type. PyYAML by itself has others.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
import math
import re
from typing import Any

import yaml

from ros_ik.errors import ArgumentError
from ros_ik.numbers import shown
from ros_ik.settings.dotted_sections import dotted_section_message

# Names that stand for every node.
_NODES = ('*', '**')
_PARAMETERS = 'ros__parameters'
_STRING = 'tag:yaml.org,2002:str'
# Tag of a scalar without quotes and without a tag.
_PLAIN = 'plain'
_BOOLEANS = {
    spelling: value
    for value, words in ((True, ('y', 'yes', 'true', 'on')), (False, ('n', 'no', 'false', 'off')))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r'[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)')
_LARGEST_INTEGER = 2**63 - 1
# Infinity and NaN are those of C, with or without the dot of YAML.
_FLOAT = re.compile(
    r'[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?P<word>\.?(?i:inf|infinity|nan)))'
)


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
        node: Name of the node, which may be in any namespace. Of sections that apply to it, the
            later ones override the earlier ones.

    Raises:
        ArgumentError: No YAML, no section for this node, or something that ROS cannot read: an
            alias, a name without a value, a list with entries of several types, or a section whose
            name contains a dot. ROS loses the first part of such a name where the section ends,
            and puts the parameters that follow into a wrong section.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ArgumentError(f'the parameter file is not valid YAML: {error}') from error
    if not isinstance(root, yaml.MappingNode):
        raise ArgumentError("the parameter file has no section such as '/**:'")
    sections = list(_sections(root))
    found: dict[str, Any] = {}
    faults: list[str] = []
    for name, values in sections:
        if name.rpartition('/')[2] in (*_NODES, node):
            found |= _parameters(values, '', faults)
    if faults:
        raise ArgumentError('; '.join(faults))
    if not any(name.rpartition('/')[2] in (*_NODES, node) for name, _ in sections):
        names = ', '.join(repr(name) for name, _ in sections)
        raise ArgumentError(f"the parameter file has sections {names}; expected '/**' or '{node}'")
    return found


class _Loader(yaml.SafeLoader):
    """Loader of nodes that marks plain scalars, and refuses aliases."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """Return the tag of a node."""
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        return super().resolve(kind, value, implicit)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node."""
        if self.check_event(yaml.AliasEvent):
            where = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, 'ROS reads no aliases', where)
        return super().compose_node(parent, index)


def _sections(root: yaml.MappingNode, above: str = '') -> Iterator[tuple[str, yaml.MappingNode]]:
    """Yield the names of nodes and their parameters; a name may be nested in its namespace."""
    for key, value in root.value:
        name = f'{above}/{key.value}' if above else str(key.value)
        if not isinstance(value, yaml.MappingNode) or not value.value:
            raise ArgumentError(f"{name!r} of the parameter file is in no '{_PARAMETERS}:'")
        if key.value == _PARAMETERS:
            yield above, value
        else:
            yield from _sections(value, name)


def _parameters(section: yaml.MappingNode, prefix: str, faults: list[str]) -> dict[str, Any]:
    """Return the parameters of a section by dotted name, and add its faults to a list."""
    found: dict[str, Any] = {}
    for key, value in section.value:
        name = f'{prefix}{key.value}'
        if isinstance(value, yaml.MappingNode):
            if '.' in key.value and value.value:
                faults.append(dotted_section_message(key.value, value.value[0][0].value))
            found |= _parameters(value, f'{name}.', faults)
        else:
            found[name] = _value(name, value, faults)
    return found


def _value(name: str, node: yaml.Node, faults: list[str]) -> Any:
    """Return the value of a parameter, and add its fault to a list."""
    if isinstance(node, yaml.MappingNode):
        return _parameters(node, f'{name}.', faults)
    if isinstance(node, yaml.SequenceNode):
        entries = [_value(name, entry, faults) for entry in node.value]
        kinds = {type(entry) for entry in entries}
        if len(kinds) > 1:
            hint = '; write 1.0 for 1' if kinds == {int, float} else ''
            faults.append(
                f"parameter '{name}': ROS reads lists with entries of one type, got "
                f'{shown(entries)}{hint}'
            )
        return entries
    if node.tag == _PLAIN and not node.value:
        faults.append(f"parameter '{name}': ROS reads no name without a value")
    return node.value if node.tag == _STRING else _plain_value(node.value)


def _plain_value(text: str) -> bool | int | float | str:
    """Return the value of a scalar without quotes."""
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        digits = text.lstrip('+-')
        base = 16 if digits[1:2] in ('x', 'X') else 8 if digits[0] == '0' else 10
        integer = int(text, base)
        if abs(integer) <= _LARGEST_INTEGER:
            return integer
    match = _FLOAT.fullmatch(text)
    if match is None:
        return text
    if match['word']:
        return float(text.replace('.', ''))
    number = float(text)
    # ROS takes a number that is too large for a string.
    return text if math.isinf(number) else number
