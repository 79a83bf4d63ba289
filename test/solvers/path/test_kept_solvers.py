# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths are the same with new solvers and with those that are kept with the model."""

import copy
import dataclasses
import threading

import numpy as np
import pytest
from support.long_forms import either
from support.robots.collision_oracle import robot_with_meshes
from support.robots.collision_oracle import urdf_path
from support.robots.robots import load

from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.kinematics.serial_chain import serial_chain
from ros_ik.solvers.analytic.redundant import RedundantClosedFormIK
from ros_ik.solvers.analytic.solver import ClosedFormIK
from ros_ik.solvers.analytic.structure.form import variable_joints
from ros_ik.solvers.path.path_solvers import path_solvers
from ros_ik.solvers.path.solver import solve_path
from ros_ik.solvers.pose_ik.solver import ChainIK

CASES = {
    'six joints': ('ur5_robot', 'tool0', {}),
    'seven joints': ('panda', 'panda_hand_tcp', {}),
    'five joints': ('ur5_robot', 'wrist_2_link', {}),
    'search': ('panda', 'panda_hand_tcp', {'method': 'search'}),
    'six joints without collision': ('ur5_robot', 'tool0', {'check_collisions': True}),
    'seven joints without collision': (
        'panda', 'panda_hand_tcp', {'check_collisions': True, 'method': 'search'},
    ),
}  # fmt: skip
LINKS = {'panda': 'panda_hand_tcp', 'baxter': 'left_gripper'}
SOLVERS = ChainIK, ClosedFormIK, RedundantClosedFormIK, CollisionChecker


def arm(case):
    """Return a model with solvers of its own, the link and the other arguments."""
    name, link, options = CASES[case]
    make = robot_with_meshes if 'check_collisions' in options else load
    return make.__wrapped__(name if make is robot_with_meshes else urdf_path(name)), link, options


