# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Generator of config/ros_ik.yaml and docs/parameters.md, when run as a module."""

from __future__ import annotations

from collections.abc import Iterator
import math
from pathlib import Path
import textwrap

from ros_ik.settings.parameter import Parameter
from ros_ik.settings.parameter import Value
from ros_ik.settings.schema import SCHEMA
from ros_ik.settings.schema import Section
from ros_ik.settings.schema import SECTIONS

_HEADER = '# Copyright 2026 The ros_ik developers\n# SPDX-License-Identifier: Apache-2.0\n'
_YAML_INTRODUCTION = """\
# Every parameter with its default, made from the schema (python -m ros_ik.settings.documents).
# docs/parameters.md has units and bounds. A task, here 'ee', needs its frame: the link to move.
# Parameters of joints and barriers exist once they are named; they are comments here.
"""
_SECTIONS = {'task': 'ee', 'output': 'default'}


def yaml_text() -> str:
    """Return the content of config/ros_ik.yaml."""
    lines = ['/**:', '  ros__parameters:']
    previous: list[str] = []
    titles = {section.parameters[0].name: section.title for section in SECTIONS}
    for entry in SCHEMA:
        if entry.name in titles:
            lines += ['', f'    # ---- {titles[entry.name]} ----']
        name = entry.named(_SECTIONS.get(entry.placeholder, entry.name)).name
        commented = entry.placeholder not in ('', *_SECTIONS)
        path = (entry.name if commented else name).split('.')
        lines += _yaml_sections(path, previous, commented)
        previous = path
        lines += _yaml_entry(entry, path, commented)
    return _HEADER + _YAML_INTRODUCTION + '\n'.join(lines) + '\n'


def markdown_text() -> str:
    """Return the content of docs/parameters.md."""
    introduction = """\
    # Parameters

    All parameters of the node, by section. `<task>`, `<joint>`, `<barrier>` and `<output>` stand
    for names that you choose. List tasks and outputs in `frame_tasks` and `output_names`; a joint
    or a barrier exists once one of its parameters is given. Parameters with "any time" are checked
    when set and apply at the next tick; no change rebuilds the solver. In motion a lower scale of
    accelerations or a wider margin waits until the robot can stop with it. Parameters with "at
    start" are read-only afterwards. An empty list of names reads back as `['']`, because ROS
    gives an empty list no type. `make docs` generates this page from
    `ros_ik/settings/schema*.py`.

    """
    contents = [
        f'- [{section.title}](#{section.title.lower().replace(" ", "-")}): '
        + ', '.join(f'`{group}`' for group in _groups(section))
        for section in SECTIONS
    ]
    tables = [line for section in SECTIONS for line in _markdown_section(section)]
    return textwrap.dedent(introduction) + '\n'.join([*contents, *tables]) + '\n'


def _groups(section: Section) -> list[str]:
    """Return the prefixes of the names of a section, without repetition."""
    names = [entry.name for entry in section.parameters]
    groups = [name if '.' not in name else name[: name.rindex('.')] + '.*' for name in names]
    return list(dict.fromkeys(groups))


def _markdown_section(section: Section) -> list[str]:
    """Return the lines of a section: heading, text and table."""
    lines = [
        '', f'## {section.title}', '', section.text, '',
        '| parameter | type | default | unit | values | set | meaning |',
        '|---|---|---|---|---|---|---|',
    ]  # fmt: skip
    for entry in section.parameters:
        cells = (
            f'`{entry.name}`', entry.type.replace('|', ' or '),
            f'`{_yaml_value(entry.default)}`', entry.unit,
            entry.bounds_text(), 'at start' if entry.read_only else 'any time', entry.description,
        )  # fmt: skip
        lines.append('| ' + ' | '.join(cells) + ' |')
    return lines


def _yaml_sections(path: list[str], previous: list[str], commented: bool) -> Iterator[str]:
    """Yield the lines that open new sections of ``path`` compared with ``previous``."""
    common = 0
    while common < min(len(path), len(previous)) - 1 and path[common] == previous[common]:
        common += 1
    for depth in range(common, len(path) - 1):
        section = '.'.join(path[: depth + 1]) + '.'
        # ROS rejects a section without a value.
        empty = commented and not any(
            entry.name.startswith(section) and not entry.placeholder for entry in SCHEMA
        )
        yield _yaml_line(f'{path[depth]}:', depth + 1, empty)


def _yaml_entry(entry: Parameter, path: list[str], commented: bool) -> Iterator[str]:
    """Yield the comment and the value of one parameter."""
    depth = len(path)
    unit = f' [{entry.unit}]' if entry.unit else ''
    bounds = f' Values: {entry.bounds_text()}.' if entry.bounds_text() else ''
    comment = f'{entry.description}{unit}{bounds}'
    for line in textwrap.wrap(comment, 94 - 2 * depth):
        yield _yaml_line(f'# {line}', depth, False)
    yield _yaml_line(f'{path[-1]}: {_yaml_value(entry.default)}', depth, commented)


def _yaml_line(text: str, depth: int, commented: bool) -> str:
    return '  ' * (depth + 1) + ('# ' if commented else '') + text


def _yaml_value(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return '[' + ', '.join(_yaml_value(entry) for entry in value) + ']'
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float) and math.isinf(value):
        return '.inf' if value > 0 else '-.inf'
    if isinstance(value, float) and value != 0.0 and abs(value) < 1e-3:
        # YAML 1.1 reads a number without a point in the mantissa as a string.
        return f'{value:.1e}'
    return str(value)


def main() -> None:
    """Write both documents into the repository that this file belongs to."""
    root = Path(__file__).parents[2]
    (root / 'config' / 'ros_ik.yaml').write_text(yaml_text(), encoding='utf-8')
    (root / 'docs' / 'parameters.md').write_text(markdown_text(), encoding='utf-8')


if __name__ == '__main__':
    main()
