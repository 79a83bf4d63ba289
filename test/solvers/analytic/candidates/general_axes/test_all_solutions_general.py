# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every solution of six axes without a structure, judged by a product of exponentials in NumPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.axis_arms import arm
from support.robots.axis_arms import has
from support.robots.axis_arms import newton_of_poses
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import STRUCTURES
from support.robots.axis_arms import tool_poses
from support.robots.axis_arms import wrapped
import warp as wp

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import ClosedFormIK
from ros_ik import inverse_kinematics
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.solvers.analytic.candidates.general_axes.general_source import GeneralSource
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily
from ros_ik.solvers.analytic.structure.structure import joint_axes

# Tolerances of a solution [m, rad], plus the rounding of the oracle.
TOLERANCE, ROUNDING = 1e-10, 1e-13
# A quarter turn, and a wrist whose axes meet in pairs at 60 degrees [m].
QUARTER = 0.5 * np.pi
WRIST = 0.0741 * np.sin(np.pi / 6) / np.sin(np.pi / 3)
# Denavit-Hartenberg rows (a [m], alpha [rad], d [m]) of arms in use.
ARMS = {
    'slanted wrist': [
        (0.0, QUARTER, 0.2755), (0.41, np.pi, 0.0), (0.0, QUARTER, -0.0098),
        (0.0, np.pi / 3, -0.2073 - WRIST), (0.0, np.pi / 3, -2 * WRIST), (0.0, np.pi, -0.2),
    ],
    'offset wrist': [
        (0.0, -QUARTER, 0.245), (0.54, np.pi, 0.0), (0.0, -QUARTER, 0.0),
        (0.0, QUARTER, -0.54), (0.0, -QUARTER, 0.15), (0.0, 0.0, -0.16),
    ],
    'offset wrist, parallel elbow': [
        (0.0, QUARTER, 0.24325), (0.28, np.pi, 0.03), (0.0, QUARTER, 0.02),
        (0.0, QUARTER, 0.245), (0.0, -QUARTER, 0.057), (0.0, 0.0, 0.235),
    ],
    'bent elbow': [
        (0.0, -QUARTER, 0.267), (0.28949, 0.0, 0.0), (0.0775, -QUARTER, 0.0),
        (0.0, QUARTER, 0.3425), (0.076, -QUARTER, 0.0), (0.0, 0.0, 0.097),
    ],
}  # fmt: skip


def axes_of(name):
    """Return directions, points [6, 3] and the tool [3] of one of ARMS."""
    frame, h, p = np.eye(4), [], []
    for a, alpha, d in ARMS[name]:
        h.append(frame[:3, 2])
        p.append(frame[:3, 3])
        step = np.eye(4)
        step[:3, :3] = Rotation.from_euler('x', alpha).as_matrix()
        step[:3, 3] = a, 0.0, d
        frame = frame @ step
    return np.array(h), np.array(p), frame[:3, 3]


def general_axes(seed):
    """Return directions, points [6, 3] and the tool [3] of a random arm."""
    rng = np.random.default_rng(seed)
    h, p, tool = random_axes('wrist', rng)
    return h, p + rng.uniform(-0.2, 0.2, (6, 3)), tool


def any_axes(name):
    """Return the axes of one of ARMS, or those of a random arm with a number as its name."""
    return axes_of(name) if name in ARMS else general_axes(name)


def assert_true(axes, result, poses, scale=1.0):
    """Assert that every solution reaches its pose, and that the status is right."""
    assert np.all(result.status == SolveStatus.CONVERGED)
    for slot in range(int(result.n_found.max())):
        rows = slot < result.n_found
        reached = tool_poses(*axes, result.joint_q[rows, slot])
        distance = np.linalg.norm(reached[:, :3] - poses[rows, :3], axis=1)
        turn = Rotation.from_quat(poses[rows, 3:]) * Rotation.from_quat(reached[:, 3:]).inv()
        assert distance.max() <= TOLERANCE * min(1.0, scale) + ROUNDING * scale
        assert turn.magnitude().max() <= TOLERANCE + ROUNDING


def is_found(result, q, separation=1e-5):
    """Return True if configurations q [n, 6] are among the solutions, [n]."""
    apart = np.abs(wrapped(result.joint_q - q[:, None])).max(axis=2)
    apart[np.arange(apart.shape[1]) >= result.n_found[:, None]] = np.inf
    return apart.min(axis=1) < separation


