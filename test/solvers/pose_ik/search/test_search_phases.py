# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A search in phases, as of batches that more than fill a GPU, gives the answers of one phase.

Lanes begin by a plan, and those that begin later do so for problems that are still unsolved.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.arms import reachable
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import max_resident_threads
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ChainIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers.pose_ik.search import phases
from ros_ik.solvers.pose_ik.search import search
from ros_ik.solvers.pose_ik.search.lane_plan import lane_plan
from ros_ik.solvers.pose_ik.search.lane_plan import LanePlan

TIP = 'panda_hand_tcp'
N = 300
ENDS = (4, 8, 16)
# Iterations from which attempts other than that from the seed count, and ends of phases after it.
HEAD_START = 61
LATER = (66, 71, 76, 90)
ANSWERS = ('joint_q', 'status', 'n_found', 'position_error', 'rotation_error')


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


@pytest.fixture(scope='module')
def problems(panda):
    """Poses at random configurations, some of them out of reach or not finite, and seeds."""
    poses, seeds = reachable(panda, TIP, N, seed=11)
    poses[::20, 2] += 1.5
    poses[5] = np.nan
    return poses, seeds


def solver(
    monkeypatch, panda, ends, first_lanes=None, delay=0, n_lanes=1, card=None, **options
):
    """Make a solver that pauses after some numbers of iterations.

    ``card`` has the threads of a list and the resident threads of a GPU.
    """
    if card is not None:
        monkeypatch.setattr(phases, 'listed_threads', lambda *_: card[0])
        monkeypatch.setattr(phases, 'max_resident_threads', lambda _: card[1])
    head_start = HEAD_START if n_lanes > 1 else 0
    plan = LanePlan(n_lanes, head_start, first_lanes or n_lanes, head_start + 5, delay, ends)
    monkeypatch.setattr(search, 'lane_plan', lambda *_: plan)
    return ChainIK(panda, TIP, N, n_threads=1, **options)


def answers(result):
    """Return copies of the results by name."""
    return {name: getattr(result, name).copy() for name in ANSWERS}


@pytest.mark.parametrize(
    ('ends', 'options'),
    [
        (ENDS, {}),
        (ENDS, {'n_solutions': 3}),
        (ENDS, {'n_lanes': 3}),
        (ENDS, {'n_lanes': 2, 'n_solutions': 2}),
        (ENDS, {'rotation_tolerance': [1e-2, 1e-2, np.inf]}),
        # More lanes begin later: after the attempt from the seed alone, and from two at a time.
        (ENDS + LATER, {'n_lanes': 8, 'first_lanes': 2, 'delay': 5}),
        (LATER, {'n_lanes': 8, 'first_lanes': 2, 'delay': 5}),
        (LATER, {'n_lanes': 5, 'first_lanes': 3, 'delay': 5, 'n_solutions': 2}),
        # The attempt from the seed alone, then all others.
        ((HEAD_START,), {'n_lanes': 8}),
        # Few threads share a list. Those of a GPU have up to 32 threads for a row, of which one
        # works: 1, 4 and 32 for the first rows.
        (ENDS, {'n_lanes': 3, 'card': (64, 100)}),
        ((HEAD_START,), {'n_lanes': 8, 'card': (96, 1200)}),
        (ENDS + LATER, {'n_lanes': 8, 'first_lanes': 2, 'delay': 5, 'card': (32, 10**5)}),
    ],
    ids=str,
)
def test_answers_are_those_of_one_phase(monkeypatch, panda, problems, ends, options):
    whole = solver(monkeypatch, panda, (), **options)
    paused = solver(monkeypatch, panda, ends, **options)
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
    assert not paused._phases._arrays['running'].numpy().any()


def test_part_of_a_batch_after_a_whole_one(monkeypatch, panda, problems):
    whole = solver(monkeypatch, panda, ())
    paused = solver(monkeypatch, panda, ENDS)
    expected = answers(whole.solve(*problems))
    paused.solve(*problems)
    paused.joint_q.host[:] = 0.0
    paused.run(40)
    np.testing.assert_array_equal(paused.joint_q.host[:40], expected['joint_q'][:40])
    assert not paused.joint_q.host[40:].any()


