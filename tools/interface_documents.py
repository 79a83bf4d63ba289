# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/interface.md and the SROS 2 policy, when run as a module (`make docs`).

Both come from docs/interface.yaml and from the files in ros_ik_interfaces; rosidl_adapter, which
every ROS install has, reads those.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import textwrap
from typing import Any
from xml.etree import ElementTree

import yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 'ros_ik_interfaces'
INTERFACE_FILE = ROOT / 'docs' / 'interface.md'
POLICY_FILE = ROOT / 'config' / 'sros2' / 'ros_ik.policy.xml'
NODE_NAME = 'ros_ik'

_INTRODUCTION = """\
# Interface

Topics, services and actions of the node, and the messages that they use. `~` stands for the name
of the node, `ros_ik` by default, and `<task>` for each entry of the parameter `frame_tasks`. Names
without a leading slash are in the namespace of the node. [parameters.md](parameters.md) lists the
parameters, [troubleshooting.md](troubleshooting.md) the status codes and remedies.

Positions are in m, angles in rad, times in s. A pose is a position and a unit quaternion x, y, z,
w. An empty `frame_id` selects the `reference_frame` of the task, by default `base_frame`.

Topics, services and actions exist while the node is configured, active or not, unless their row
says otherwise. Targets move the robot only while the node is active.

`make docs` generates this page from `docs/interface.yaml` and the files in `ros_ik_interfaces`.
"""
_QOS_NOTE = """\
The QoS column is the profile that the node uses: reliability, durability, depth. A best-effort
subscription receives from reliable and from best-effort publishers. One that is transient local
receives from publishers that are transient local; "transient local or volatile" from all.
"""
_STANDARD = """\
`ros2 lifecycle` and `ros2 param` use these services: {services}. The node publishes {publishers},
and subscribes to `/clock` while `use_sim_time` is true. The process `<node>_planning` publishes
{planning} and has no parameters of its own.
"""
_KINDS = {'msg': 'Messages', 'srv': 'Services', 'action': 'Actions'}
_POLICY_COMMENT = """
  Permissions of ros_ik_node and of its process for planners on the graph; made from
  docs/interface.yaml by `make docs`, used as docs/security.md describes. Add the topic of each
  output other than ~/joint_trajectory, and change ns if the node has a namespace.
"""


def load_table() -> dict[str, Any]:
    """Return docs/interface.yaml."""
    return yaml.safe_load((ROOT / 'docs' / 'interface.yaml').read_text(encoding='utf-8'))


def interface_text() -> str:
    """Return the content of docs/interface.md."""
    table = load_table()
    parts = [
        _INTRODUCTION,
        '## Topics in\n',
        _QOS_NOTE,
        _topic_table(table, 'subscriptions'),
        '## Topics out\n',
        _topic_table(table, 'publishers'),
        '## Services\n',
        _call_table(table['services']),
        '## Actions\n',
        _call_table(table['actions']),
        _standard_text(table['standard']),
    ]
    for kind, title in _KINDS.items():
        parts.append(f'## {title} of {PACKAGE}\n')
        parts += [definition(kind, path) for path in sorted((ROOT / PACKAGE / kind).glob('*.*'))]
    return '\n'.join(parts)


def policy_text() -> str:
    """Return the content of config/sros2/ros_ik.policy.xml."""
    table = load_table()
    policy = ElementTree.Element('policy', version='0.2.0')
    enclave = ElementTree.SubElement(
        ElementTree.SubElement(policy, 'enclaves'), 'enclave', path=f'/{NODE_NAME}'
    )
    profiles = ElementTree.SubElement(enclave, 'profiles')
    for process, node in (('node', NODE_NAME), ('planning', f'{NODE_NAME}_planning')):
        profile = ElementTree.SubElement(profiles, 'profile', ns='/', node=node)
        for (group, item, permission), names in permissions(table, process).items():
            if names:
                element = ElementTree.SubElement(profile, group, {permission: 'ALLOW'})
                for name in names:
                    ElementTree.SubElement(element, item).text = name
    ElementTree.indent(policy)
    text = ElementTree.tostring(policy, encoding='unicode')
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!-- Copyright 2026 The ros_ik developers -->\n'
        f'<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!--{_POLICY_COMMENT}-->\n{text}\n'
    )


def permissions(table: dict[str, Any], process: str) -> dict[tuple[str, str, str], list[str]]:
    """Return the names that a process uses, by the elements and the attribute of the policy.

    Args:
        table: docs/interface.yaml.
        process: 'node', or 'planning' for the process that answers planners.
    """
    standard = table['standard'][process]

    def names(section: str) -> list[str]:
        of_process = [entry for entry in table[section] if _process(entry) == process]
        listed = [_wildcards(entry['name'], process) for entry in of_process]
        return sorted([*listed, *standard.get(section, [])])

    return {
        ('topics', 'topic', 'subscribe'): names('subscriptions'),
        ('topics', 'topic', 'publish'): names('publishers'),
        ('services', 'service', 'reply'): names('services'),
        ('actions', 'action', 'execute'): names('actions'),
    }


