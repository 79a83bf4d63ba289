# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Every solution of a pose, judged by an independent product of exponentials in NumPy."""

import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.long_forms import in_turn
from support.robots.axis_arms import arm
from support.robots.axis_arms import has
from support.robots.axis_arms import jacobians
from support.robots.axis_arms import newton_of_poses
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import SOME_STRUCTURES
from support.robots.axis_arms import STRUCTURES
from support.robots.axis_arms import tool_poses
from support.robots.axis_arms import wrapped
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik import all_solutions
from ros_ik import ClosedFormIK
from ros_ik import ClosedFormSettings
from ros_ik import RedundantClosedFormIK
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk

# Tolerances of a solution [m, rad], plus the rounding of the oracle.
TOLERANCE, ROUNDING = 1e-10, 1e-13
# Random arms of each structure; `make stress` takes a thousand.
ARMS = int(os.environ.get('CLOSED_FORM_ARMS', '2'))
# A typical arm like a UR: positions of the axes and the tool [m].
UR_H = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, -1], [0, 1, 0]], dtype=float)
UR_P = np.array(
    [
        [0, 0, 0],
        [0, 0.1, 0.09],
        [0.43, 0.1, 0.09],
        [0.82, 0.1, 0.09],
        [0.82, 0.11, 0],
        [0.82, 0, 0],
    ]
)
UR_TOOL = np.array([0.82, 0.19, 0.0])
ROBOTS = (
    ('ur5_robot', 'tool0'), ('ur10_robot', 'tool0'), ('z1', 'gripperStator'),
    ('kinova', 'j2s6s200_end_effector'), *either([], [('talos_full_v2', 'leg_left_6_link')]),
)  # fmt: skip


