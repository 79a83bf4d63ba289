# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths of seven joints are complete and short, judged by straight joint lines along their poses.

The poses are those of such a line, by Pinocchio or by a product of exponentials. The line reaches
all of them, so no path needs a break or more joint motion.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.arms import robot
from support.robots.axis_arms import arm
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import tool_poses
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import solve_path
from ros_ik.solvers.path.arc_samples import ArcSamples
from ros_ik.solvers.path.branches import Layer
from ros_ik.solvers.path.refinement import COARSE
from ros_ik.solvers.path.refinement import FINE
from ros_ik.solvers.path.refinement import PathRules
from ros_ik.solvers.path.refinement import refined
from ros_ik.solvers.status import SolveStatus

ARMS = [
    ('panda', 'panda_link0', 'panda_hand_tcp'),
    ('xarm7', 'link_base', 'link7'),
    ('talos_reduced', 'torso_2_link', 'gripper_left_base_link'),
]
# Share of paths that may be longer than the line: dynamic programming sees samples alone.
MOST_LONGER = 0.02


def planted_line(rng, lower, upper):
    """Return configurations [n, 7] on a line inside the limits, in steps of at most 0.2 rad."""
    first = rng.uniform(lower, upper)
    last = np.clip(first + 0.6 * rng.normal(size=7), lower + 1e-3, upper - 1e-3)
    count = int(np.ceil(np.max(np.abs(last - first)) / 0.2)) + 2
    return first + np.linspace(0.0, 1.0, count)[:, None] * (last - first)


def motion(joint_q):
    """Return the sum of the distances between configurations."""
    return float(np.sum(np.linalg.norm(np.diff(joint_q, axis=0), axis=1)))


def is_longer(path, line, start):
    """Return True if a path [n, 7] is longer than a line, with the motion from the start."""
    whole = path if start is None else np.vstack([line[:1], path])
    return motion(whole) > motion(line) * (1.0 + 1e-6)


@pytest.mark.parametrize(('name', 'base', 'tool'), ARMS)
def test_no_path_of_a_robot_is_longer_than_a_line(name, base, tool):
    model, oracle = robot(name), PinocchioRobot(urdf_text(name), robot(name))
    group = model.joint_group(f'{base}:{tool}')
    columns = [model.joint_q_start.numpy()[model.joint_index(j)] for j in group.joint_names]
    lower, upper = oracle.pin.lowerPositionLimit, oracle.pin.upperPositionLimit
    own = [oracle.pin.joints[oracle.pin.getJointId(j)].idx_q for j in group.joint_names]
    rng = np.random.default_rng(7)
    longer = count = 0
    for _ in range(either(8, 100)):
        line = planted_line(rng, lower[own], upper[own])
        rows = np.tile(model.neutral_joint_q(), (len(line), 1))
        rows[:, columns] = line
        reached = [oracle.pose(row, tool) for row in rows]
        poses = np.array([[*p, *Rotation.from_matrix(R).as_quat()] for p, R in reached])
        for start in (None, rows[0]):
            path = solve_path(model, tool, poses, start, joint_group=group)
            assert path.fraction == 1.0 and path.breaks == ()
            moved = path.joint_q[:, columns]
            assert np.max(np.abs(np.diff(moved, axis=0))) <= 0.3
            assert np.all((moved >= lower[own]) & (moved <= upper[own]))
            for row, (position, rotation) in zip(path.joint_q, reached, strict=True):
                there, turned = oracle.pose(row, tool)
                assert np.linalg.norm(there - position) <= 1.001e-4
                assert Rotation.from_matrix(turned @ rotation.T).magnitude() <= 1.001e-3
            longer += is_longer(moved, line, start)
            count += 1
    assert longer <= MOST_LONGER * count


