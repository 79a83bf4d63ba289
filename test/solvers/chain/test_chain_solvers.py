# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""DlsSolver and GaussNewtonSolver: formulas of a step, limits, statuses, success."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.solvers.chain.ik_chain import IkChain
from ros_ik.solvers.chain.ik_chain import JointState
from ros_ik.solvers.chain.solvers import DlsSolver
from ros_ik.solvers.chain.solvers import GaussNewtonSolver
from ros_ik.solvers.status import SolveStatus

TOLERANCE = 1e-3  # the default of the solvers [m and rad]
SOLVERS = {
    'adaptive': DlsSolver,
    'fixed': lambda *args, **settings: DlsSolver(*args, adaptive_damping=False, **settings),
    'gauss_newton': GaussNewtonSolver,
}
CHAINS = {
    'panda': ('panda', None, 'panda_hand'),
    'ur5': ('ur5_robot', None, 'ee_link'),
    'talos': ('talos_reduced', 'torso_2_link', 'gripper_left_base_link'),
    'tiago': ('tiago', 'torso_lift_link', 'arm_7_link'),
}
OFFSET = (0.05, -0.02, 0.1, 0.0, 0.6, 0.0, 0.8)

all_solvers = pytest.mark.parametrize('make', SOLVERS.values(), ids=SOLVERS)


def robot_chain(name):
    """Return a chain of a real robot and the path of its URDF."""
    stem, start, end = CHAINS[name]
    (path,) = (path for path in ALL_URDFS if path.stem == stem)
    return IkChain(load(path), end, start, OFFSET), path


def problems(chain, n, seed, spread):
    """Return seeds [n, coords] at most ``spread`` away from the answers, and targets [n, 7]."""
    rng = np.random.default_rng(seed)
    answers = chain.model.random_joint_q(n, rng)
    joint_q = answers.copy()
    moved = answers[:, chain.path.coordinates] + rng.uniform(
        -spread, spread, (n, chain.num_dof_pos)
    )
    joint_q[:, chain.path.coordinates] = np.clip(moved, chain.path.lower, chain.path.upper)
    return joint_q, chain.get_end_effector_pose(answers)


def with_positions(chain, joint_q, positions):
    """Return the coordinates with those of the chain replaced."""
    result = np.array(joint_q)
    result[..., chain.path.coordinates] = positions
    return result


def pose_error(pose, target):
    """Position and rotation error in world axes, [6]."""
    a, b = (pin.Quaternion(*np.roll(p[3:] / np.linalg.norm(p[3:]), 1)) for p in (pose, target))
    rotation = pin.log3(b.toRotationMatrix() @ a.toRotationMatrix().T)
    return np.concatenate([target[:3] - pose[:3], rotation])


def linear_first(jacobian):
    return np.roll(jacobian, 3, axis=0)


def assert_inside_limits(chain, rows):
    assert (rows[..., 2:] >= chain.path.lower).all() and (rows[..., 2:] <= chain.path.upper).all()


@pytest.mark.oracle
@all_solvers
@pytest.mark.parametrize('name', CHAINS)
def test_answers_from_near_seeds(make, name):
    chain, path = robot_chain(name)
    joint_q, targets = problems(chain, 300, 1, 0.3)
    solver = make()
    rows = solver.solve(chain, joint_q, targets)
    assert_inside_limits(chain, rows)
    solved = solver.status == SolveStatus.CONVERGED
    # Local minima at the limits take some; motrixsim's adaptive solver reaches 58 % of such.
    assert solved.mean() >= 0.98
    assert np.array_equal(solved, rows[:, 1] <= TOLERANCE)
    oracle = PinocchioRobot(path.read_text(), chain.model)
    tool = pin.XYZQUATToSE3(np.array(OFFSET))
    for k in range(0, 300, 10):
        position, rotation = oracle.poses(with_positions(chain, joint_q[k], rows[k, 2:]))[
            chain.get_link(chain.num_links - 1).name
        ]
        pose = pin.SE3ToXYZQUAT(pin.SE3(rotation, position) * tool)
        assert np.linalg.norm(pose_error(pose, targets[k])) == pytest.approx(rows[k, 1], abs=1e-9)