@pytest.mark.parametrize('name', either(['bent elbow', 0], ['bent elbow', 0, 1]))
def test_no_other_seed_leads_nearer_to_an_unreachable_pose(name):
    axes, rng, n = any_axes(name), np.random.default_rng(2), 60
    poses = tool_poses(*axes, rng.uniform(-np.pi, np.pi, (n, 6)))
    poses[:, :3] *= 1.4
    solver = ClosedFormIK(arm(*axes), 'tool', n)
    length = solver.settings.length * joint_axes(solver.chain).reach

    def errors(seeds=None):
        found = solver.solve(poses, seeds)
        return np.hypot(found.position_error[:, 0], length * found.rotation_error[:, 0])

    first = errors()
    out = first > 1e-6
    seeds = rng.uniform(-np.pi, np.pi, (either(8, 20), n, 6))
    best = np.min([errors(rows) for rows in seeds], axis=0)
    assert out.sum() > 20
    assert np.all(first[out] <= 1.05 * best[out])


@pytest.mark.parametrize('name', [*ARMS, *range(either(1, 4))])
def test_every_planted_configuration_is_found(name):
    axes = any_axes(name)
    model = arm(*axes)
    form = closed_form(model, 'tool')
    assert form.family is ClosedFormFamily.GENERAL and form.exact and not form.quartic
    assert form.max_branches == 16 and form.special_joints == () and form.reason == ''
    rng = np.random.default_rng(1)
    q = rng.uniform(-np.pi, np.pi, (150, 6))
    poses = tool_poses(*axes, q)
    result = all_solutions(model, 'tool', poses)
    assert_true(axes, result, poses)
    assert is_found(result, q).all()
    assert np.all((result.n_found % 2 == 0) | result.singular.any(axis=1))
    starts = rng.uniform(-np.pi, np.pi, (2, either(150, 300), 6))
    for k, others in enumerate(newton_of_poses(*axes, poses[:2], starts)):
        assert len(others) > 0
        assert all(has(result.joint_q[k, : result.n_found[k]], other) for other in others)


# Poses of all arms, and those of one that the first chart does not solve completely.
FEW_POSES = [*range(150), 237, 339, 365, 451, 537, 615, 617, 822, 836, 940, 958]


@pytest.mark.parametrize('name', ARMS)
def test_no_chart_finds_more(name):
    # At some of these poses six to fourteen roots are so close that one chart loses solutions.
    axes = axes_of(name)
    model, chosen = arm(*axes), either(FEW_POSES, range(3000))
    q, n = np.random.default_rng(1).uniform(-np.pi, np.pi, (3000, 6))[chosen], len(chosen)
    poses = tool_poses(*axes, q)
    result = all_solutions(model, 'tool', poses)
    chain, _ = folded_chain(model, 'tool', None, None, None)
    source = GeneralSource(joint_axes(chain), n, 'cpu')
    assert len(source.charts) >= 2
    arrays = wp.array(poses, dtype=wp.transformd), wp.zeros((n, 6), dtype=wp.float64)
    for chart in source.charts:
        alone = GeneralSource(joint_axes(chain), n, 'cpu', charts=[chart])
        alone.launch(list(arrays))
        solved = alone.misses.numpy() == 0.0
        solved[:, 16:] = False
        assert solved.any(axis=1).sum() > 0.9 * n
        for slot in range(16):
            rows = np.flatnonzero(solved[:, slot])
            found = result.joint_q[rows], alone.candidates.numpy()[rows, slot]
            apart = np.abs(wrapped(found[0] - found[1][:, None])).max(axis=2).min(axis=1)
            assert np.all(apart < 1e-4)


@pytest.mark.parametrize('structure', [('meet', (1, 2)), ('parallel', (3, 4)), ('meet', (5, 0))])
def test_arms_with_one_special_pair(structure, monkeypatch):
    monkeypatch.setitem(STRUCTURES, 'pair', [structure])
    for seed in range(either(1, 3)):
        rng = np.random.default_rng(seed)
        axes = random_axes('pair', rng)
        q = rng.uniform(-np.pi, np.pi, (60, 6))
        poses = tool_poses(*axes, q)
        result = all_solutions(arm(*axes), 'tool', poses)
        assert_true(axes, result, poses)
        assert is_found(result, q).all()


