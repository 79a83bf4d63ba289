# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Commands to try next beside a robot of demo.launch.py."""

from __future__ import annotations

_INTRODUCTION = 'The robot is yours. Try next, each in a terminal of its own:'


def next_commands(namespace: str = '') -> str:
    """Return three commands that move or observe the robot of a namespace, one per line."""
    inside = '/' + namespace.strip('/') if namespace.strip('/') else ''
    remapped = f' --ros-args -r __ns:={inside}' if inside else ''
    commands = {
        f'ros2 run ros_ik keyboard.py{remapped}': 'drive the tool with the keys',
        f'ros2 run ros_ik obstacles.py{remapped}': 'a ball that swings past it',
        f'ros2 topic echo {inside}/ros_ik/status --field text': 'what the node does, in words',
    }
    width = max(map(len, commands))
    lines = (f'  {command:{width}}   # {effect}' for command, effect in commands.items())
    return '\n'.join([_INTRODUCTION, *lines])