def test_adaptive_damping_solves_at_least_what_fixed_damping_solves():
    chain, _ = robot_chain('panda')
    for seed, spread in ((2, 0.5), (3, 1.5)):
        joint_q, targets = problems(chain, 400, seed, spread)
        solved = []
        for make in SOLVERS.values():
            solver = make()
            solver.solve(chain, joint_q, targets)
            solved.append((solver.status == SolveStatus.CONVERGED).mean())
        assert solved[0] >= max(solved) - 0.01


def test_steps_that_no_limit_touches():
    chain, _ = robot_chain('panda')
    joint_q = chain.model.neutral_joint_q()
    positions = 0.5 * (chain.path.lower + chain.path.upper) + 0.1
    joint_q = with_positions(chain, joint_q, positions)
    pose = chain.get_end_effector_pose(joint_q)
    target = pose + np.array([0.03, -0.02, 0.01, 0.02, 0.01, -0.03, 0.0])
    J, e = linear_first(chain.get_end_effector_jac(joint_q)), pose_error(pose, target)
    for damping in (1e-3, 0.1, 1.0):
        solver = DlsSolver(1, 0.4, 0.0, damping, adaptive_damping=False)
        row = solver.solve(chain, joint_q, target)
        step = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(6), e)
        assert row[2:] - positions == pytest.approx(0.4 * step, abs=1e-9)
        adaptive = DlsSolver(1, 0.4, 0.0, damping).solve(chain, joint_q, target)
        assert adaptive[2:] - positions == pytest.approx(step, abs=1e-9)
        assert row[0] == 1 and solver.status == SolveStatus.ITERATION_LIMIT
    row = GaussNewtonSolver(1, 0.4, 0.0).solve(chain, joint_q, target)
    # The least damping changes the shortest step by 1e-10 / (least singular value)^2.
    assert row[2:] - positions == pytest.approx(0.4 * np.linalg.pinv(J) @ e, abs=1e-7)


@pytest.mark.oracle
def test_a_step_is_the_best_one_inside_the_limits():
    quadprog = pytest.importorskip('quadprog')
    chain, _ = robot_chain('panda')
    rng = np.random.default_rng(4)
    lower, upper, m = chain.path.lower, chain.path.upper, chain.num_dof_pos
    damping, step_size = 0.05, 0.5
    solver = DlsSolver(1, step_size, 0.0, damping, adaptive_damping=False)
    frozen = 0
    for _ in range(100):
        positions = rng.uniform(lower, upper)
        at_limit = rng.random(m) < 0.5
        positions[at_limit] = np.where(rng.random(m) < 0.5, lower, upper)[at_limit]
        joint_q = with_positions(chain, chain.model.neutral_joint_q(), positions)
        pose = chain.get_end_effector_pose(joint_q)
        target = pose + 0.05 * rng.normal(size=7)
        J, e = linear_first(chain.get_end_effector_jac(joint_q)), pose_error(pose, target)
        bounds = np.concatenate([(lower - positions), -(upper - positions)]) / step_size
        normals = np.vstack([np.eye(m), -np.eye(m)]).T
        H = J.T @ J + damping**2 * np.eye(m)
        expected = quadprog.solve_qp(H, J.T @ e, normals, bounds)[0]
        row = solver.solve(chain, joint_q, target)
        assert_inside_limits(chain, row)
        if row[1] < np.linalg.norm(e):  # the row holds the better of the two configurations
            assert row[2:] == pytest.approx(positions + step_size * expected, abs=1e-8)
            clamped = np.clip(positions + step_size * np.linalg.solve(H, J.T @ e), lower, upper)
            frozen += np.abs(row[2:] - clamped).max() > 1e-3
    # In most cases clamping the free step gives another configuration.
    assert frozen > 50


