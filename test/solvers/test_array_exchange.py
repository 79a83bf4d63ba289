# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers read arrays of every library on the device, and return arrays of the same library."""

import dataclasses

from gpu.panda import panda_with_shapes
from gpu.panda import reachable_poses
import numpy as np
import pytest
from support.robots.robots import urdf_text
from support.solvers.apart_memory import apart_memory
from support.solvers.array_kinds import address
from support.solvers.array_kinds import MAKERS
from support.solvers.array_kinds import numbers
from support.solvers.array_kinds import StandardArray
from support.solvers.ik_problems import panda
import warp as wp

from ros_ik import AccelerationLimit
from ros_ik import all_solutions
from ros_ik import ArgumentError
from ros_ik import ChainIK
from ros_ik import ClosedFormIK
from ros_ik import DifferentialIK
from ros_ik import DlsSolver
from ros_ik import eval_fk
from ros_ik import IkChain
from ros_ik import IKObjectivePose
from ros_ik import IKSolver
from ros_ik import inverse_kinematics
from ros_ik import Model
from ros_ik import PositionBarrier
from ros_ik import PositionLimit
from ros_ik import RedundantClosedFormIK
from ros_ik import SolveStatus
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import MotionLimit

N = 5


class Problem:
    """Poses of a link at random configurations, some of them none, and seeds near those."""

    def __init__(self, model, link):
        self.model, self.link = model, link
        q = model.random_joint_q(N, 0)
        body_q = np.zeros((N, model.body_count, 7))
        eval_fk(model, q, body_q)
        self.poses = body_q[:, model.body_index(link)].copy()
        self.seeds = q + 0.05
        self.poses[1, 4] += 1.0
        self.poses[2, 0] = np.nan
        self.seeds[3, 1] = 1e10
        self.poses[4, 3:] *= 1.005


@pytest.fixture(scope='module')
def arm():
    return Problem(panda(), 'panda_hand')


@pytest.fixture(scope='module')
def ur5():
    return Problem(Model.from_urdf(urdf_text('ur5_robot'), device='cpu'), 'wrist_3_link')


def results(found):
    return {name: numbers(getattr(found, name)) for name in names(found)}


def names(found):
    return [field.name for field in dataclasses.fields(found)]


def assert_same(found, expected):
    for name, values in results(expected).items():
        other = results(found)[name]
        assert other.dtype == values.dtype and other.shape == values.shape, name
        # A norm may be rounded in another order.
        np.testing.assert_allclose(other, values, rtol=0, atol=1e-9, err_msg=name)


def made(kind, values):
    return MAKERS[kind](values.copy())


SOLVES = {
    'inverse_kinematics': lambda p, *a, **k: inverse_kinematics(p.model, p.link, *a, **k),
    'several': lambda p, *a, **k: inverse_kinematics(p.model, p.link, *a, n_solutions=3, **k),
    'all_solutions': lambda p, *a, **k: all_solutions(p.model, p.link, *a, **k),
    'ChainIK': lambda p, *a, **k: ChainIK(p.model, p.link, N).solve(*a, **k),
    'ClosedFormIK': lambda p, *a, **k: ClosedFormIK(p.model, p.link, N).solve(*a, **k),
}


@pytest.mark.parametrize('kind', MAKERS)
@pytest.mark.parametrize('name', SOLVES)
def test_answers_are_the_same_and_of_the_library(ur5, name, kind):
    expected = SOLVES[name](ur5, ur5.poses, ur5.seeds).copy()
    status = list(expected.status)
    assert status[1:4] == [SolveStatus.NON_FINITE_INPUT] * 3
    assert status[0] == status[4] == SolveStatus.CONVERGED
    poses, seeds = made(kind, ur5.poses), made(kind, ur5.seeds)
    # Arrays of unknown libraries come back as Warp arrays, those of Warp as NumPy arrays.
    library = {'warp': np.ndarray, 'dlpack': wp.array}.get(kind, type(poses))
    for some in (seeds, ur5.seeds):
        found = SOLVES[name](ur5, poses, some)
        assert all(isinstance(getattr(found, field), library) for field in names(found))
        assert_same(found, expected)
    assert_same(SOLVES[name](ur5, ur5.poses, seeds), expected)
    without = SOLVES[name](ur5, ur5.poses).copy()
    assert_same(SOLVES[name](ur5, poses), without)


