# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arms of six joints that are singular at every configuration have no closed form.

The rank of the Jacobian is judged by the product of exponentials of the test, and for robots by
Pinocchio.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.axis_arms import arm
from support.robots.axis_arms import jacobians
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import STRUCTURES
from support.robots.axis_arms import tool_poses
from support.robots.axis_arms import TOOL_TURN
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


def far_tool(p, distance, rng):
    """Return a tool [3] at a distance in arm lengths from the last axis."""
    length = np.sum(np.linalg.norm(np.diff(p, axis=0), axis=1))
    direction = rng.normal(size=3)
    return p[-1] + distance * length * direction / np.linalg.norm(direction)


def rank_at_the_wrist(h, p, slides=()):
    """Return NumPy's largest rank of the Jacobian of the point p[-1] of the last link."""
    length = np.sum(np.linalg.norm(np.diff(p, axis=0), axis=1))
    largest = 0
    for q in np.random.default_rng(5).uniform(-np.pi, np.pi, (8, len(h))):
        turn, shift, columns = np.eye(3), np.zeros(3), []
        for k in range(len(h)):
            axis, point = turn @ h[k], turn @ p[k] + shift
            columns.append((axis, k in slides, point))
            if k in slides:
                shift = shift + q[k] * axis
            else:
                own = Rotation.from_rotvec(q[k] * h[k]).as_matrix()
                shift, turn = turn @ (p[k] - own @ p[k]) + shift, turn @ own
        wrist = turn @ p[-1] + shift
        jacobian = [
            np.append(axis, np.zeros(3))
            if slides_
            else np.append(np.cross(axis, wrist - point) / length, axis)
            for axis, slides_, point in columns
        ]
        largest = max(largest, np.linalg.matrix_rank(np.array(jacobian), tol=1e-9))
    return largest


def families(seed):
    """Yield directions and points [n, 3], joints that slide, and the free rotation of arms."""
    rng = np.random.default_rng((seed, 7))
    for structure in STRUCTURES:
        h, p, _ = random_axes(structure, rng, right_angles=bool(seed % 2))
        yield h, p, (), ''
    for structure in ('shoulder and wrist', 'four parallel, wrist', 'wrist, 1 is 2'):
        # Regular, by little.
        h, p, _ = singular_axes(structure, seed, off=3e-4)
        yield h, p, (), ''
    h, p = rng.normal(size=(6, 3)), np.cumsum(rng.uniform(-0.5, 0.5, size=(6, 3)), axis=0)
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    for count, free in ((6, ''), (5, ''), (4, ''), (3, ''), (5, 'z'), (4, 'x')):
        yield h[:count], p[:count], (), free
    p[3:] = p[3]
    for slides in ((2,), (1,), (0, 2), (0, 1, 2)):
        yield h, p, slides, ''


@pytest.mark.parametrize('distance', [0.0, 1.0, 30.0, 1e3])
def test_a_tool_far_away_does_not_make_an_arm_singular(distance):
    """Before, arms were refused that are regular by little, and a few others at 1000 lengths."""
    for seed in range(either(2, 10)):
        for h, p, slides, free in families(seed):
            tool = far_tool(p, distance, np.random.default_rng(seed))
            form = closed_form(arm(h, p, tool, slides=slides), 'tool', free_rotation=free)
            assert rank_at_the_wrist(h, p, slides) == len(h)
            assert form.reason == '', (seed, len(h), slides, free)


@pytest.mark.parametrize('distance', [0.0, 1.0, 30.0, 1e3])
@pytest.mark.parametrize('structure', SINGULAR)
def test_a_tool_far_away_does_not_make_an_arm_regular(structure, distance):
    for seed in range(2):
        h, p, _ = singular_axes(structure, seed, right_angles=bool(seed))
        tool = far_tool(p, distance, np.random.default_rng(seed))
        assert rank_at_the_wrist(h, p) < 6
        assert 'every configuration is singular' in closed_form(arm(h, p, tool), 'tool').reason


@pytest.mark.parametrize('distance', [0.1, 30.0, 1e3])
def test_a_joint_that_only_turns_a_far_tool_about_its_free_axis_is_named(distance):
    rng = np.random.default_rng(3)
    h, p, _ = random_axes('wrist', rng)
    # The free axis z of the tool is along the last joint.
    turn = Rotation.from_euler('xyz', TOOL_TURN).as_matrix()
    h[3] = turn[:, 2]
    tool = p[3] + distance * h[3]
    form = closed_form(arm(h[:4], p[:4], tool), 'tool', free_rotation='z')
    assert "joint 'j4' only rotates the tool about the free axes" in form.reason
    h[3] = turn[:, 0]
    assert closed_form(arm(h[:4], p[:4], tool), 'tool', free_rotation='z').reason == ''
