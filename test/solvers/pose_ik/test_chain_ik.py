# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses of every arm at hand are solved inside the limits; Pinocchio confirms each answer."""

import re

import numpy as np
import pytest
from support.long_forms import either
from support.robots.arms import ARMS
from support.robots.arms import assert_solved
from support.robots.arms import errors
from support.robots.arms import reachable
from support.robots.arms import robot
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text
from support.solvers.solution_order import assert_sorted_and_distinct
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.solvers.analytic.batch import all_solutions
from ros_ik.solvers.pose_batches.batch import inverse_kinematics
from ros_ik.solvers.pose_ik.interface.result import ChainIKSettings
from ros_ik.solvers.pose_ik.search import search
from ros_ik.solvers.pose_ik.search.setup import make_chain
from ros_ik.solvers.pose_ik.solver import ChainIK
from ros_ik.solvers.status import SolveStatus

# The kernel of the nine joints of TALOS compiles for five seconds.
MOST_ARMS = either([arm for arm in ARMS if arm[0] != 'talos_full_v2'], ARMS)


@pytest.mark.parametrize(('name', 'link'), MOST_ARMS)
@pytest.mark.parametrize('tolerance', [(1e-3, 1e-2), (1e-6, 1e-5)])
def test_every_reachable_pose_is_solved(name, link, tolerance):
    model = robot(name)
    poses, seeds = reachable(model, link, 200)
    for start in (seeds, None):
        result = inverse_kinematics(model, link, poses, start, *tolerance)
        assert np.all(result.status == SolveStatus.CONVERGED)
        assert_solved(name, link, result.joint_q, poses, *tolerance)
        assert np.all(result.position_error <= tolerance[0])
        assert np.all(result.rotation_error <= tolerance[1])


@pytest.mark.parametrize('size', [1e-6, 1e-4, 1e4])
def test_robots_of_any_size_are_solved(size):
    def scaled(match):
        numbers = ' '.join(repr(size * float(number)) for number in match[2].split())
        return f'{match[1]}{numbers}"'

    text = re.sub('(<origin[^>]*xyz=")([^"]*)"', scaled, urdf_text('ur5_robot'))
    model = Model.from_urdf(text, device='cpu')
    oracle = PinocchioRobot(text, model)
    poses, seeds = reachable(model, 'tool0', 40)
    result = inverse_kinematics(model, 'tool0', poses, seeds, 1e-4 * size, 1e-3)
    assert np.all(result.status == SolveStatus.CONVERGED)
    for q, pose in zip(result.joint_q, poses, strict=True):
        distance, angle = errors(oracle, 'tool0', q, pose)
        assert distance <= 1.01e-4 * size and angle <= 1.01e-3


