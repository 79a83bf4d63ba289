# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions of arms of one to five joints, and of poses with free rotations, by Pinocchio."""

import functools
import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.axis_arms import arm_urdf
from support.robots.axis_arms import TOOL_TURN
from support.robots.chain_judge import ChainJudge
from support.robots.robots import urdf_text

from ros_ik import all_solutions
from ros_ik import closed_form
from ros_ik import ClosedFormSettings
from ros_ik import inverse_kinematics
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.solvers.analytic.structure.completion import completions
from ros_ik.solvers.analytic.structure.completion import tool_jacobians
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily as Family
from ros_ik.solvers.analytic.structure.structure import joint_axes
from ros_ik.solvers.analytic.structure.structure import StructureTolerances

# A kernel serves a number of joints, with a free rotation or without: the short form has 2, 3 and
# 5 without, and 3 and 5 with one.
# Random chains of each number of joints; `make stress` takes a thousand.
CHAINS = int(os.environ.get('CLOSED_FORM_ARMS', '1'))


def panda_joints(*numbers):
    """Return names of joints."""
    return [f'panda_joint{k}' for k in numbers]


UR = [
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
    'wrist_3_joint',
]  # fmt: skip
SO101 = ['shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll']
# File, link, joints that move, free rotation.
ROBOTS = {
    'SO-101': ('so101', 'gripper_frame_link', SO101, ''),
    'SO-101 along x': ('so101', 'gripper_frame_link', SO101, 'x'),
    'UR5 without joint 6': ('ur5_robot', 'tool0', UR[:5], ''),
    'UR5 without joint 1': ('ur5_robot', 'tool0', UR[1:], ''),
    'UR5 without joints 5 and 6': ('ur5_robot', 'tool0', UR[:4], ''),
    'UR5 along z': ('ur5_robot', 'tool0', UR[:5], 'z'),
    'Panda 1 2 4 6 7': ('panda', 'panda_hand_tcp', panda_joints(1, 2, 4, 6, 7), ''),
    'Panda 1 2 4 6': ('panda', 'panda_hand_tcp', panda_joints(1, 2, 4, 6), ''),
    'Panda 2 to 6': ('panda', 'panda_hand_tcp', panda_joints(2, 3, 4, 5, 6), ''),
    'Panda 3 to 7': ('panda', 'panda_hand_tcp', panda_joints(3, 4, 5, 6, 7), ''),
    'Panda 2 to 6 along z': ('panda', 'panda_hand_tcp', panda_joints(2, 3, 4, 5, 6), 'z'),
    'leg of Go2': ('go2', 'FL_foot', None, ''),
    'foot of Go2': ('go2', 'FL_foot', None, 'xyz'),
    'ankle of TALOS': ('talos_full_v2', 'leg_left_5_link', None, ''),
}  # fmt: skip


@functools.cache
def robot(name):
    """Return the judge of one of ROBOTS."""
    file, link, joints, free = ROBOTS[name]
    return ChainJudge(urdf_text(file), link, joints, free)


def chain(n, seed, free='', parallel=(), meeting=(), right=False, **options):
    """Return the judge of a random chain of n turning joints, or with right angles."""
    rng = np.random.default_rng(seed)
    h = np.eye(3)[[2, 1, 0, 1, 2][:n]] if right else rng.normal(size=(n, 3))
    h[list(parallel)] = h[list(parallel)[:1]]
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    p = np.cumsum(rng.uniform(-0.5, 0.5, (n, 3)), axis=0)
    p[list(meeting)] = p[list(meeting)[:1]]
    tool = p[-1] + rng.uniform(-0.3, 0.3, 3)
    return ChainJudge(arm_urdf(h, p, tool, **options), 'tool', None, free)


@pytest.mark.parametrize(
    'name',
    either(
        [
            'SO-101', 'SO-101 along x', 'UR5 along z', 'Panda 1 2 4 6 7', 'Panda 3 to 7',
            'foot of Go2', 'ankle of TALOS',
        ],
        ROBOTS,
    ),
)  # fmt: skip
def test_planted_configurations_of_robots_are_found(name):
    judge = robot(name)
    q = judge.random(either(30, 60))
    poses = judge.loosened(judge.poses(q))
    result = judge.solve(poses)
    judge.assert_true(result, poses)
    assert judge.is_found(result, q).all()


