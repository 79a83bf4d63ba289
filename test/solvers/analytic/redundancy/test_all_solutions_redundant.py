# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions of arms with seven joints, judged by Pinocchio."""

import dataclasses
import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import robot_with_meshes
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import all_solutions
from ros_ik import ChainIK
from ros_ik import closed_form
from ros_ik import inverse_kinematics
from ros_ik import Model
from ros_ik import ModelBuilder
from ros_ik import RedundantClosedFormIK
from ros_ik import solve_path
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
import ros_ik.solvers.analytic.stage

# Tolerances of a solution [m, rad], plus the rounding of two forward kinematics.
TOLERANCE = 1e-10 + 1e-13
PR2 = [
    'torso_lift_joint', 'r_shoulder_pan_joint', 'r_shoulder_lift_joint', 'r_upper_arm_roll_joint',
    'r_elbow_flex_joint', 'r_forearm_roll_joint', 'r_wrist_flex_joint',
]  # fmt: skip
# Redundant joint: the last one, the first one, one that slides; exact and nearly fitting arms.
ROBOTS = {
    'panda': ('panda_hand_tcp', None, 'panda_joint7'),
    'xarm7': ('link_eef', None, 'joint7'),
    'baxter': ('left_gripper', None, 'left_s0'),
    'romeo_small': ('LWristYawLink', None, 'LWristYaw'),
    'talos_full_v2': (
        'arm_left_7_link', [f'arm_left_{k}_joint' for k in range(1, 8)], 'arm_left_1_joint',
    ),
    'pr2': ('r_wrist_flex_link', PR2, 'torso_lift_joint'),
}  # fmt: skip
# One of each kind.
SOME_ROBOTS = either(['panda', 'baxter', 'romeo_small', 'pr2'], ROBOTS)


class Robot:
    """One of ROBOTS with its judge."""

    def __init__(self, name):
        (path,) = (path for path in ALL_URDFS if path.stem == name)
        self.model, self.pin = load(path), PinocchioRobot(urdf_text(name), load(path))
        self.link, self.group, self.redundant = ROBOTS[name]
        solver = RedundantClosedFormIK(self.model, self.link, joint_group=self.group)
        self.chain = solver.chain

    def random(self, n, seed=0):
        """Return configurations inside the limits; the others are neutral."""
        q = np.tile(self.model.neutral_joint_q(), (n, 1))
        drawn = self.model.random_joint_q(n, np.random.default_rng(seed))
        q[:, self.chain.coordinates] = drawn[:, self.chain.coordinates]
        return self.model.apply_mimic(q)

    def poses(self, q):
        """Return the poses of the link, [n, 7]."""
        rows = []
        for row in q:
            position, rotation = self.pin.pose(row, self.link)
            rows.append([*position, *Rotation.from_matrix(rotation).as_quat()])
        return np.array(rows)

    def assert_true(self, result, poses):
        """Assert that solutions reach their poses inside the limits, distinct and in order."""
        for k, pose in enumerate(poses):
            q = result.joint_q[k, : result.n_found[k]]
            reached = self.poses(q)
            turn = Rotation.from_quat(reached[:, 3:]).inv() * Rotation.from_quat(pose[3:])
            assert np.linalg.norm(reached[:, :3] - pose[:3], axis=1).max() < TOLERANCE
            assert turn.magnitude().max() < TOLERANCE
            inside = q[:, self.chain.coordinates]
            assert np.all(inside >= self.chain.lower) and np.all(inside <= self.chain.upper)
            assert len(np.unique(np.round(inside, 6), axis=0)) == len(q)


@functools.cache
def robot(name):
    """Return one of ROBOTS."""
    return Robot(name)


def distances(robot, result, seeds):
    """Return distances of the solutions to the seeds [rad], [n, s]."""
    change = result.joint_q - seeds[:, None]
    return np.linalg.norm(change[..., robot.chain.coordinates], axis=-1)


