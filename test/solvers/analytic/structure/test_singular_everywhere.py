# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms of six joints that are singular at every configuration have no closed form.

The rank of the Jacobian is judged by the product of exponentials of the test, and for robots by
Pinocchio.
"""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.axis_arms import arm
from support.robots.axis_arms import jacobians
from support.robots.axis_arms import tool_poses
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import inverse_kinematics
from ros_ik import solve_path
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily as Family

# Groups of axes, counted from 0, that are parallel, meet in a point, or coincide. The first group
# mostly gives a structure that has a closed form without the others.
SINGULAR = {
    'four parallel, wrist': [('parallel', (0, 1, 2, 3)), ('meet', (3, 4, 5))],
    'four parallel in the middle': [('parallel', (1, 2, 3, 4))],
    'shoulder, four parallel': [('meet', (0, 1, 2)), ('parallel', (2, 3, 4, 5))],
    'six parallel': [('parallel', (0, 1, 2, 3, 4, 5))],
    'three and three parallel': [('parallel', (0, 1, 2)), ('parallel', (3, 4, 5))],
    'four meet': [('meet', (2, 3, 4, 5))],
    'five meet': [('meet', (1, 2, 3, 4, 5))],
    'shoulder and wrist': [('meet', (0, 1, 2)), ('meet', (3, 4, 5))],
    'wrist, 1 is 2': [('meet', (3, 4, 5)), ('same', (0, 1))],
    'wrist, 2 is 3': [('meet', (3, 4, 5)), ('same', (1, 2))],
    'wrist, 1 is 2 is 3': [('meet', (3, 4, 5)), ('same', (0, 1, 2))],
    'wrist, 3 is 4': [('meet', (3, 4, 5)), ('same', (3, 2))],
    '2, 3, 4 parallel, 5 is 6': [('parallel', (1, 2, 3)), ('same', (4, 5))],
    '4, 5, 6 parallel, 1 is 2': [('parallel', (3, 4, 5)), ('same', (0, 1))],
    'general, 3 is 4': [('same', (2, 3))],
}  # fmt: skip


def singular_axes(structure, seed, right_angles=False, off=0.0):
    """Return directions and points [6, 3] of axes and the tool [3].

    Args:
        structure: A key of SINGULAR.
        seed: Seed of the random numbers.
        right_angles: True if axes point along x, y or z.
        off: Length [m] and angle [rad] by which the second axis is moved away.
    """
    rng = np.random.default_rng(seed)
    h = np.eye(3)[rng.integers(3, size=6)] if right_angles else rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    p = np.cumsum(rng.uniform(-0.5, 0.5, size=(6, 3)), axis=0)
    for kind, joints in SINGULAR[structure]:
        group = list(joints)
        if kind != 'meet':
            h[group] = h[group[0]]
        if kind != 'parallel':
            p[group] = p[group[0]]
    across = np.cross(h[1], rng.normal(size=3))
    across /= np.linalg.norm(across)
    h[1] += off * across
    h[1] /= np.linalg.norm(h[1])
    p[1] += off * np.cross(h[1], across) + off * across
    return h, p, p[5] + rng.uniform(-0.3, 0.3, size=3)


def regularity(jacobian):
    """Return the largest ratio of the least to the largest singular value of matrices."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return float((values[:, -1] / values[:, 0]).max())


@pytest.mark.parametrize('right_angles', [False, True], ids=['any angles', 'right angles'])
@pytest.mark.parametrize('structure', SINGULAR)
def test_they_are_told_apart(structure, right_angles):
    q = np.random.default_rng(9).uniform(-np.pi, np.pi, (20, 6))
    for seed in range(either(2, 5)):
        axes = singular_axes(structure, seed, right_angles)
        assert regularity(jacobians(*axes, q)) < 1e-12
        form = closed_form(arm(*axes), 'tool')
        assert form.family is Family.NONE and not form.exact and form.max_branches == 0
        assert 'every configuration is singular' in form.reason