def test_the_library_of_the_answers_can_be_named(ur5):
    expected = inverse_kinematics(ur5.model, ur5.link, ur5.poses)
    for given in (ur5.poses, made('warp', ur5.poses)):
        for xp, kind in ((wp, wp.array), (np, np.ndarray)):
            found = inverse_kinematics(ur5.model, ur5.link, given, xp=xp)
            assert isinstance(found.status, kind)
            assert_same(found, expected)
    with pytest.raises(ArgumentError, match='xp must be a module of arrays with from_dlpack'):
        inverse_kinematics(ur5.model, ur5.link, ur5.poses, xp='torch')


@pytest.mark.parametrize('kind', ['torch', 'jax', 'dlpack'])
def test_answers_are_those_of_the_solver_without_a_copy(arm, kind):
    solver = ChainIK(arm.model, arm.link, N)
    host = solver.solve(arm.poses)
    found = solver.solve(made(kind, arm.poses))
    for field in ('joint_q', 'status', 'position_error'):
        here, there = getattr(host, field), getattr(found, field)
        # JAX copies what does not lie on 64 bytes.
        assert address(there) == address(here) or (kind == 'jax' and address(here) % 64)
    changed = found.joint_q
    solver.joint_q.array.fill_(3.0)
    if address(changed) == address(host.joint_q):
        assert np.all(numbers(changed) == 3.0)


@pytest.mark.parametrize('kind', ['warp', 'torch', 'dlpack'])
def test_nothing_passes_the_host(arm, ur5, kind):
    expected = ChainIK(arm.model, arm.link, N).solve(arm.poses, arm.seeds).copy()
    every = ClosedFormIK(ur5.model, ur5.link, N).solve(ur5.poses, ur5.seeds).copy()
    with apart_memory() as copies:
        solver = ChainIK(arm.model, arm.link, N)
        closed = ClosedFormIK(ur5.model, ur5.link, N)
        copies.up = copies.down = 0
        found = solver.solve(made(kind, arm.poses), made(kind, arm.seeds), xp=wp)
        assert_same(found, expected)
        found = closed.solve(made(kind, ur5.poses), made(kind, ur5.seeds), xp=wp)
        assert_same(found, every)
        assert (copies.up, copies.down) == (0, 0)
        # The same solvers with numbers on the host.
        assert_same(solver.solve(arm.poses, arm.seeds), expected)
        assert_same(closed.solve(ur5.poses, ur5.seeds), every)
        assert copies.up == 4 and copies.down > 4
        # Only the answers.
        copies.up = copies.down = 0
        assert_same(closed.solve(made(kind, ur5.poses), made(kind, ur5.seeds), xp=np), every)
        assert copies.up == 0 and copies.down == len(names(every))


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'preference': 'middle', 'n_candidates': 3},
        {'preference': 'manipulability', 'n_candidates': 3, 'n_solutions': 2},
    ],
    ids=str,
)
def test_a_whole_request_stays_on_the_device(arm, monkeypatch, options):
    monkeypatch.setattr('ros_ik.solvers.pose_batches.batch.MAX_BATCH', 6)
    expected = inverse_kinematics(arm.model, arm.link, arm.poses, arm.seeds, **options)
    with apart_memory() as copies:
        found = inverse_kinematics(
            arm.model, arm.link, made('warp', arm.poses), made('warp', arm.seeds), xp=wp,
            n_threads=1, **options,
        )  # fmt: skip
        assert_same(found, expected)
        assert (copies.up, copies.down) == (0, 0)


