# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Commands that demo.launch.py suggests: the examples are there, names are those of the robot."""

from pathlib import Path
import re

import pytest

from ros_ik.demo.next_commands import next_commands

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples' / 'node'


@pytest.mark.parametrize('namespace', ('', '/', 'lab', '/lab'))
def test_three_commands_for_the_robot_of_the_namespace(namespace):
    _, *lines = next_commands(namespace).splitlines()
    commands = [line.partition('#')[0].split() for line in lines]
    assert len(commands) == 3 and len({line.index('#') for line in lines}) == 1
    programs = re.findall(r'\w+\.py', next_commands(namespace))
    assert len(programs) == 2 and all((EXAMPLES / name).is_file() for name in programs)
    inside = '/lab' if 'lab' in namespace else ''
    assert f'{inside}/ros_ik/status' in commands[2]
    for command in commands[:2]:
        assert command[4:] == (['--ros-args', '-r', f'__ns:={inside}'] if inside else [])