@pytest.mark.parametrize('n_values', [2, 8])
def test_every_posture_comes_in_all_turns(n_values):
    it = robot('xarm7')
    poses, seeds = it.poses(it.random(8, 4)), it.random(8, 5)
    result = all_solutions(
        it.model, it.link, poses, seeds, 3000, all_turns=True, redundant_values=n_values
    )
    assert np.array_equal(result.n_found, result.n_exist)
    it.assert_true(result, poses)
    few = all_solutions(
        it.model, it.link, poses, seeds, 5, all_turns=True, redundant_values=n_values
    )
    assert np.array_equal(few.n_exist, result.n_exist)
    assert np.allclose(few.joint_q, result.joint_q[:, :5], rtol=0.0, atol=1e-12)
    # The redundant joint, the last one, takes given values.
    lower, upper = it.chain.lower[:-1], it.chain.upper[:-1]
    for k in range(8):
        q = result.joint_q[k, : result.n_found[k]][:, it.chain.coordinates]
        posture = np.round(np.c_[(q[:, :-1] + 1e-6) % (2.0 * np.pi), q[:, -1]], 4)
        _, first, count = np.unique(posture, axis=0, return_index=True, return_counts=True)
        low = np.ceil((lower - q[first, :-1]) / (2.0 * np.pi) - 1e-12)
        high = np.floor((upper - q[first, :-1]) / (2.0 * np.pi) + 1e-12)
        assert np.array_equal(count, np.prod(high - low + 1.0, axis=1))


@pytest.mark.parametrize('name', SOME_ROBOTS)
def test_the_form_names_the_redundant_joint(name):
    it = robot(name)
    form = closed_form(it.model, it.link, it.group)
    assert form.redundant_joint == it.redundant and it.redundant in form.lockable
    # The wrist of Baxter misses its structure by more than refinement bridges.
    assert form.max_branches == (16 if name == 'baxter' else 8)
    assert form.redundancy == 1 and len(form.joints) == 7
    rest = [joint for joint in form.joints if joint != it.redundant]
    six = closed_form(it.model, it.link, rest)
    assert (form.family, form.exact, form.quartic) == (six.family, six.exact, six.quartic)


@pytest.mark.parametrize('name', SOME_ROBOTS)
def test_poses_that_are_reached_are_solved(name):
    it, n = robot(name), either(10, 30)
    poses = it.poses(it.random(n))
    result = all_solutions(it.model, it.link, poses, max_solutions=600, joint_group=it.group)
    assert np.all(result.status == SolveStatus.CONVERGED)
    it.assert_true(result, poses)
    seeds = np.tile(it.model.neutral_joint_q(), (n, 1))
    seeds[:, it.chain.coordinates] = 0.5 * np.sum(it.chain.sampling_range(), axis=0)
    apart = distances(it, result, seeds)
    there = np.arange(600) < result.n_found[:, None]
    assert np.all(np.diff(apart, axis=1)[there[:, 1:]] >= -1e-12)
    assert np.array_equal(result.n_exist, result.n_found) and result.n_found.max() > 8


@pytest.mark.parametrize('name', SOME_ROBOTS)
def test_a_seed_that_is_a_solution_comes_first(name):
    it = robot(name)
    q = it.random(30, seed=1)
    result = all_solutions(it.model, it.link, it.poses(q), q, joint_group=it.group)
    np.testing.assert_allclose(result.joint_q[:, 0], q, atol=1e-6)


@pytest.mark.parametrize('name', SOME_ROBOTS)
def test_planted_values_give_the_planted_configurations(name):
    it = robot(name)
    place = closed_form(it.model, it.link, it.group).joints.index(it.redundant)
    column = it.chain.coordinates[place]
    q = it.random(4, seed=2)
    q[:, column] = q[0, column]
    result = all_solutions(
        it.model, it.link, it.poses(q), joint_group=it.group, redundant_values=[q[0, column]]
    )
    for k in range(4):
        found = result.joint_q[k, : result.n_found[k]]
        assert np.all(found[:, column] == q[0, column])
        apart = np.abs(found - q[k])[:, it.chain.coordinates]
        # The same angle may come with another turn.
        apart = np.minimum(apart, np.abs(apart - 2.0 * np.pi))
        assert apart.max(axis=1).min() < 1e-5


