# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The examples run and do what they say."""

from pathlib import Path
import subprocess
import sys

import pytest

from ros_ik.demo.robots import robot_data_path

ROOT = Path(__file__).resolve().parents[1]


def test_reach_a_pose():
    urdf = robot_data_path() / 'panda_description/urdf/panda.urdf'
    result = subprocess.run(
        [sys.executable, 'examples/reach_a_pose.py', urdf, 'panda_link0', 'panda_hand_tcp'],
        cwd=ROOT, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    error = float(result.stdout.split(' is ')[1].split(' mm')[0])
    assert error < 0.01


def test_solve_poses():
    urdf = robot_data_path() / 'panda_description/urdf/panda.urdf'
    result = subprocess.run(
        [sys.executable, 'examples/solve_poses.py', urdf, 'panda_hand_tcp'],
        cwd=ROOT, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith('100.0 % of 1000 poses solved')


@pytest.mark.parametrize('path', sorted((ROOT / 'examples').glob('*.py')), ids=lambda p: p.stem)
def test_without_arguments_it_says_how_it_is_used(path):
    result = subprocess.run(
        [sys.executable, path], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert result.returncode == 2
    assert f'usage: {path.name}' in result.stderr and 'urdf_path' in result.stderr
    assert 'Traceback' not in result.stderr