def test_lanes_that_begin_later_do_so_for_unsolved_problems_alone(monkeypatch, panda, problems):
    paused = solver(monkeypatch, panda, ENDS + LATER, n_lanes=8, first_lanes=2, delay=5)
    status = paused.solve(*problems).status.copy()
    iterations = paused.iterations.numpy().reshape(N, 8)
    starts = np.array([0, HEAD_START, *(HEAD_START + 5 + 5 * k for k in (0, 0, 1, 1, 1, 1))])
    own = np.min(np.where(iterations > 0, iterations, 10**6), axis=1)
    solved = status == SolveStatus.CONVERGED
    assert np.all((iterations > 0)[solved] == (starts < own[:, None])[solved])
    assert {1, 2, 4, 8} == set(np.sum(iterations > 0, axis=1)[solved])
    out_of_reach = status == SolveStatus.UNREACHABLE
    assert out_of_reach.any() and np.all(iterations[out_of_reach] > starts)


def test_lanes_share_the_attempts_of_a_problem(monkeypatch, panda, problems):
    settings = ChainIKSettings(max_attempts=20, max_iterations=HEAD_START - 1)
    for lanes, most in ((1, 20), (8, 3)):
        alone = solver(monkeypatch, panda, (), n_lanes=lanes, settings=settings)
        alone.solve(*problems)
        # The last attempt goes on from the best configuration found.
        assert alone.iterations.numpy().max() <= (most + 1) * HEAD_START


@pytest.fixture
def card(monkeypatch):
    """Return a GPU with 132 multiprocessors, and with Warp's memory pool for recordings."""
    device = SimpleNamespace(is_cuda=True, sm_count=132)
    monkeypatch.setattr(wp, 'is_mempool_enabled', lambda device: device is device)
    return device


def plan(device, n, attempts=200, lanes=None):
    """Return the plan of attempts of 60 iterations."""
    return lane_plan(device, n, 60, attempts, lanes)


def test_a_gpu_is_full_with_lanes(card):
    full = max_resident_threads(card)
    assert full == 132 * 256
    # After the attempt from the seed all at once, or as many as are resident and later the others.
    small = plan(card, full // 32)
    assert small == LanePlan(32, 61, 32, ends=(61,)) and small.launched == 1
    later = plan(card, full // 8)
    assert later == LanePlan(32, 61, 8, 77, 16, (61, 77, 93, 109, 141)) and later.launched == 1
    large = plan(card, full)
    assert large == LanePlan(31, 61, 1, 61, 16, (8, 16, 32, 61, 77, 93, 109, 125, 141, 173))
    assert large.launched == 1
    # One lane fills the GPU until three quarters of the problems are solved.
    larger = plan(card, 4 * full)
    ends = (8, 16, 32, 61, 77, 93, 109, 125, 141)
    assert larger == LanePlan(7, 61, 1, 93, 16, (*ends[:-1], 141, 173))
    assert plan(card, 10**6).lanes == 4
    # There are no more lanes than attempts, and none later than the one that is asked for.
    assert plan(card, 10, attempts=3).lanes == 3
    assert plan(card, 10**6, attempts=1) == LanePlan(1, 0, 1, ends=(8, 16, 32, 64, 128))
    assert plan(card, full, lanes=1) == LanePlan(1, 0, 1)


def test_a_cpu_has_one_lane_and_one_phase(card):
    cpu = wp.get_device('cpu')
    assert plan(cpu, 10**6) == LanePlan(1, 0, 1)
    assert plan(cpu, 10**6, lanes=4) == LanePlan(4, 61, 4)


def test_without_the_memory_pool_there_is_one_phase(card, monkeypatch):
    monkeypatch.setattr(wp, 'is_mempool_enabled', lambda device: False)
    assert plan(card, 8192) == LanePlan(4, 61, 4)
    assert plan(card, 10**6) == LanePlan(1, 0, 1)


def test_memory_counts_the_state_of_paused_lanes(monkeypatch, panda):
    single = solver(monkeypatch, panda, ()).bytes_per_problem()
    paused = solver(monkeypatch, panda, ENDS).bytes_per_problem()
    assert paused - single == 8 * 7 + 8 + 4 * 7