@pytest.mark.parametrize('name', SOME_ROBOTS)
def test_solutions_at_a_value_are_those_of_the_other_six(name):
    it = robot(name)
    joints = closed_form(it.model, it.link, it.group).joints
    rest = [joint for joint in joints if joint != it.redundant]
    column = it.chain.coordinates[joints.index(it.redundant)]
    poses = it.poses(it.random(24, seed=10))
    values = it.random(3, seed=11)[:, column]
    solver = RedundantClosedFormIK(
        it.model, it.link, 24, 64, joint_group=it.group, redundant_values=values
    )
    every = solver.solve(poses)
    count = 0
    for value in values:
        held = it.model.neutral_joint_q()
        held[column] = value
        six = all_solutions(it.model, it.link, poses, joint_group=rest, joint_q=held)
        for k in range(24):
            mine = every.joint_q[k, : every.n_found[k]]
            mine = mine[mine[:, column] == value]
            theirs = six.joint_q[k, : six.n_found[k]]
            assert len(mine) == len(theirs)
            apart = np.abs(mine[:, None] - theirs).max(axis=2)
            assert np.all(apart.min(axis=0, initial=np.inf) < 1e-7)
            count += len(mine)
    assert count == every.n_exist.sum() and count > 10


def test_a_seed_near_a_limit_hides_no_part_of_the_interval():
    it = robot('panda')
    q = it.random(40, seed=12)
    seeds = q.copy()
    seeds[:, it.chain.coordinates[6]] = np.where(q[:, it.chain.coordinates[6]] > 0.0, -2.8, 2.8)
    result = all_solutions(it.model, it.link, it.poses(q), seeds)
    assert np.all(result.status == SolveStatus.CONVERGED)


def test_one_value_is_that_of_the_seed_where_it_has_solutions():
    it = robot('panda')
    poses, seeds = it.poses(it.random(40, seed=13)), it.random(40, seed=14)
    column = it.chain.coordinates[6]
    one = all_solutions(it.model, it.link, poses, seeds, redundant_values=1)
    assert np.all(one.status == SolveStatus.CONVERGED)
    it.assert_true(one, poses)
    kept = 0
    for pose, seed, q in zip(poses, seeds, one.joint_q[:, 0], strict=True):
        there = all_solutions(it.model, it.link, pose, seed, redundant_values=[seed[column]])
        assert (q[column] == seed[column]) == (there.n_found[0] > 0)
        kept += there.n_found[0] > 0
    assert 5 < kept < 35


