# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solutions of arms with prismatic joints, judged by Pinocchio."""

import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.robots.axis_arms import arm_urdf
from support.robots.chain_judge import ChainJudge

from ros_ik import all_solutions
from ros_ik import inverse_kinematics
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError
from ros_ik.solvers.analytic.structure.structure import ClosedFormFamily as Family

# Joints from the base to the tool, P slides and R turns; joints whose axes meet. A kernel serves a
# number of joints, with a free rotation or without: the short form has 4 and 6 without and 3 with
# one. Candidates of all of these are judged in test_closed_form_candidates.py.
WRISTS = [f'{kinds}RRR' for kinds in ('RRP', 'RPR', 'PRR', 'RPP', 'PRP', 'PPR')]
SHOULDERS = [f'RRR{kinds}' for kinds in ('RRP', 'RPR', 'PRR', 'RPP', 'PRP', 'PPR')]
THREE_SLIDES = ['PPPR', 'PPPRRR', 'RPPRPR', 'PRPRPR', 'RRRPPP', 'RPPP']
THREE_SLIDES += either([], ['PPP', 'PPPRR', 'RPRPP'])
FEWER = ['P', 'PP', 'PR', 'RP', 'RRP', 'RPR', 'PRR', 'RPP', 'PRP', 'PPR', 'RPPR']
# Number of poses.
N = either(20, 40)
# Directions of real arms, and their free rotation.
ARMS = {
    'cylindrical robot with a wrist': ('RPPRRR', 'zzxzyz', (3, 4, 5), ''),
    'Stanford arm': ('RRPRRR', 'zyxxyx', (3, 4, 5), ''),
    'slide between turns at right angles': ('RPRRRR', 'zxyzyz', (3, 4, 5), ''),
    'slide between turns, the last at a right angle': ('RPRRRR', 'xxyzyz', (3, 4, 5), ''),
    'polar robot': ('RRP', 'zyx', (), 'xyz'),
    'cylindrical robot': ('RPP', 'zzx', (), 'xyz'),
    'gantry': ('PPP', 'xyz', (), ''),
    'gantry with a turning tool': ('PPPR', 'xyzz', (), ''),
    'gantry with two turns': ('PPPRR', 'xyzzy', (), ''),
    'gantry with a wrist': ('PPPRRR', 'xyzzyz', (), ''),
    'five-axis mill': ('PPPRR', 'xyzyx', (), 'z'),
    'table and turn': ('PPR', 'xyz', (), ''),
}  # fmt: skip
SCARA = """
<robot name="scara">
  <link name="base"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-2.6" upper="2.6" effort="1" velocity="1"/>
    <parent link="base"/><child link="upper"/></joint>
  <link name="upper"/>
  <joint name="elbow" type="revolute">
    <origin xyz="0.325 0 0.05"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" effort="1" velocity="1"/>
    <parent link="upper"/><child link="lower"/></joint>
  <link name="lower"/>
  <joint name="quill" type="prismatic">
    <origin xyz="0.275 0 0"/><axis xyz="0 0 -1"/>
    <limit lower="0" upper="0.2" effort="1" velocity="1"/>
    <parent link="lower"/><child link="nut"/></joint>
  <link name="nut"/>
  <joint name="roll" type="revolute">
    <axis xyz="0 0 -1"/><limit lower="-6.28" upper="6.28" effort="1" velocity="1"/>
    <parent link="nut"/><child link="flange"/></joint>
  <link name="flange"/>
  <joint name="tip" type="fixed">
    <origin xyz="0.02 0 -0.1" rpy="3.141592653589793 0 0"/>
    <parent link="flange"/><child link="tool"/></joint>
  <link name="tool"/>
</robot>
"""