# Three joints reach positions.
@pytest.mark.parametrize(
    ('n', 'free'),
    either(
        [(2, ''), (3, ''), (3, 'xyz'), (5, ''), (5, 'x'), (5, 'y'), (5, 'z')],
        [
            (n, free)
            for n in range(1, 6)
            for free in ('', 'x', 'y', 'z', 'xyz')
            if free != 'xyz' or n <= 3
        ],
    ),
)
def test_planted_configurations_of_random_chains_are_found(n, free):
    for seed in range(CHAINS):
        judge = chain(n, seed, free)
        q = judge.random(either(20, 40), seed)
        poses = judge.loosened(judge.poses(q))
        result = judge.solve(poses)
        judge.assert_true(result, poses)
        assert judge.is_found(result, q).all()


@pytest.mark.parametrize('free', ['', 'x', 'z'])
def test_every_chain_of_one_joint_has_a_closed_form(free):
    # With one random set of locked axes instead of several, 3 to 30 of the short form had none.
    seeds = either([0, 3, 6, 13, 24, 30], range(40))
    refused = [seed for seed in seeds if chain(1, seed, free).form.reason]
    assert not refused


@pytest.mark.parametrize(
    'n, parallel, meeting',
    [
        (5, (1, 2, 3), ()), (5, (), (3, 4)), (3, (), (0, 1, 2)),
        *either(
            [],
            [
                (5, (0, 1, 2), ()), (5, (2, 3, 4), ()), (5, (), (0, 1)), (5, (), (1, 2, 3)),
                (4, (1, 2, 3), ()), (4, (), (1, 2, 3)), (4, (0, 1, 2), ()), (3, (0, 1, 2), ()),
                (2, (0, 1), ()),
            ],
        ),
    ],
)  # fmt: skip
def test_chains_with_special_axes(n, parallel, meeting):
    judge = chain(n, 7, parallel=parallel, meeting=meeting)
    assert judge.form.family is not Family.GENERAL and judge.form.exact
    q = judge.random(either(30, 60))
    poses = judge.poses(q)
    result = judge.solve(poses)
    judge.assert_true(result, poses)
    assert judge.is_found(result, q).all()


@pytest.mark.parametrize(
    'name', ['UR5 along z', 'foot of Go2', *either([], ['Panda 1 2 4 6', 'SO-101'])]
)
def test_newton_from_many_starts_finds_no_other(name):
    judge = robot(name)
    poses = judge.loosened(judge.poses(judge.random(2, 5)))
    result = judge.solve(poses, judge.unlimited())
    for k, pose in enumerate(poses):
        others = judge.newton(pose, either(50, 100))
        assert len(others) > 0
        ours = judge.own(result.joint_q[k, : result.n_found[k]])
        assert all(judge.has(ours, other) for other in others)


@pytest.mark.parametrize('joints', ['zero', 'quarter turns'])
@pytest.mark.parametrize(
    'n, parallel', [(5, (1, 2, 3)), (3, (1, 2)), *either([], [(4, (1, 2, 3)), (5, ())])]
)
def test_joints_at_zero_and_at_quarter_turns(n, parallel, joints):
    # Right angles, as real arms have them.
    h = np.eye(3)[[2, 1, 0, 1, 2][:n]]
    h[list(parallel)] = np.eye(3)[1]
    steps = [[0, 0, 0.1], [0, 0.05, 0.2], [0.3, 0, 0.1], [0.2, 0, 0], [0.1, 0.02, 0]]
    p = np.cumsum(steps, axis=0)
    judge = ChainJudge(arm_urdf(h, p[:n], p[n - 1] + [0.1, 0.02, 0.1]), 'tool', None, '')
    q = judge.random(60)
    rng = np.random.default_rng(0)
    if joints == 'zero':
        q *= rng.random(q.shape) < 0.5
        q[0] = 0.0
    else:
        q = 0.5 * np.pi * rng.integers(-1, 3, q.shape)
    poses = judge.poses(q)
    result = judge.solve(poses)
    judge.assert_true(result, poses)
    found = judge.is_found(result, q) | result.singular.any(axis=1)
    # Six general axes are solved by a polynomial that loses digits at such poses.
    assert np.mean(found) >= (0.9 if judge.form.family is Family.GENERAL else 1.0)