@all_solvers
@pytest.mark.parametrize('seed', [5, 7])
def test_stationary_inside_limits_when_the_target_is_out_of_reach(make, seed):
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 50, seed, 0.3)
    targets[:, :3] *= 2.0 / np.linalg.norm(targets[:, :3], axis=1, keepdims=True)
    solver = make(1000)
    rows = solver.solve(chain, joint_q, targets)
    assert_inside_limits(chain, rows)
    assert set(solver.status) <= {
        SolveStatus.AT_LIMITS, SolveStatus.UNREACHABLE, SolveStatus.ITERATION_LIMIT
    }  # fmt: skip
    stationary = solver.status != SolveStatus.ITERATION_LIMIT
    assert stationary.mean() >= (0.9 if make is DlsSolver else 0.0)
    for k in np.flatnonzero(stationary):
        q = with_positions(chain, joint_q[k], rows[k, 2:])
        error = pose_error(chain.get_end_effector_pose(q), targets[k])
        descent = linear_first(chain.get_end_effector_jac(q)).T @ error
        low, high = rows[k, 2:] <= chain.path.lower, rows[k, 2:] >= chain.path.upper
        free = descent[~low & ~high]
        # A decrease below 1e-14 |e|^2 / 2 leaves a slope of about 1e-7 |e|.
        slope = 1e-5 * np.linalg.norm(error)
        assert np.abs(free).max(initial=0.0) <= slope
        assert (descent[low] <= slope).all() and (descent[high] >= -slope).all()
        pushed = (descent[low] < -slope).any() or (descent[high] > slope).any()
        if pushed:
            assert solver.status[k] == SolveStatus.AT_LIMITS


@all_solvers
def test_more_iterations_are_never_worse(make):
    chain, _ = robot_chain('ur5')
    joint_q, targets = problems(chain, 30, 6, 2.0)
    last = np.full(30, np.inf)
    for max_iter in (1, 2, 3, 5, 8, 13, 40):
        rows = make(max_iter).solve(chain, joint_q, targets)
        assert (rows[:, 0] <= max_iter).all()
        assert (rows[:, 1] <= last).all()
        last = rows[:, 1]
    errors = [
        np.linalg.norm(pose_error(pose, target))
        for pose, target in zip(chain.get_end_effector_pose(joint_q), targets, strict=True)
    ]
    solver = make(1)
    solver.tolerance = 1e3  # the seed is good enough
    rows = solver.solve(chain, joint_q, targets)
    assert rows[:, 1] == pytest.approx(errors)
    assert np.array_equal(rows[:, 2:], chain.get_dof_pos(joint_q))


@all_solvers
def test_batches_broadcast_and_leave_the_data_alone(make):
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 6, 7, 0.5)
    n_coords = chain.model.joint_coord_count
    state = JointState(joint_q.reshape(3, 2, n_coords))
    before, poses = joint_q.copy(), targets.copy()
    solver = make()
    rows = solver.solve(chain, state, targets.reshape(3, 2, 7))
    assert rows.shape == (3, 2, 2 + chain.num_dof_pos) and rows.dtype == np.float64
    assert solver.status.shape == (3, 2)
    assert np.array_equal(joint_q, before) and np.array_equal(targets, poses)
    kept = rows.copy()
    for k in range(6):
        assert np.array_equal(solver.solve(chain, joint_q[k], targets[k]), rows[k // 2, k % 2])
        assert solver.status.shape == ()
    assert np.array_equal(rows, kept)  # later solves do not write into earlier results
    # Every seed with every target.
    table = solver.solve(chain, joint_q[:3, None], targets)
    assert table.shape == (3, 6, 2 + chain.num_dof_pos)
    assert np.array_equal(table[2, 5], solver.solve(chain, joint_q[2], targets[5]))
    assert solver.solve(chain, joint_q[:0], targets[0]).shape == (0, 2 + chain.num_dof_pos)
    assert solver.status.shape == (0,)
    # Another chain with the same solver, of the same batch size.
    other, _ = robot_chain('ur5')
    seeds, goals = problems(other, 1, 8, 0.2)
    assert solver.solve(other, seeds[0], goals[0]).shape == (2 + other.num_dof_pos,)


@all_solvers
def test_no_iteration_at_the_answer(make):
    chain, _ = robot_chain('talos')
    joint_q, targets = problems(chain, 5, 9, 0.0)
    targets[:, 3:] *= np.array([1.0, -1.0, 3.0, -0.1, 1e-3])[:, None]  # the same rotations
    solver = make()
    rows = solver.solve(chain, joint_q, targets)
    assert (rows[:, 0] == 0).all() and (rows[:, 1] < 1e-9).all()
    assert (solver.status == SolveStatus.CONVERGED).all()


@all_solvers
def test_what_is_not_finite_is_refused_row_by_row(make):
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 8, 10, 0.2)
    joint_q[1, chain.path.coordinates[2]] = np.nan
    joint_q[2, -2] = np.inf  # a finger, outside the chain
    targets[3, 1] = np.nan
    targets[4, 3:] = 0.0
    targets[5, 4] = -np.inf
    solver = make()
    rows = solver.solve(chain, joint_q, targets)
    refused = np.isin(np.arange(8), [1, 2, 3, 4, 5])
    assert np.array_equal(solver.status == SolveStatus.NON_FINITE_INPUT, refused)
    assert (solver.status[~refused] == SolveStatus.CONVERGED).all()
    assert (rows[refused, 0] == 0).all() and (rows[refused, 1] == np.inf).all()
    assert np.isfinite(rows[:, 2:]).all()
    assert_inside_limits(chain, rows)
    seeds = chain.get_dof_pos(joint_q)
    seeds[1, 2] = 0.0
    assert np.array_equal(rows[refused, 2:], seeds[refused])


@all_solvers
def test_numbers_at_the_end_of_the_range(make):
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 3, 13, 0.2)
    targets[0, 3:] *= 1e300  # its square is infinite
    targets[1, 0] = 1e200
    targets[2, 0] = 1e9
    solver = make()
    rows = solver.solve(chain, joint_q, targets)
    assert not (solver.status == SolveStatus.CONVERGED).any()
    assert np.isfinite(rows[:, 2:]).all() and not np.isnan(rows).any()
    assert_inside_limits(chain, rows)