@pytest.mark.parametrize('kind', ['warp', 'torch', 'jax'])
def test_what_works_on_the_host_takes_every_array(arm, kind):
    poses, seeds = arm.poses[[0, 4]], arm.seeds[[0, 4]]
    given = made(kind, poses), made(kind, seeds)
    base = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    for options in (
        {'preference': 'middle', 'n_candidates': 4}, {'base_poses': base}, {'method': 'auto'},
    ):
        expected = inverse_kinematics(arm.model, arm.link, poses, seeds, **options)
        others = {**options}
        if 'base_poses' in options:
            others['base_poses'] = made(kind, base)
        found = inverse_kinematics(arm.model, arm.link, *given, **others)
        assert isinstance(found.joint_q, np.ndarray if kind == 'warp' else type(given[0]))
        assert_same(found, expected)
    goals = np.stack([poses, poses[::-1]], axis=1)
    expected = inverse_kinematics(arm.model, arm.link, goals, seeds)
    found = inverse_kinematics(arm.model, arm.link, made(kind, goals), given[1])
    np.testing.assert_array_equal(numbers(found.goal), expected.goal)
    solver = RedundantClosedFormIK(arm.model, arm.link, 2, redundant_values=4)
    expected = solver.solve(poses, seeds).copy()
    assert_same(solver.solve(*given), expected)
    found = all_solutions(arm.model, arm.link, *given, redundant_values=4, max_solutions=3)
    expected = all_solutions(arm.model, arm.link, poses, seeds, 3, redundant_values=4)
    assert_same(found, expected)


@pytest.mark.parametrize('kind', ['warp', 'torch'])
def test_collisions_are_searched_on_the_host(kind):
    model = panda_with_shapes('cpu')
    poses = reachable_poses(panda_with_shapes, 'panda_hand', 30)
    expected = ChainIK(model, 'panda_hand', 30, check_collisions=True).solve(poses).copy()
    assert np.any(expected.status == SolveStatus.IN_COLLISION)
    with apart_memory():
        solver = ChainIK(model, 'panda_hand', 30, check_collisions=True, n_threads=1)
        found = solver.solve(made(kind, poses), xp=wp)
        assert_same(found, expected)
        assert_same(solver.solve(poses), expected)


def test_one_pose_and_one_seed(arm):
    pose, seed = arm.poses[0], arm.seeds[0]
    expected = inverse_kinematics(arm.model, arm.link, pose, seed)
    assert_same(
        inverse_kinematics(arm.model, arm.link, made('warp', pose), made('warp', seed)), expected
    )
    both = np.stack([pose, pose])
    expected = inverse_kinematics(arm.model, arm.link, both, seed)
    assert_same(
        inverse_kinematics(arm.model, arm.link, made('warp', both), made('warp', seed)), expected
    )


def test_wrong_arrays_are_named(arm):
    solver = ChainIK(arm.model, arm.link, N)
    for poses, seeds, message in (
        (np.zeros((N, 6)), None, r'poses must have shape \[5, 7\]'),
        (np.zeros((2, 7)), None, r'poses must have shape \[5, 7\]'),
        (np.zeros((N, 7), dtype=np.int32), None, 'poses must be float32 or float64'),
        (arm.poses, np.zeros((N, 3)), r'seeds must have shape \[5, 9\]'),
    ):
        given = StandardArray(poses), None if seeds is None else StandardArray(seeds)
        with pytest.raises(ArgumentError, match=message):
            solver.solve(*given)


def stepping(arm, n):
    """Return arguments of a step of n robots: configurations, tasks and limits."""
    q = arm.model.random_joint_q(n, 1)
    hand = arm.model.body_index(arm.link)
    target = np.tile(arm.poses[0], (n, 1)) + 0.01 * np.arange(n)[:, None] * [1, 0, 0, 0, 0, 0, 0]
    return q, [Task(IKObjectivePose(hand, target), gain=0.3)], [PositionLimit(), VelocityLimit()]


