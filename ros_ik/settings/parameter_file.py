# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter files of ROS as names and values, with the types that ROS gives them.

ROS has rules of its own for the type of a value (``rcl_yaml_param_parser``): ``1e-3`` is a number,
``y`` is true, and the entries of a list have one type. PyYAML by itself has others.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
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
_QUOTES = ("'", '"')
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


def parameter_text(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a parameter file that ROS reads as these values.

    Args:
        sections: Parameters, nested or by dotted name, by the name of a node such as ``/**``.
    """
    tree = {name: {_PARAMETERS: dict(values)} for name, values in sections.items()}
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=99)


def list_text(values: Iterable[Any]) -> str:
    """Return a list of scalars on one line, as it stands in a parameter file."""
    written = yaml.dump(list(values), Dumper=_Dumper, default_flow_style=True, width=math.inf)
    return written.strip()


class _Dumper(yaml.SafeDumper):
    """Writer that quotes each string that ROS takes for something else, and uses no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: ROS reads no aliases."""
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Return the node of a string."""
        style = None if isinstance(_plain_value(data), str) else "'"
        return self.represent_scalar(_STRING, data, style)


_Dumper.add_representer(str, _Dumper.represent_str)


@dataclasses.dataclass(frozen=True)
class ParameterFile:
    """Parameters of a node in a file.

    Attributes:
        values: Values by dotted name.
        repeated: Names that one section gives several times; the last value counts.
    """

    values: dict[str, Any]
    repeated: tuple[str, ...]


def read_parameters(text: str, node: str = 'ros_ik') -> dict[str, Any]:
    """Return the values of :func:`read_parameter_file`."""
    return read_parameter_file(text, node).values


def read_parameter_file(text: str, node: str = 'ros_ik') -> ParameterFile:
    """Return the parameters of a node in a parameter file.

    Args:
        text: The file.
        node: Name of the node, which may be in any namespace. Of sections that apply to it, the
            later ones override the earlier ones.

    Raises:
        ArgumentError: No YAML, no section for this node, or something that ROS cannot read, in
            the sections of other nodes too, because ROS then starts no node with the file. Such
            are an alias, a name that is a list, a name without a value, an empty section, a list
            in a list, a list with entries of several types, a name with values of several types,
            or a section whose name contains a dot. ROS loses the first part of such a name where
            the section ends, and puts the parameters that follow into a wrong section.
    """
    found: dict[str, Any] = {}
    kinds: dict[tuple[str, str], Any] = {}
    given: collections.Counter[tuple[str, str]] = collections.Counter()
    faults: list[str] = []
    sections = list(_sections(_root(text)))
    for name, values in sections:
        for parameter, value in _parameters(values, '', faults):
            if kinds.setdefault((name, parameter), _kind(value)) != _kind(value):
                faults.append(
                    f"parameter '{parameter}': ROS reads a name that is given twice with values "
                    'of one type'
                )
            if _is_for(name, node):
                found[parameter] = value
                given[name, parameter] += 1
    if faults:
        raise ArgumentError('; '.join(faults))
    if not any(_is_for(name, node) for name, _ in sections):
        names = ', '.join(repr(name) for name, _ in sections)
        raise ArgumentError(f"the parameter file has sections {names}; expected '/**' or '{node}'")
    repeated = dict.fromkeys(name for (_, name), count in given.items() if count > 1)
    return ParameterFile(found, tuple(repeated))


def _root(text: str) -> yaml.MappingNode:
    """Return the sections of all nodes.

    Raises:
        ArgumentError: No YAML, or no section.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ArgumentError(f'the parameter file is not valid YAML: {error}') from error
    except RecursionError as error:
        raise ArgumentError('the parameter file nests lists or sections too deeply') from error
    if not isinstance(root, yaml.MappingNode):
        raise ArgumentError("the parameter file has no section such as '/**:'")
    return root


def _is_for(section: str, node: str) -> bool:
    """Return True for a section that applies to a node, in any namespace."""
    return section.rpartition('/')[2] in (*_NODES, node)


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
        name = f'{above}/{_name(key)}' if above else _name(key)
        if not isinstance(value, yaml.MappingNode):
            fault = 'is no section' if key.value == _PARAMETERS else f"is in no '{_PARAMETERS}:'"
            raise ArgumentError(f'{name!r} of the parameter file {fault}')
        if key.value == _PARAMETERS:
            yield above, value
        else:
            yield from _sections(value, name)


def _name(key: yaml.Node) -> str:
    """Return the name before a value.

    Raises:
        ArgumentError: It is empty, a list or a section.
    """
    if not isinstance(key, yaml.ScalarNode) or not key.value:
        line = key.start_mark.line + 1
        raise ArgumentError(
            f'line {line} of the parameter file: ROS reads no name that is empty, a list or a '
            'section'
        )
    return str(key.value)


def _parameters(
    section: yaml.MappingNode, prefix: str, faults: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield names with dots and values of a section, and add its faults to a list."""
    for key, value in section.value:
        name = f'{prefix}{_name(key)}'
        if not isinstance(value, yaml.MappingNode):
            yield name, _value(name, value, faults)
        elif not value.value:
            faults.append(f"section '{name}': ROS reads no empty section")
        else:
            if '.' in key.value:
                faults.append(dotted_section_message(key.value, value.value[0][0].value))
            yield from _parameters(value, f'{name}.', faults)


def _value(name: str, node: yaml.Node, faults: list[str]) -> Any:
    """Return the value of a parameter, and add its fault to a list."""
    if isinstance(node, yaml.SequenceNode):
        if not all(isinstance(entry, yaml.ScalarNode) for entry in node.value):
            faults.append(f"parameter '{name}': ROS reads no lists and sections in a list")
            return []
        entries = [_value(name, entry, faults) for entry in node.value]
        kinds = {type(entry) for entry in entries}
        if len(kinds) > 1:
            hint = '; write 1.0 for 1' if kinds == {int, float} else ''
            faults.append(
                f"parameter '{name}': ROS reads lists with entries of one type, got "
                f'{shown(entries)}{hint}'
            )
        return entries
    if not node.value and node.style not in _QUOTES:
        faults.append(f"parameter '{name}': ROS reads no name without a value")
    is_text = node.style in _QUOTES or (node.tag == _STRING and node.style is None)
    return node.value if is_text else _plain_value(node.value)


def _kind(value: Any) -> tuple[type, type | None]:
    """Return the type of a value, and that of the entries of a list."""
    entries = value if isinstance(value, list) else ()
    return type(value), type(entries[0]) if entries else None


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
