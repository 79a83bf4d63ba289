# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The examples run and do what they say."""

from pathlib import Path
import re
import subprocess
import sys

import numpy as np
import warp as wp

from ros_ik import eval_fk
from ros_ik import Model
from ros_ik import SolveStatus
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


def test_the_page_on_inverse_kinematics_runs():
    """Every block of the page, one after the other, on a Panda."""
    page = (ROOT / 'docs/inverse_kinematics.md').read_text()
    blocks = re.findall(r'```python\n(.*?)```', page, flags=re.DOTALL)
    assert len(blocks) == 4
    urdf_text = (robot_data_path() / 'panda_description/urdf/panda.urdf').read_text()
    model = Model.from_urdf(urdf_text, device='cpu')
    q = model.random_joint_q(5, np.random.default_rng(0))
    body_q = np.zeros((5, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index('panda_hand_tcp')]
    names = {'urdf_text': urdf_text, 'poses': poses, 'n': 5, 'target_pose': poses[0]}
    names |= {'positions': poses[:, :3], 'rotations': poses[:, 3:]}
    exec(blocks[0], names)  # noqa: S102 (the page is ours)
    assert np.all(names['solved'])
    exec(blocks[1], names)
    assert names['path'].joint_q.shape == q.shape
    names['joint_q'] = wp.array(q + 0.1, dtype=wp.float32, device='cpu')
    exec(blocks[2], names)
    assert np.all(names['solver'].status.numpy() == SolveStatus.CONVERGED)
    names['joint_q'] = q[0]
    exec(blocks[3], names)
    assert names['rows'].shape == (names['chain'].num_dof_pos + 2,)


def test_the_page_on_control_steps_runs():
    page = (ROOT / 'docs/control_steps.md').read_text()
    blocks = re.findall(r'```python\n(.*?)```', page, flags=re.DOTALL)
    assert len(blocks) == 4
    urdf_text = (robot_data_path() / 'panda_description/urdf/panda.urdf').read_text()
    names = {'urdf_text': urdf_text, 'package_paths': [robot_data_path().parents[1]]}
    model = Model.from_urdf(urdf_text, device='cpu')
    joint_q = model.neutral_joint_q()
    joint_q[:7] = [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8]
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, joint_q[None], body_q)
    target = body_q[0, model.body_index('panda_hand_tcp')] + [0.05, 0.1, 0.0, 0, 0, 0, 0]
    names |= {'joint_q': joint_q, 'target_pose': target}
    for block in blocks:
        exec(block, names)  # noqa: S102 (the page is ours)
        assert names['status'].ok
    assert names['path'].joint_q.shape == (51, model.joint_coord_count)
    moved = np.linalg.norm(names['path'].joint_q[-1] - joint_q)
    assert moved > 0.05