def test_no_path_of_a_random_arm_is_longer_than_a_line():
    rng = np.random.default_rng(8)
    longer = count = 0
    for _ in range(either(16, 150)):
        # The first joint turns about any axis, and is the redundant one.
        h, p, tool = random_axes('wrist, 2 parallel 3', rng)
        axes = np.vstack([rng.normal(size=3), h]), np.vstack([rng.uniform(-0.3, 0.3, 3), p]), tool
        axes[0][0] /= np.linalg.norm(axes[0][0])
        lower, upper = -rng.uniform(0.5, 3.0, 7), rng.uniform(0.5, 3.0, 7)
        model = arm(*axes, limits=(lower, upper))
        line = planted_line(rng, lower, upper)
        poses = tool_poses(*axes, line)
        for start in (None, line[0]):
            path = solve_path(model, 'tool', poses, start)
            assert path.fraction == 1.0 and path.breaks == ()
            assert np.max(np.abs(np.diff(path.joint_q, axis=0))) <= 0.3
            assert np.all((path.joint_q >= lower) & (path.joint_q <= upper))
            there = tool_poses(*axes, path.joint_q)
            np.testing.assert_allclose(there[:, :3], poses[:, :3], rtol=0.0, atol=1e-4)
            longer += is_longer(path.joint_q, line, start)
            count += 1
    assert longer <= MOST_LONGER * count


def rules(n, **changed):
    """Return rules for a plane: poses fix the second column, and the first one is free."""
    every = np.ones(n, dtype=bool)
    usual = {
        'tangents': lambda rows: np.tile([1.0, 0.0], (len(rows), 1)),
        'correct': lambda rows: (rows.copy(), every),
        'are_free': lambda rows: np.ones(len(rows), dtype=bool),
        'motions_are_free': lambda before, after: np.ones(len(before), dtype=bool),
        'max_step': 0.3,
        'longest': np.full(n - 1, 1.0),
        'is_start_fixed': True,
    }
    return PathRules(**{**usual, **changed})


def test_refinement_finds_the_shortest_way_and_keeps_bounds():
    rng = np.random.default_rng(0)
    straight = np.linspace(0.0, 1.0, 12)
    path = np.column_stack([rng.uniform(-0.1, 0.1, 12), straight])
    found = refined(path, rules(12), (*COARSE, *FINE))
    np.testing.assert_array_equal(found[0], path[0])
    np.testing.assert_array_equal(found[:, 1], straight)
    assert motion(found) <= 1.0 + 1e-6
    # A wall that the configurations may not pass, and one for the motions between them.
    far = lambda rows: rows[:, 0] >= 0.3 * rows[:, 1] - 0.11  # noqa: E731
    for wall in (
        {'are_free': far},
        {'motions_are_free': lambda before, after: far(before) & far(after)},
    ):
        beside = refined(path[far(path)], rules(np.sum(far(path)), **wall), (*COARSE, *FINE))
        assert np.all(far(beside)) and motion(beside) <= motion(path[far(path)])
    # A step that is too long becomes shorter, although the whole path becomes longer.
    jump = np.column_stack([np.where(np.arange(12) < 6, 0.0, 0.5), straight])
    held = refined(jump, rules(12), COARSE)
    assert np.max(np.abs(np.diff(held, axis=0))) <= 0.3


def test_solutions_are_added_along_whole_curves_and_on_those_of_neighbours():
    """The solutions of each pose are a circle; only one of the third pose is known."""
    radii = np.array([1.0, 1.02, 1.04, 1.06])

    def correct(pose, rows):
        size = np.linalg.norm(rows, axis=1, keepdims=True)
        there = rows / size * radii[pose][:, None]
        return there, there[:, 1] >= 0.0

    def tangents(rows):
        return np.column_stack([-rows[:, 1], rows[:, 0]]) / np.linalg.norm(rows, axis=1)[:, None]

    solved = int(SolveStatus.CONVERGED)
    layers = [Layer(np.array([[0.0, -5.0]]), solved, is_singular=False) for _ in radii]
    layers[2] = Layer(np.array([[0.0, radii[2]]]), solved, is_singular=False)
    layers[0] = Layer(np.array([[9.0, 9.0]]), int(SolveStatus.UNREACHABLE), is_singular=False)
    filled = ArcSamples(layers, [True, True], 0.3, tangents, correct).filled()
    assert filled[0] is layers[0]
    for layer, radius in zip(filled[1:], radii[1:], strict=True):
        own = layer.joint_q[layer.joint_q[:, 1] >= 0.0]
        np.testing.assert_allclose(np.linalg.norm(own, axis=1), radius)
        angle = np.sort(np.arctan2(own[:, 1], own[:, 0]))
        # The half of the circle inside the limit, without gaps or repetitions.
        assert angle[0] < 0.25 and angle[-1] > np.pi - 0.25
        assert 0.05 < np.min(np.diff(angle)) and np.max(np.diff(angle)) < 0.35
