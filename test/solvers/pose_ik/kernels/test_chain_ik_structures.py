# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Chains of every structure beside each other: a kernel of one must not serve another."""

import numpy as np
import pytest
from support.long_forms import either
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import SolveStatus
from ros_ik.solvers.pose_ik.kernels.kernel import chain_ik_kernel

AXES = ('0 0 1', '0 1 0', '1 0 0')


def chain(kinds, mimics=(), axes=AXES, scale=1):
    """Return a serial robot: 'r' and 'p' joints, (follower, driver, multiplier), wider limits."""
    text = '<robot name="chain"><link name="l0"/>'
    for k, kind in enumerate(kinds):
        follows = ''.join(
            f'<mimic joint="j{driver}" multiplier="{factor}" offset="0.1"/>'
            for follower, driver, factor in mimics
            if follower == k
        )
        bound = scale * (3 if follows else 1)  # a follower never limits its driver
        text += (
            f'<link name="l{k + 1}"/>'
            f'<joint name="j{k}" type="{"revolute" if kind == "r" else "prismatic"}">'
            f'<parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/><axis xyz="{axes[k % len(axes)]}"/>'
            f'<limit lower="{-bound}" upper="{bound}" effort="1" velocity="1"/>{follows}</joint>'
        )
    return Model.from_urdf(text + '</robot>', device='cpu')


# Lengths come twice and more, with other joints or other mimics.
STRUCTURES = [
    ('rp', ()), ('pr', ()), ('rrr', ((2, 0, 0.5),)), ('rrr', ((2, 1, -0.5),)),
    *either(
        [],
        [
            ('rrr', ()),
            ('r', ()), ('p', ()), ('prr', ()), ('rrp', ()), ('ppp', ()),
            ('rrr', ((1, 0, 1.0),)), ('prr', ((2, 1, 0.5),)),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize('order', [1, -1])
def test_each_structure_has_its_own_kernel(order):
    for kinds, mimics in STRUCTURES[::order]:
        model = chain(kinds, mimics)
        joint_q = model.random_joint_q(20, np.random.default_rng(1))
        body_q = np.zeros((20, model.body_count, 7))
        eval_fk(model, joint_q, body_q)
        result = inverse_kinematics(model, f'l{len(kinds)}', body_q[:, -1])
        assert (result.status == SolveStatus.CONVERGED).all(), (kinds, mimics)


def poses_of(model, joint_q):
    """Return the poses of the last link."""
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    return body_q[:, -1]


@pytest.mark.parametrize(('kinds', 'mimics'), STRUCTURES)
def test_steps_near_a_solution_are_those_of_newton(kinds, mimics):
    """Turns and slides about one axis, which share most in the products of the Jacobian."""
    model = chain(kinds, mimics, AXES[:1])
    joint_q = model.random_joint_q(20, np.random.default_rng(3))
    at_limit = joint_q.copy()
    at_limit[:, 0] = 1.0
    at_limit = model.apply_mimic(at_limit)
    solver = ChainIK(
        model, f'l{len(kinds)}', 20, position_tolerance=1e-9, rotation_tolerance=1e-9
    )
    # Each step doubles the digits; a wrong term of the gradient or the Hessian takes one more.
    for q, away, most in ((joint_q, 0.05, 4 if 'p' in kinds else 5), (at_limit, -0.2, 6)):
        result = solver.solve(poses_of(model, q), q + away)
        assert (result.status == SolveStatus.CONVERGED).all()
        assert np.max(solver.iterations.numpy()) <= most


@pytest.mark.parametrize(('kinds', 'mimics'), STRUCTURES)
def test_a_turn_towards_the_seed_keeps_the_pose(kinds, mimics):
    """A slide has no turns, and a turn of one joint of a variable is half a turn of another."""
    mimics = tuple((follower, driver, 4.0 * factor) for follower, driver, factor in mimics)
    model = chain(kinds, mimics, scale=10)
    joint_q = model.apply_mimic(model.random_joint_q(20, np.random.default_rng(4)) / 4.0)
    for away in (7.0, 3.0):
        poses = poses_of(model, joint_q)
        result = inverse_kinematics(model, f'l{len(kinds)}', poses, joint_q + away)
        assert (result.status == SolveStatus.CONVERGED).all()


def test_a_chain_of_more_joints_than_warp_unrolls_is_solved():
    """Warp unrolls 16 turns of a loop by itself.

    In the short form six joints drive the others, which takes a third of the time to compile.
    """
    # A loop over more variables must unroll, too: otherwise Warp refuses to generate its code.
    for longest in (17, 32):
        kind = (False,) * longest, tuple(range(longest)), True
        assert chain_ik_kernel(wp.float64, *kind).module.options['max_unroll'] >= longest
    count = either(17, 20)
    mimics = either([(k, k % 6, 0.5) for k in range(6, count)], ())
    model = chain(('rrpr' * 5)[:count], mimics)
    joint_q = model.random_joint_q(20, np.random.default_rng(2))
    result = inverse_kinematics(model, f'l{count}', poses_of(model, joint_q))
    assert (result.status == SolveStatus.CONVERGED).all()


def test_a_chain_too_long_for_one_kernel_is_named():
    with pytest.raises(ArgumentError, match="'l33' is moved by 33 joints.*IKSolver"):
        ChainIK(chain('r' * 33), 'l33')
