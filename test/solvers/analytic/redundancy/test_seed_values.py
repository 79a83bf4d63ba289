# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions of arms with seven joints at the seed's value of the redundant joint, or near it."""

import dataclasses
import functools

import numpy as np
import pytest
from support.long_forms import either
from support.robots.chain_judge import ChainJudge
from support.robots.robots import urdf_text

from ros_ik import ChainIK
from ros_ik import RedundantClosedFormIK
from ros_ik import SolveStatus
from ros_ik.solvers.analytic.unsolved_poses import SearchedPoses

PR2 = [
    'torso_lift_joint', 'r_shoulder_pan_joint', 'r_shoulder_lift_joint', 'r_upper_arm_roll_joint',
    'r_elbow_flex_joint', 'r_forearm_roll_joint', 'r_wrist_flex_joint',
]  # fmt: skip
# Redundant joint: the last one, one of several turns, the first one, one that slides.
ARMS = {
    'panda': ('panda_hand_tcp', None),
    'xarm7': ('link_eef', None),
    'baxter': ('left_gripper', None),
    'pr2': ('r_wrist_flex_link', PR2),
}


@functools.cache
def judge(name):
    """Return one of ARMS."""
    link, joints = ARMS[name]
    return ChainJudge(urdf_text(name), link, joints, '')


def solver(it, n, **options):
    """Return a solver that tries the seed's value first."""
    options = {'redundant_values': 1, 'joint_group': it.joints, **options}
    return RedundantClosedFormIK(it.model, it.link, n, options.pop('max_solutions', 16), **options)


def misses(it, poses, seeds):
    """Return True for poses without a solution at the seed's value."""
    column = it.form.redundant_variable
    return ~solver(it, len(poses)).solved_at(poses, seeds[:, column : column + 1])[:, 0]


def near(it, q, deviation):
    """Return configurations inside the limits near others."""
    change = deviation * np.random.default_rng(5).normal(size=q.shape)
    return np.clip(q + change, *it.chain.sampling_range())


def count_restarts(monkeypatch):
    """Return a list that gets an entry for each search with restarts, which does not run."""
    calls = []
    monkeypatch.setattr(SearchedPoses, '_solve', lambda self: calls.append(self) or 0)
    return calls


# Threads share the largest batch.
@pytest.mark.parametrize(
    ('name', 'n'), [*((name, either(60, 1000)) for name in ARMS), ('panda', 1100)]
)
def test_every_pose_is_solved_from_far_and_near(name, n):
    it = judge(name)
    q = it.random(n, 1)
    poses = it.poses(q)
    for seeds in (it.random(n, 3), near(it, q, 0.1)):
        result = solver(it, n).solve(poses, it.whole(seeds))
        it.assert_true(result, poses, seeds=seeds)
    result = solver(it, n).solve(poses)
    it.assert_true(result, poses)


# Searches that begin elsewhere may converge sooner than the one from the seed.
@pytest.mark.parametrize('name', ['panda', 'baxter', *either([], ['xarm7', 'pr2'])])
def test_solutions_are_as_near_to_the_seeds_as_those_of_a_search_from_there(name):
    it, n = judge(name), 250
    q = it.random(n, 4)
    poses, seeds = it.poses(q), near(it, q, 0.7)
    missed = misses(it, poses, seeds)
    assert np.sum(missed) > 50
    result = solver(it, n).solve(poses, it.whole(seeds))
    search = ChainIK(it.model, it.link, n, joint_group=it.joints).solve(poses, it.whole(seeds))
    mine, other = (
        np.linalg.norm(it.own(joint_q) - seeds, axis=1)[missed]
        for joint_q in (result.joint_q[:, 0], search.joint_q)
    )
    assert np.mean(mine < other + 0.05) > 0.85


def test_few_poses_need_the_search_with_restarts(monkeypatch):
    it, n = judge('panda'), 100
    poses, seeds = it.poses(it.random(n, 6)), it.random(n, 7)
    assert np.sum(misses(it, poses, seeds)) > 50
    one = solver(it, 1)
    restarts = count_restarts(monkeypatch)
    for pose, seed in zip(poses, seeds, strict=True):
        one.solve(pose[None], it.whole(seed[None]))
    assert len(restarts) <= 2