def poses_along_the_first_axis(axes, n, rng):
    """Return random poses of an arm, turned so that axis 6 points against axis 1, [n, 7]."""
    h = axes[0]
    poses = tool_poses(*axes, rng.uniform(-np.pi, np.pi, (n, 6)))
    at_zero = Rotation.from_quat(tool_poses(*axes, np.zeros((1, 6)))[0, 3:])
    last = (Rotation.from_quat(poses[:, 3:]) * at_zero.inv()).apply(h[5])
    for k, direction in enumerate(last):
        turn, _ = Rotation.align_vectors(-h[:1], direction[None])
        poses[k, 3:] = (turn * Rotation.from_quat(poses[k, 3:])).as_quat()
    return poses


def test_four_solutions_at_one_position_of_a_joint():
    # With joint 4 at zero or half a turn, axes 1 and 6 are parallel, and so are 2, 3 and 5.
    axes = axes_of('bent elbow')
    poses = poses_along_the_first_axis(axes, 30, np.random.default_rng(1))
    result = all_solutions(arm(*axes), 'tool', poses)
    solved = result.status == SolveStatus.CONVERGED
    assert solved.sum() > 20
    assert np.all(result.n_found[solved] % 2 == 0)


@pytest.mark.parametrize('name', either(['slanted wrist', 'bent elbow'], ARMS))
def test_the_tool_along_the_first_axis(name):
    axes = axes_of(name)
    rng = np.random.default_rng(2)
    poses = poses_along_the_first_axis(axes, 40, rng)
    result = all_solutions(arm(*axes), 'tool', poses)
    reached = result.status == SolveStatus.CONVERGED
    assert reached.sum() > 15
    lost = total = 0
    starts = rng.uniform(-np.pi, np.pi, (len(poses), either(60, 150), 6))
    known = newton_of_poses(*axes, poses, starts)
    for others, found, n in zip(known, result.joint_q, result.n_found, strict=True):
        lost += sum(not has(found[:n], other) for other in others)
        total += len(others)
    # Solved a little beside the pose, two branches that are near each other may end as one.
    assert total > 100 and lost <= 0.05 * total


@pytest.mark.parametrize('name', [*ARMS, 0])
def test_joints_at_zero(name):
    axes = any_axes(name)
    rng = np.random.default_rng(3)
    q = rng.uniform(-3.0, 3.0, (40, 6)) * (rng.random((40, 6)) < 0.6)
    q[0] = 0.0
    poses = tool_poses(*axes, q)
    result = all_solutions(arm(*axes), 'tool', poses)
    assert_true(axes, result, poses)
    assert np.mean(is_found(result, q) | result.singular.any(axis=1)) > 0.95


@pytest.mark.parametrize('scale', [1e-3, 100.0])
def test_small_and_large_arms(scale):
    h, p, tool = general_axes(4)
    axes = h, scale * p, scale * tool
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (60, 6))
    poses = tool_poses(*axes, q)
    result = all_solutions(arm(h, p, tool, scale=scale), 'tool', poses)
    assert_true(axes, result, poses, scale)
    assert is_found(result, q).all()


def test_reversed_joints_turn_the_other_way():
    h, p, tool = general_axes(5)
    senses = np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0])
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, (60, 6))
    poses = tool_poses(h, p, tool, q)
    plain = all_solutions(arm(h, p, tool), 'tool', poses)
    other = all_solutions(arm(senses[:, None] * h, p, tool), 'tool', poses)
    assert np.array_equal(plain.n_found, other.n_found)
    assert is_found(other, senses * q).all()


def test_a_calibrated_arm_too_far_off_a_structure():
    rng = np.random.default_rng(6)
    h, p, tool = random_axes('2, 3, 4 parallel, 5 meets 6', rng)
    h = h + 0.02 * rng.normal(size=(6, 3))
    axes = h / np.linalg.norm(h, axis=1, keepdims=True), p, tool
    solver = ClosedFormIK(arm(*axes), 'tool', 150)
    assert solver.form.family is ClosedFormFamily.GENERAL
    q = rng.uniform(-np.pi, np.pi, (150, 6))
    poses = tool_poses(*axes, q)
    result = solver.solve(poses)
    assert_true(axes, result, poses)
    assert is_found(result, q).all()