@all_solvers
def test_seeds_outside_the_limits_come_inside(make):
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 20, 11, 0.2)
    joint_q[:, chain.path.coordinates] += np.where(np.arange(20)[:, None] % 2, 9.0, -9.0)
    rows = make().solve(chain, joint_q, targets)
    assert_inside_limits(chain, rows)
    solver = make(1)
    solver.tolerance = 1e3  # the seed is good enough
    rows = solver.solve(chain, joint_q, targets)
    assert_inside_limits(chain, rows)
    assert not rows[:, 0].any()


SLIDER_URDF = """<robot name="r"><link name="base"/><link name="rail"/><link name="arm"/>
<link name="hand"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="rail"/><axis xyz="1 0 0"/>
  <limit lower="0" upper="0.6" velocity="1" effort="1"/></joint>
<joint name="follow" type="prismatic"><parent link="rail"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-9" upper="9" velocity="1" effort="1"/>
  <mimic joint="slide" multiplier="2" offset="0.1"/></joint>
<joint name="turn" type="continuous"><parent link="arm"/><child link="hand"/>
  <origin xyz="0 0.2 0"/><axis xyz="0 0 1"/></joint></robot>"""


@all_solvers
def test_mimics_and_slides(make):
    model = Model.from_urdf(SLIDER_URDF, device='cpu')
    chain = IkChain(model, 'hand', None, (0.3, 0, 0, 0, 0, 0, 1))
    s, angle = 0.35, 2.5
    target = [
        s + 0.3 * np.cos(angle), 0.1 + 2 * s + 0.2 + 0.3 * np.sin(angle), 0.0,
        0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2),
    ]  # fmt: skip
    solver = make(tolerance=1e-9)
    row = solver.solve(chain, np.zeros(model.joint_coord_count), target)
    assert solver.status == SolveStatus.CONVERGED
    assert row[2:] == pytest.approx([s, angle], abs=1e-8)
    # The follower's motion is part of the driver's column.
    joint_q = np.zeros(model.joint_coord_count)
    joint_q[chain.path.coordinates] = 0.3, 2.4
    J = linear_first(chain.get_end_effector_jac(joint_q))
    error = pose_error(chain.get_end_effector_pose(joint_q), np.array(target))
    row = make(1, 0.5, 0.0).solve(chain, joint_q, target)
    part = 1.0 if make is DlsSolver else 0.5
    step = part * np.linalg.lstsq(J, error, rcond=None)[0]
    assert row[2:] - [0.3, 2.4] == pytest.approx(step, abs=1e-6)


def test_one_iteration_moves_no_joint_too_far():
    # Stretched almost straight, where Gauss-Newton would ask for a step of any length.
    model = Model.from_urdf(
        """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        </joint><joint name="k" type="continuous"><parent link="b"/><child link="c"/>
        <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>""",
        device='cpu',
    )
    chain = IkChain(model, 'c', None, (1.0, 0, 0, 0, 0, 0, 1))
    row = GaussNewtonSolver(1, 1.0).solve(chain, [0.0, 1e-6], (1.0, 0, 0, 0, 0, 0, 1))
    assert np.abs(row[2:] - [0.0, 1e-6]).max() <= 1.0