@pytest.mark.parametrize('kind', ['warp', 'torch', 'numpy'])
@pytest.mark.parametrize('n', [1, 4])
def test_steps_go_into_arrays_of_the_library(arm, kind, n):
    q, tasks, limits = stepping(arm, n)
    dofs = arm.model.joint_dof_count
    expected = np.zeros((n, dofs))
    solver = DifferentialIK(arm.model, n_robots=n)
    status = solver.solve_ik(q, tasks, limits, (), expected)
    after, poses = solver.integrate(q, expected), solver.body_poses(q)
    assert np.any(expected)
    for width in (dofs, solver.group.n_variables):
        step = made(kind, np.zeros((n, width)))
        found = solver.solve_ik(made(kind, q), tasks, limits, (), step)
        np.testing.assert_array_equal(numbers(found), status)
        assert isinstance(found, np.ndarray if kind == 'warp' else type(step))
        if width == dofs:
            np.testing.assert_array_equal(numbers(step), expected)
    given, step = made(kind, q), made(kind, expected)
    np.testing.assert_array_equal(numbers(solver.integrate(given, step)), after)
    np.testing.assert_array_equal(numbers(solver.body_poses(given)), poses)
    # One robot without a leading dimension, numbers on one side alone, and what checks steps.
    step = made(kind, np.zeros((n, dofs)))
    solver.solve_ik(q, tasks, limits, (), step)
    np.testing.assert_array_equal(numbers(step), expected)
    box = [PositionBarrier(arm.model.body_index(arm.link), [-9.0] * 3, [9.0] * 3)]
    assert np.all(solver.enforce_barriers(given, box, step) == SolveStatus.CONVERGED)
    if n == 1:
        step = made(kind, np.zeros(dofs))
        assert solver.solve_ik(made(kind, q[0]), tasks, limits, (), step) == status[0]
        np.testing.assert_array_equal(numbers(step), expected[0])


@pytest.mark.parametrize('kind', ['warp', 'torch'])
def test_steps_of_a_batch_do_not_pass_the_host(arm, kind):
    n = 4
    q, tasks, limits = stepping(arm, n)
    limits.append(AccelerationLimit(np.full(arm.model.joint_dof_count, 9.0)))
    box = [PositionBarrier(arm.model.body_index(arm.link), [-0.2] * 3, [0.2] * 3)]
    expected = np.zeros((n, arm.model.joint_dof_count))
    solver = DifferentialIK(arm.model, n_robots=n)
    status = solver.solve_ik(q, tasks, limits, box, expected)
    after = solver.integrate(q, expected)
    q, tasks, limits = stepping(arm, n)
    limits.append(AccelerationLimit(np.full(arm.model.joint_dof_count, 9.0)))
    box = [PositionBarrier(arm.model.body_index(arm.link), [-0.2] * 3, [0.2] * 3)]
    with apart_memory() as copies:
        solver = DifferentialIK(arm.model, n_robots=n)
        given, step = made(kind, q), made(kind, np.zeros_like(expected))
        solver.solve_ik(given, tasks, limits, box, step, xp=wp)
        copies.up = copies.down = 0
        found = solver.solve_ik(given, tasks, limits, box, step, xp=wp)
        there = solver.integrate(given, step, xp=wp)
        solver.body_poses(given, xp=wp)
        assert (copies.up, copies.down) == (0, 0)
        np.testing.assert_array_equal(numbers(step), expected)
        np.testing.assert_array_equal(found.numpy(), status)
        np.testing.assert_array_equal(there.numpy(), after)
        host = np.zeros_like(expected)
        np.testing.assert_array_equal(solver.solve_ik(q, tasks, limits, box, host), status)
        np.testing.assert_array_equal(host, expected)
        np.testing.assert_array_equal(solver.integrate(q, host), after)


def following(arm, n):
    """Return limits that look back, each with the method that sets the steps that it looks at."""
    dofs = arm.model.joint_dof_count
    acceleration, jerk = AccelerationLimit(np.full(dofs, 9.0)), JerkLimit(np.full(dofs, 500.0))
    motion = MotionLimit(np.full(dofs, 2.0), np.full(dofs, 9.0), np.full(dofs, 500.0))
    return {
        'acceleration': (acceleration, lambda last, before: acceleration.set_last_displacement(
            last)),
        'jerk': (jerk, jerk.set_last_displacements),
        'motion': (motion, motion.set_last_displacements),
    }  # fmt: skip


