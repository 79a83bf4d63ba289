# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Files that make the repository a ROS 2 package, compared with each other."""

import importlib
from pathlib import Path
import re
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTERFACES = sorted((ROOT / 'ros_ik_interfaces').glob('*/*.[msa]*'))
MANIFEST = ElementTree.parse(ROOT / 'package.xml').getroot()


def console_scripts():
    """Return (name, module, function) of each executable in setup.py."""
    return re.findall(r"'(\w+) = ([\w.]+):(\w+)'", (ROOT / 'setup.py').read_text())


@pytest.mark.parametrize('script', console_scripts(), ids=lambda script: script[0])
def test_executables_exist(script):
    _, module, function = script
    assert callable(getattr(importlib.import_module(module), function))


def test_there_are_executables():
    assert len(console_scripts()) == 7


def test_versions_agree():
    interfaces = ElementTree.parse(ROOT / 'ros_ik_interfaces' / 'package.xml').getroot()
    assert MANIFEST.findtext('version') == interfaces.findtext('version')
    assert MANIFEST.get('format') == '3'
    changelog = (ROOT / 'CHANGELOG.rst').read_text()
    assert MANIFEST.findtext('version') in changelog or 'Forthcoming' in changelog


@pytest.mark.parametrize('path', INTERFACES, ids=lambda path: path.name)
def test_every_interface_field_has_a_comment(path):
    lines = path.read_text().splitlines()
    assert lines[0].startswith('# ')
    for line in lines:
        if line and not line.startswith('#') and line != '---':
            assert '#' in line, f'{path.name}: {line}'
            if re.match(r'float64\S* ', line):
                assert re.search(r'\[[^\]]+\]|as the type says', line.split('#', 1)[1]), (
                    f'no unit: {line}'
                )


def test_interfaces_are_built_and_listed():
    listed = set(
        re.findall(
            r'"(\w+/\w+\.\w+)"', (ROOT / 'ros_ik_interfaces' / 'CMakeLists.txt').read_text()
        )
    )
    assert listed == {
        path.relative_to(ROOT / 'ros_ik_interfaces').as_posix() for path in INTERFACES
    }
    for path in INTERFACES:
        module = importlib.import_module(f'ros_ik_interfaces.{path.parent.name}')
        assert hasattr(module, path.stem)


def test_python_files_have_a_header():
    files = [
        *ROOT.glob('*.py'),
        *(
            f
            for d in ('ros_ik', 'test', 'launch', 'benchmarks', 'examples')
            for f in (ROOT / d).rglob('*.py')
        ),
    ]
    for path in files:
        text = path.read_text().removeprefix('#!/usr/bin/env python3\n')
        assert text.startswith(
            '# Copyright 2026 The ros_ik developers\n# SPDX-License-Identifier: Apache-2.0\n'
        ), path
