# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batches of poses: threads, lanes, memory, and requests that are split."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.arms import assert_solved
from support.robots.arms import reachable
from support.robots.arms import robot
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime import arguments as memory
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.solvers.pose_batches.batch import inverse_kinematics
from ros_ik.solvers.pose_ik.interface.batch_result import largest_batch
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.search import search
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus


def test_threads_and_lanes_change_who_searches_not_what_counts_as_solved():
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 600)
    one = ChainIK(model, 'panda_hand_tcp', 600, n_threads=1).solve(poses, seeds).copy()
    two = ChainIK(model, 'panda_hand_tcp', 600, n_threads=2).solve(poses, seeds).copy()
    np.testing.assert_array_equal(one.joint_q, two.joint_q)
    lanes = ChainIK(model, 'panda_hand_tcp', 600, n_lanes=4).solve(poses, seeds)
    assert np.all(lanes.status == SolveStatus.CONVERGED)
    assert_solved('panda', 'panda_hand_tcp', lanes.joint_q[::20], poses[::20])
    several = ChainIK(model, 'panda_hand_tcp', 600, n_lanes=4, n_solutions=3)
    assert np.all(several.solve(poses, seeds).n_found == 3)


def test_an_answer_from_the_seed_does_not_depend_on_the_number_of_lanes():
    # A GPU searches with several lanes, and random restarts often converge before the seed does.
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 400)
    alone = ChainIK(model, 'panda_hand_tcp', 400).solve(poses, seeds)
    # Without restarts the solver ends in the same configuration where the seed leads there.
    settings = ChainIKSettings(max_attempts=1)
    without = ChainIK(model, 'panda_hand_tcp', 400, settings=settings).solve(poses, seeds)
    from_seed = np.all(alone.joint_q == without.joint_q, axis=1)
    assert 100 < np.sum(from_seed) < 300
    lanes = ChainIK(model, 'panda_hand_tcp', 400, n_lanes=8).solve(poses, seeds)
    np.testing.assert_array_equal(lanes.joint_q[from_seed], alone.joint_q[from_seed])


@pytest.mark.parametrize('n_solutions', [1, 3])
def test_the_order_in_which_lanes_run_changes_nothing(n_solutions):
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 200)
    poses[::9, 2] += 3.0  # out of reach
    solver = ChainIK(
        model, 'panda_hand_tcp', 200, n_lanes=5, n_solutions=n_solutions, n_threads=1,
        settings=ChainIKSettings(max_attempts=100),
    )  # fmt: skip
    # On a CPU the first lane of a problem runs first, and knows of no other.
    first = solver.solve(poses, seeds).copy()
    assert np.any(first.status != SolveStatus.CONVERGED)
    least = solver.iterations.numpy().reshape(200, 5).min(axis=1)
    # Now the quickest one of each problem has run before all others.
    solver._solved.assign(np.where(first.status == SolveStatus.CONVERGED, least, 2**31 - 1))
    again = solver.solve(poses, seeds)
    for field in ('joint_q', 'status', 'n_found', 'position_error'):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))


def test_solving_again_gives_the_same():
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 50)
    solver = ChainIK(model, 'panda_hand_tcp', 50)
    first = solver.solve(poses, seeds).copy()
    solver.solve(poses[::-1], seeds)
    again = solver.solve(poses, seeds)
    np.testing.assert_array_equal(first.joint_q, again.joint_q)


def test_batches_are_larger_on_a_gpu():
    assert largest_batch(5, SimpleNamespace(is_cuda=True)) == 80
    assert largest_batch(5, wp.get_device('cpu')) == 5


def test_large_requests_are_split(monkeypatch):
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 20)
    monkeypatch.setattr('ros_ik.solvers.pose_batches.batch.MAX_BATCH', 7)
    result = inverse_kinematics(model, 'panda_hand_tcp', poses, seeds)
    assert result.joint_q.shape == (20, model.joint_coord_count)
    assert_solved('panda', 'panda_hand_tcp', result.joint_q, poses)


def test_memory_per_problem_is_bounded():
    small = ChainIK(robot('panda'), 'panda_hand_tcp', 10).bytes_per_problem()
    large = ChainIK(robot('panda'), 'panda_hand_tcp', 5000).bytes_per_problem()
    assert small == large < 400


def array_bytes(solver):
    """Return the memory of the arrays of a solver [bytes]."""
    held = [*vars(solver).values(), *vars(solver._input).values()]
    arrays = [value.array for value in held if isinstance(value, HostBuffer)]
    sizes = {}
    for array in (*arrays, *(value for value in held if isinstance(value, wp.array))):
        sizes[array.ptr] = max(array.capacity, sizes.get(array.ptr, 0))  # some are views
    return sum(sizes.values())


@pytest.mark.parametrize('n_solutions', [1, 3])
@pytest.mark.parametrize('n_lanes', [1, 4])
def test_memory_per_problem_is_that_of_the_arrays(n_lanes, n_solutions):
    options = {'n_lanes': n_lanes, 'n_solutions': n_solutions, 'n_threads': 1}
    small, large = (ChainIK(robot('panda'), 'panda_hand_tcp', n, **options) for n in (10, 30))
    assert array_bytes(large) - array_bytes(small) == 20 * small.bytes_per_problem()


def test_a_batch_larger_than_the_memory_is_refused_before_anything_is_made(monkeypatch):
    model, link, n = robot('panda'), 'panda_hand_tcp', 1000
    size = ChainIK(model, link, n).bytes_per_problem()
    monkeypatch.setattr(memory, '_free_bytes', lambda device: float(n * size))
    ChainIK(model, link, n)
    monkeypatch.setattr(search, 'HostBuffer', None)
    for rows, options in ((n + 1, {}), (n, {'n_lanes': 2}), (n, {'n_solutions': 2})):
        with pytest.raises(ArgumentError, match=f'n_problems makes {rows} rows, which take '):
            ChainIK(model, link, rows, **options)
