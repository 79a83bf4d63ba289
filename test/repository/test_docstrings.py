# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Docstrings name things and actions: none begins like a question, none returns "whether"."""

import ast
import functools
from pathlib import Path
import re

import pytest
from repository.docstrings import docstrings

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
        texts = docstrings(ast.parse(path.read_text()))
        found += [(name, text.splitlines()[0]) for text in texts if text]
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