def chain(kinds, seed=1, free='', meeting=(), parallel=(), along='', **options):
    """Return the judge of a random chain of joints that slide (P) or turn (R)."""
    rng, n = np.random.default_rng(seed), len(kinds)
    h = np.eye(3)[['xyz'.index(axis) for axis in along]] if along else rng.normal(size=(n, 3))
    h[list(parallel)] = h[list(parallel)[:1]]
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    p = np.cumsum(rng.uniform(-0.5, 0.5, (n, 3)), axis=0)
    p[list(meeting)] = p[list(meeting)[:1]]
    slides = [k for k, kind in enumerate(kinds) if kind == 'P']
    tool = p[-1] + rng.uniform(-0.3, 0.3, 3)
    return ChainJudge(arm_urdf(h, p, tool, slides=slides, **options), 'tool', None, free)


@functools.cache
def real_arm(name):
    """Return the judge of one of ARMS, or of the SCARA arm."""
    if name == 'SCARA':
        return ChainJudge(SCARA, 'tool', None, '')
    kinds, along, meeting, free = ARMS[name]
    return chain(kinds, 3, free, meeting, along=along)


def assert_solved(judge, n=N, scale=1.0):
    """Assert that planted configurations are found and that every solution reaches its pose."""
    q = judge.random(n)
    poses = judge.loosened(judge.poses(q))
    result = judge.solve(poses)
    judge.assert_true(result, poses, scale)
    assert judge.is_found(result, q, 1e-5 * min(1.0, scale)).all()


@pytest.mark.parametrize('kinds', WRISTS + SHOULDERS)
def test_slides_and_three_axes_in_one_point(kinds):
    meeting = (3, 4, 5) if kinds in WRISTS else (0, 1, 2)
    judge = chain(kinds, meeting=meeting)
    assert judge.form.family is Family.SLIDING and judge.form.exact and judge.form.reason == ''
    assert judge.form.special_joints == tuple(f'j{k + 1}' for k in meeting)
    assert_solved(judge)


@pytest.mark.parametrize('kinds', THREE_SLIDES)
def test_three_slides(kinds):
    judge = chain(kinds)
    assert judge.form.family is Family.CARTESIAN and judge.form.exact
    assert not judge.form.quartic
    slides = tuple(f'j{k + 1}' for k, kind in enumerate(kinds) if kind == 'P')
    assert judge.form.special_joints == slides
    assert_solved(judge)


@pytest.mark.parametrize('kinds', either(FEWER[-1:], FEWER))
def test_fewer_joints(kinds):
    assert_solved(chain(kinds))


@pytest.mark.parametrize('kinds', ['RRPR', 'RRRP', 'PRRR', 'RPRR', *either([], ['RRP', 'PRR'])])
def test_parallel_joints_of_scara_arms(kinds):
    judge = chain(kinds, 2, parallel=range(len(kinds)))
    assert judge.form.family is Family.SLIDING and not judge.form.quartic
    assert_solved(judge)


# The others have numbers of joints that the short form leaves out.
@pytest.mark.parametrize(
    'name',
    [
        name for name, (kinds, _, _, free) in ARMS.items()
        if either((len(kinds), free) in ((6, ''), (4, ''), (3, 'xyz')), True)
    ],
)  # fmt: skip
def test_arms_with_right_angles(name):
    judge = real_arm(name)
    assert not judge.form.quartic
    assert_solved(judge)


def test_two_equations_with_one_angle_each():
    # Solved together as a quartic, 3 of 3,000 such poses are lost.
    judge = chain('RPRRRR', 1, meeting=(3, 4, 5), along='zxyzyz')
    q = judge.random(3000, 1)
    result = judge.solve(judge.poses(q))
    assert np.all(result.status == SolveStatus.CONVERGED)
    assert judge.is_found(result, q).all()


