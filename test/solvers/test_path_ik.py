# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths are continuous where they can be, and say where they cannot."""

import itertools

import numpy as np
import pytest
from support.robots import ALL_URDFS
from support.robots import load
from support.robots import PinocchioRobot
from support.robots import urdf_text

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.solvers.pose_ik.path import _halfway
from ros_ik.solvers.pose_ik.path import solve_path
from ros_ik.solvers.status import SolveStatus

DOWN = [1.0, 0.0, 0.0, 0.0]


def robot(name):
    """Return the model of the URDF with this file name."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


def line(start, end, n=60):
    """Return poses on a straight line, the tool pointing down."""
    positions = np.linspace(start, end, n)
    return np.hstack([positions, np.tile(DOWN, (n, 1))])


@pytest.mark.parametrize(
    ('name', 'link', 'ends'),
    [
        ('panda', 'panda_hand_tcp', ((0.4, -0.3, 0.4), (0.6, 0.3, 0.5))),
        ('ur5_robot', 'tool0', ((0.4, -0.4, 0.3), (0.4, 0.4, 0.3))),
        ('xarm7', 'link_eef', ((0.3, -0.2, 0.3), (0.45, 0.2, 0.2))),
    ],
)
def test_a_line_inside_the_workspace_is_followed_without_a_jump(name, link, ends):
    model, poses = robot(name), line(*ends)
    path = solve_path(model, link, poses)
    assert path.fraction == 1.0 and path.breaks == ()
    assert np.all(path.status == SolveStatus.CONVERGED)
    # 1 cm steps half a metre from the base: a few hundredths of a radian where it is not singular.
    assert np.max(np.abs(np.diff(path.joint_q, axis=0))) < 0.2
    oracle = PinocchioRobot(urdf_text(name), model)
    for q, pose in zip(path.joint_q, poses, strict=True):
        assert np.linalg.norm(oracle.poses(q)[link][0] - pose[:3]) < 1.001e-4


def test_a_start_keeps_its_branch():
    model = robot('ur5_robot')
    poses = line((0.4, -0.2, 0.3), (0.4, 0.2, 0.3))
    free = solve_path(model, 'tool0', poses)
    kept = solve_path(model, 'tool0', poses, free.joint_q[0])
    assert kept.fraction == 1.0
    assert np.max(np.abs(kept.joint_q[0] - free.joint_q[0])) < 0.02
    np.testing.assert_allclose(kept.joint_q, free.joint_q, atol=0.02)


def test_a_path_that_leaves_the_workspace_says_where():
    model = robot('panda')
    poses = line((0.5, 0.0, 0.4), (1.1, 0.0, 0.4))
    path = solve_path(model, 'panda_hand_tcp', poses)
    assert 0.0 < path.fraction < 1.0
    first = path.breaks[0]
    assert path.fraction == first / len(poses)
    assert np.all(path.status[:first] == SolveStatus.CONVERGED)
    assert path.status[first] in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
    assert np.all(np.isfinite(path.joint_q))


def test_a_flip_is_a_break_and_the_path_goes_on_behind_it():
    model = robot('ur5_robot')
    rng = np.random.default_rng(4)
    q = model.random_joint_q(2, rng)
    body_q = np.zeros((2, model.body_count, 7))
    eval_fk(model, q, body_q)
    tool = model.body_index('tool0')
    # A start on the wrong side of a joint limit: the elbow would have to turn all the way round.
    line_there = np.linspace(body_q[0, tool], body_q[0, tool], 5)
    far = q[0].copy()
    far[0] += 2.0 * np.pi if far[0] < 0.0 else -2.0 * np.pi
    path = solve_path(model, 'tool0', line_there, far, max_joint_step=0.1)
    whole = solve_path(model, 'tool0', line_there, q[0], max_joint_step=0.1)
    assert whole.fraction == 1.0
    np.testing.assert_allclose(whole.joint_q, np.tile(q[0], (5, 1)), atol=1e-3)
    # A whole turn away the pose is the same one: the path stays where the start is.
    np.testing.assert_allclose(path.joint_q, np.tile(far, (5, 1)), atol=1e-3)
    jump = np.concatenate([line_there, np.tile(body_q[1, tool], (3, 1))])
    broken = solve_path(model, 'tool0', jump, q[0], max_joint_step=1e-3)
    assert broken.breaks == (5,) and broken.fraction == 5 / 8
    assert np.all(broken.status == SolveStatus.CONVERGED)


def test_far_poses_are_joined_only_where_the_arm_can_move_between_them():
    model = robot('ur5_robot')
    rng = np.random.default_rng(0)
    near = model.random_joint_q(20, rng)
    far = np.clip(near + rng.uniform(-1.0, 1.0, near.shape), *model.limits64()[:2])
    body_q = np.zeros((40, model.body_count, 7))
    eval_fk(model, np.vstack([near, far]), body_q)
    poses = body_q[:, model.body_index('tool0')]
    broken = 0
    for k in range(20):
        path = solve_path(model, 'tool0', poses[[k, 20 + k]], near[k])
        dense = [poses[k], poses[20 + k]]
        for _ in range(7):
            middles = [_halfway(a, b) for a, b in itertools.pairwise(dense)]
            dense = [p for pair in zip(dense, middles, strict=False) for p in pair] + [dense[-1]]
        followed = solve_path(model, 'tool0', np.array(dense), near[k])
        if path.breaks:
            broken += 1
            assert followed.fraction < 1.0
        elif not followed.breaks:
            np.testing.assert_allclose(path.joint_q[1], followed.joint_q[-1], atol=0.02)
    # Straight lines between far poses often leave the workspace or turn an arm inside out.
    assert 3 <= broken <= 17


@pytest.mark.parametrize(
    ('poses', 'start', 'step', 'message'),
    [
        (np.zeros((0, 7)), None, 0.3, 'poses'),
        (np.zeros((3, 7)), None, 0.3, r'poses\[0\]: the norm of the quaternion must be'),
        (line((0, 0, 0), (np.nan, 0, 0), 3), None, 0.3, r'poses\['),
        (line((0, 0, 0), (1, 0, 0), 3), np.zeros(2), 0.3, 'start'),
        (line((0, 0, 0), (1, 0, 0), 3), None, 0.0, 'max_joint_step'),
    ],
)
def test_bad_arguments_are_named(poses, start, step, message):
    with pytest.raises(ArgumentError, match=message):
        solve_path(robot('panda'), 'panda_hand_tcp', poses, start, max_joint_step=step)
