# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A search in phases, as of batches that more than fill a GPU, gives the answers of one phase."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.runtime.kernel_launch import max_resident_threads
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers.pose_ik.search import phases
from ros_ik.solvers.pose_ik.search import search

TIP = 'panda_hand_tcp'
N = 300
ENDS = (4, 8, 16)
ANSWERS = ('joint_q', 'status', 'n_found', 'position_error', 'rotation_error')


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


@pytest.fixture(scope='module')
def problems(panda):
    """Poses at random configurations, some of them out of reach or not finite, and seeds."""
    rng = np.random.default_rng(11)
    body_q = np.zeros((N, panda.body_count, 7))
    eval_fk(panda, panda.random_joint_q(N, rng), body_q)
    poses = body_q[:, panda.body_index(TIP)].copy()
    poses[::20, 2] += 1.5
    poses[5] = np.nan
    return poses, panda.random_joint_q(N, rng)


def solver(monkeypatch, panda, ends, **options):
    """Make a solver that pauses after some numbers of iterations."""
    monkeypatch.setattr(search, 'phase_ends', lambda device, n_lanes: ends)
    return ChainIK(panda, TIP, N, n_threads=1, **options)


def answers(result):
    """Return copies of the results by name."""
    return {name: getattr(result, name).copy() for name in ANSWERS}


@pytest.mark.parametrize(
    'options',
    [
        {}, {'n_solutions': 3}, {'n_lanes': 3}, {'n_lanes': 2, 'n_solutions': 2},
        {'rotation_tolerance': [1e-2, 1e-2, np.inf]},
    ],
    ids=str,
)  # fmt: skip
def test_answers_are_those_of_one_phase(monkeypatch, panda, problems, options):
    whole = solver(monkeypatch, panda, (), **options)
    paused = solver(monkeypatch, panda, ENDS, **options)
    expected = answers(whole.solve(*problems))
    for _ in range(2):  # nothing of a run is left for the next one
        for name, found in answers(paused.solve(*problems)).items():
            np.testing.assert_array_equal(found, expected[name], err_msg=name)
    if 'n_lanes' not in options:
        np.testing.assert_array_equal(paused.iterations.numpy(), whole.iterations.numpy())


def test_a_phase_continues_the_lanes_that_are_still_running(monkeypatch, panda, problems):
    paused = solver(monkeypatch, panda, ENDS)
    paused.solve(*problems)
    iterations = paused.iterations.numpy()
    listed = paused._phases._list
    rows = np.flatnonzero(iterations > ENDS[-1])
    assert 10 < len(rows) < N // 2
    assert listed.rows.ends.numpy()[-1] == len(rows)
    np.testing.assert_array_equal(listed.rows.row.numpy()[: len(rows)], rows)
    assert not listed.marked.numpy().any()


def test_part_of_a_batch_after_a_whole_one(monkeypatch, panda, problems):
    whole = solver(monkeypatch, panda, ())
    paused = solver(monkeypatch, panda, ENDS)
    expected = answers(whole.solve(*problems))
    paused.solve(*problems)
    paused.joint_q.host[:] = 0.0
    paused.run(40)
    np.testing.assert_array_equal(paused.joint_q.host[:40], expected['joint_q'][:40])
    assert not paused.joint_q.host[40:].any()


def test_only_batches_that_more_than_fill_a_gpu_pause(monkeypatch):
    card = SimpleNamespace(is_cuda=True, sm_count=132)
    monkeypatch.setattr(wp, 'is_mempool_enabled', lambda device: device is card)
    full = max_resident_threads(card)
    assert full == 132 * 256
    assert phases.phase_ends(card, full) == ()
    assert phases.phase_ends(card, full + 1) == phases._ENDS
    assert phases.phase_ends(wp.get_device('cpu'), full + 1) == ()
    # A recording needs the pool for the work space of a sum.
    monkeypatch.setattr(wp, 'is_mempool_enabled', lambda device: False)
    assert phases.phase_ends(card, full + 1) == ()


def test_memory_counts_the_state_of_paused_lanes(monkeypatch, panda):
    single = solver(monkeypatch, panda, ()).bytes_per_problem()
    paused = solver(monkeypatch, panda, ENDS).bytes_per_problem()
    assert paused - single == 8 * 7 + 8 + 4 * 6
