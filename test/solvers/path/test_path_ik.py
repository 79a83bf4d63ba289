# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths are continuous if possible, and report their breaks."""

import itertools

import numpy as np
import pytest
from support.long_forms import either
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import robot_with_meshes
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.solvers.path.branch_follower import halfway
from ros_ik.solvers.path.solver import solve_path
from ros_ik.solvers.pose_ik.solver import ChainIK
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
        assert np.linalg.norm(oracle.pose(q, link)[0] - pose[:3]) < 1.001e-4


@pytest.mark.parametrize('method', ['search', 'closed_form'])
def test_a_start_keeps_its_branch(method):
    model = robot('ur5_robot')
    poses = line((0.4, -0.2, 0.3), (0.4, 0.2, 0.3))
    free = solve_path(model, 'tool0', poses, method=method)
    kept = solve_path(model, 'tool0', poses, free.joint_q[0], method=method)
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
    # A whole turn away the pose is the same: the path stays at the start.
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
    broken, n = 0, either(10, 20)
    for k in range(n):
        path = solve_path(model, 'tool0', poses[[k, 20 + k]], near[k], max_joint_step=np.inf)
        dense = [poses[k], poses[20 + k]]
        for _ in range(7):
            middles = [halfway(a, b) for a, b in itertools.pairwise(dense)]
            dense = [p for pair in zip(dense, middles, strict=False) for p in pair] + [dense[-1]]
        followed = solve_path(model, 'tool0', np.array(dense), near[k])
        if path.breaks:
            broken += 1
            assert followed.fraction < 1.0
        elif not followed.breaks:
            np.testing.assert_allclose(path.joint_q[1], followed.joint_q[-1], atol=0.02)
    # Straight lines between far poses often leave the workspace or turn an arm inside out.
    assert 3 <= broken <= n - 3


def test_no_joint_moves_further_than_asked_for_up_to_the_first_break():
    """Otherwise the sender of the path would have to refuse longer steps."""
    model = robot('ur5_robot')
    rng = np.random.default_rng(3)
    longer, n = 0, either(6, 25)
    for _ in range(n):
        near = model.random_joint_q(1, rng)[0]
        changes = rng.uniform(-0.5, 0.5, (4, len(near))).cumsum(axis=0)
        joint_q = np.clip(near + np.vstack([0.0 * near, changes]), *model.limits64()[:2])
        body_q = np.zeros((5, model.body_count, 7))
        eval_fk(model, joint_q, body_q)
        poses = body_q[:, model.body_index('tool0')]
        any_length = solve_path(model, 'tool0', poses, near, max_joint_step=np.inf)
        for start in (near, None):
            for bound in (0.3, 0.1):
                path = solve_path(model, 'tool0', poses, start, max_joint_step=bound)
                count = round(path.fraction * len(poses))
                steps = np.abs(np.diff(path.joint_q[:count], axis=0))
                assert np.max(steps, initial=0.0) <= bound
                if start is near and any_length.fraction == 1.0:
                    too_long = np.max(np.abs(np.diff(any_length.joint_q, axis=0)), axis=1) > bound
                    assert count == (np.argmax(too_long) + 1 if np.any(too_long) else len(poses))
                    longer += np.any(too_long)
    assert longer > 0.4 * n


def test_the_way_from_the_start_may_be_long():
    model = robot('panda')
    poses = line((0.4, -0.3, 0.4), (0.6, 0.3, 0.5))
    there = solve_path(model, 'panda_hand_tcp', poses).joint_q[0]
    far = there + 0.1 * np.sign(0.5 * (model.limits64()[0] + model.limits64()[1]) - there)
    path = solve_path(model, 'panda_hand_tcp', poses, far, max_joint_step=0.09)
    assert path.fraction > 0.0
    assert np.max(np.abs(path.joint_q[0] - far)) > 0.09


def test_each_pose_behind_a_break_is_searched_for_once(monkeypatch):
    """Those out of reach take every attempt: once for each, not once for each branch."""
    searched = []
    solve = ChainIK.solve

    def counted(self, poses, seeds=None):
        if self.settings.max_attempts > 1:
            searched.append(np.isfinite(poses[:, 0]).sum())  # others fill the batch
        return solve(self, poses, seeds)

    monkeypatch.setattr(ChainIK, 'solve', counted)
    poses = line((0.5, 0.0, 0.4), (1.1, 0.0, 0.4))
    path = solve_path(robot('panda'), 'panda_hand_tcp', poses, method='search')
    assert len(path.breaks) > 20
    # The branches of the first pose, then the poses from the first break on.
    assert searched == [1, len(poses) - path.breaks[0]]


