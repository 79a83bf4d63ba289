# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Documents of the examples: commands, length, the table that lists them."""

import ast
import os
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'examples' / 'README.md').read_text()
EXAMPLES = sorted((ROOT / 'examples').glob('*/*.py'))
BY_NAME = pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.stem)


@BY_NAME
def test_says_how_it_is_run(path):
    summary = ast.get_docstring(ast.parse(path.read_text()))
    name = path.relative_to(ROOT)
    assert f'tools/run python {name}' in summary
    if path.parent.name == 'node':
        assert f'ros2 run ros_ik {path.name}' in summary
        assert 'tools/run python -m ros_ik.demo.session' in summary
        assert path.read_text().startswith('#!/usr/bin/env python3\n')
        assert os.access(path, os.X_OK)


@BY_NAME
def test_is_short_enough_to_read_aloud(path):
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    assert 25 <= len(lines) <= 85


@BY_NAME
def test_is_a_client_of_public_names_only(path):
    imported = re.findall(r'^(?:from|import) (ros_ik[\w.]*)', path.read_text(), re.MULTILINE)
    if path.parent.name == 'node':
        assert set(imported) <= {f'ros_ik_interfaces.{kind}' for kind in ('msg', 'srv', 'action')}
    else:
        assert not re.search(r'^(from|import) rclpy', path.read_text(), re.MULTILINE)


def test_the_table_lists_every_example():
    listed = re.findall(r'\]\(([\w/.]+\.(?:py|ipynb))\)', README)
    there = [*EXAMPLES, *(ROOT / 'examples').glob('*/*.ipynb')]
    assert sorted(listed) == sorted(str(p.relative_to(ROOT / 'examples')) for p in there)
