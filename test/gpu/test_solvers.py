# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers on a GPU against the CPU, and their answers against the target poses."""

from gpu.agreement import assert_agree
from gpu.agreement import DEVICE
from gpu.agreement import on_gpu
from gpu.panda import configurations
from gpu.panda import panda
from gpu.panda import panda_with_shapes
from gpu.panda import reachable_poses
from gpu.panda import six_axes
from gpu.panda import TIP
import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics import eval_fk
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import all_solutions
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ChainIKSettings
from ros_ik.solvers import DenseQP
from ros_ik.solvers import DlsSolver
from ros_ik.solvers import GaussNewtonSolver
from ros_ik.solvers import IkChain
from ros_ik.solvers import IKSolver
from ros_ik.solvers import inverse_kinematics
from ros_ik.solvers import solve_path
from ros_ik.solvers import SolveStatus

pytestmark = on_gpu
N = 200
REACH_POSITION, REACH_ROTATION = 1.001e-3, 1.001e-2
# More than the threads that are resident on a card at a time.
LARGE = 40_000


def search(device, **options):
    """Search configurations of poses."""
    robot = panda_with_shapes if 'check_collisions' in options else panda
    model, poses = robot(device), reachable_poses(panda, TIP, N)
    result = inverse_kinematics(model, TIP, poses, configurations(model, N, 5), **options)
    return result.status, result.joint_q.reshape(N, -1, model.joint_coord_count), poses


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'n_solutions': 4},
        {'check_collisions': True},
        {'rotation_tolerance': [5e-3] * 3},
        {'preference': 'middle', 'n_candidates': 8},
        {'preference': 'manipulability', 'n_candidates': 8},
    ],
    ids=str,
)
def test_search(options):
    # Several lanes search on a GPU, and find other solutions after random restarts.
    (here, _, _), (there, found, poses) = search('cpu', **options), search(DEVICE, **options)
    assert_agree({'status': there}, {'status': here}, share=0.99)
    solved = there == SolveStatus.CONVERGED
    for solutions in found[solved].swapaxes(0, 1):
        assert_reached(solutions, poses[solved])


def test_an_answer_from_the_seed_is_the_one_of_the_cpu():
    (_, joint_q, _), (_, found, _) = search('cpu'), search(DEVICE)
    single = ChainIK(panda('cpu'), TIP, N, settings=ChainIKSettings(max_attempts=1))
    alone = single.solve(reachable_poses(panda, TIP, N), configurations(panda('cpu'), N, 5))
    from_seed = np.all(alone.joint_q == joint_q[:, 0], axis=1)
    assert np.sum(from_seed) > N // 4
    assert_agree(
        {'joint_q': found[from_seed, 0]}, {'joint_q': joint_q[from_seed, 0]}, atol=1e-5, share=0.95
    )


def lanes(device, n_lanes, **options):
    """Search with a number of lanes."""
    model = panda(device)
    solver = ChainIK(model, TIP, N, n_lanes=n_lanes, **options)
    result = solver.solve(reachable_poses(panda, TIP, N), configurations(model, N, 5))
    return {'status': result.status.copy(), 'joint_q': result.joint_q.reshape(N, -1).copy()}


@pytest.mark.parametrize('n_lanes', [1, 8])
@pytest.mark.parametrize('n_solutions', [1, 4])
def test_as_many_lanes_find_the_same(n_lanes, n_solutions):
    # Attempts that end by rounding end in another posture; solved problems are solved on both.
    there, here = (lanes(d, n_lanes, n_solutions=n_solutions) for d in (DEVICE, 'cpu'))
    assert_agree(there, here, atol=1e-5, share=0.95)


def to_middle(joint_q):
    """Return the mean distance to the middle of the limits, as a share of the ranges."""
    lower, upper, _, _ = panda('cpu').limits64()
    span = np.where(upper > lower, upper - lower, 1.0)
    return np.mean(np.abs(joint_q - 0.5 * (lower + upper)) / span)