@pytest.mark.parametrize('is_gpu', [False, True])
def test_single_poses_in_turn_have_the_results_of_new_solvers(is_gpu, monkeypatch):
    if is_gpu:
        # A GPU has the search with restarts alone.
        monkeypatch.setattr(RedundantClosedFormIK, '_searches_locally', False)
    it, n = judge('panda'), 24
    q, seeds = it.random(n, 8), it.random(n, 9)
    # The elbow at its limit: some have solutions only beside the value that a search finds.
    q[1::4, 3] = it.chain.lower[3]
    poses = it.poses(q)
    poses[2::4, 0] += 3.0
    poses[3::8, 0] = np.nan
    seeds[5::8] = q[5::8]
    one = solver(it, 1)
    for pose, seed in zip(poses, seeds, strict=True):
        row = pose[None], it.whole(seed[None])
        mine, new = one.solve(*row), solver(it, 1).solve(*row)
        for field in dataclasses.fields(mine):
            np.testing.assert_array_equal(
                getattr(mine, field.name), getattr(new, field.name), err_msg=field.name
            )


def test_poses_without_a_solution_are_told():
    it = judge('panda')
    poses, seeds = it.poses(it.random(6, 10)), it.random(6, 11)
    poses[0, 0] += 3.0
    poses[1, 2] = np.nan
    seeds[2, 6] = np.nan
    for n in (6, 1):
        ours = solver(it, n)
        for k in range(0, 6, n):
            result = ours.solve(poses[k : k + n], it.whole(seeds[k : k + n]))
            for row in range(n):
                status, found = result.status[row], result.n_found[row]
                if k + row == 0:
                    assert status in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
                    assert 1.0 < result.position_error[row, 0] < 3.0
                elif k + row < 3:
                    assert status == SolveStatus.NON_FINITE_INPUT
                else:
                    assert status == SolveStatus.CONVERGED and found > 0
                assert (found > 0) == (status == SolveStatus.CONVERGED)
                assert np.all(np.isfinite(result.joint_q[row]))


@pytest.mark.parametrize('turns', [0, 2])
def test_a_value_that_is_found_turns_to_the_seed(turns, monkeypatch):
    it, n = judge('panda'), 100
    seeds = it.random(n, 13) + turns * 2.0 * np.pi
    one = RedundantClosedFormIK(it.unlimited(), it.link, n, 1, redundant_values=1)
    restarts = count_restarts(monkeypatch)
    result = one.solve(it.poses(it.random(n, 12)), it.whole(seeds))
    assert not restarts and np.all(result.status == SolveStatus.CONVERGED)
    assert np.abs(it.own(result.joint_q[:, 0]) - seeds).max() <= np.pi + 1e-6


# Poses without candidates are left out up to the first one that has some.
@pytest.mark.parametrize('options', [{}, {'redundant_values': [-0.5, 0.5]}])
def test_results_do_not_depend_on_the_order_of_poses(options):
    it, n = judge('panda'), 8
    poses, seeds = it.poses(it.random(n, 17)), it.random(n, 18)
    poses[:3, 0] += 3.0
    poses[3, 0] = np.nan
    ours = solver(it, n, **options)
    # Solutions that a pose without candidates must not keep.
    ours.solve(poses[::-1], it.whole(seeds[::-1]))
    first = ours.solve(poses, it.whole(seeds)).copy()
    last = ours.solve(poses[::-1], it.whole(seeds[::-1]))
    for name in ('status', 'n_found', 'n_exist'):
        np.testing.assert_array_equal(getattr(first, name), getattr(last, name)[::-1])
    np.testing.assert_array_equal(first.joint_q[4:], last.joint_q[::-1][4:])
    assert np.all(first.n_found[:4] == 0)
    assert set(first.status[:3]) <= {SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS}
