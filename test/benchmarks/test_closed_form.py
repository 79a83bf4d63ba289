# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of the closed-form benchmark: counts of solutions on both sides."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='pinocchio, the judge, is not installed')

from benchmarks.harness.job import every_solution  # noqa: E402
from benchmarks.harness.job import PLACES  # noqa: E402
from benchmarks.harness.problems import random_problems  # noqa: E402
from benchmarks.harness.process import Answer  # noqa: E402
from benchmarks.harness.verify import Arm  # noqa: E402
from benchmarks.kinematics import closed_form  # noqa: E402


def rows_of(monkeypatch, tmp_path, ours, theirs):
    """Return the rows for solutions of the pose of zero, a list of configurations each."""

    def run_jobs(module, jobs, folder, timeout, *, python):
        found = theirs if 'peers' in module else ours
        if found is None:
            return {job.key: Answer(None, None, {}, error='no decomposition') for job in jobs}
        return {
            job.key: Answer(every_solution([np.array(found)] * job.n, 6), np.full(job.n, 3e-6), {})
            for job in jobs
        }

    def problems(robot, n):
        pose = Arm(robot.urdf, robot.tip, robot.joints).poses(np.zeros((1, 6)))
        return SimpleNamespace(poses=np.tile(pose, (n, 1)), starts=np.zeros((n, 6)))

    monkeypatch.setattr(closed_form, 'run_jobs', run_jobs)
    monkeypatch.setattr(closed_form, 'random_problems', problems)
    monkeypatch.setattr(closed_form, 'ROBOTS', ('ur5',))
    monkeypatch.setattr(closed_form, '_size', lambda mode, quick: 4)
    return closed_form.measure(SimpleNamespace(folder=tmp_path), True)


def test_turns_count_once_and_false_solutions_never(monkeypatch, tmp_path):
    turn, false = np.array([2.0 * np.pi, 0, 0, 0, 0, 0]), np.full(6, 0.1)
    single, batch = rows_of(monkeypatch, tmp_path, [0 * turn, false], [turn, -turn, 0 * turn])
    assert (single['success_ours'], single['success_peer']) == (1.0, 1.0)
    assert (single['ours_solutions'], single['peer_solutions']) == (1.0, 1.0)
    assert single['ours'] == pytest.approx(3.0) and batch['ours'] == pytest.approx(3.0 / 4)


def test_a_solution_that_one_side_lacks_is_its_loss(monkeypatch, tmp_path):
    (row, _) = rows_of(monkeypatch, tmp_path, [np.zeros(6)], [np.full(6, 0.1)])
    assert (row['success_ours'], row['success_peer']) == (1.0, 0.0)


def test_an_arm_that_the_peer_does_not_take_is_a_row(monkeypatch, tmp_path):
    (row, _) = rows_of(monkeypatch, tmp_path, [np.zeros(6)], None)
    assert row['success_ours'] == 1.0 and row['ratio'] is None
    assert 'no decomposition' in row['note']


def test_the_arms_have_solutions_that_the_judge_confirms():
    for name in closed_form.ROBOTS:
        robot = closed_form._arm(name)
        problems = random_problems(robot, 3)
        rows = every_solution([q[None] for q in problems.starts], 6)
        assert rows.shape == (3, PLACES, 6) and np.isnan(rows[:, 1:]).all()
        assert np.isinf(robot.upper).all() and len(robot.joints) == 6