def test_a_seed_at_the_pose_is_the_answer():
    model = robot('panda')
    rng = np.random.default_rng(2)
    q = model.random_joint_q(5, rng)
    body_q = np.zeros((5, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index('panda_hand_tcp')]
    result = inverse_kinematics(model, 'panda_hand_tcp', poses, q)
    moved = np.max(np.abs(result.joint_q - q)[:, :7])
    assert moved == 0.0


def test_a_seed_outside_the_limits_starts_at_them():
    model = Model.from_urdf(FINGER, device='cpu')
    beyond = [np.cos(1.2), np.sin(1.2), 0.0, 0.0, 0.0, np.sin(0.6), np.cos(0.6)]
    result = inverse_kinematics(model, 'tip', beyond, [1.2])
    assert result.status[0] == SolveStatus.AT_LIMITS and result.joint_q[0, 0] == 1.0


@pytest.mark.parametrize('n_solutions', [1, 4])
@pytest.mark.parametrize(
    ('name', 'link'),
    [('ur5_robot', 'tool0'), ('kinova', 'j2s6s200_end_effector'), ('panda', 'panda_hand_tcp')],
)
def test_no_joint_is_a_turn_farther_from_the_seed_than_it_need_be(name, link, n_solutions):
    model = robot(name)
    lower, upper = model.limits64()[:2]
    poses, random = reachable(model, link, 100, seed=7)
    home = np.tile(model.neutral_joint_q(), (100, 1))
    # Seeds beyond the limits too: the answer is inside.
    for seeds in (home, random, random + 5.0):
        result = inverse_kinematics(model, link, poses, seeds, n_solutions=n_solutions)
        answers = result.joint_q.reshape(100, n_solutions, -1)[:, 0]
        assert_solved(name, link, answers, poses)
        for turns in (-2, -1, 1, 2):
            other = answers + 2.0 * np.pi * turns
            inside = (other >= lower) & (other <= upper)
            nearer = np.abs(other - seeds) < np.abs(answers - seeds) - 1e-9
            assert not np.any(inside & nearer)


@pytest.mark.parametrize('factor', [0.5, -0.5])
def test_a_turn_of_a_joint_that_follows_by_half_is_two_of_its_driver(factor):
    model = Model.from_urdf(GEARED.replace('"0.5"', f'"{factor}"'), device='cpu')
    pose = np.zeros((1, model.body_count, 7))
    eval_fk(model, np.array([[0.7, factor * 0.7]]), pose)
    # Near an answer, at half a turn between two, and beyond the limits of the driver.
    seeds = np.array([13.0, 6.5, -6.5, 30.0, -30.0])
    result = inverse_kinematics(
        model, 'tip', np.repeat(pose[:, model.body_index('tip')], 5, axis=0),
        np.stack([seeds, factor * seeds], axis=1),
    )  # fmt: skip
    assert np.all(result.status == SolveStatus.CONVERGED)
    expected = 0.7 + 4.0 * np.pi * np.array([1, 0, -1, 1, -1])
    np.testing.assert_allclose(result.joint_q[:, 0], expected, atol=0.05)
    np.testing.assert_allclose(result.joint_q[:, 1], factor * expected, atol=0.05)


def test_a_variable_that_moves_nothing_has_no_turns():
    model = Model.from_urdf(GEARED.replace('"0.5"', '"0"'), device='cpu')
    result = inverse_kinematics(model, 'tip', [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [13.0, 0.0])
    assert result.status[0] == SolveStatus.CONVERGED
    np.testing.assert_array_equal(result.joint_q[0], [13.0, 0.0])


def test_solutions_are_distinct_sorted_and_all_verified():
    # A UR5 inside its workspace has eight branches, and more by whole turns.
    model = robot('ur5_robot')
    poses, seeds = reachable(model, 'tool0', 10)
    result = inverse_kinematics(model, 'tool0', poses, seeds, n_solutions=6)
    assert np.all(result.n_found == 6)
    for k in range(10):
        assert_solved('ur5_robot', 'tool0', result.joint_q[k], np.tile(poses[k], (6, 1)))
        assert_sorted_and_distinct(result.joint_q[k], seeds[k])


def test_postures_come_before_whole_turns_of_postures():
    # Joints of a UR5 turn twice: 8 postures make hundreds of solutions. all_solutions knows them.
    model = robot('ur5_robot')
    poses, seeds = reachable(model, 'tool0', 40, seed=2)
    result = inverse_kinematics(model, 'tool0', poses, seeds, n_solutions=8)
    known = all_solutions(model, 'tool0', poses, seeds)
    assert np.all(result.n_found == 8) and np.mean(known.n_found == 8) > 0.4
    turned = result.joint_q[:, :, None] - result.joint_q[:, None]
    apart = np.abs(np.mod(turned + np.pi, 2.0 * np.pi) - np.pi).max(axis=3)
    repeats = np.any(np.tril(apart < ChainIKSettings().separation, -1), axis=2)
    # The search is random: a posture with a small basin may be missed in a hundred attempts.
    assert np.sum(~repeats) >= 0.98 * np.sum(known.n_found)


def test_whole_turns_come_where_there_is_no_other_solution():
    urdf = FINGER.replace('lower="-1" upper="1"', 'lower="-10" upper="10"')
    model = Model.from_urdf(urdf, device='cpu')
    pose = [np.cos(0.3), np.sin(0.3), 0.0, 0.0, 0.0, np.sin(0.15), np.cos(0.15)]
    result = inverse_kinematics(model, 'tip', pose, [0.0], n_solutions=3)
    assert result.n_found[0] == 3
    turns = np.array([0.0, -2.0 * np.pi, 2.0 * np.pi])
    np.testing.assert_allclose(result.joint_q[0, :, 0], 0.3 + turns, atol=0.02)


def test_the_other_side_of_an_elbow_comes_before_whole_turns():
    model = Model.from_urdf(re.sub('(lower="-|upper=")[123]"', r'\g<1>9"', WRIST), device='cpu')
    q = np.random.default_rng(6).uniform([-1.0, 0.5, -1.0], [1.0, 2.5, 1.0], (20, 3))
    body_q = np.zeros((20, model.body_count, 7))
    eval_fk(model, q, body_q)
    solver = ChainIK(model, 'tip', 20, n_solutions=2)
    result = solver.solve(body_q[:, model.body_index('tip')], q)
    assert np.all(result.n_found == 2)
    np.testing.assert_allclose(result.joint_q[:, 0], q, atol=0.02)
    np.testing.assert_allclose(np.cos(result.joint_q[:, 1, 1]), np.cos(q[:, 1]), atol=0.02)
    np.testing.assert_allclose(np.sin(result.joint_q[:, 1, 1]), -np.sin(q[:, 1]), atol=0.02)


def test_places_without_a_solution_repeat_the_first():
    # A finger of one joint has one solution.
    model = Model.from_urdf(FINGER, device='cpu')
    pose = [np.cos(0.3), np.sin(0.3), 0.0, 0.0, 0.0, np.sin(0.15), np.cos(0.15)]
    result = inverse_kinematics(model, 'tip', pose, n_solutions=3)
    assert result.n_found[0] == 1 and result.status[0] == SolveStatus.CONVERGED
    np.testing.assert_array_equal(result.joint_q[0, 1:], result.joint_q[0, [0, 0]])


def test_solutions_equally_far_from_the_seed_both_count():
    # A half turn lies 0.005 rad beyond both limits: each limit is a solution, as far from 0.
    limit = np.pi - 0.005
    urdf = FINGER.replace('lower="-1" upper="1"', f'lower="{-limit!r}" upper="{limit!r}"')
    model = Model.from_urdf(urdf, device='cpu')
    result = inverse_kinematics(
        model, 'tip', [-1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0], np.inf, 0.01, n_solutions=2
    )
    assert result.n_found[0] == 2
    np.testing.assert_array_equal(np.sort(result.joint_q[0, :, 0]), [-limit, limit])


FINGER = """<robot name="finger">
  <link name="base"/><link name="bone"/><link name="tip"/>
  <joint name="knuckle" type="revolute">
    <parent link="base"/><child link="bone"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="bone"/><child link="tip"/><origin xyz="1 0 0"/>
  </joint>
</robot>"""


def test_mimic_joints_move_with_their_driver():
    model = Model.from_urdf(COUPLED, device='cpu')
    q = model.random_joint_q(20, np.random.default_rng(1))
    body_q = np.zeros((20, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index('tip')]
    result = inverse_kinematics(model, 'tip', poses)
    assert np.all(result.status == SolveStatus.CONVERGED)
    np.testing.assert_allclose(result.joint_q, model.apply_mimic(result.joint_q), atol=1e-12)
    # One driver moves all: the configuration is the only one at its pose.
    np.testing.assert_allclose(result.joint_q, q, atol=0.02)
    # The gradient counts each joint by its factor: near a solution Newton's steps reach it.
    solver = ChainIK(model, 'tip', 20, position_tolerance=1e-9, rotation_tolerance=1e-9)
    solver.solve(poses, q + 0.05)
    assert np.max(solver.iterations.numpy()) <= 12


GEARED = """<robot name="geared">
  <link name="base"/><link name="crank"/><link name="arm"/><link name="tip"/>
  <joint name="motor" type="revolute">
    <parent link="base"/><child link="crank"/><axis xyz="0 0 1"/>
    <limit lower="-20" upper="20" velocity="1" effort="1"/>
  </joint>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-10" upper="10" velocity="1" effort="1"/>
    <mimic joint="motor" multiplier="0.5"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="arm"/><child link="tip"/><origin xyz="1 0 0"/>
  </joint>
</robot>"""


COUPLED = """<robot name="coupled">
  <link name="base"/><link name="a"/><link name="b"/><link name="tip"/>
  <joint name="first" type="revolute">
    <parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" velocity="1" effort="1"/>
  </joint>
  <joint name="second" type="revolute">
    <parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>
    <mimic joint="first" multiplier="1.5" offset="0.1"/>
  </joint>
  <joint name="third" type="prismatic">
    <parent link="b"/><child link="tip"/><origin xyz="0.5 0 0"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
    <mimic joint="first" multiplier="-0.3" offset="0.2"/>
  </joint>
</robot>"""


def test_a_pose_out_of_reach_gives_the_best_configuration_and_says_so():
    model = robot('panda')
    pose = np.array([3.0, 0.5, 0.6, 0.0, 0.0, 0.0, 1.0])
    result = inverse_kinematics(model, 'panda_hand_tcp', pose, rotation_tolerance=np.inf)
    assert result.status[0] in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
    body_q = np.zeros((5000, model.body_count, 7))
    eval_fk(model, model.random_joint_q(5000, np.random.default_rng(0)), body_q)
    tool = body_q[:, model.body_index('panda_hand_tcp'), :3]
    assert result.position_error[0] <= np.min(np.linalg.norm(tool - pose[:3], axis=1))
    assert result.n_found[0] == 0


def test_a_pose_beyond_a_limit_is_told_apart():
    model = Model.from_urdf(FINGER, device='cpu')
    turned = [np.cos(1.5), np.sin(1.5), 0.0, 0.0, 0.0, np.sin(0.75), np.cos(0.75)]
    result = inverse_kinematics(model, 'tip', turned)
    assert result.status[0] == SolveStatus.AT_LIMITS
    np.testing.assert_allclose(result.joint_q[0], [1.0])


@pytest.mark.parametrize(
    'spoil', ['nan position', 'inf rotation', 'zero quaternion', 'nan seed', 'nan finger']
)
def test_bad_rows_are_labelled_and_leave_the_others_alone(spoil):
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 4)
    good = inverse_kinematics(model, 'panda_hand_tcp', poses, seeds)
    bad_poses, bad_seeds = poses.copy(), seeds.copy()
    if spoil == 'nan position':
        bad_poses[2, 1] = np.nan
    elif spoil == 'inf rotation':
        bad_poses[2, 4] = np.inf
    elif spoil == 'zero quaternion':
        bad_poses[2, 3:] = 0.0
    else:
        # The fingers are beside the chain, and their positions part of the answer.
        bad_seeds[2, 3 if spoil == 'nan seed' else 8] = np.nan
    result = inverse_kinematics(model, 'panda_hand_tcp', bad_poses, bad_seeds)
    assert result.status.tolist() == [0, 0, SolveStatus.NON_FINITE_INPUT, 0]
    assert np.all(np.isfinite(result.joint_q))
    assert np.isinf(result.position_error[2]) and result.n_found[2] == 0
    others = [0, 1, 3]
    np.testing.assert_array_equal(result.joint_q[others], good.joint_q[others])


def scaled(poses, factor):
    """Return poses with other lengths of their quaternions."""
    return poses * np.array([1, 1, 1, factor, factor, factor, factor])


def test_quaternions_are_unit_but_for_rounding():
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 3)
    a = inverse_kinematics(model, 'panda_hand_tcp', poses, seeds)
    b = inverse_kinematics(model, 'panda_hand_tcp', scaled(poses, -1.009), seeds)
    np.testing.assert_allclose(a.joint_q, b.joint_q, atol=1e-6)


@pytest.mark.parametrize('factor', [0.98, 1.02, np.sqrt(2.0), -3.0])
def test_a_quaternion_that_is_not_unit_is_no_pose(factor):
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 3)
    poses[1] = scaled(poses[1], factor)
    status = inverse_kinematics(model, 'panda_hand_tcp', poses, seeds).status
    assert status.tolist() == [0, SolveStatus.NON_FINITE_INPUT, 0]