@pytest.mark.parametrize('kind', ['warp', 'torch', 'dlpack'])
@pytest.mark.parametrize('limit', ['acceleration', 'jerk', 'motion'])
def test_targets_and_last_steps_of_a_batch_do_not_pass_the_host(arm, kind, limit):
    n = 4
    q, tasks, _ = stepping(arm, n)
    moved = tasks[0].objective.target_poses() + 0.02 * np.eye(7)[1]
    last = np.random.default_rng(1).uniform(-0.005, 0.005, (n, arm.model.joint_dof_count))

    def solve(number):
        _, tasks, _ = stepping(arm, n)
        bound, set_last = following(arm, n)[limit]
        solver, step = DifferentialIK(arm.model, n_robots=n), made('warp', np.zeros_like(last))
        given = made('warp', q)
        first = solver.solve_ik(given, tasks, [bound], [], step, xp=wp).numpy()
        yield
        tasks[0].objective.set_target_poses(number(moved))
        set_last(number(last), number(0.5 * last))
        solver.solve_ik(given, tasks, [bound], [], step, xp=wp)
        yield step.numpy(), first, tasks[0].objective

    on_host = solve(lambda values: values)
    next(on_host)
    expected, status, _ = next(on_host)
    with apart_memory() as copies:
        on_device = solve(lambda values: made(kind, values))
        next(on_device)
        copies.up = copies.down = 0
        found, _, objective = next(on_device)
        assert (copies.up, copies.down) == (0, 0)
        np.testing.assert_array_equal(found, expected)
        assert np.all(status == SolveStatus.CONVERGED)
        # The host reads what the device holds, and one target that it sets leaves the others.
        np.testing.assert_array_equal(objective.target_poses(), moved)
        objective.set_target_pose(2, moved[0])
        np.testing.assert_array_equal(objective.target_poses(), moved[[0, 1, 0, 3]])
        np.testing.assert_array_equal(objective._targets.array.numpy(), moved[[0, 1, 0, 3]])


def test_steps_into_the_wrong_arrays_are_refused(arm):
    q, tasks, limits = stepping(arm, 2)
    solver = DifferentialIK(arm.model, n_robots=2)
    for wrong, message in (
        (np.zeros((2, 3)), r'delta_q must have shape \[2, 9\] or'),
        (np.zeros((2, 9), dtype=np.int32), 'delta_q must be an array of floats'),
    ):
        with pytest.raises(ArgumentError, match=message):
            solver.solve_ik(made('warp', q), tasks, limits, (), made('warp', wrong))


@pytest.mark.parametrize('kind', ['torch', 'dlpack'])
def test_batches_of_objectives(arm, kind):
    hand, q = arm.model.body_index(arm.link), arm.seeds[[0, 4]].astype(np.float32)
    target = arm.poses[[0, 4]]
    expected = np.zeros_like(q)
    solver = IKSolver(arm.model, 2, [IKObjectivePose(hand, target)])
    solver.step(q, expected, iterations=20)
    out = made(kind, np.zeros_like(q))
    solver.step(made(kind, q), out, iterations=20)
    np.testing.assert_array_equal(numbers(out), expected)
    costs = solver.compute_costs(q).numpy().copy()
    np.testing.assert_array_equal(solver.compute_costs(made(kind, q)).numpy(), costs)


def test_chains_take_arrays_of_every_library(arm):
    chain, pose, q = IkChain(arm.model, arm.link), arm.poses[[0, 4]], arm.seeds[[0, 4]]
    pose[1, 3:] /= np.linalg.norm(pose[1, 3:])
    expected = DlsSolver().solve(chain, q, pose)
    for kind in ('warp', 'torch', 'jax'):
        found = DlsSolver().solve(chain, made(kind, q), made(kind, pose))
        np.testing.assert_array_equal(found, expected)