def test_undamped_and_redundant():
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 100, 12, 0.2)
    solver = DlsSolver(damping=0.0)
    solver.solve(chain, joint_q, targets)
    assert (solver.status == SolveStatus.CONVERGED).mean() >= 0.98


@pytest.mark.parametrize(
    'settings',
    [
        {'max_iter': -1}, {'max_iter': 0}, {'max_iter': 1.5},
        {'step_size': 0.0}, {'step_size': np.nan},
        {'tolerance': -1e-3}, {'tolerance': np.inf}, {'damping': -1.0}, {'damping': np.nan},
    ],
    ids=str,
)  # fmt: skip
def test_settings_out_of_range(settings):
    (name,) = settings
    for adaptive in (False, True):
        with pytest.raises(ArgumentError, match=name):
            DlsSolver(adaptive_damping=adaptive, **settings)
    if name != 'damping':
        with pytest.raises(ArgumentError, match=name):
            GaussNewtonSolver(**settings)


def test_settings_are_attributes_that_may_change():
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 20, 12, 0.5)
    solver = DlsSolver(7, 0.25, 1e-4, 0.02)
    assert (solver.max_iter, solver.step_size, solver.tolerance) == (7, 0.25, 1e-4)
    assert (solver.damping, solver.adaptive_damping) == (0.02, True)
    solver.adaptive_damping, solver.damping, solver.max_iter = False, 0.3, 3
    expected = DlsSolver(3, 0.25, 1e-4, 0.3, adaptive_damping=False)
    found = solver.solve(chain, joint_q, targets)
    assert np.array_equal(found, expected.solve(chain, joint_q, targets))
    solver.step_size = 0.0
    with pytest.raises(ArgumentError, match='step_size must be positive'):
        solver.solve(chain, joint_q, targets)
    solver.step_size, solver.adaptive_damping = 0.5, 'no'
    with pytest.raises(ArgumentError, match='adaptive_damping must be True or False'):
        solver.solve(chain, joint_q, targets)


@pytest.mark.parametrize('distance', [2.0, 5.0])
@all_solvers
def test_a_target_out_of_reach_is_no_iteration_limit(make, distance):
    chain, _ = robot_chain('panda')
    joint_q, targets = problems(chain, 100, 13, 0.5)
    targets[:, :3] *= distance / np.linalg.norm(targets[:, :3], axis=1, keepdims=True)
    solver = make(100)
    rows = solver.solve(chain, joint_q, targets)
    stationary = (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
    assert np.isin(solver.status, stationary).mean() >= 0.9
    # The test of a stationary configuration, with the Jacobian of the chain's own function.
    lower, upper = chain.path.lower, chain.path.upper
    whole = joint_q.copy()
    whole[:, chain.path.coordinates] = rows[:, 2:]
    errors = np.array([
        pose_error(pose, target)
        for pose, target in zip(chain.get_end_effector_pose(whole), targets, strict=True)
    ])
    jacobian = chain.get_end_effector_jac(whole)[:, [3, 4, 5, 0, 1, 2]]
    closer = np.einsum('nij,ni->nj', jacobian, errors)
    held = ((rows[:, 2:] >= upper) & (closer > 0.0)) | ((rows[:, 2:] <= lower) & (closer < 0.0))
    steepest = np.abs(np.where(held, 0.0, closer)).max(axis=1)
    longest = np.linalg.norm(jacobian, axis=1).max(axis=1)
    slope = steepest / (longest * np.linalg.norm(errors, axis=1))
    assert (slope[np.isin(solver.status, stationary)] <= 3e-3 * (1.0 + 1e-6)).all()


def test_arguments():
    chain, _ = robot_chain('panda')
    joint_q = chain.model.neutral_joint_q()
    pose = chain.get_end_effector_pose(joint_q)
    solver = DlsSolver()
    assert solver.status.shape == (0,)
    with pytest.raises(ArgumentError, match='ik_model'):
        solver.solve(chain.model, joint_q, pose)
    with pytest.raises(ArgumentError, match=r'target_pose must have shape \[\*, 7\], got \[6\]'):
        solver.solve(chain, joint_q, pose[:6])
    with pytest.raises(ArgumentError, match='broadcast'):
        solver.solve(chain, np.tile(joint_q, (2, 1)), np.tile(pose, (3, 1)))
    with pytest.raises(ArgumentError, match='joint_q'):
        solver.solve(chain, joint_q[:-1], pose)