@pytest.mark.parametrize('value', [1e10, -1e300])
def test_numbers_that_no_robot_has_are_no_pose_and_no_seed(value):
    model = robot('panda')
    poses, seeds = reachable(model, 'panda_hand_tcp', 3)
    poses[0, 1], seeds[2, 3] = value, value
    status = inverse_kinematics(model, 'panda_hand_tcp', poses, seeds).status
    assert status.tolist() == [SolveStatus.NON_FINITE_INPUT, 0, SolveStatus.NON_FINITE_INPUT]


def test_integers_are_converted_and_complex_numbers_refused():
    model = robot('panda')
    row = np.array([[1, 0, 1, 0, 0, 0, 1]])
    answers = [inverse_kinematics(model, 'panda_hand_tcp', p) for p in (row, row.astype(float))]
    np.testing.assert_array_equal(answers[0].joint_q, answers[1].joint_q)
    with pytest.raises(ArgumentError, match=r'poses must be numbers: poses\[0\]\[0\] is'):
        inverse_kinematics(model, 'panda_hand_tcp', row.astype(complex))


@pytest.mark.parametrize('free', ['position', 'rotation'])
def test_one_part_of_the_pose_can_be_left_free(free):
    model = robot('ur5_robot')
    poses, seeds = reachable(model, 'tool0', 50)
    tolerances = {f'{free}_tolerance': np.inf}
    result = inverse_kinematics(model, 'tool0', poses, seeds, **tolerances)
    assert np.all(result.status == SolveStatus.CONVERGED)
    moved = np.linalg.norm(result.joint_q - seeds, axis=1)
    both = inverse_kinematics(model, 'tool0', poses, seeds)
    assert np.mean(moved) < np.mean(np.linalg.norm(both.joint_q - seeds, axis=1))