def test_singular_configurations_are_marked_with_the_free_direction():
    h = np.eye(3)[[2, 1, 1]]
    p = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.3], [0.4, 0.1, 0.3]])
    # The elbow at zero stretches the arm.
    judge = ChainJudge(arm_urdf(h, p, np.array([0.7, 0.12, 0.3])), 'tool', None, 'xyz')
    q = judge.random(20)
    q[:, 2] = 0.0
    poses = judge.poses(q)
    result = judge.solve(poses)
    judge.assert_true(result, poses)
    assert result.singular.any(axis=1).all()
    for k in range(20):
        for slot in np.flatnonzero(result.singular[k, : result.n_found[k]]):
            direction = result.free_direction[k, slot]
            moved = judge.jacobian(result.joint_q[k, slot])[:3] @ direction
            assert np.abs(moved).max() < 1e-5 and np.linalg.norm(direction) == pytest.approx(1.0)
    bent = judge.solve(judge.poses(q + [0.0, 0.0, 0.5]))
    assert not bent.singular.any()


def test_a_joint_that_turns_the_tool_about_its_free_axis_is_marked():
    along = Rotation.from_euler('xyz', TOOL_TURN).apply([1.0, 0.0, 0.0])
    across = np.cross(along, [0.0, 1.0, 0.0])
    across /= np.linalg.norm(across)
    first = np.cross(along, across) + 0.5 * across
    h = np.array([first / np.linalg.norm(first), along, across])
    p = np.array([[0.0, 0.1, -0.3], 0.0 * along, 0.3 * along])
    judge = ChainJudge(arm_urdf(h, p, 0.5 * along), 'tool', None, 'x')
    result = judge.solve(judge.poses(np.array([[0.2, 0.4, 0.0], [0.2, 0.4, 0.3]])))
    assert result.singular[0, 0] and not result.singular[1].any()
    np.testing.assert_allclose(np.abs(result.free_direction[0, 0]), [0.0, 1.0, 0.0], atol=1e-9)


def test_where_six_joints_with_a_locked_one_are_singular():
    judge = chain(5, 5, meeting=(3, 4), right=True)
    axes = joint_axes(judge.chain)
    first = completions(axes, np.zeros((0, 3)), StructureTolerances())[0]

    def volumes(q):
        six = np.zeros((len(q), 6))
        six[:, first.real] = q
        return np.linalg.det(tool_jacobians(first.axes, six, np.zeros((0, 3))))

    # The last joint aligns joint 4 with the locked axis, to the last bit.
    low, high = judge.random(3000, 1), judge.random(3000, 1)
    high[:, 4] = judge.random(3000, 2)[:, 4]
    opposite = volumes(low) * volumes(high) < 0.0
    low, high = low[opposite], high[opposite]
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = (volumes(middle) * volumes(high) > 0.0)[:, None]
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    assert len(low) > 1000
    poses = judge.poses(low)
    result = judge.solve(poses)
    assert np.all(result.status == SolveStatus.CONVERGED)
    assert judge.is_found(result, low).all()


@pytest.mark.parametrize('scale', [1e-3, 100.0])
@pytest.mark.parametrize(
    'n, free, parallel',
    [(5, '', (1, 2, 3)), (3, '', ()), (3, 'xyz', ()), *either([], [(4, '', ())])],
)
def test_small_and_large_arms(n, free, parallel, scale):
    judge = chain(n, 2, free, parallel=parallel, scale=scale)
    q = judge.random(60)
    poses = judge.loosened(judge.poses(q))
    result = judge.solve(poses)
    judge.assert_true(result, poses, scale)
    assert judge.is_found(result, q).all()


@pytest.mark.parametrize('n', either([5], [4, 5]))
def test_poses_that_the_arm_cannot_reach_have_a_configuration_of_least_error(n):
    judge = chain(n, 4, parallel=(1, 2, 3))
    poses = judge.poses(judge.random(40))
    turn = Rotation.from_rotvec(np.random.default_rng(4).normal(size=(40, 3)) * 0.1)
    poses[:, 3:] = (turn * Rotation.from_quat(poses[:, 3:])).as_quat()
    result = judge.solve(poses)
    assert np.all(result.status == SolveStatus.UNREACHABLE) and not result.n_found.any()
    assert np.all(np.isfinite(result.joint_q))
    moved, turned = judge.errors(judge.own(result.joint_q[:, 0]), poses)
    np.testing.assert_allclose(result.position_error[:, 0], moved, atol=1e-12)
    np.testing.assert_allclose(result.rotation_error[:, 0], turned, atol=1e-9)
    # The planted configuration itself is off by the turn; none is worse.
    length = 0.3 * joint_axes(judge.chain).reach
    cost = np.hypot(moved, length * turned)
    assert np.all(cost <= length * turn.magnitude() * (1.0 + 1e-6))
    # No small step leads nearer.
    for k in range(5):
        for step in 1e-3 * np.vstack([np.eye(n), -np.eye(n)]):
            near = judge.errors(judge.own(result.joint_q[k, :1]) + step, poses[k : k + 1])
            assert np.hypot(near[0], length * near[1])[0] >= cost[k] - 1e-9


