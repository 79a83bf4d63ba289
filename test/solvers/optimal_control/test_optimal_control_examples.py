# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The example and the page on optimal control run and do what they say."""

from pathlib import Path
import subprocess
import sys

import pytest
from support.long_forms import either
from support.robots.robots import ALL_URDFS

ROOT = Path(__file__).resolve().parents[3]
# Feet, then hands.
LINKS = {
    'talos_reduced': (
        'left_sole_link', 'right_sole_link', 'gripper_left_base_link', 'gripper_right_base_link',
    ),
    'g1_29dof_rev_1_0': (
        'left_ankle_roll_link', 'right_ankle_roll_link', 'left_rubber_hand', 'right_rubber_hand',
    ),
}  # fmt: skip


@pytest.mark.parametrize('robot', either(['talos_reduced'], LINKS))
def test_two_hands_and_balance(robot):
    (urdf,) = (path for path in ALL_URDFS if path.stem == robot)
    done = subprocess.run(
        [sys.executable, 'examples/library/optimal_control.py', urdf, *LINKS[robot]],
        cwd=ROOT, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *_, status, _, last = done.stdout.splitlines()
    assert status.startswith('CONVERGED')
    # TALOS gives up 15 mm of it for its hands: its elbows rest at their limits.
    assert float(last.split('mass ')[1].split(' mm')[0]) < 20.0