def test_a_free_position_does_not_slow_the_rotation_down():
    # The damping alone makes Newton's steps; they must not contain rows without weight.
    model = robot('ur5_robot')
    poses, seeds = reachable(model, 'tool0', 100)
    near = np.clip(seeds + 0.2, *model.limits64()[:2])
    body_q = np.zeros((100, model.body_count, 7))
    eval_fk(model, near, body_q)
    solver = ChainIK(model, 'tool0', 100, position_tolerance=np.inf, rotation_tolerance=1e-6)
    solver.solve(body_q[:, model.body_index('tool0')], seeds)
    assert np.max(solver.iterations.numpy()) <= 8


def test_joints_outside_the_group_stay():
    model = robot('talos_full_v2')
    link = 'gripper_left_base_link'
    held = model.random_joint_q(1, np.random.default_rng(5))[0]
    group = model.joint_group(f'torso_2_link:{link}')
    moving = np.array([model.joint_q_start.numpy()[j] for j in group.joint_indices])
    q = np.tile(held, (30, 1))
    q[:, moving] = model.random_joint_q(30, np.random.default_rng(6))[:, moving]
    body_q = np.zeros((30, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index(link)]
    result = inverse_kinematics(model, link, poses, joint_group=group, joint_q=held)
    assert np.all(result.status == SolveStatus.CONVERGED)
    others = np.setdiff1d(np.arange(model.joint_coord_count), moving)
    np.testing.assert_array_equal(result.joint_q[:, others], np.tile(held[others], (30, 1)))


def test_locked_joints_are_where_they_are_locked():
    model = Model.from_urdf(WRIST, device='cpu')
    q = np.array([[0.7, 0.4, -0.3], [-0.2, 0.4, -0.3]])
    body_q = np.zeros((2, model.body_count, 7))
    eval_fk(model, q, body_q)
    solver = ChainIK(model, 'tip', 2, joint_group=['first'], joint_q=q[0])
    result = solver.solve(body_q[:, model.body_index('tip')])
    assert np.all(result.status == SolveStatus.CONVERGED)
    np.testing.assert_allclose(result.joint_q, q, atol=0.01)
    np.testing.assert_array_equal(result.joint_q[:, 1:], q[:, 1:])


def test_the_tool_may_be_offset_from_the_link():
    model = robot('panda')
    offset = np.array([0.1, -0.05, 0.2, 0.5, 0.5, -0.5, 0.5])
    poses, _ = reachable(model, 'panda_hand', 20)
    tools = np.array([wp.transformd(*pose) * wp.transformd(*offset) for pose in poses])
    result = inverse_kinematics(model, 'panda_hand', tools, offset=offset)
    assert np.all(result.status == SolveStatus.CONVERGED)
    assert_solved('panda', 'panda_hand', result.joint_q, poses, 4e-3, 1e-2)


def test_the_verification_does_not_trust_the_search(monkeypatch):
    def lengthened_chain(chain):
        struct = make_chain(chain)
        constants = np.reshape(struct.constants, (-1, 3))
        constants[3::4] *= 1.01
        struct.constants = constants
        return struct

    monkeypatch.setattr(search, 'make_chain', lengthened_chain)
    wrong = ChainIK(robot('panda'), 'panda_hand_tcp')
    poses, seeds = reachable(robot('panda'), 'panda_hand_tcp', 1)
    assert wrong.solve(poses, seeds).status[0] == SolveStatus.NUMERICAL_FAILURE


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'poses': np.zeros((0, 7))}, 'poses'),
        ({'poses': np.zeros((2, 6))}, r'poses must have shape \[2, 7\]'),
        ({'poses': 'here'}, 'poses must be numbers'),
        ({'seeds': np.zeros((2, 3))}, r'seeds must have shape'),
        ({'seeds': np.zeros((3, 9))}, 'one row per pose'),
        ({'link': 'hand'}, 'hand'),
        ({'link': 'panda_link0'}, 'no joint of the group moves'),
        ({'position_tolerance': 0.0}, 'position_tolerance'),
        ({'rotation_tolerance': np.nan}, 'rotation_tolerance'),
        ({'position_tolerance': np.inf, 'rotation_tolerance': np.inf}, 'cannot both be inf'),
        ({'n_solutions': 0}, 'n_solutions'),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    full = {'link': 'panda_hand_tcp', 'poses': np.ones((2, 7))} | arguments
    with pytest.raises(ArgumentError, match=message):
        inverse_kinematics(robot('panda'), **full)