def test_a_pose_off_by_a_rounding_needs_a_wider_tolerance():
    judge = robot('SO-101')
    q = judge.random(20)
    poses = judge.poses(q)
    poses[:, :3] = np.round(poses[:, :3], 7)
    plain = judge.solve(poses)
    assert np.all(plain.status != SolveStatus.CONVERGED)
    settings = ClosedFormSettings(position_tolerance=1e-6, rotation_tolerance=1e-6)
    wide = all_solutions(
        judge.model, judge.link, poses, joint_group=judge.joints, settings=settings
    )
    assert np.all(wide.status == SolveStatus.CONVERGED)
    # Beside singular configurations joints move by some hundred times the rounding of 1e-7 m.
    assert np.abs(wide.joint_q - judge.whole(q)[:, None]).max(axis=2).min(axis=1).max() < 1e-4


def test_limits_seeds_and_the_least_distance():
    judge = robot('SO-101')
    q = judge.random(40, 9)
    poses = judge.poses(q)
    result = judge.solve(poses, seeds=q)
    judge.assert_true(result, poses, seeds=q)
    np.testing.assert_allclose(judge.own(result.joint_q[:, 0]), q, atol=1e-6)
    wide = judge.solve(poses, judge.unlimited())
    assert np.all(wide.n_found >= result.n_found) and wide.n_found.sum() > result.n_found.sum()


def test_the_form_of_fewer_joints():
    for name, family, special in (
        ('SO-101', Family.PARALLEL, tuple(SO101[1:4])),
        ('UR5 without joints 5 and 6', Family.SPHERICAL, ('wrist_1_joint',)),
        ('Panda 3 to 7', Family.GENERAL, ()),
    ):
        judge = robot(name)
        assert judge.form.family is family and judge.form.special_joints == special
        assert len(judge.form.joints) == len(judge.joints) and judge.form.reason == ''
    assert robot('foot of Go2').form.free_rotation == 'xyz'
    assert robot('foot of Go2').form.max_branches == 4


def test_chains_that_leave_a_joint_over_are_refused_with_the_reason():
    judge = robot('UR5 without joint 1')
    form = closed_form(judge.model, 'tool0', UR[1:], free_rotation='z')
    assert form.family is Family.NONE
    assert "joint 'wrist_3_joint' only rotates the tool" in form.reason
    with pytest.raises(ArgumentError, match='leave it out of the joint group'):
        judge.solve(judge.poses(judge.random(1)), free='z')
    six = closed_form(judge.model, 'tool0', UR, free_rotation='z')
    assert "6 joints, more than the 5 that free_rotation='z' leaves" in six.reason
    assert six.redundancy == 1 and six.redundant_joint == ''
    four = closed_form(judge.model, 'tool0', UR[:4], free_rotation='xyz')
    assert 'more than the 3' in four.reason and four.redundancy == 1
    flat = chain(4, 1, parallel=(0, 1, 2, 3))
    assert 'some motion of the joints does not move the tool' in flat.form.reason


def test_the_methods_of_inverse_kinematics():
    judge = robot('SO-101')
    q = judge.random(10)
    poses, seeds = judge.poses(q), judge.whole(q)
    options = {'joint_group': judge.joints}
    exact = inverse_kinematics(
        judge.model, judge.link, poses, seeds, method='closed_form', **options
    )
    assert exact.position_error.max() < 1e-10 and np.allclose(exact.joint_q, seeds, atol=1e-6)
    seeds = seeds + 0.1
    auto = inverse_kinematics(judge.model, judge.link, poses, seeds, method='auto', **options)
    search = inverse_kinematics(judge.model, judge.link, poses, seeds, **options)
    assert np.array_equal(auto.joint_q, search.joint_q)


def test_wrong_free_rotations_are_named():
    judge = robot('SO-101')
    for wrong in ('xy', 'zz', 'w', 'zyx'):
        with pytest.raises(ArgumentError, match='free_rotation must be'):
            closed_form(judge.model, judge.link, SO101, free_rotation=wrong)
