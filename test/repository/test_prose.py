# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Plain English: short sentences in documents, and none of the phrases that make readers stumble.

`make lint` runs these checks. CONTRIBUTING.md says why proselint and Vale do not.
"""

import ast
from pathlib import Path
import re

import pytest
from repository.docstrings import docstrings

from ros_ik.settings.schema import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([
    *(ROOT / 'docs').rglob('*.md'),
    *(ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'examples/README.md')),
    ROOT / 'CHANGELOG.rst',
])
FOLDERS = 'ros_ik', 'examples', 'launch', 'tools', 'benchmarks', 'test'
# In these, every text that a program may show is checked, too.
SHOWN = FOLDERS[:4]
# Comments and descriptions for users.
TEXTS = sorted([
    *(ROOT / 'ros_ik_interfaces').glob('*/*.*'),
    *(ROOT / 'config').rglob('*.yaml'),
    ROOT / 'docs' / 'interface.yaml',
    ROOT / 'Makefile',
])
# GOV.UK permits 25 words and finds 29 very difficult (insidegovuk.blog.gov.uk, "Sentence length:
# why 25 words is our limit", 2014); names and figures get one more here. A colon or a semicolon
# does not end a sentence.
MAX_WORDS = 26
# Riddles and translations. Name the reader or client instead; adopt, apply, preempt, relax, again.
PHRASES = (
    'nobody', 'anybody', 'somebody', 'everybody', 'whoever', 'little by little', 'anew',
    'give way', 'gives way', 'take over', 'takes over', 'taken over', 'asked for last',
    'asked-for', 'belongs into', 'belong into', 'and alike', 'comes true', 'for ever',
    'says nothing', 'is none of', 'an honest',
)  # fmt: skip
FOUND = re.compile(rf'\b(?:{"|".join(PHRASES)})\b')


def sentences(text):
    """Yield the sentences of a document, without code and comments."""
    text = re.sub(r'^ *```.*?^ *```|<!--.*?-->', '\n\n', text, flags=re.DOTALL | re.MULTILINE)
    # A cell of a table is a paragraph, and so is each remark in it.
    text = re.sub(
        r'^\s*\|.*$', lambda row: re.sub(r'\||; ', '\n\n', row[0]), text, flags=re.MULTILINE
    )
    text = re.sub(r'^(?=\s*([-*]|\d+\.)\s)|^(#.*)$', r'\n\2\n', text, flags=re.MULTILINE)
    for paragraph in re.split(r'\n\s*\n', text):
        yield from re.split(r'(?<=[.!?])(?:\*\*|\))?\s+(?=\S)', ' '.join(paragraph.split()))


def document_text(path):
    """Return the text of a document; of reStructuredText without tables, with code as in Markdown.

    The tables of CHANGELOG.rst quote former names and texts.
    """
    text = path.read_text()
    if path.suffix == '.rst':
        text = re.sub(r'^ *(=+ +)+=+$.*?\n\n', '\n\n', text, flags=re.DOTALL | re.MULTILINE)
        text = text.replace('``', '`')
    return text


def length(sentence):
    """Return the words of a sentence: code is one, and a list after a colon does not count.

    A list has at least three items of at most five words each.
    """
    words = re.sub(r'`[^`]*`', 'code', sentence)
    before, colon, after = words.partition(': ')
    items = re.split(r'[,;] (?:and |or )?| and | or ', after)
    is_list = len(items) >= 3 and all(len(item.split()) <= 5 for item in items)
    return len((before if colon and is_list else words).split())


def test_lengths_count_whole_sentences_without_code_and_lists():
    assert [length(one) for one in sentences('One two: `a b c` four; five. Six?\n\n- Seven')] == [
        5, 1, 2,
    ]  # fmt: skip
    assert [*sentences('| One two. Three | a; b |')] == ['', 'One two.', 'Three', 'a', 'b', '']
    assert length('It has: one, two and three words') == 2
    assert length('It has two: a first, and a second') == 8


def test_changelogs_are_read_without_their_tables(tmp_path):
    path = tmp_path / 'CHANGELOG.rst'
    path.write_text(
        '* ``a b`` one:\n\n'
        '  ======  ===\n  before  now\n  ======  ===\n  nobody  x\n  ======  ===\n\n* Two\n'
    )
    assert [one for one in sentences(document_text(path)) if one] == ['* `a b` one:', '* Two']


def remarks(path, shown):
    """Yield the docstrings and comments of a module, and all its texts if they are shown."""
    source = path.read_text()
    tree = ast.parse(source)
    yield from docstrings(tree)
    for node in ast.walk(tree) if shown else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    yield from re.findall(r'#.*', source)


def found_phrases(text):
    """Return the phrases that a text has, as whole words."""
    return FOUND.findall(' '.join(text.replace('#', ' ').split()).lower())


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_of_documents_are_short_and_plain(path):
    text = document_text(path)
    long = [one for one in sentences(text) if length(one) > MAX_WORDS]
    assert not long, '\n'.join(long)
    assert not found_phrases(text)


# The tables of docs/parameters.md and the comments of config/ros_ik.yaml are made of these.
@pytest.mark.parametrize('entry', SCHEMA, ids=lambda entry: entry.name)
def test_sentences_of_parameters_are_short(entry):
    long = [one for one in sentences(entry.description) if length(one) > MAX_WORDS]
    assert not long, '\n'.join(long)


@pytest.mark.parametrize('folder', FOLDERS)
def test_docstrings_comments_and_texts_are_plain(folder):
    found = [
        f'{path.relative_to(ROOT)}: {phrase}: {text.splitlines()[0]}'
        for path in sorted((ROOT / folder).rglob('*.py'))
        for text in remarks(path, folder in SHOWN)
        for phrase in found_phrases(text)
    ]
    assert not found, '\n'.join(found)


@pytest.mark.parametrize('path', TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_definitions_and_parameter_files_are_plain(path):
    assert not found_phrases(path.read_text())