def paths_of(model, link, count, *, change=0.0, are_others_still=False):
    """Return starts and poses of straight joint motions, some behind poses out of reach.

    Args:
        model: The model.
        link: Link of the poses.
        count: Number of paths.
        change: Change of the joints before the link [rad].
        are_others_still: True to let joints elsewhere stay where they are from path to path.
    """
    rng, found, n = np.random.default_rng(0), [], 10
    for k in range(count):
        start, chain = model.random_joint_q(1, rng)[0], serial_chain(model, link)
        start[chain.coordinates] += change
        if are_others_still:
            others = np.setdiff1d(np.arange(len(start)), chain.coordinates)
            start[others] = model.neutral_joint_q()[others]
        joint_q = start + np.linspace(0.0, 0.2, n)[:, None] * rng.uniform(-1, 1, len(start))
        body_q = np.zeros((n, model.body_count, 7))
        eval_fk(model, model.apply_mimic(joint_q), body_q)
        poses = body_q[:, model.body_index(link)]
        if k % 2:
            poses[n // 2, :3] += 10.0
        found.append((start, poses))
    return found


def assert_equal(path, other):
    """Assert that two paths agree to the bit."""
    for field in dataclasses.fields(path):
        np.testing.assert_array_equal(getattr(path, field.name), getattr(other, field.name))


@pytest.mark.parametrize('case', CASES)
def test_later_paths_are_those_of_a_first_call(case):
    model, link, options = arm(case)
    (start, poses), (_, others) = paths_of(model, link, 2)
    asked = [(poses, start), (others, None), *either([], [(poses, None), (others, start)])]
    first = [solve_path(copy.copy(model), link, *path, **options) for path in asked]
    found = [solve_path(model, link, *path, **options) for path in asked]
    again = [solve_path(model, link, *path, **options) for path in reversed(asked)]
    for path, other, repeated in zip(first, found, reversed(again), strict=True):
        # The calls between them have left the arrays alone.
        assert_equal(path, other)
        assert_equal(path, repeated)


@pytest.mark.parametrize('case', CASES)
def test_nothing_is_made_again_for_other_paths(case, monkeypatch):
    model, link, options = arm(case)

    def solve(change, max_joint_step=0.3):
        # Collisions depend on all joints.
        still = 'check_collisions' in options
        for start, poses in paths_of(model, link, 2, change=change, are_others_still=still):
            for begin in (start, None):
                solve_path(model, link, poses, begin, max_joint_step=max_joint_step, **options)

    solve(0.0)
    made = []
    for kind in SOLVERS:

        def counted(self, *args, make=kind.__init__, **arguments):
            made.append((type(self), args[1:]))
            make(self, *args, **arguments)

        monkeypatch.setattr(kind, '__init__', counted)
    solve(1e-4)
    solve(2e-4, max_joint_step=0.31)
    assert made == []


@pytest.mark.parametrize('case', CASES)
def test_a_change_of_the_model_is_seen(case):
    model, link, options = arm(case)
    ((start, poses),) = paths_of(model, link, 1)
    for begin in (start, None):
        before = solve_path(model, link, poses, begin, **options)
        kept = model.joint_X_p64.copy()
        model.joint_X_p64[:, :3] *= 1.02
        changed = solve_path(model, link, poses, begin, **options)
        assert_equal(changed, solve_path(copy.copy(model), link, poses, begin, **options))
        assert not np.array_equal(changed.joint_q, before.joint_q)
        model.joint_X_p64[:] = kept
        assert_equal(solve_path(model, link, poses, begin, **options), before)


@pytest.mark.parametrize(
    ('name', 'method'), [('panda', 'auto'), ('panda', 'search'), ('baxter', 'search')]
)
def test_locked_joints_keep_their_positions(name, method):
    model, link = load.__wrapped__(urdf_path(name)), LINKS[name]
    chain = serial_chain(model, link)
    joints = [model.joint_label[k] for k in variable_joints(model, chain)[:-1]]
    ((start, poses),) = paths_of(model, link, 1)
    others, elsewhere = start.copy(), model.random_joint_q(1, 1)[0]
    others[chain.coordinates[-1]] += 0.1
    elsewhere[chain.coordinates] = start[chain.coordinates]
    for group, count in ((None, 7), (joints, 6)):
        moved = chain.coordinates[:count]
        still = np.setdiff1d(np.arange(model.joint_coord_count), moved)
        for begin in (start, others, elsewhere, start):
            options = {'joint_group': group, 'method': method}
            path = solve_path(model, link, poses, begin, **options)
            alone = copy.copy(model)
            assert_equal(path, solve_path(alone, link, poses, begin, **options))
            np.testing.assert_array_equal(
                path.joint_q[:, still], np.tile(begin[still], (len(poses), 1))
            )


def test_pairs_that_change_later_are_others():
    model, link, _ = arm('six joints without collision')
    every = model.shape_contact_pairs.numpy().copy()
    pairs, others = every[:3].copy(), every[3:6]
    with path_solvers(
        model, link, joint_group=None, joint_q=model.neutral_joint_q(), offset=None,
        check_collisions=True, collision_pairs=pairs, collision_margin=0.0,
    ) as solvers:  # fmt: skip
        pairs[:] = others
        search = solvers.search(1, (1e-4, 1e-3), is_free=True)
        np.testing.assert_array_equal(search.collision_pairs, every[:3])


@pytest.mark.parametrize('case', CASES)
def test_paths_of_two_threads_do_not_disturb_each_other(case, monkeypatch):
    """Solve another path in a second thread while the first has not read its solutions."""
    model, link, options = arm(case)
    (start, poses), (_, others) = paths_of(model, link, 2)
    for begin in either([None], [start, None]):
        expected = solve_path(copy.copy(model), link, poses, begin, **options)
        beside = solve_path(copy.copy(model), link, others, begin, **options)
        solve_path(model, link, poses, begin, **options)
        first, found = threading.get_ident(), []

        def solve_beside(self, *args, solve, first=first, begin=begin, found=found, **arguments):
            solved = solve(self, *args, **arguments)
            if threading.get_ident() == first and len(found) < 2:
                thread = threading.Thread(
                    target=lambda: found.append(solve_path(model, link, others, begin, **options))
                )
                thread.start()
                thread.join()
            return solved

        with monkeypatch.context() as patch:
            for kind in SOLVERS[:3]:
                patch.setattr(
                    kind, 'solve',
                    lambda self, *args, solve=kind.solve, **arguments: solve_beside(
                        self, *args, solve=solve, **arguments
                    ),
                )  # fmt: skip
            assert_equal(solve_path(model, link, poses, begin, **options), expected)
        assert found
        for path in found:
            assert_equal(path, beside)


def test_kept_solvers_are_bounded_in_memory():
    model, link, _ = arm('seven joints')
    ((start, poses),) = paths_of(model, link, 1)
    expected = solve_path(copy.copy(model), link, poses, start)
    assert_equal(solve_path(model, link, poses, start), expected)
    pool = model.solver_cache['poses']

    def solvers():
        kept = [value for each in pool._requests.values() for value, _ in each.idle]
        (found,) = (value for value in kept if hasattr(value, 'trim'))
        return found

    assert 0 < solvers().n_bytes < pool.max_bytes
    for n in (3, 9, 17, 40):
        for size in (4, 10):
            offset = np.array([0.0, 0.0, 0.01 * n, 0.0, 0.0, 0.0, 1.0])
            solve_path(model, link, poses[:size], start, method='search', offset=offset)
        assert sum(n_bytes for each in pool._requests.values() for _, n_bytes in each.idle) == (
            pool._bytes
        )
        assert pool._bytes <= pool.max_bytes