@pytest.mark.parametrize('structure', ['wrist', '4, 5, 6 parallel'])
def test_axes_that_nearly_fit_a_structure_miss_no_solution(structure):
    for seed in range(100, 103):
        h, p, tool = random_axes(structure, np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        h = h + 1.5e-3 * rng.normal(size=(6, 3))
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        axes = h, p + 1.5e-3 * rng.normal(size=(6, 3)), tool
        q = rng.uniform(-np.pi, np.pi, (1000, 6))
        result = all_solutions(arm(*axes), 'tool', tool_poses(*axes, q))
        assert is_found(result, q).all()


@pytest.mark.parametrize('away', [30.0, 100.0])
def test_a_far_tool_hides_no_solution(away):
    h, p, tool = random_axes('wrist', np.random.default_rng(3))
    p = p + 0.1 * np.random.default_rng(30).normal(size=(6, 3))
    axes = h, p, tool + away * np.array([0.6, 0.0, 0.8])
    q = np.random.default_rng(4).uniform(-np.pi, np.pi, (600, 6))
    result = all_solutions(arm(*axes), 'tool', tool_poses(*axes, q))
    assert is_found(result, q).all()


def test_limits_and_seeds():
    axes = general_axes(7)
    rng = np.random.default_rng(7)
    lower, upper = -rng.uniform(0.5, 3.0, 6), rng.uniform(0.5, 3.0, 6)
    q = rng.uniform(lower, upper, (60, 6))
    poses = tool_poses(*axes, q)
    model = arm(*axes, limits=(lower, upper))
    result = all_solutions(model, 'tool', poses, q)
    assert_true(axes, result, poses)
    assert np.all(result.joint_q >= lower) and np.all(result.joint_q <= upper)
    assert np.allclose(result.joint_q[:, 0], q, atol=1e-6)
    free = all_solutions(arm(*axes), 'tool', poses)
    turned = wrapped(free.joint_q)
    inside = np.all((turned >= lower) & (turned <= upper), axis=2)
    inside &= np.arange(16) < free.n_found[:, None]
    assert np.array_equal(result.n_found, inside.sum(axis=1))
    assert np.array_equal(free.joint_q, all_solutions(arm(*axes), 'tool', poses).joint_q)


@pytest.mark.parametrize('away', [0.3, 3.0, 1e4])
def test_poses_out_of_reach_get_a_near_configuration(away):
    axes = general_axes(8)
    _, p, tool = axes
    reach = np.sum(np.linalg.norm(np.diff(np.vstack([p, tool]), axis=0), axis=1))
    poses = tool_poses(*axes, np.random.default_rng(8).uniform(-3, 3, (8, 6)))
    out = poses[:, :3] - p[0]
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    poses[:, :3] = p[0] + (1.0 + away) * reach * out
    result = all_solutions(arm(*axes), 'tool', poses)
    assert np.all(result.status == SolveStatus.UNREACHABLE) and np.all(result.n_found == 0)
    assert np.all(result.position_error[:, 0] < (away + 2.0) * reach)
    reached = tool_poses(*axes, result.joint_q[:, 0])
    distance = np.linalg.norm(reached[:, :3] - poses[:, :3], axis=1)
    assert np.allclose(result.position_error[:, 0], distance)


def test_rows_that_are_no_pose_leave_the_others_alone():
    axes = general_axes(9)
    q = np.random.default_rng(9).uniform(-3, 3, (4, 6))
    poses = tool_poses(*axes, q)
    poses[1, 0], poses[2, 3:] = np.nan, 0.0
    result = all_solutions(arm(*axes), 'tool', poses)
    bad = SolveStatus.NON_FINITE_INPUT
    assert result.status.tolist() == [SolveStatus.CONVERGED, bad, bad, SolveStatus.CONVERGED]
    assert is_found(result, q)[[0, 3]].all() and np.all(np.isfinite(result.joint_q))


def test_inverse_kinematics_takes_it_when_asked_only():
    axes = general_axes(10)
    model = arm(*axes)
    q = np.random.default_rng(10).uniform(-3, 3, (10, 6))
    poses = tool_poses(*axes, q)
    exact = inverse_kinematics(model, 'tool', poses, q, method='closed_form')
    assert np.allclose(exact.joint_q, q, atol=1e-6) and exact.position_error.max() < TOLERANCE
    auto = inverse_kinematics(model, 'tool', poses, q + 0.1, method='auto')
    search = inverse_kinematics(model, 'tool', poses, q + 0.1)
    assert np.array_equal(auto.joint_q, search.joint_q)


def test_axes_that_leave_a_direction_out_are_refused():
    h, p, tool = general_axes(11)
    h[:] = h[0]
    with pytest.raises(ArgumentError, match='every configuration is singular'):
        ClosedFormIK(arm(h, p, tool), 'tool')
