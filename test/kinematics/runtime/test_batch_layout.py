# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Work arrays in the layout of a GPU: solvers give the same bits on a CPU."""

from gpu.panda import configurations
from gpu.panda import control_steps
from gpu.panda import panda
from gpu.panda import reachable_poses
from gpu.panda import spheres
from gpu.panda import TIP
import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.barriers import PositionBarrier
from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.kinematics.runtime import batch_layout
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DenseQP
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DlsSolver
from ros_ik.solvers import IkChain
from ros_ik.solvers import IKSolver
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

N = 40
POSE = np.array([0.4, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def in_both_layouts(monkeypatch):
    """Run a function with rows one after the other, and interleaved; return both results."""

    def run(function):
        row_by_row = function()
        used = []

        def is_interleaved(n, device):
            used.append(n > 1)
            return n > 1

        monkeypatch.setattr(batch_layout, 'is_interleaved', is_interleaved)
        interleaved = function()
        assert any(used)
        return row_by_row, interleaved

    return run


@pytest.mark.parametrize(
    ('shape', 'strides'),
    [((5,), (8,)), ((5, 3), (8, 40)), ((5, 3, 2), (8, 80, 40)), ((1, 3), (24, 8))],
)
def test_interleaved_rows_are_adjacent(shape, strides, monkeypatch):
    monkeypatch.setattr(batch_layout, 'is_interleaved', lambda n, device: n > 1)
    array = batch_layout.batch_zeros(shape, wp.float64, 'cpu')
    assert (array.shape, array.strides) == (shape, strides)
    values = np.arange(array.size, dtype=float).reshape(shape)
    array.assign(values)
    np.testing.assert_array_equal(array.numpy(), values)


def test_rows_on_a_cpu_are_contiguous():
    array = batch_layout.batch_zeros((5, 3), wp.float64, 'cpu')
    assert array.is_contiguous and array.strides == (24, 8)


@pytest.mark.parametrize('shape', [(0, 3), (5, 0), (5, 0, 3)])
def test_arrays_without_elements_have_their_shape(shape, monkeypatch):
    monkeypatch.setattr(batch_layout, 'is_interleaved', lambda n, device: n > 1)
    assert batch_layout.batch_zeros(shape, wp.int32, 'cpu').shape == shape


def assert_same_bits(row_by_row, interleaved):
    """Compare dictionaries of arrays."""
    assert row_by_row.keys() == interleaved.keys()
    for name, values in row_by_row.items():
        np.testing.assert_array_equal(values, interleaved[name], err_msg=name)


class Rows(IKObjectiveManipulability):
    """An objective evaluated as residuals and Jacobian."""

    has_record = False


def small(tip, dofs):
    """Return objectives, limits and barriers of a step without rows."""
    return [IKObjectivePose(tip, POSE)], [PositionLimit(), VelocityLimit()], []


def conflicting(tip, dofs):
    """Return those of robots on either side of a box, where barriers and limits conflict."""
    box = PositionBarrier(tip, [-0.2] * 3, [0.2] * 3, gain=40.0)
    return [IKObjectivePose(tip, POSE)], [AccelerationLimit(np.full(dofs, 10.0))], [box]


def from_rows(tip, dofs):
    """Return those of objectives without a formula, with all three orders of limits together."""
    limits = [MotionLimit(*(np.full(dofs, most) for most in (2.0, 10.0, 500.0)))]
    return [IKObjectivePose(tip, POSE), Rows(tip, 0.1)], limits, []


@pytest.mark.parametrize('case', [small, conflicting, from_rows])
def test_steps_of_an_arm(case, in_both_layouts):
    def steps():
        model = panda('cpu')
        return control_steps(model, *case(model.body_index(TIP), model.joint_dof_count), n=N)

    row_by_row, interleaved = in_both_layouts(steps)
    assert_same_bits(row_by_row, interleaved)
    assert np.abs(row_by_row['step']).max() > 1e-6


def test_steps_out_of_contact(in_both_layouts):
    """Robots leave violations, with rows at the ends of their stops too."""
    model = panda('cpu')
    start = configurations(model, N)

    def steps():
        barrier = SelfCollisionBarrier(spheres(model), n_collision_pairs=4, d_max=None)
        barrier.recovery_speed = 0.1
        limits = [AccelerationLimit(np.full(model.joint_dof_count, 10.0)), VelocityLimit()]
        tasks = [Task(IKObjectivePose(model.body_index(TIP), POSE), gain=0.3)]
        solver = DifferentialIK(model, n_robots=N)
        joint_q, found = start, {}
        for k in range(3):
            step = np.zeros((N, model.joint_dof_count))
            found[f'status {k}'] = solver.solve_ik(joint_q, tasks, limits, [barrier], step)
            found[f'step {k}'] = step
            joint_q = solver.integrate(joint_q, step)
            limits[0].set_last_displacement(step)
        return found | {'recovers': np.array([solver._problems.last.recovers])}

    row_by_row, interleaved = in_both_layouts(steps)
    assert_same_bits(row_by_row, interleaved)
    assert row_by_row['recovers'][0]


@pytest.mark.parametrize('n_threads', [1, 2])
def test_steps_of_a_humanoid(n_threads, in_both_layouts):
    """Steps of many variables, three in a row, in parts on threads."""
    n = 150
    model = load(next(path for path in ALL_URDFS if path.stem == 'g1_29dof_with_hand_rev_1_0'))
    hand = model.body_index('left_wrist_yaw_link')
    start = configurations(model, n)

    def steps():
        solver = DifferentialIK(model, n_robots=n, n_threads=n_threads)
        tasks = [
            Task(IKObjectivePose(hand, POSE), gain=0.3),
            Task(IKObjectiveJointPosition(model, model.neutral_joint_q()), weight=0.1),
        ]
        box = PositionBarrier(hand, [-0.2] * 3, [0.2] * 3, gain=40.0)
        joint_q, found = start, {}
        for k in range(3):
            step = np.zeros((n, model.joint_dof_count))
            limits = [PositionLimit(), VelocityLimit()]
            found[f'status {k}'] = solver.solve_ik(joint_q, tasks, limits, [box], step)
            found[f'step {k}'] = step
            joint_q = solver.integrate(joint_q, step)
        return found

    row_by_row, interleaved = in_both_layouts(steps)
    assert_same_bits(row_by_row, interleaved)
    assert {SolveStatus.CONVERGED, SolveStatus.RELAXED} <= set(row_by_row['status 0'].tolist())


def test_steps_of_two_priorities(in_both_layouts):
    def steps():
        model = panda('cpu')
        solver = DifferentialIK(model, f'panda_link0:{TIP}', n_robots=N)
        tip = model.body_index(TIP)
        tasks = [
            Task(IKObjectivePosition(tip, np.zeros(3), POSE[:3]), priority=1),
            Task(IKObjectivePose(tip, POSE), priority=2),
        ]
        step = np.zeros((N, solver.group.n_variables))
        status = solver.solve_ik(configurations(model, N), tasks, [PositionLimit()], (), step)
        return {'status': status, 'step': step}

    assert_same_bits(*in_both_layouts(steps))


@pytest.mark.parametrize('use_fused', [True, False])
def test_solves_of_a_batch(use_fused, in_both_layouts):
    model = panda('cpu')
    poses = reachable_poses(panda, TIP, N)

    def solve():
        objective = IKObjectivePose(model.body_index(TIP), poses)
        solver = IKSolver(
            model, N, [objective], jacobian_mode='analytic', sampler='roberts', n_seeds=4,
            use_fused=use_fused,
        )  # fmt: skip
        found = np.zeros((N, model.joint_coord_count), np.float32)
        solver.step(configurations(model, N, 3).astype(np.float32), found, iterations=24)
        return {'joint_q': found, 'cost': solver.costs.numpy()}

    row_by_row, interleaved = in_both_layouts(solve)
    assert_same_bits(row_by_row, interleaved)
    assert np.median(row_by_row['cost']) < 1e-6


def test_solves_of_a_chain(in_both_layouts):
    model = panda('cpu')
    targets = reachable_poses(panda, TIP, N)

    def solve():
        solver = DlsSolver()
        rows = solver.solve(IkChain(model, TIP), configurations(model, N, 3), targets)
        return {'status': solver.status, 'rows': rows}

    row_by_row, interleaved = in_both_layouts(solve)
    assert_same_bits(row_by_row, interleaved)
    assert np.mean(row_by_row['status'] == SolveStatus.CONVERGED) > 0.3


def test_quadratic_programs(in_both_layouts):
    n, rows, rng = 7, 12, np.random.default_rng(4)
    jacobian = rng.normal(size=(N, n, n))
    programs = {
        'H': np.einsum('bij,bik->bjk', jacobian, jacobian) + 1e-4 * np.eye(n),
        'c': 2.0 * rng.normal(size=(N, n)), 'lower': -rng.uniform(0, 1, (N, n)),
        'A': rng.normal(size=(N, rows, n)), 'b': rng.uniform(-0.5, 1, (N, rows)),
    }  # fmt: skip

    def solve():
        solver = DenseQP(N, n, rows, device='cpu')
        for name, values in programs.items():
            getattr(solver, name).assign(values)
        solver.launch()
        assert solver.A.is_contiguous
        found = 'x', 'status', 'row_multiplier', 'bound_multiplier', 'iterations'
        return {name: getattr(solver, name).numpy() for name in found}

    row_by_row, interleaved = in_both_layouts(solve)
    assert_same_bits(row_by_row, interleaved)
    assert {SolveStatus.CONVERGED, SolveStatus.RELAXED} == set(row_by_row['status'].tolist())