def _process(entry: dict[str, str]) -> str:
    return entry.get('process', 'node')


def _wildcards(name: str, process: str) -> str:
    """Return a name of the table as a policy has it."""
    if process == 'planning':
        # These names lie below the node, not below the node of this process.
        name = name.replace('~/', f'{NODE_NAME}/')
    return name.replace('<task>', '*')


def _topic_table(table: dict[str, Any], section: str) -> str:
    rows = []
    for entry in table[section]:
        qos = table['qos'][entry['qos']]
        about = f'{qos["reliability"]}, {qos["durability"]}, {qos["depth"]}'
        rows.append((f'`{entry["name"]}`', f'`{entry["type"]}`', about, _meaning(entry)))
    return _rows(('name', 'type', 'QoS', 'meaning'), rows)


def _call_table(entries: list[dict[str, str]]) -> str:
    rows = [(f'`{entry["name"]}`', f'`{entry["type"]}`', _meaning(entry)) for entry in entries]
    return _rows(('name', 'type', 'meaning'), rows)


def _meaning(entry: dict[str, str]) -> str:
    sentences = [entry['meaning']]
    if 'needs' in entry:
        sentences.append(f'Only if `{entry["needs"]}` is installed.')
    if _process(entry) == 'planning':
        sentences.append('Answered by the process `<node>_planning`.')
    if entry.get('while') == 'always':
        sentences.append('In every lifecycle state.')
    return ' '.join(sentences)


def _standard_text(standard: dict[str, dict[str, list[str]]]) -> str:
    def listed(names: list[str]) -> str:
        return ', '.join(f'`{name}`' for name in names)

    node = standard['node']
    text = _STANDARD.format(
        services=listed(node['services']),
        publishers=listed(node['publishers']),
        planning=listed(standard['planning']['publishers']),
    )
    return '## Standard interfaces of a lifecycle node\n\n' + textwrap.fill(text, 99) + '\n'


def definition(kind: str, path: Path) -> str:
    """Return the section of one interface file.

    Args:
        kind: 'msg', 'srv' or 'action'.
        path: The file.
    """
    titles, specifications = _parsed(kind, path)
    comment = next(
        (spec.annotations['comment'] for spec in specifications if spec.annotations['comment']), []
    )
    sections = [f'### {path.stem}\n', '\n'.join(comment) + '\n']
    introductions = _introductions(path)
    for title, specification in zip(titles, specifications, strict=True):
        if title:
            sections.append(f'{title}:\n')
        sections += _members(specification, introductions)
    return '\n'.join(sections)


def _parsed(kind: str, path: Path) -> tuple[tuple[str, ...], list[Any]]:
    """Return the titles and the specifications of the parts of one interface file."""
    from rosidl_adapter import parser

    if kind == 'msg':
        return ('',), [parser.parse_message_file(PACKAGE, str(path))]
    if kind == 'srv':
        service = parser.parse_service_file(PACKAGE, str(path))
        return ('Request', 'Response'), [service.request, service.response]
    action = parser.parse_action_file(PACKAGE, str(path))
    return ('Goal', 'Result', 'Feedback'), [action.goal, action.result, action.feedback]


def _introductions(path: Path) -> frozenset[str]:
    """Return the comments that begin a line: they introduce what follows, and no single field."""
    lines = path.read_text(encoding='utf-8').splitlines()
    return frozenset(line.lstrip('#').strip() for line in lines if line.startswith('#'))


def _members(specification: Any, introductions: frozenset[str]) -> Iterator[str]:
    """Yield the tables of constants and fields."""

    def meaning(member: Any) -> str:
        return _comment(member, introductions)

    if specification.constants:
        rows = [
            (f'`{constant.name}`', f'`{constant.type}`', str(constant.value), meaning(constant))
            for constant in specification.constants
        ]
        yield _rows(('constant', 'type', 'value', 'meaning'), rows)
    if specification.fields:
        rows = [
            (f'`{field.name}`', f'`{field.type}`', _unit(field), meaning(field))
            for field in specification.fields
        ]
        yield _rows(('field', 'type', 'unit', 'meaning'), rows)


def _unit(member: Any) -> str:
    return member.annotations.get('unit', '')


def _comment(member: Any, introductions: frozenset[str]) -> str:
    """Return a comment of one or more lines as one, without what introduces a group."""
    lines = [line.strip() for line in member.annotations.get('comment', [])]
    return ' '.join(line for line in lines if line not in introductions).replace('|', '\\|')


def _rows(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [' | '.join(cells) for cells in (head, *rows)]
    lines = [f'| {line} |' for line in lines]
    return '\n'.join([lines[0], '|' + '---|' * len(head), *lines[1:]]) + '\n'


def main() -> None:
    """Write both documents into the repository that this file belongs to."""
    INTERFACE_FILE.write_text(interface_text(), encoding='utf-8')
    POLICY_FILE.parent.mkdir(exist_ok=True)
    POLICY_FILE.write_text(policy_text(), encoding='utf-8')


if __name__ == '__main__':
    main()
