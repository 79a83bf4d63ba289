# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Plain English: short sentences in documents, and none of the phrases that made readers stumble.

proselint 0.16 has no rule for the length of sentences, and found typography in these pages; the
package vale downloads its program when it first runs. So the two rules are here.
"""

import ast
import io
from pathlib import Path
import re
import tokenize

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([
    *(ROOT / 'docs').rglob('*.md'),
    *(ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'examples/README.md')),
])
PACKAGES = 'demo', 'model', 'node', 'planning', 'servo', 'settings', 'setup_assistant', 'viewer'
MOST_WORDS = 45
# Riddles and translations; CONTRIBUTING.md has what to write instead.
PHRASES = (
    'nobody', 'anybody', 'begin anew', 'begins anew', 'give way', 'gives way', 'take over',
    'takes over', 'taken over', 'asked for last', 'asked-for', 'belongs into', 'belong into',
    'and alike', 'comes true', 'for ever', 'says nothing', 'is none of', 'an honest',
)  # fmt: skip


def sentences(text):
    """Yield the sentences of a document, without code, tables and comments."""
    text = re.sub(r'^ *```.*?^ *```|<!--.*?-->', '\n\n', text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r'^\s*\|.*$', '', text, flags=re.MULTILINE)
    text = re.sub(r'^(?=\s*([-*]|\d+\.)\s)|^(#.*)$', r'\n\2\n', text, flags=re.MULTILINE)
    for paragraph in re.split(r'\n\s*\n', text):
        yield from re.split(r'(?<=[.!?:;])\s+(?=\S)', ' '.join(paragraph.split()))


def remarks(path):
    """Yield the docstrings and comments of a module."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ''
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def found_phrases(text):
    """Return the phrases that a text has, as whole words."""
    words = ' '.join(text.replace('#', ' ').split()).lower()
    return [phrase for phrase in PHRASES if re.search(rf'\b{phrase}\b', words)]


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_of_documents_are_short_and_plain(path):
    text = path.read_text()
    long = [one for one in sentences(text) if len(one.split()) > MOST_WORDS]
    assert not long, '\n'.join(long)
    assert not found_phrases(text)


@pytest.mark.parametrize('package', PACKAGES)
def test_docstrings_and_comments_are_plain(package):
    found = [
        f'{path.relative_to(ROOT)}: {phrase}: {text.splitlines()[0]}'
        for path in sorted((ROOT / 'ros_ik' / package).rglob('*.py'))
        for text in remarks(path)
        for phrase in found_phrases(text)
    ]
    assert not found, '\n'.join(found)