@pytest.mark.parametrize('scale', either([1e-3], [1e-3, 1.0, 100.0]))
def test_slides_that_are_nearly_parallel_are_no_more_singular_for_larger_arms(scale):
    h = np.eye(3)[[0, 1, 2, 2]]
    h[1] = [np.cos(3e-5), np.sin(3e-5), 0.0]
    limit = np.full(4, scale)
    text = arm_urdf(h, np.zeros((4, 3)), np.zeros(3), (-limit, limit), slides=range(3))
    judge = ChainJudge(text, 'tool', None, '')
    result = judge.solve(judge.poses(judge.random(10)))
    assert np.all(result.status == SolveStatus.CONVERGED) and not result.singular.any()


@pytest.mark.parametrize(
    'free, kinds', [('xyz', 'PPP'), *either([], [('xyz', 'PR'), ('y', 'PPPR')])]
)
def test_a_part_of_the_pose(free, kinds):
    assert_solved(chain(kinds, 1, free))


def test_a_scara_arm():
    judge = real_arm('SCARA')
    assert judge.form.family is Family.SLIDING and judge.form.exact and not judge.form.quartic
    assert judge.form.joints == ('shoulder', 'elbow', 'quill', 'roll')
    assert_solved(judge, 100)
    q = judge.random(20)
    seeds = judge.random(20, 8)
    result = judge.solve(judge.poses(q), seeds=seeds)
    judge.assert_true(result, judge.poses(q), seeds=seeds)
    # A straight elbow is where both postures meet.
    q[:, 1] = 0.0
    straight = judge.solve(judge.poses(q))
    assert np.all(straight.status == SolveStatus.CONVERGED)
    assert straight.singular.any(axis=1).all()
    for k in range(20):
        slot = int(np.argmax(straight.singular[k]))
        moved = judge.jacobian(straight.joint_q[k, slot]) @ straight.free_direction[k, slot]
        assert np.abs(moved).max() < 1e-5


