# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Large batches on a GPU: most poses need no iterations, and a thread verifies one solution.

The kernels for them run on the CPU here, with the interleaved work arrays of a GPU.
"""

import dataclasses

import numpy as np
import pytest
from support.long_forms import in_pairs
from support.robots.chain_judge import ChainJudge
from support.robots.robots import urdf_text

from ros_ik import ClosedFormIK
from ros_ik import SolveStatus
from ros_ik.kinematics.runtime import batch_layout
from ros_ik.solvers.analytic import stage
from ros_ik.solvers.analytic.refinement import verify

LINKS = {'ur5_robot': 'tool0', 'z1': 'gripperStator'}
N = 96


def as_on_gpu(monkeypatch):
    """Solve as a large batch on a GPU."""
    monkeypatch.setattr(stage, 'exceeds_device', lambda device, n: True)
    monkeypatch.setattr(batch_layout, 'is_interleaved', lambda n, device: True)
    monkeypatch.setattr(verify, 'lanes_on', lambda device, most: 1)


@pytest.mark.parametrize(
    ('name', 'seeded', 'max_solutions'), in_pairs(list(LINKS), [False, True], [3, 16])
)
def test_two_kernels_find_what_one_finds(monkeypatch, name, seeded, max_solutions):
    judge = ChainJudge(urdf_text(name), LINKS[name], None, '')
    poses = judge.mixed_poses(N)
    width = judge.model.joint_coord_count
    seeds = np.random.default_rng(0).uniform(-3.0, 3.0, (N, width)) if seeded else None
    results = []
    for gpu in (False, True):
        if gpu:
            as_on_gpu(monkeypatch)
        solver = ClosedFormIK(judge.model, judge.link, N, max_solutions)
        # Flags and directions of the first solve must not remain.
        solver.solve(np.roll(poses, -1, axis=0), seeds)
        results.append(dataclasses.asdict(solver.solve(poses, seeds)))
    left = solver._stage._left.marked.numpy()
    assert not left[::4].all()
    assert left[2::4].all() and left[3::4].all()
    status = results[0]['status'].reshape(-1, 4)
    assert np.all(status[:, 0] == SolveStatus.CONVERGED)
    assert np.all(status[:, 3] == SolveStatus.NON_FINITE_INPUT)
    if name == 'ur5_robot':
        assert left[1::4].all() and results[0]['singular'][1::4].any()
    for key, values in results[0].items():
        np.testing.assert_array_equal(results[1][key], values, err_msg=key)


@pytest.mark.parametrize('n', [1, 5])
def test_batches_that_end_within_a_group_of_threads(monkeypatch, n):
    judge = ChainJudge(urdf_text('z1'), LINKS['z1'], None, '')
    poses = judge.mixed_poses(N)[-n:]
    here = dataclasses.asdict(ClosedFormIK(judge.model, judge.link, n).solve(poses))
    as_on_gpu(monkeypatch)
    there = dataclasses.asdict(ClosedFormIK(judge.model, judge.link, n).solve(poses))
    for key, values in here.items():
        np.testing.assert_array_equal(there[key], values, err_msg=key)


@pytest.mark.parametrize('name', list(LINKS))
@pytest.mark.parametrize('max_solutions', [3, 16])
def test_candidates_together_give_what_each_alone_gives(monkeypatch, name, max_solutions):
    judge = ChainJudge(urdf_text(name), LINKS[name], None, '')
    rng = np.random.default_rng(1)
    # Solutions that rounding puts beyond a limit are moved to it.
    q = judge.random(N)
    q[:, 0] = judge.model.joint_limit_upper.numpy()[0]
    poses = np.concatenate([judge.mixed_poses(N), judge.poses(q)])
    seeds = rng.uniform(-3.0, 3.0, (len(poses), judge.model.joint_coord_count))
    seeds[N:, 0] = q[:, 0]
    results = []
    for lanes in (None, 1):
        if lanes is not None:
            monkeypatch.setattr(stage, 'lanes_on', lambda device, most: 1)
        solver = ClosedFormIK(judge.model, judge.link, len(poses), max_solutions)
        results.append(dataclasses.asdict(solver.solve(poses, seeds)))
    together, alone = results
    assert together['n_found'].max() > 1
    for key, values in together.items():
        np.testing.assert_array_equal(alone[key], values, err_msg=key)