# The last joint turns about the tool's own point: it moves no target closer.
WRIST = """<robot name="wrist">
  <link name="base"/><link name="a"/><link name="b"/><link name="tip"/>
  <joint name="first" type="revolute"><parent link="base"/><child link="a"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="second" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
  <joint name="third" type="revolute"><parent link="b"/><child link="tip"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.mark.parametrize('second', [2.5, -2.5])
def test_the_verification_does_not_trust_the_limits_of_the_search(monkeypatch, second):
    def widened_chain(chain):
        struct = make_chain(chain)
        struct.lower, struct.upper = 2.0 * chain.lower, 2.0 * chain.upper
        return struct

    model = Model.from_urdf(WRIST, device='cpu')
    monkeypatch.setattr(search, 'make_chain', widened_chain)
    # The other solution has the second joint on the other side, beyond its limit, too.
    q = np.array([[0.3, second, 0.5]])
    body_q = np.zeros((1, model.body_count, 7))
    eval_fk(model, q, body_q)
    result = ChainIK(model, 'tip').solve(body_q[:, model.body_index('tip')], q)
    assert result.status[0] == SolveStatus.NUMERICAL_FAILURE
    np.testing.assert_allclose(result.joint_q, q, atol=0.01)


@pytest.mark.parametrize('third', [1.0, -1.0])
def test_a_joint_that_rests_at_its_limit_and_helps_nothing_is_not_to_blame(third):
    model = Model.from_urdf(WRIST, device='cpu')
    result = inverse_kinematics(
        model, 'tip', [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.3, 0.2, third],
        rotation_tolerance=np.inf, settings=ChainIKSettings(max_attempts=1),
    )  # fmt: skip
    assert result.joint_q[0, 2] == third
    assert result.status[0] == SolveStatus.UNREACHABLE


def beyond_limits(model, link, n, seed=0):
    """Return poses of a link, half with joints beyond their limits, half out of reach."""
    rng = np.random.default_rng(seed)
    q = model.random_joint_q(n, rng) * 1.5
    body_q = np.zeros((n, model.body_count, 7))
    eval_fk(model, q, body_q)
    poses = body_q[:, model.body_index(link)].copy()
    poses[n // 2 :, :3] *= 4.0
    return poses


@pytest.mark.oracle
@pytest.mark.parametrize(('name', 'link'), MOST_ARMS)
def test_limits_are_to_blame_where_the_error_falls_beyond_them(name, link):
    model = robot(name)
    oracle = PinocchioRobot(urdf_text(name), model)
    poses = beyond_limits(model, link, 60)
    result = inverse_kinematics(model, link, poses, rotation_tolerance=np.inf)
    lower, upper = model.limits64()[:2]

    def cost(q, pose):
        return errors(oracle, link, q, pose)[0] ** 2

    looked_at = 0
    for q, pose, status in zip(result.joint_q, poses, result.status, strict=True):
        if status == SolveStatus.CONVERGED:
            continue
        now, gains = cost(q, pose), [0.0]
        for k in np.flatnonzero((q <= lower) | (q >= upper)):
            outwards = np.zeros(len(q))
            outwards[k] = 1e-5 if q[k] >= upper[k] else -1e-5
            gains.append((cost(q - outwards, pose) - cost(q + outwards, pose)) / 2e-5 / now)
        # Rounding hides whether the least gains are one.
        if not 1e-8 < max(gains) < 1e-4:
            expected = SolveStatus.AT_LIMITS if max(gains) > 1e-6 else SolveStatus.UNREACHABLE
            assert status == expected, (q, gains)
            looked_at += 1
    assert looked_at > 5
