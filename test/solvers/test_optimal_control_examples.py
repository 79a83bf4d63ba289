# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The example and the page on optimal control run and do what they say."""

from pathlib import Path
import re
import subprocess
import sys

import numpy as np
import pytest
from support.robots import ALL_URDFS
from support.robots import urdf_text

import ros_ik
from ros_ik import eval_fk
from ros_ik import Model
from ros_ik.solvers.optimal_control.search import StopReason

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ('robot', 'links'),
    [
        (
            'talos_reduced',
            'left_sole_link right_sole_link gripper_left_base_link gripper_right_base_link',
        ),
        (
            'g1_29dof_rev_1_0',
            'left_ankle_roll_link right_ankle_roll_link left_rubber_hand right_rubber_hand',
        ),
    ],
)
def test_two_hands_and_balance(robot, links):
    (urdf,) = (path for path in ALL_URDFS if path.stem == robot)
    done = subprocess.run(
        [sys.executable, 'examples/optimal_control.py', urdf, *links.split()],
        cwd=ROOT, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *_, status, _, last = done.stdout.splitlines()
    assert status.startswith('CONVERGED')
    # TALOS gives up 15 mm of it for its hands: its elbows rest at their limits.
    assert float(last.split('mass ')[1].split(' mm')[0]) < 20.0


@pytest.mark.skipif(not hasattr(ros_ik, 'OptimalControl'), reason='not exported yet')
def test_the_page_runs():
    page = (ROOT / 'docs/optimal_control.md').read_text()
    blocks = re.findall(r'```python\n(.*?)```', page, flags=re.DOTALL)
    assert len(blocks) == 3
    model = Model.from_urdf(urdf_text('panda'), device='cpu')
    joint_q = model.neutral_joint_q()
    joint_q[:7] = [0.0, 0.2, 0.0, -1.8, 0.0, 2.0, 0.8]
    T = np.array([[1.0, 0, 0, 0.5], [0, -1, 0, 0.1], [0, 0, -1, 0.3], [0, 0, 0, 1]])
    names = {'urdf_text': urdf_text('panda'), 'T': T, 'joint_q': joint_q}
    exec(blocks[0], names)  # noqa: S102 (the page is ours)
    assert names['result'].feedback.finished
    exec(blocks[2], names)
    assert names['result'].reason is not StopReason.FAILED
    talos = Model.from_urdf(urdf_text('talos_reduced'), device='cpu')
    q = talos.neutral_joint_q()
    poses = np.zeros((1, talos.body_count, 7))
    eval_fk(talos, q[None], poses)
    foot = poses[0, talos.body_index('left_sole_link'), :3]
    names |= {'talos': talos, 'joint_q': q, 'height': 0.85}
    for name, link in (
        ('T_left', 'gripper_left_base_link'),
        ('T_right', 'gripper_right_base_link'),
        ('T_foot', 'right_sole_link'),
    ):
        names[name] = np.eye(4)
        names[name][:3, 3] = poses[0, talos.body_index(link), :3] - foot
    exec(blocks[1], names)
    assert names['result'].feedback.total_cost < 1.0