def test_a_scara_arm_at_poses_that_it_does_not_reach():
    judge = real_arm('SCARA')
    poses = judge.poses(judge.random(4))
    tilt = Rotation.from_euler('x', 0.05)
    poses[0, 3:] = (tilt * Rotation.from_quat(poses[0, 3:])).as_quat()
    poses[1, 2] -= 0.5
    poses[2, 0] += 2.0
    result = judge.solve(poses)
    assert np.all(result.n_found == [0, 0, 0, result.n_found[3]]) and result.n_found[3] > 0
    assert result.status[0] == SolveStatus.UNREACHABLE
    # The quill is out of its limits: its posture exists.
    assert result.status[1] == SolveStatus.AT_LIMITS
    assert result.status[2] in (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
    assert result.rotation_error[0, 0] == pytest.approx(0.05, abs=1e-6)
    assert 0.25 < result.position_error[1, 0] < 0.51
    assert 0.9 < result.position_error[2, 0] < 2.1


@pytest.mark.parametrize(
    'name', ['polar robot', 'SCARA', *either([], ['Stanford arm', 'gantry with a wrist'])]
)
def test_newton_from_many_starts_finds_no_other(name):
    judge = real_arm(name)
    poses = judge.loosened(judge.poses(judge.random(3, 5)))
    result = judge.solve(poses, judge.unlimited())
    for k, pose in enumerate(poses):
        others = judge.newton(pose, either(60, 120))
        ours = judge.own(result.joint_q[k, : result.n_found[k]])
        assert len(others) > 0 and all(judge.has(ours, other) for other in others)


@pytest.mark.parametrize('scale', [1e-3, 100.0])
@pytest.mark.parametrize(
    'kinds, meeting', [('RRPRRR', (3, 4, 5)), ('RPPR', ()), *either([], [('PPPRR', ())])]
)
def test_small_and_large_arms(kinds, meeting, scale):
    limit = np.array([3.0 if kind == 'R' else scale for kind in kinds])
    judge = chain(kinds, 4, meeting=meeting, scale=scale, limits=(-limit, limit))
    assert_solved(judge, scale=scale)


@pytest.mark.parametrize('scale', either([1e-3, 100.0], [1e-3, 1.0, 100.0]))
def test_the_nearest_place_of_a_gantry_to_poses_out_of_its_limits(scale):
    limit = np.array([scale, scale, scale, 3.0])
    judge = chain('PPPR', 3, along='xyzz', scale=scale, limits=(-limit, limit))
    q = judge.random(10)
    inside = q.copy()
    q[:, 1] = 1.5 * scale
    inside[:, 1] = scale
    result = judge.solve(judge.poses(q))
    assert np.all(result.status == SolveStatus.AT_LIMITS)
    # A turn of the tool, which is off its axis, brings it a little nearer.
    error = result.position_error[:, 0] / scale
    assert np.all((error > 0.49) & (error < 0.5 + 1e-9))
    best = judge.own(result.joint_q[:, 0])
    assert np.abs(best - inside)[:, :3].max() < 0.05 * scale


@pytest.mark.parametrize('seed', range(either(1, 3)))
def test_a_wrist_whose_axes_nearly_meet(seed):
    rng = np.random.default_rng(seed)
    h = np.eye(3)[[2, 1, 0, 0, 1, 0]] + 1e-4 * rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    p = np.array([[0, 0, 0], [0, 0.1, 0.4], [0.2, 0.1, 0.4], *[[0.8, 0.1, 0.4]] * 3])
    p[3:] += 1e-4 * rng.normal(size=(3, 3))
    text = arm_urdf(h, p, np.array([1.0, 0.1, 0.4]), slides=[2])
    judge = ChainJudge(text, 'tool', None, '')
    assert judge.form.family is Family.SLIDING and not judge.form.exact
    assert_solved(judge)


def test_joints_at_zero():
    for name in ('Stanford arm', 'cylindrical robot with a wrist', 'gantry with a wrist'):
        judge = real_arm(name)
        q = judge.random(40) * (np.random.default_rng(0).random((40, 6)) < 0.5)
        q[0] = 0.0
        result = judge.solve(judge.poses(q), seeds=judge.random(40, 1))
        assert np.all(result.status == SolveStatus.CONVERGED)
        found = judge.is_found(result, q)
        assert np.all(found | result.singular.any(axis=1))


def test_one_call_takes_arms_with_slides():
    judge = real_arm('SCARA')
    q = judge.random(10)
    poses = judge.poses(q)
    one = inverse_kinematics(judge.model, 'tool', poses, q, method='closed_form')
    assert np.allclose(one.joint_q, q, atol=1e-6) and one.position_error.max() < 1e-10


def test_every_turn_of_the_joints_that_turn():
    judge = real_arm('SCARA')
    q = judge.random(10)
    poses = judge.poses(q)
    single = judge.solve(poses)
    turns = all_solutions(judge.model, 'tool', poses, all_turns=True)
    # The roll goes a turn to either side, the slide none.
    assert np.all(turns.n_found == 2 * single.n_found)
    limit = np.full(4, 20.0)
    gantry = chain('PPPR', 3, along='xyzz', limits=(-limit, limit))
    poses = gantry.poses(gantry.random(10))
    turns = all_solutions(gantry.model, 'tool', poses, all_turns=True)
    assert np.all(turns.status == SolveStatus.CONVERGED)
    assert np.all((turns.n_found == 6) | (turns.n_found == 7))


def test_chains_without_a_closed_form_are_refused_with_the_reason():
    judge = chain('PRRRRR', 1)
    assert judge.form.family is Family.NONE and 'some joints are prismatic' in judge.form.reason
    with pytest.raises(ArgumentError, match='some joints are prismatic'):
        all_solutions(judge.model, 'tool', np.array([0.0, 0, 0, 0, 0, 0, 1]))
    parallel = chain('PPP', 1, parallel=(0, 2))
    assert 'some motion of the joints does not move the tool' in parallel.form.reason
    four = chain('PPPP', 1)
    assert 'some motion of the joints does not move the tool' in four.form.reason