# With one value most poses need the search, which threads share in a batch of 300. With the elbow
# at its limit some have solutions only beside the values that it finds.
@pytest.mark.parametrize(('n', 'n_values'), [(2, 64), (200, 1), (300, 1)])
def test_a_solve_leaves_nothing_behind_for_the_next(n, n_values):
    it = robot('panda')
    poses, seeds = it.poses(it.random(n, seed=15)), it.random(n, seed=16)
    lost = poses + [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    at_limits = it.random(n, seed=71)
    at_limits[:, 3] = it.model.joint_limit_lower.numpy()[3]
    solver = RedundantClosedFormIK(it.model, it.link, n, 100, redundant_values=n_values)
    first = solver.solve(poses, seeds).copy()
    assert np.all(solver.solve(lost, seeds).n_found == 0)
    assert np.all(solver.solve(it.poses(at_limits), seeds).n_found > 0)
    again = solver.solve(poses, seeds)
    for field in dataclasses.fields(again):
        before, after = getattr(first, field.name), getattr(again, field.name)
        np.testing.assert_array_equal(before, after, err_msg=field.name)


@pytest.mark.parametrize('n_values', [1, 9])
def test_values_that_are_solved_together_do_not_change_the_solutions(n_values, monkeypatch):
    it = robot('panda')
    poses, seeds = it.poses(it.random(12, seed=19)), it.random(12, seed=20)
    poses[3:5, 0] += [3.0, 0.0]
    results = []
    for at_once in (7, 1000):
        monkeypatch.setattr(ros_ik.solvers.analytic.stage, '_BLOCK', at_once)
        solver = RedundantClosedFormIK(it.model, it.link, 12, redundant_values=n_values)
        assert solver._stage._six_joints.n_problems == min(at_once, solver._stage.rows.longest)
        results.append(solver.solve(poses, seeds).copy())
    for field in dataclasses.fields(results[0]):
        some, all_ = (getattr(result, field.name) for result in results)
        np.testing.assert_array_equal(some, all_, err_msg=field.name)


def test_a_solve_takes_the_given_values_after_others_were_tried():
    it = robot('panda')
    column, values, others = it.chain.coordinates[6], [0.0, 0.5], [0.2, 0.7]
    planted, seeds = it.random(3, seed=17), it.random(3, seed=18)
    planted[:, column] = 0.5
    poses = it.poses(planted)
    solver = RedundantClosedFormIK(it.model, it.link, 3, 16, redundant_values=values)
    first = solver.solve(poses, seeds).copy()
    assert np.all(first.n_found > 0)
    assert np.any(solver.solved_at(poses, np.tile(others, (3, 1))))
    again = solver.solve(poses, seeds)
    np.testing.assert_array_equal(again.n_found, first.n_found)
    for q, count in zip(again.joint_q, again.n_found, strict=True):
        assert np.all(np.isin(q[:count, column], values))


def test_a_seed_of_a_joint_beside_the_chain_is_a_number_too():
    it = robot('panda')
    poses, seeds = it.poses(it.random(3, seed=19)), it.random(3, seed=20)
    seeds[1, 8] = np.nan
    result = all_solutions(it.model, it.link, poses, seeds)
    assert result.status[1] == SolveStatus.NON_FINITE_INPUT and result.n_found[1] == 0
    assert np.all(result.status[[0, 2]] == SolveStatus.CONVERGED)
    assert np.all(np.isfinite(result.joint_q[[0, 2]]))


@pytest.mark.parametrize('name', ['panda', *either([], ['baxter'])])
def test_no_solution_at_many_values_is_nearer(name):
    it = robot(name)
    poses, seeds = it.poses(it.random(10, seed=3)), it.random(10, seed=4)
    nearest = all_solutions(it.model, it.link, poses, seeds, 1, joint_group=it.group)
    place = closed_form(it.model, it.link, it.group).joints.index(it.redundant)
    dense = np.linspace(it.chain.lower[place], it.chain.upper[place], 2001)
    best = all_solutions(
        it.model, it.link, poses, seeds, 1, joint_group=it.group, redundant_values=dense
    )
    mine, theirs = distances(it, nearest, seeds), distances(it, best, seeds)
    # A branch so short that no sample meets it may hold a nearer one.
    assert np.sum(mine > theirs + 1e-9) <= 1


def test_the_nearest_solution_is_found_where_curves_bend_or_enter_the_limits_between_samples():
    it = robot('panda')
    some = [67, 110, 149, 150, 154, 188, 205, 234]
    poses, seeds = it.poses(it.random(300, seed=3)[some]), it.random(300, seed=4)[some]
    nearest = all_solutions(it.model, it.link, poses, seeds, 1)
    it.assert_true(nearest, poses)
    dense = np.linspace(it.chain.lower[-1], it.chain.upper[-1], 10_001)
    best = all_solutions(it.model, it.link, poses, seeds, 1, redundant_values=dense)
    mine, theirs = distances(it, nearest, seeds), distances(it, best, seeds)
    assert np.all(mine <= theirs + 1e-9)


def test_search_reaches_what_the_samples_miss():
    it = robot('panda')
    poses = it.poses(it.random(200, seed=5))
    few = all_solutions(it.model, it.link, poses, joint_group=it.group, redundant_values=3)
    assert np.all(few.status == SolveStatus.CONVERGED)
    it.assert_true(few, poses)


def test_poses_without_a_solution_are_told():
    it = robot('panda')
    poses = it.poses(it.random(4, seed=6))
    poses[0, 0] += 3.0
    poses[1, 2] = np.nan
    # The last joint would have to be outside its limits.
    given = all_solutions(it.model, it.link, poses, redundant_values=[-2.5, 2.5])
    result = all_solutions(it.model, it.link, poses)
    for some in (given, result):
        assert some.status[0] in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
        assert some.status[1] == SolveStatus.NON_FINITE_INPUT
        assert np.all(some.n_found[:2] == 0) and np.all(np.isfinite(some.joint_q))
        assert 1.0 < some.position_error[0, 0] < 3.0
    assert np.all(result.status[2:] == SolveStatus.CONVERGED)


def test_the_free_direction_leaves_the_redundant_joint_out():
    it = robot('panda')
    q = it.random(1)
    result = all_solutions(it.model, it.link, it.poses(q), joint_group=it.group)
    assert result.free_direction.shape == (1, 16, 7)
    assert np.all(result.free_direction[..., 6] == 0.0)


@pytest.mark.filterwarnings('ignore:You passed package dir')
@pytest.mark.parametrize('name', ['panda', 'ur5_robot'])
def test_solutions_that_collide_are_left_out(name):
    model, link = robot_with_meshes(name), 'panda_hand_tcp' if name == 'panda' else 'tool0'
    checker = ChainIK(model, link, check_collisions=True)
    q = np.tile(model.neutral_joint_q(), (500, 1))
    columns = checker.chain.coordinates
    q[:, columns] = model.random_joint_q(500, np.random.default_rng(8))[:, columns]
    oracle = collision_oracle(name)
    pairs = checker.collision_pairs
    # Poses of configurations that collide, so that some of their solutions do.
    hit = [row for row in q if oracle.distances(row, pairs).min() < -1e-3][:4]
    poses = np.zeros((len(hit), model.body_count, 7))
    eval_fk(model, np.array(hit), poses)
    poses = poses[:, model.body_index(link)]
    options = {'max_solutions': 100, 'redundant_values': 12}
    every = all_solutions(model, link, poses, **options)
    free = all_solutions(model, link, poses, check_collisions=True, **options)
    dropped = 0
    for k in range(len(hit)):
        distance = [
            oracle.distances(row, pairs).min() for row in every.joint_q[k, : every.n_found[k]]
        ]
        # Mesh files hold float32; closer to zero both answers are right.
        sure = np.abs(distance) > 1e-6
        assert np.all(sure)
        kept = every.joint_q[k, : every.n_found[k]][np.array(distance) > 0.0]
        assert free.n_found[k] == free.n_exist[k] == len(kept)
        np.testing.assert_array_equal(free.joint_q[k, : len(kept)], kept)
        dropped += every.n_found[k] - len(kept)
        blocked = SolveStatus.CONVERGED if len(kept) else SolveStatus.IN_COLLISION
        assert free.status[k] == blocked
    assert dropped > 0


def test_one_call_takes_the_redundant_arm_too():
    it = robot('panda')
    q = it.random(5, seed=9)
    poses = it.poses(q)
    one = inverse_kinematics(it.model, it.link, poses, q, method='closed_form')
    np.testing.assert_allclose(one.joint_q, q, atol=1e-6)


def test_wrong_values_and_chains_are_named():
    it = robot('panda')
    pose = it.poses(it.random(1))
    with pytest.raises(ArgumentError, match="redundant_values: 3 is outside .*'panda_joint7'"):
        all_solutions(it.model, it.link, pose, redundant_values=[0.0, 3.0])
    for wrong in ([], [np.nan], [[0.0, 1.0]], 'many', 0):
        with pytest.raises(ArgumentError, match='redundant_values'):
            all_solutions(it.model, it.link, pose, redundant_values=wrong)
    six = [f'panda_joint{k}' for k in range(1, 7)]
    with pytest.raises(ArgumentError, match='redundant'):
        RedundantClosedFormIK(it.model, it.link, joint_group=six)
    talos = robot('talos_full_v2')
    with pytest.raises(ArgumentError, match='neither the first nor the last six'):
        all_solutions(talos.model, 'arm_left_5_link', pose)


def moved_by_planar_base(*joints):
    """Return the URDF of a base that moves in a plane, and of joints (type, axis) above it."""
    text = '<robot name="r"><link name="l0"/>'
    for k, (kind, axis) in enumerate([('planar', '0 0 1'), *joints]):
        text += (
            f'<link name="l{k + 1}"/><joint name="j{k + 1}" type="{kind}"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/><origin xyz="0.1 0 0.3"/><axis xyz="{axis}"/>'
            '<limit lower="-2.5" upper="2.5" velocity="1" effort="1"/></joint>'
        )
    return f'{text}</robot>'


def test_a_joint_of_several_variables_is_not_the_redundant_one():
    # Without the planar joint four joints are left, not six.
    turns = [('revolute', axis) for axis in ('0 0 1', '0 1 0', '0 0 1', '0 1 0')]
    model = Model.from_urdf(moved_by_planar_base(*turns), device='cpu')
    form = closed_form(model, 'l5')
    assert form.redundant_joint == '' and form.lockable == ('j1',) and 'more than' in form.reason
    with pytest.raises(ArgumentError, match='more than'):
        all_solutions(model, 'l5', [0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])


def test_a_chain_that_begins_with_a_planar_joint_is_solved_at_values_of_its_last_joint():
    joints = [('prismatic', '0 0 1'), ('revolute', '0 1 0'), ('revolute', '1 0 0')]
    joints.append(('revolute', '0 1 1'))
    model = Model.from_urdf(moved_by_planar_base(*joints), device='cpu')
    form = closed_form(model, 'l5')
    assert form.redundant_joint == 'j5' and form.joints[form.redundant_variable] == 'j5'
    q = model.random_joint_q(20, 0)
    # At a given value: other values would need a search, whose kernel no other test has.
    q[:, -1] = 0.4
    body_q = np.zeros((20, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index('l5')]
    result = all_solutions(model, 'l5', poses, q, redundant_values=[0.4])
    assert np.all(result.status == SolveStatus.CONVERGED)
    np.testing.assert_allclose(result.joint_q[:, 0], q, atol=1e-6)


def test_an_arm_in_one_of_several_worlds_is_solved_as_the_arm_alone():
    alone = robot('panda')
    builder, scene = ModelBuilder(), ModelBuilder()
    builder.add_urdf(urdf_text('panda'))
    scene.replicate(builder, 3, spacing=(0.0, 0.0, 0.0))
    model = scene.finalize('cpu')
    link = model.body_index(alone.link, world=1)
    assert closed_form(model, link) == closed_form(alone.model, alone.link)
    poses = alone.poses(alone.random(5))
    result = all_solutions(model, link, poses)
    expected = all_solutions(alone.model, alone.link, poses)
    coords = alone.chain.coordinates
    np.testing.assert_array_equal(result.n_exist, expected.n_exist)
    np.testing.assert_allclose(
        result.joint_q[..., alone.model.joint_coord_count + coords],
        expected.joint_q[..., coords],
        atol=1e-9,
    )
    step = np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0])
    path = solve_path(model, link, [poses[0], poses[0] + step])
    assert np.all(path.status == SolveStatus.CONVERGED)