@pytest.mark.oracle
@pytest.mark.parametrize(('name', 'link'), [('panda', 'panda_hand_tcp'), ('ur5_robot', 'tool0')])
@pytest.mark.filterwarnings('ignore:You passed package dir')
def test_a_path_breaks_where_it_collides(name, link):
    model, oracle = robot_with_meshes(name), collision_oracle(name)
    pairs = ChainIK(model, link, check_collisions=True).collision_pairs
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(14):
        near = model.random_joint_q(1, rng)[0]
        far = np.clip(near + rng.uniform(-1.0, 1.0, near.shape), *model.limits64()[:2])
        if oracle.distances(near, pairs).min() <= 0.0:
            continue
        body_q = np.zeros((2, model.body_count, 7))
        eval_fk(model, np.stack([near, far]), body_q)
        poses = list(body_q[:, model.body_index(link)])
        for _ in range(5):
            middles = [halfway(a, b) for a, b in itertools.pairwise(poses)]
            poses = [p for pair in zip(poses, middles, strict=False) for p in pair] + [poses[-1]]
        blind = solve_path(model, link, np.array(poses), near, method='search')
        path = solve_path(
            model, link, np.array(poses), near, check_collisions=True, method='search'
        )
        count, others = (round(p.fraction * len(poses)) for p in (path, blind))
        np.testing.assert_array_equal(path.joint_q[:count], blind.joint_q[:count])
        least = [oracle.distances(q, pairs).min() for q in along(near, blind.joint_q[:others])]
        free = [oracle.distances(q, pairs).min() for q in along(near, path.joint_q[:count])]
        # Mesh files hold float32: coordinates of up to a metre.
        assert min(free, default=1.0) >= -1e-6
        if count < others:
            hits += 1
            assert min(least) <= 1e-6
            assert path.status[count] in (SolveStatus.CONVERGED, SolveStatus.IN_COLLISION)
            if path.status[count] == SolveStatus.CONVERGED:
                assert oracle.distances(path.joint_q[count], pairs).min() >= -1e-6
        if hits == either(2, 14):
            break
    assert hits >= 2


def along(start, joint_q):
    """Return configurations of a joint path, none further than 0.01 rad from the one before."""
    rows = [start]
    for q in joint_q:
        count = max(1, int(np.ceil(np.max(np.abs(q - rows[-1])) / 0.01)))
        rows.extend(np.linspace(rows[-1], q, count + 1)[1:])
    return rows


def test_a_start_in_collision_breaks_at_once():
    """Two balls on one rail, the second fixed where the first passes."""
    urdf = """<robot name="r"><link name="rail"/>
    <link name="ball"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
    <link name="stop"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
    <link name="cart"/>
    <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
    <axis xyz="1 0 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
    <joint name="turn" type="continuous"><parent link="cart"/><child link="ball"/></joint>
    <joint name="fixed" type="fixed"><parent link="rail"/><child link="stop"/>
    <origin xyz="1 0 0"/></joint></robot>"""
    model = Model.from_urdf(urdf, device='cpu')
    positions = np.linspace(0.05, 1.65, 17)
    poses = np.tile([0.0, 0, 0, 0, 0, 0, 1], (17, 1))
    poses[:, 0] = positions
    free = np.abs(positions - 1.0) > 0.2
    for margin in (0.0, 0.1):
        path = solve_path(
            model, 'ball', poses, np.zeros(2), check_collisions=True, collision_margin=margin
        )
        first = int(np.argmax(np.abs(positions - 1.0) <= 0.2 + margin))
        assert path.fraction == first / 17 and path.breaks[0] == first
        assert path.status[first] == SolveStatus.IN_COLLISION
        assert np.all(path.status[np.abs(positions - 1.0) > 0.2 + margin] == 0)
    # Past the stop in one step: both ends are free, the way is not.
    path = solve_path(
        model, 'ball', poses[free][[0, -1]], np.zeros(2), max_joint_step=2.0, check_collisions=True
    )
    assert path.breaks == (1,) and path.status[1] == SolveStatus.CONVERGED
    path = solve_path(model, 'ball', poses[[10]], np.array([1.0, 0.0]), check_collisions=True)
    assert path.fraction == 0.0 and path.status[0] == SolveStatus.IN_COLLISION


@pytest.mark.parametrize(
    ('poses', 'start', 'step', 'message'),
    [
        (np.zeros((0, 7)), None, 0.3, 'poses'),
        (np.zeros((3, 7)), None, 0.3, r'poses\[0\]: the norm of the quaternion must be'),
        (line((0, 0, 0), (np.nan, 0, 0), 3), None, 0.3, r'poses\['),
        (line((0, 0, 0), (1, 0, 0), 3), np.zeros(2), 0.3, 'start'),
        (line((0, 0, 0), (1, 0, 0), 3), None, 0.0, 'max_joint_step'),
        (line((0, 0, 0), (1, 0, 0), 3), None, None, 'max_joint_step must be positive, got None'),
        (line((0, 0, 0), (1, 0, 0), 3), None, [0.3], 'max_joint_step must be positive'),
    ],
)
def test_bad_arguments_are_named(poses, start, step, message):
    with pytest.raises(ArgumentError, match=message):
        solve_path(robot('panda'), 'panda_hand_tcp', poses, start, max_joint_step=step)


def test_a_method_that_does_not_fit_says_why():
    poses = line((0.4, -0.3, 0.4), (0.6, 0.3, 0.5), 3)
    with pytest.raises(ArgumentError, match='method must be one of auto, closed_form, search'):
        solve_path(robot('panda'), 'panda_hand_tcp', poses, method='fast')
    with pytest.raises(ArgumentError, match='method closed_form: a tolerance is infinite'):
        solve_path(
            robot('panda'), 'panda_hand_tcp', poses, method='closed_form',
            rotation_tolerance=np.inf,
        )  # fmt: skip