def test_goal_sets():
    poses = reachable_poses(panda, TIP, N)
    seeds = configurations(panda('cpu'), N // 4, 5)
    found = {
        device: inverse_kinematics(
            panda(device), TIP, poses.reshape(-1, 4, 7), seeds, preference='middle',
            n_candidates=4,
        )
        for device in ('cpu', DEVICE)
    }  # fmt: skip
    there = found[DEVICE]
    assert np.all(there.status == SolveStatus.CONVERGED)
    assert len(set(there.goal)) == 4
    assert_reached(there.joint_q, poses.reshape(-1, 4, 7)[np.arange(N // 4), there.goal])
    # Of 16 candidates each, other ones on a GPU: as near to the middle on average.
    assert abs(to_middle(there.joint_q) / to_middle(found['cpu'].joint_q) - 1.0) < 0.1


def test_the_same_search_gives_the_same_answers():
    first, second = search(DEVICE), search(DEVICE)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_solvers_work_on_the_stream_of_the_caller():
    model, poses = panda(DEVICE), reachable_poses(panda, TIP, N)
    solver = ChainIK(model, TIP, N)
    first = solver.solve(poses).joint_q.copy()
    stream = wp.Stream(DEVICE) if wp.get_device(DEVICE).is_cuda else None
    with wp.ScopedStream(stream):
        there = wp.array(poses, dtype=wp.float64, device=DEVICE)
        found = solver.solve(there, xp=wp).joint_q
        np.testing.assert_array_equal(found.numpy(), first)


def test_a_search_of_more_poses_than_threads():
    # In phases, with more lanes for the poses that are left.
    poses, seeds = reachable_poses(panda, TIP, LARGE), configurations(panda('cpu'), LARGE, 5)
    poses[::1000, :3] += 2.0  # out of reach
    solver = ChainIK(panda(DEVICE), TIP, LARGE)
    first, again = (solver.solve(poses, seeds).copy() for _ in range(2))
    in_reach = np.arange(LARGE) % 1000 != 0
    assert np.all((first.status == SolveStatus.CONVERGED) == in_reach)
    assert_reached(first.joint_q[in_reach], poses[in_reach])
    np.testing.assert_array_equal(again.joint_q, first.joint_q)


def test_closed_forms_of_more_poses_than_threads():
    poses = reachable_poses(six_axes, 'tool0', LARGE)
    here, there = (
        all_solutions(six_axes(device), 'tool0', poses).copy() for device in ('cpu', DEVICE)
    )
    found = {name: getattr(there, name) for name in ('status', 'n_exist', 'joint_q')}
    assert_agree(found, {name: getattr(here, name) for name in found}, atol=1e-6, share=0.99)


def assert_reached(joint_q, poses):
    """Assert that configurations reach poses, by forward kinematics on the CPU."""
    model = panda('cpu')
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    reached = body_q[:, model.body_index(TIP)]
    dot = np.abs(np.sum(reached[:, 3:] * poses[:, 3:], axis=1))
    assert len(joint_q) and np.linalg.norm(reached[:, :3] - poses[:, :3], axis=1).max() < (
        REACH_POSITION
    )
    assert 2.0 * np.arccos(np.clip(dot, 0.0, 1.0)).max() < REACH_ROTATION


def closed_form(device, seven):
    """Return every solution of poses, or a sample of them where there are infinitely many."""
    robot, link = (panda, TIP) if seven else (six_axes, 'tool0')
    poses = reachable_poses(robot, link, 40)
    # Of seven joints the seed is a solution; else a value of the redundant joint may be searched.
    seeds = configurations(robot('cpu'), 40) if seven else None
    result = all_solutions(robot(device), link, poses, seeds, redundant_values=8)
    return {'status': result.status, 'n_exist': result.n_exist, 'joint_q': result.joint_q}


@pytest.mark.parametrize('seven', [False, True], ids=['six joints', 'seven joints'])
def test_closed_form(seven):
    # Solutions at the same distance from the seed change places by rounding.
    assert_agree(closed_form(DEVICE, seven), closed_form('cpu', seven), atol=1e-6, share=0.95)


def path(device):
    """Follow a straight line."""
    model = panda(device)
    places = np.linspace([0.4, -0.3, 0.4], [0.6, 0.3, 0.5], 30)
    poses = np.hstack([places, np.tile([1.0, 0.0, 0.0, 0.0], (30, 1))])
    result = solve_path(model, TIP, poses)
    return {'status': result.status}, result.joint_q, poses


def test_path():
    (here, _, poses), (there, joint_q, _) = path('cpu'), path(DEVICE)
    assert_agree(there, here)
    assert_reached(joint_q, poses)
    assert np.abs(np.diff(joint_q, axis=0)).max() < 0.3


def chain(device, make):
    """Solve poses near seeds with the solvers of chains."""
    arm = IkChain(panda(device), TIP)
    joint_q = configurations(panda(device), N)
    near = joint_q + np.random.default_rng(4).uniform(-0.1, 0.1, joint_q.shape)
    solver = make()
    rows = solver.solve(arm, near, arm.get_end_effector_pose(joint_q))
    return {'status': solver.status, 'rows': rows, 'inertia': arm.get_inertia_matrix(joint_q)}


@pytest.mark.parametrize('make', [DlsSolver, GaussNewtonSolver])
def test_chain_solvers(make):
    assert_agree(chain(DEVICE, make), chain('cpu', make), rtol=1e-5, atol=1e-6, share=0.95)


def batch(device, **options):
    """Take a few iterations from seeds near the answers, float32."""
    model = panda(device)
    answers = configurations(model, N)
    poses = reachable_poses(panda, TIP, N)
    posture = IKObjectiveJointPosition(model, model.neutral_joint_q(), weight=1e-2)
    goals = [IKObjectivePose(model.body_index(TIP), poses), posture]
    solver = IKSolver(model, N, goals, **{'jacobian_mode': 'analytic', **options})
    start = wp.array(answers + 0.1, dtype=wp.float32, device=device)
    out = wp.zeros_like(start)
    solver.step(start, out, iterations=8)
    return {'joint_q': out.numpy(), 'costs': solver.costs.numpy()}


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'use_fused': False},
        {'use_fused': False, 'jacobian_mode': 'autodiff'},
        {'optimizer': 'lbfgs'},
        {'sampler': 'uniform', 'n_seeds': 4},
        {'sampler': 'gauss', 'n_seeds': 4},
        {'sampler': 'roberts', 'n_seeds': 4},
    ],
    ids=str,
)
def test_batches(options):
    # float32: acceptance of a step differs where the cost changes by rounding alone.
    assert_agree(batch(DEVICE, **options), batch('cpu', **options), rtol=1e-2, atol=2e-3,
                 share=0.95)  # fmt: skip


def quadratic_programs(device, rows):
    """Solve random programs with a box and rows."""
    rng, n = np.random.default_rng(6), 7
    half = rng.normal(size=(N, n, n))
    programs = {
        'H': np.einsum('bij,bik->bjk', half, half) + 1e-3 * np.eye(n),
        'c': rng.normal(size=(N, n)), 'lower': -rng.uniform(0, 1, (N, n)),
        'upper': rng.uniform(0, 1, (N, n)), 'A': rng.normal(size=(N, rows, n)),
        'b': rng.uniform(0, 1, (N, rows)),
    }  # fmt: skip
    solver = DenseQP(N, n, rows, device=device)
    for name, value in programs.items():
        if value.size:
            getattr(solver, name).assign(value)
    solver.launch()
    return {'x': solver.x.numpy(), 'status': solver.status.numpy()}


@pytest.mark.parametrize('rows', [0, 12])
def test_quadratic_programs(rows):
    assert_agree(quadratic_programs(DEVICE, rows), quadratic_programs('cpu', rows), atol=1e-7)