def test_other_values_give_the_solutions_of_another_solver():
    it, n, values = Robot('panda'), 3, np.array([-0.5, 0.2, 0.9])
    poses = it.poses(it.random(n))
    poses[1, :3] += 5.0

    def solved(values):
        return RedundantClosedFormIK(it.model, it.link, n, redundant_values=values).solve(poses)

    solver = RedundantClosedFormIK(it.model, it.link, n, redundant_values=[2.0, 0.0, -1.0])
    cases = (values, values), (values - 0.1, values - 0.1), ([0.3, np.nan, np.nan], 0.3)
    for given, same in cases:
        solver.set_redundant_values(given)
        found, expected = solver.solve(poses), solved(same)
        for field in dataclasses.fields(found):
            ours, others = getattr(found, field.name), getattr(expected, field.name)
            np.testing.assert_array_equal(ours, others, err_msg=field.name)
    for wrong, words in ((values[:2], 'shape'), ([0.0, 0.0, 9.0], 'outside the limits')):
        with pytest.raises(ArgumentError, match=words):
            solver.set_redundant_values(wrong)
    sampled = RedundantClosedFormIK(it.model, it.link, n, redundant_values=3)
    with pytest.raises(ArgumentError, match='values must have shape'):
        sampled.set_redundant_values(values)
