# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Docstrings name things and actions: none begins like a question, none returns "whether"."""

import ast
import functools
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = 'ros_ik', 'examples', 'launch', 'tools', 'benchmarks', 'test'
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py'))
QUESTIONS = {'What', 'Where', 'Whether', 'How', 'Who', 'When', 'Which', 'Why'}


@functools.cache
def first_lines(folder):
    """Return the file and the first line of each docstring below a folder."""
    found = []
    for path in FILES:
        name = path.relative_to(ROOT)
        if name.parts[0] != folder:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
            text = ast.get_docstring(node) if isinstance(node, kinds) else None
            if text:
                found.append((name, text.splitlines()[0]))
    return found


@pytest.mark.parametrize('folder', FOLDERS)
def test_none_begins_with_a_question_word(folder):
    found = [
        f'{name}: {line}' for name, line in first_lines(folder) if line.split()[0] in QUESTIONS
    ]
    assert not found, '\n'.join(found)


@pytest.mark.parametrize('folder', FOLDERS)
def test_none_returns_whether(folder):
    found = [
        f'{name}: {line}'
        for name, line in first_lines(folder)
        if re.search('[Rr]eturn whether', line)
    ]
    assert not found, '\n'.join(found)