@pytest.mark.parametrize('off', [1e-10, 1e-9, 1e-8, 1e-7])
def test_those_that_only_rounding_makes_regular_are_too(off):
    """Before, up to 97 of 100 poses of such arms were unsolved, and they were called exact."""
    for structure in ('shoulder and wrist', 'four parallel, wrist', 'wrist, 1 is 2'):
        assert closed_form(arm(*singular_axes(structure, 1, off=off)), 'tool').reason


@pytest.mark.parametrize(
    'structure', ['shoulder and wrist', 'four parallel, wrist', 'wrist, 1 is 2']
)
def test_those_that_are_clearly_regular_are_solved(structure):
    axes = singular_axes(structure, 1, off=1e-4)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (100, 6))
    found = all_solutions(arm(*axes), 'tool', tool_poses(*axes, q))
    apart = np.abs((found.joint_q - q[:, None] + np.pi) % (2.0 * np.pi) - np.pi).max(axis=2)
    apart[np.arange(apart.shape[1]) >= found.n_found[:, None]] = np.inf
    assert np.all(apart.min(axis=1) < 1e-4)


@pytest.mark.parametrize(
    'structure', ['shoulder and wrist', 'three and three parallel', 'four parallel, wrist']
)
def test_each_reachable_pose_is_solved_by_choice(structure):
    axes = singular_axes(structure, 1)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (200, 6))
    poses, model = tool_poses(*axes, q), arm(*axes)
    found = inverse_kinematics(model, 'tool', poses, method='auto')
    assert np.all(found.status == SolveStatus.CONVERGED)
    wanted = tool_poses(*axes, found.joint_q)
    assert np.abs(wanted[:, :3] - poses[:, :3]).max() < 1e-3
    for call in (
        lambda: all_solutions(model, 'tool', poses),
        lambda: inverse_kinematics(model, 'tool', poses, method='closed_form'),
    ):
        with pytest.raises(ArgumentError, match='every configuration is singular'):
            call()


def test_a_path_is_searched():
    axes = singular_axes('wrist, 1 is 2', 1)
    q = np.linspace(0.1, 0.5, 10)[:, None] * np.arange(1.0, 7.0)
    path = solve_path(arm(*axes), 'tool', tool_poses(*axes, q), q[0])
    assert path.fraction == 1.0


@pytest.mark.oracle
def test_six_joints_of_robots():
    """No arm of a robot loses its closed form, and what is called singular is, by Pinocchio."""
    pinocchio = pytest.importorskip('pinocchio')
    pinocchio.seed(0)
    singular, regular = set(), 0
    for path in ALL_URDFS:
        model, oracle = load(path), None
        parent, child = model.joint_parent.numpy(), model.joint_child.numpy()
        above = {int(c): int(b) for b, c in zip(parent, child, strict=True)}
        joint_of = {int(c): j for j, c in enumerate(child)}
        starts = model.joint_qd_start.numpy()
        for body in range(model.body_count):
            chain, link = [], body
            while link >= 0:
                joint, link = joint_of[link], above[link]
                chain += [joint] * int(starts[joint + 1] - starts[joint])
            if len(set(chain)) != 6 or chain[0] != joint_of[body]:
                continue  # not six, or the same joints as those of the link above
            form = closed_form(model, body)
            if 'mimic' in form.reason:
                continue
            oracle = oracle or pinocchio.buildModelFromUrdf(str(path))
            data = oracle.createData()
            frame = oracle.getFrameId(model.body_label[body])
            columns = [
                oracle.joints[oracle.getJointId(model.joint_label[joint])].idx_v
                for joint in chain
            ]
            jacobian = [
                pinocchio.computeFrameJacobian(
                    oracle, data, pinocchio.randomConfiguration(oracle), frame
                )[:, columns]
                for _ in range(10)
            ]
            is_singular = regularity(np.array(jacobian)) < 1e-6
            assert is_singular == ('every configuration is singular' in form.reason), (path, body)
            regular += not is_singular
            if is_singular:
                singular.add((path.stem, model.body_label[body]))
    assert regular > 50
    # Three joints of the waist meet, and so do three of the shoulder.
    assert {link for _, link in singular} == {'LARM_LINK3', 'RARM_LINK3'}
