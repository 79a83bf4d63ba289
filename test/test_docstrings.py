# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Docstrings name things and actions: none begins like a question."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = 'ros_ik', 'examples', 'launch', 'tools', 'benchmarks', 'test'
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py'))
QUESTIONS = {'What', 'Where', 'Whether', 'How', 'Who', 'When', 'Which', 'Why'}


@pytest.mark.parametrize('folder', FOLDERS)
def test_none_begins_with_a_question_word(folder):
    found = []
    for path in FILES:
        name = path.relative_to(ROOT)
        if name.parts[0] != folder:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
            text = ast.get_docstring(node) if isinstance(node, kinds) else None
            if text and text.split()[0] in QUESTIONS:
                found.append(f'{name}: {text.splitlines()[0]}')
    assert not found, '\n'.join(found)