def robot(name):
    """Return the model of the URDF with this file name."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


def misses(reached, poses):
    """Return distances [m] and angles [rad] between poses [n, 7]."""
    turn = Rotation.from_quat(poses[:, 3:]) * Rotation.from_quat(reached[:, 3:]).inv()
    return np.linalg.norm(reached[:, :3] - poses[:, :3], axis=1), turn.magnitude()


def assert_true(axes, result, poses, scale=1.0):
    """Assert that every solution reaches its pose; those of a pose are distinct and sorted."""
    h, p, tool = axes
    for slot in range(result.joint_q.shape[1]):
        rows = slot < result.n_found
        reached = tool_poses(h, p, tool, result.joint_q[rows, slot])
        distance, angle = misses(reached, poses[rows])
        assert np.all(distance <= TOLERANCE * min(1.0, scale) + ROUNDING * scale)
        assert np.all(angle <= TOLERANCE + ROUNDING)
    assert np.all(result.status == SolveStatus.CONVERGED)
    length = np.linalg.norm(result.joint_q, axis=2)
    there = np.arange(length.shape[1]) < result.n_found[:, None]
    assert np.all(np.diff(np.where(there, length, 1e9), axis=1)[there[:, 1:]] >= -1e-12)


def planted_missing(result, q, separation=1e-5):
    """Return the number of configurations q [n, 6] that are not among the solutions."""
    apart = np.abs(wrapped(result.joint_q - q[:, None])).max(axis=2)
    apart[np.arange(apart.shape[1]) >= result.n_found[:, None]] = np.inf
    return int(np.sum(apart.min(axis=1) > separation))


@pytest.mark.parametrize(
    ('structure', 'right_angles'), in_turn(either(SOME_STRUCTURES, STRUCTURES), [False, True])
)
def test_every_planted_configuration_is_found(structure, right_angles):
    for seed in range(ARMS):
        rng = np.random.default_rng(seed)
        axes = random_axes(structure, rng, right_angles)
        q = rng.uniform(-np.pi, np.pi, (250, 6))
        poses = tool_poses(*axes, q)
        result = all_solutions(arm(*axes), 'tool', poses)
        assert_true(axes, result, poses)
        assert planted_missing(result, q) == 0
        # Branches come in pairs that meet in singular configurations.
        assert np.all((result.n_found % 2 == 0) | result.singular.any(axis=1))


@pytest.mark.parametrize('structure', either(SOME_STRUCTURES, STRUCTURES))
def test_newton_from_many_starts_finds_no_other(structure):
    rng = np.random.default_rng(7)
    axes = random_axes(structure, rng)
    poses = tool_poses(*axes, rng.uniform(-np.pi, np.pi, (3, 6)))
    result = all_solutions(arm(*axes), 'tool', poses)
    starts = rng.uniform(-np.pi, np.pi, (len(poses), either(150, 300), 6))
    known = newton_of_poses(*axes, poses, starts)
    for k, others in enumerate(known):
        ours = result.joint_q[k, : result.n_found[k]]
        assert len(others) > 0 and all(has(ours, q) for q in others)


@pytest.mark.parametrize('name, link', ROBOTS)
def test_robots_at_hand(name, link):
    model = robot(name)
    rng = np.random.default_rng(0)
    solver = ClosedFormIK(model, link, 500)
    coordinates = solver.chain.coordinates
    q = np.tile(model.neutral_joint_q(), (500, 1))
    q[:, coordinates] = model.random_joint_q(500, rng)[:, coordinates]
    body_q = np.zeros((500, model.body_count, 7))
    eval_fk(model, q, body_q)
    result = solver.solve(body_q[:, model.body_index(link)])
    assert np.all(result.status == SolveStatus.CONVERGED)
    assert result.position_error.max() < TOLERANCE and result.rotation_error.max() < TOLERANCE
    lower, upper = model.limits64()[:2]
    assert np.all(result.joint_q >= lower) and np.all(result.joint_q <= upper)
    apart = np.abs(wrapped(result.joint_q - q[:, None])).max(axis=2)
    apart[np.arange(16) >= result.n_found[:, None]] = np.inf
    assert np.all(apart.min(axis=1) < 1e-5)


@pytest.mark.parametrize('away', [0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize('joint', [2, 4], ids=['straight elbow', 'wrist at zero'])
def test_singular_poses_have_a_marked_solution(joint, away):
    axes = UR_H, UR_P, UR_TOOL
    rng = np.random.default_rng(3)
    n = either(60, 300)
    q = rng.uniform(-np.pi, np.pi, (n, 6))
    q[:, joint] = away
    poses = tool_poses(*axes, q)
    result = all_solutions(arm(*axes), 'tool', poses)
    assert_true(axes, result, poses)
    assert np.all(np.isfinite(result.joint_q))
    if away <= 1e-6:
        assert result.singular.any(axis=1).all()
    else:
        # Near a wrist singularity the last bits of a pose turn the planted solution.
        assert planted_missing(result, q, 1e-5 if joint == 2 else 1e-8 / away) == 0
    J = jacobians(*axes, result.joint_q.reshape(-1, 6)).reshape(n, -1, 6, 6)
    moved = np.einsum('nsij,nsj->nsi', J, result.free_direction)
    assert np.abs(moved).max() < 1e-5
    norms = np.linalg.norm(result.free_direction, axis=2)
    first = np.arange(16) < result.n_found[:, None]
    assert np.allclose(norms[first], result.singular[first])


def test_the_tool_on_the_first_axis_and_all_joints_at_zero():
    h = np.eye(3)[[2, 1, 1, 2, 1, 2]]
    p = np.array([[0.0, 0, z] for z in (0.0, 0.4, 0.8, 1.2, 1.2, 1.2)])
    axes = h, p, np.array([0.0, 0.0, 1.3])
    model = arm(*axes)
    q = np.zeros((3, 6))
    q[1, [1, 2]] = 0.5, -1.0
    q[2, 0] = 0.7
    poses = tool_poses(*axes, q)
    result = all_solutions(model, 'tool', poses, seeds=np.full(6, 0.1))
    assert_true_of_seed = np.linalg.norm(result.joint_q - 0.1, axis=2)
    assert np.all(result.status == SolveStatus.CONVERGED) and result.singular[:, 0].all()
    assert np.all(
        np.diff(assert_true_of_seed, axis=1)[np.arange(15) < result.n_found[:, None] - 1] >= 0
    )
    for slot in range(int(result.n_found.max())):
        rows = slot < result.n_found
        distance, angle = misses(tool_poses(*axes, result.joint_q[rows, slot]), poses[rows])
        assert distance.max() < TOLERANCE and angle.max() < TOLERANCE


@pytest.mark.parametrize(
    'structure',
    either(
        ['wrist, 2 parallel 3', 'wrist, 1 meets 2', '2, 3, 4 meet', '2, 3, 4 parallel, 5 meets 6'],
        [name for name in STRUCTURES if STRUCTURES[name][0][0] == 'meet']
        + ['2, 3, 4 parallel, 5 meets 6', '3, 4, 5 parallel, 1 meets 2'],
    ),
)
def test_quarter_turns_of_arms_with_right_angles(structure):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        axes = random_axes(structure, rng, right_angles=True)
        q = 0.5 * np.pi * rng.integers(-1, 3, (100, 6)) + rng.choice([0.0, 0.0, 1e-9], (100, 6))
        poses = tool_poses(*axes, q)
        result = all_solutions(arm(*axes), 'tool', poses, seeds=0.1 * np.arange(6))
        assert np.all(result.status == SolveStatus.CONVERGED)
        assert result.position_error.max() < TOLERANCE and result.rotation_error.max() < TOLERANCE
        apart = np.abs(wrapped(result.joint_q - q[:, None])).max(axis=2)
        apart[np.arange(16) >= result.n_found[:, None]] = np.inf
        assert np.all((apart.min(axis=1) < 1e-3) | result.singular.any(axis=1))


@pytest.mark.parametrize('scale', [1e-3, 100.0, 1e7])
@pytest.mark.parametrize('structure', ['2, 3, 4 parallel, 5 meets 6', 'wrist, 2 parallel 3'])
def test_small_and_large_arms(structure, scale):
    rng = np.random.default_rng(2)
    h, p, tool = random_axes(structure, rng)
    q = rng.uniform(-np.pi, np.pi, (200, 6))
    axes = h, scale * p, scale * tool
    poses = tool_poses(*axes, q)
    result = all_solutions(arm(h, p, tool, scale=scale), 'tool', poses)
    assert_true(axes, result, poses, scale)
    assert planted_missing(result, q) == 0


def test_a_turned_base_changes_nothing():
    rng = np.random.default_rng(2)
    axes = random_axes('2, 3, 4 parallel, 5 meets 6', rng)
    q = rng.uniform(-np.pi, np.pi, (50, 6))
    poses = tool_poses(*axes, q)
    turn = Rotation.from_euler('xyz', [0.4, -1.1, 2.0])
    moved = np.hstack([
        turn.apply(poses[:, :3]), (turn * Rotation.from_quat(poses[:, 3:])).as_quat()
    ])  # fmt: skip
    plain = all_solutions(arm(*axes), 'tool', poses)
    turned = all_solutions(arm(*axes, base=(0.4, -1.1, 2.0)), 'tool', moved)
    assert np.array_equal(plain.n_found, turned.n_found)
    assert planted_missing(turned, q) == 0


def test_solutions_keep_the_limits():
    axes = UR_H, UR_P, UR_TOOL
    rng = np.random.default_rng(5)
    lower, upper = -rng.uniform(0.5, 3.0, 6), rng.uniform(0.5, 3.0, 6)
    q = rng.uniform(lower, upper, (300, 6))
    # Some at their limits.
    q[::3, 1], q[1::3, 4] = upper[1], lower[4]
    poses = tool_poses(*axes, q)
    free = all_solutions(arm(*axes), 'tool', poses)
    result = all_solutions(arm(*axes, limits=(lower, upper)), 'tool', poses)
    assert np.all(result.joint_q >= lower) and np.all(result.joint_q <= upper)
    assert planted_missing(result, q) == 0
    turned = wrapped(free.joint_q)
    inside = np.all((turned >= lower - 1e-9) & (turned <= upper + 1e-9), axis=2)
    inside &= np.arange(16) < free.n_found[:, None]
    assert np.array_equal(result.n_found, inside.sum(axis=1))


def test_every_turn_that_the_limits_allow():
    axes = UR_H, UR_P, UR_TOOL
    limits = np.array([-2.0, -1.0, -1.0, -1.0, -2.0, -0.4]) * np.pi, np.full(6, np.pi)
    model = arm(*axes, limits=limits)
    q = np.array([[0.3, -0.8, 1.2, -0.5, 0.9, 0.2]])
    poses = tool_poses(*axes, q)
    nearest = all_solutions(model, 'tool', poses, seeds=q[0])
    every = all_solutions(model, 'tool', poses, q[0], max_solutions=64, all_turns=True)
    wanted = []
    for solution in nearest.joint_q[0, : nearest.n_found[0]]:
        choices = [
            [a for a in wrapped(angle) + 2.0 * np.pi * np.arange(-2, 3) if low <= a <= high]
            for angle, low, high in zip(solution, *limits, strict=True)
        ]
        wanted += list(np.array(np.meshgrid(*choices)).reshape(6, -1).T)
    assert every.n_exist[0] == every.n_found[0] == len(wanted) > nearest.n_found[0]
    for q_wanted in wanted:
        found = every.joint_q[0, : every.n_found[0]]
        assert np.abs(found - q_wanted).max(axis=1).min() < 1e-9
    few = all_solutions(model, 'tool', poses, q[0], max_solutions=3, all_turns=True)
    assert few.n_found[0] == 3 and few.n_exist[0] == len(wanted)
    assert np.allclose(few.joint_q[0], every.joint_q[0, :3])


@pytest.mark.parametrize('width', [100.0, 2e6, 2e9])
def test_of_many_turns_only_the_nearest_are_searched(width):
    """The number of turns of six joints is their product, up to 3e8 for each joint."""
    axes = UR_H, UR_P, UR_TOOL
    middle = np.array([0.4, -1.0, 2.0, 0.7, -3.0, 5.0])
    limits = middle - 0.5 * width, middle + 0.5 * width
    q = np.array([0.3, -0.8, 1.2, -0.5, 0.9, 0.2])
    # Turns at which rounding matters little, off the middle and at the ends of the limits.
    seeds = np.array([q + 2.0 * np.pi * 5, middle, limits[0], limits[1] - 1.0])
    seeds = np.clip(seeds, -1e3, 1e3)
    poses = np.repeat(tool_poses(*axes, q[None]), len(seeds), axis=0)
    free = all_solutions(arm(*axes), 'tool', poses[:1])
    model = arm(*axes, limits=limits)
    every = all_solutions(model, 'tool', poses, seeds, max_solutions=40, all_turns=True)
    turns = 2.0 * np.pi * np.arange(-200, 201)
    number = 0.0
    wanted = []
    for solution in free.joint_q[0, : free.n_found[0]]:
        lowest = np.ceil((limits[0] - solution) / (2.0 * np.pi))
        number += np.prod(np.floor((limits[1] - solution) / (2.0 * np.pi)) - lowest + 1.0)
        for seed in seeds:
            choices = []
            for angle, near, low, high in zip(solution, seed, *limits, strict=True):
                inside = [a for a in angle + turns if low <= a <= high]
                choices.append(sorted(inside, key=lambda a: abs(a - near))[:4])
            wanted.append(np.array(np.meshgrid(*choices)).reshape(6, -1).T)
    for k, seed in enumerate(seeds):
        nearest = np.concatenate(wanted[k :: len(seeds)])
        nearest = nearest[np.argsort(np.linalg.norm(nearest - seed, axis=1))[:40]]
        away = np.linalg.norm(nearest - seed, axis=1)
        found = np.linalg.norm(every.joint_q[k] - seed, axis=1)
        assert np.allclose(found, away, rtol=0.0, atol=1e-9)
        gaps = np.abs(every.joint_q[k][:, None] - nearest).max(axis=2).min(axis=1)
        assert np.all(gaps < 1e-9)
    assert np.all(every.status == SolveStatus.CONVERGED) and np.all(every.n_found == 40)
    assert np.all(every.n_exist == min(number, 2**31 - 1))


@pytest.mark.parametrize('width', [2.0 * np.pi, 7.0])
def test_turns_at_the_very_limits(width):
    """Rounding puts such a turn just outside its limit, where it is moved back to it."""
    axes = UR_H, UR_P, UR_TOOL
    rng = np.random.default_rng(8)
    lower = rng.uniform(-6.0, 0.0, 6)
    limits = lower, lower + width
    q = rng.uniform(*limits, (60, 6))
    for row in range(60):
        q[row, row % 6] = limits[row // 6 % 2][row % 6]
    poses, model = tool_poses(*axes, q), arm(*axes, limits=limits)
    every = all_solutions(model, 'tool', poses, max_solutions=600, all_turns=True)
    nearest = all_solutions(model, 'tool', poses, seeds=q)
    for result in every, nearest:
        assert np.all(result.status == SolveStatus.CONVERGED)
        assert np.all(result.joint_q >= limits[0]) and np.all(result.joint_q <= limits[1])
        off = np.abs(result.joint_q - q[:, None]).max(axis=2)
        assert np.all(off.min(axis=1) < 1e-7)
    assert np.all(every.n_exist == every.n_found)


@pytest.mark.parametrize(
    ('width', 'off'),
    in_turn(
        [6.0, 2.0 * np.pi - 1e-6, 2.0 * np.pi, 4.0 * np.pi], [-2e-5, -9e-6, -1e-7, 0.0]
    ),
)
def test_every_turn_counts_once_next_to_limits(width, off):
    axes = UR_H, UR_P, UR_TOOL
    rng = np.random.default_rng(8)
    lower = rng.uniform(-6.0, 0.0, 6)
    limits = lower, lower + width
    q = rng.uniform(*limits, (24, 6))
    # Pairs of joints, each at the upper or at the lower limit.
    for row in range(24):
        for joint in row % 6, (row + 1) % 6:
            at_upper = (row // 6 >> joint % 2) & 1
            q[row, joint] = limits[at_upper][joint] + (2 * at_upper - 1) * off
    poses = tool_poses(*axes, q)
    free = all_solutions(arm(*axes), 'tool', poses)
    every = all_solutions(
        arm(*axes, limits=limits), 'tool', poses, max_solutions=800, all_turns=True
    )
    for k in range(24):
        turned = free.joint_q[k, : free.n_found[k]]
        lowest = np.ceil((limits[0] - 1e-8 - turned) / (2.0 * np.pi))
        highest = np.floor((limits[1] + 1e-8 - turned) / (2.0 * np.pi))
        wanted = int(np.prod(highest - lowest + 1.0, axis=1).sum())
        assert every.n_exist[k] == every.n_found[k] == wanted
        found = every.joint_q[k, :wanted]
        apart = np.abs(found[:, None] - found).max(axis=2) + np.eye(wanted)
        assert apart.min() > 1e-5
        assert np.abs(found - q[k]).max(axis=1).min() < 1e-7


def test_another_turn_if_a_limit_is_missed_by_little():
    axes = UR_H, UR_P, UR_TOOL
    upper = np.full(6, 2.0 * np.pi)
    q = np.array([[0.3, -0.8, 1.2, -0.5, 0.9, 1e-6]])
    model = arm(*axes, limits=(np.array([-1.0, -1.0, 0.0, -1.0, 0.0, 0.0]), upper))
    result = all_solutions(model, 'tool', tool_poses(*axes, q), seeds=q + 2.0 * np.pi)
    off = np.abs(wrapped(result.joint_q[0] - q[0])).max(axis=1)
    assert off.min() < 1e-9 and result.joint_q[0, off.argmin(), 5] < 1e-5


def test_poses_out_of_reach_get_the_nearest_configuration():
    axes = UR_H, UR_P, UR_TOOL
    model = arm(*axes)
    poses = tool_poses(*axes, np.random.default_rng(0).uniform(-3, 3, (20, 6)))
    poses[:, :3] += 3.0 * poses[:, :3] / np.linalg.norm(poses[:, :3], axis=1, keepdims=True)
    result = all_solutions(model, 'tool', poses)
    assert np.all(result.status == SolveStatus.UNREACHABLE) and np.all(result.n_found == 0)
    q = result.joint_q[:, 0]
    distance, angle = misses(tool_poses(*axes, q), poses)
    assert np.allclose(result.position_error[:, 0], distance)
    assert np.allclose(result.rotation_error[:, 0], angle)
    # No step makes the weighted error smaller, to first order.
    reached = tool_poses(*axes, q)
    turn = Rotation.from_quat(poses[:, 3:]) * Rotation.from_quat(reached[:, 3:]).inv()
    length = 0.3 * reach(axes)
    error = np.hstack([poses[:, :3] - reached[:, :3], length**2 * turn.as_rotvec()])
    assert np.abs(np.einsum('nij,ni->nj', jacobians(*axes, q), error)).max() < 1e-2


def reach(axes):
    """Return the length of the chain from axis to axis to the tool, as in the solver."""
    h, p, tool = axes
    points = p + h * np.sum(h * (tool - p), axis=1, keepdims=True)
    points += h * np.sum(h * (points.mean(axis=0) - points), axis=1, keepdims=True)
    return np.sum(np.linalg.norm(np.diff(np.vstack([points, tool]), axis=0), axis=1))


def test_solutions_outside_the_limits_only_are_told():
    axes = UR_H, UR_P, UR_TOOL
    model = arm(*axes, limits=(np.full(6, -0.1), np.full(6, 0.1)))
    poses = tool_poses(*axes, np.full((1, 6), 0.8))
    result = all_solutions(model, 'tool', poses)
    assert result.status[0] == SolveStatus.AT_LIMITS and result.n_found[0] == 0
    assert np.all(np.abs(result.joint_q) <= 0.1)


def test_rows_that_are_no_pose_leave_the_others_alone():
    axes = UR_H, UR_P, UR_TOOL
    model = arm(*axes)
    q = np.random.default_rng(0).uniform(-3, 3, (4, 6))
    poses = tool_poses(*axes, q)
    poses[1, 0], poses[2, 3:] = np.nan, 0.0
    result = all_solutions(model, 'tool', poses)
    bad = SolveStatus.NON_FINITE_INPUT
    assert result.status.tolist() == [SolveStatus.CONVERGED, bad, bad, SolveStatus.CONVERGED]
    assert np.all(np.isfinite(result.joint_q)) and result.n_found[[1, 2]].tolist() == [0, 0]
    assert np.all(np.isinf(result.position_error[[1, 2]]))
    seeds = np.zeros((4, 6))
    seeds[0, 3] = np.inf
    assert all_solutions(model, 'tool', poses, seeds).status[0] == bad


def nearly(axes, deviation, seed=5):
    """Return axes that all miss their structure by about ``deviation`` [rad and m]."""
    h, p, tool = axes
    rng = np.random.default_rng(seed)
    h = h + 0.5 * deviation * rng.normal(size=h.shape)
    return (
        h / np.linalg.norm(h, axis=1, keepdims=True),
        p + 0.5 * deviation * rng.normal(size=p.shape),
        tool,
    )


@pytest.mark.parametrize(
    ('structure', 'deviation'),
    in_turn(
        either(
            ['UR', '2, 3, 4 meet', 'wrist, 2 parallel 3', '4, 5, 6 parallel'],
            ['UR', 'wrist', 'wrist, 2 parallel 3', '2, 3, 4 parallel'],
        ),
        [1e-3, 1e-4, 1e-5],
    ),
)
def test_calibrated_arms_are_solved_as_they_are(structure, deviation):
    rng = np.random.default_rng(100)
    exact = (UR_H, UR_P, UR_TOOL) if structure == 'UR' else random_axes(structure, rng)
    axes = nearly(exact, deviation)
    q = rng.uniform(-np.pi, np.pi, (400, 6))
    poses = tool_poses(*axes, q)
    solver = ClosedFormIK(arm(*axes), 'tool', 400)
    assert not solver.form.exact
    result = solver.solve(poses)
    assert_true(axes, result, poses)
    assert planted_missing(result, q) == 0
    starts = rng.uniform(-np.pi, np.pi, (3, either(150, 300), 6))
    for k, others in enumerate(newton_of_poses(*axes, poses[:3], starts)):
        assert all(has(result.joint_q[k, : result.n_found[k]], other) for other in others)


def test_large_batches_and_one_pose_agree():
    model = robot('ur5_robot')
    rng = np.random.default_rng(1)
    q = model.random_joint_q(40, rng)
    body_q = np.zeros((40, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index('tool0')]
    together = all_solutions(model, 'tool0', poses, q)
    one = ClosedFormIK(model, 'tool0')
    for k in range(40):
        single = one.solve(poses[k : k + 1], q[k : k + 1])
        assert np.array_equal(single.joint_q[0], together.joint_q[k])
        assert single.n_found[0] == together.n_found[k]
        assert np.allclose(single.joint_q[0, 0], q[k], atol=1e-6)


def test_arrays_of_warp_are_taken():
    axes = UR_H, UR_P, UR_TOOL
    q = np.array([[0.3, -0.8, 1.2, -0.5, 0.9, 0.2]])
    poses = tool_poses(*axes, q)
    plain = all_solutions(arm(*axes), 'tool', poses, q)
    given = all_solutions(
        arm(*axes), 'tool', wp.array(poses, dtype=wp.transformd, device='cpu'),
        wp.array(q, dtype=wp.float64, device='cpu'),
    )  # fmt: skip
    assert np.array_equal(given.joint_q, plain.joint_q)


def test_a_solver_keeps_nothing_of_the_last_pose():
    axes = UR_H, UR_P, UR_TOOL
    solver = ClosedFormIK(arm(*axes), 'tool')
    q = np.array([[0.3, -0.8, 1.2, -0.5, 0.0, 0.2], [0.3, -0.8, 1.2, -0.5, 0.9, 0.2]])
    singular, regular = tool_poses(*axes, q)
    assert solver.solve(singular[None]).singular.any()
    assert not solver.solve(np.full((1, 7), np.nan)).singular.any()
    again = solver.solve(regular[None])
    assert not again.singular.any() and not again.free_direction.any()
    assert planted_missing(again, q[1:]) == 0


def test_arms_without_a_closed_form_are_refused_with_the_reason():
    with pytest.raises(ArgumentError, match='has 7 joints, more than the 6'):
        ClosedFormIK(robot('panda'), 'panda_hand_tcp')


def test_a_flag_may_be_a_boolean_of_numpy():
    model = robot('ur5_robot')
    pose = [0.4, 0.1, 0.3, 0.0, 0.0, 0.0, 1.0]
    for flag in (True, False):
        found = all_solutions(model, 'tool0', pose, max_solutions=40, all_turns=np.bool_(flag))
        expected = all_solutions(model, 'tool0', pose, max_solutions=40, all_turns=flag)
        np.testing.assert_array_equal(found.joint_q, expected.joint_q)


def test_wrong_arguments_are_named():
    model = robot('ur5_robot')
    pose = np.array([0.4, 0.1, 0.3, 0.0, 0.0, 0.0, 1.0])
    with pytest.raises(ArgumentError, match='max_solutions'):
        all_solutions(model, 'tool0', pose, max_solutions=0)
    with pytest.raises(ArgumentError, match='poses'):
        all_solutions(model, 'tool0', np.zeros((0, 7)))
    with pytest.raises(ArgumentError, match='poses'):
        all_solutions(model, 'tool0', np.zeros((2, 6)))
    with pytest.raises(ArgumentError, match='seeds'):
        all_solutions(model, 'tool0', pose, np.zeros((2, 6)))
    with pytest.raises(ArgumentError, match='settings'):
        all_solutions(model, 'tool0', pose, settings='fine')
    for flag in (None, 'yes', 2, np.zeros(2)):
        with pytest.raises(ArgumentError, match='all_turns must be True or False'):
            all_solutions(model, 'tool0', pose, all_turns=flag)
        with pytest.raises(ArgumentError, match='all_turns must be True or False'):
            RedundantClosedFormIK(robot('panda'), 'panda_hand_tcp', all_turns=flag)
        with pytest.raises(ArgumentError, match='least_error must be True or False'):
            ClosedFormIK(model, 'tool0', least_error=flag)
    with pytest.raises(ArgumentError, match='separation'):
        ClosedFormSettings(separation=0.0)
