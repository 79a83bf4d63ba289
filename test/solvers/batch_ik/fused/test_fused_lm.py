# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One kernel gives the answers of the modular path, for every built-in objective."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectiveLookAt
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation
from ros_ik.objectives import IKObjectiveSelfDistance
from ros_ik.solvers.batch_ik.fused.fused_lm import IKFusedLM
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.status import SolveStatus

N = 12
HANDS = ('gripper_left_base_link', 'gripper_right_base_link')


def robot(name, floating=False):
    """Return the model of the URDF with this file name."""
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path, floating=floating)


class Rig:
    """A robot with targets at random configurations."""

    def __init__(self, name, links, floating):
        self.model = robot(name, floating)
        rng = np.random.default_rng(8)
        self.links = [self.model.body_index(link) for link in links]
        self.goal = self.model.random_joint_q(N, rng)
        self.start = self.model.random_joint_q(N, rng).astype(np.float32)
        self.poses = np.zeros((N, self.model.body_count, 7))
        eval_fk(self.model, self.goal, self.poses)

    def objectives(self, kind):
        """Return one or more objectives of a kind; new ones, as each belongs to one solver."""
        model, link = self.model, self.links[0]
        pose = self.poses[:, link]
        make = {
            'position': lambda: [IKObjectivePosition(link, (0.1, 0.0, 0.2), pose[:, :3], 2.0)],
            'rotation': lambda: [
                IKObjectiveRotation(link, (0.5, 0.5, 0.5, 0.5), pose[:, 3:], True, (1.0, 0.5, 2.0))
            ],
            'pose': lambda: [
                IKObjectivePose(link, pose, link_offset=(0.0, 0.1, 0.0, 0.0, 0.0, 0.6, 0.8))
            ],
            'geometric pose': lambda: [IKObjectivePose(link, pose, exact_jacobian=False)],
            'relative pose': lambda: [
                IKObjectivePose(
                    link, [0.2, 0.1, 0.3, 0, 0, 0, 1], reference_link_index=self.links[-1]
                )
            ],
            'look at': lambda: [IKObjectiveLookAt(link, (0.0, 0.0, 1.0), (2.0, 0.5, 1.0))],
            'center of mass': lambda: [
                IKObjectiveCenterOfMass((0.05, 0.02, 0.8), weight=(1.0, 1.0, 0.2))
            ],
            'posture': lambda: [IKObjectiveJointPosition(model, self.goal, weight=0.3)],
            'limits': lambda: [
                IKObjectiveJointLimit(model.joint_limit_lower, model.joint_limit_upper),
                IKObjectivePosition(link, (0.0, 0.0, 0.0), 2.0 * pose[:, :3]),
            ],
            'self distance': lambda: [
                IKObjectiveSelfDistance(
                    [link, self.links[-1], -1],
                    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1], [0.3, 0.0, 0.9]],
                    [0.3, 0.3, 0.5],
                    [[0, 2], [1, 2]] + ([[0, 1]] if len(self.links) > 1 else []),
                    minimum_distance=0.4,
                )
            ],
            'manipulability': lambda: [
                IKObjectiveManipulability(
                    link, 0.4, axes=(0, 1, 2), reference_link_index=self.carrier
                )
            ],
        }
        if kind == 'all':
            return [o for name in make for o in make[name]()]
        return make[kind]()

    @property
    def carrier(self):
        """A link that carries the first one by joints of one degree of freedom."""
        return self.model.body_index('torso_2_link') if len(self.links) > 1 else -1


RIGS = {
    'panda': ('panda', ('panda_hand_tcp',), False),
    'talos': ('talos_full_v2', HANDS, False),
    'floating talos': ('talos_full_v2', HANDS, True),
}
KINDS = (
    'position', 'rotation', 'pose', 'geometric pose', 'relative pose', 'look at', 'center of mass',
    'posture', 'limits', 'self distance', 'manipulability', 'all',
)  # fmt: skip


@pytest.fixture(scope='module', params=list(RIGS))
def rig(request):
    return Rig(*RIGS[request.param])


def fused(model, objectives, n=N, **options):
    """Return the backend with the defaults of IKSolver."""
    rules = {
        'joint_dof_mask': None, 'respect_limits': True, 'cost_tolerance': 1e-6,
        'gradient_tolerance': 1e-3, 'use_graph': True, 'lambda_initial': 0.1,
        'lambda_factor': 2.0, 'lambda_min': 1e-5, 'lambda_max': 1e10, 'rho_min': 1e-3,
    } | options  # fmt: skip
    rows = wp.array(np.arange(n, dtype=np.int32), device='cpu')
    return IKFusedLM(model, n, objectives, problem_idx=rows, **rules)


def solve(solver, start, iterations):
    """Return the final configurations of a solver."""
    joint_q = wp.array(start, dtype=wp.float32, device='cpu')
    solver.step(joint_q, joint_q, iterations=iterations)
    return joint_q.numpy()


@pytest.mark.parametrize('kind', KINDS)
def test_costs_are_those_of_the_modular_path(rig, kind):
    if kind == 'relative pose' and len(rig.links) == 1:
        pytest.skip('one link')
    start = wp.array(rig.start, dtype=wp.float32, device='cpu')
    a = fused(rig.model, rig.objectives(kind)).compute_costs(start).numpy()
    modular = IKOptimizerLM(rig.model, N, rig.objectives(kind), jacobian_mode='analytic')
    b = modular.compute_costs(start).numpy()
    assert np.max(b) > 0.0
    # The modular path is in float32: squares of residuals of some metres.
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize('use_fused', [True, False])
def test_costs_leave_the_status_and_are_infinite_where_a_row_is_not_finite(use_fused):
    rig = Rig(*RIGS['panda'])
    solver = IKSolver(
        rig.model, N, rig.objectives('posture'), use_fused=use_fused, jacobian_mode='analytic'
    )
    start = np.tile(rig.model.neutral_joint_q(), (N, 1)).astype(np.float32)
    out = np.zeros_like(start)
    solver.step(start, out, iterations=50)
    status = solver.seed_status.numpy().copy()
    assert (status == SolveStatus.CONVERGED).all()
    bad = start.copy()
    bad[1, 3] = np.nan
    costs = solver.compute_costs(bad).numpy()
    expected = ((0.3 * (rig.goal - start)) ** 2).sum(axis=1)
    expected[1] = np.inf
    np.testing.assert_allclose(costs, expected, rtol=1e-4)
    np.testing.assert_array_equal(solver.seed_status.numpy(), status)
    assert np.isfinite(solver.compute_costs(out).numpy()).all()


@pytest.mark.parametrize('kind', KINDS)
def test_one_step_is_that_of_the_modular_path(rig, kind):
    if kind == 'relative pose' and len(rig.links) == 1:
        pytest.skip('one link')
    a = solve(fused(rig.model, rig.objectives(kind), lambda_initial=1.0), rig.start, 1)
    modular = IKOptimizerLM(
        rig.model, N, rig.objectives(kind), lambda_initial=1.0, jacobian_mode='analytic'
    )
    b = solve(modular, rig.start, 1)
    # A step within rounding of its acceptance may be taken by one of them: not in most rows.
    same = np.max(np.abs(a - b), axis=1) < 2e-3
    assert np.mean(same) >= 0.9
    assert np.any(a != rig.start)


def test_columns_of_mimic_joints_meet_in_their_driver():
    model = Model.from_urdf(COUPLED, device='cpu')
    pose = [1.2, 0.4, 0.0, 0.0, 0.0, 0.3, 0.95]
    start = model.random_joint_q(N, np.random.default_rng(0)).astype(np.float32)
    link = model.body_index('tip')
    a = solve(fused(model, [IKObjectivePose(link, pose)], lambda_initial=1.0), start, 1)
    modular = IKOptimizerLM(
        model, N, [IKObjectivePose(link, pose)], lambda_initial=1.0, jacobian_mode='analytic'
    )
    b = solve(modular, start, 1)
    assert np.any(np.abs(a - start) > 0.05)
    np.testing.assert_allclose(a, b, atol=1e-5)
    np.testing.assert_allclose(a, model.apply_mimic(a), atol=1e-6)


COUPLED = """<robot name="coupled">
  <link name="base"/><link name="a"/><link name="tip"/>
  <joint name="first" type="revolute">
    <parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" velocity="1" effort="1"/>
  </joint>
  <joint name="second" type="revolute">
    <parent link="a"/><child link="tip"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>
    <mimic joint="first" multiplier="1.5" offset="0.1"/>
  </joint>
</robot>"""


@pytest.mark.parametrize('kind', ['pose', 'all'])
def test_a_solve_ends_as_low(rig, kind):
    a = fused(rig.model, rig.objectives(kind))
    b = IKOptimizerLM(rig.model, N, rig.objectives(kind), jacobian_mode='analytic')
    solve(a, rig.start, 60)
    solve(b, rig.start, 60)
    cost_a, cost_b = a.costs.numpy(), b.costs.numpy()
    # Iterates part where a step is accepted by one only, and may then end in other minima.
    close = np.abs(np.sqrt(cost_a) - np.sqrt(cost_b)) < 1e-2
    assert np.mean(close) >= 0.75
    assert np.mean(cost_a) <= 1.3 * np.mean(cost_b) + 1e-6


def test_the_solver_chooses_by_its_objectives():
    class Posture(IKObjective):
        """An objective of a user."""

        def residual_dim(self):
            return 1

        def compute_residuals(
            self, body_q, joint_q, model, residuals, start_idx, problem_idx=None
        ):
            wp.launch(
                _first_joint, dim=joint_q.shape[0], inputs=[joint_q, start_idx],
                outputs=[residuals], device=joint_q.device,
            )  # fmt: skip

    rig = Rig(*RIGS['panda'])
    assert isinstance(IKSolver(rig.model, N, rig.objectives('pose'))._backend, IKFusedLM)
    mixed = IKSolver(rig.model, N, [*rig.objectives('pose'), Posture()])
    assert isinstance(mixed._backend, IKOptimizerLM)
    plain = IKSolver(rig.model, N, rig.objectives('pose'), use_fused=False)
    assert isinstance(plain._backend, IKOptimizerLM)


@wp.kernel
def _first_joint(joint_q: wp.array2d(dtype=float), start: int, residuals: wp.array2d(dtype=float)):
    row = wp.tid()
    residuals[row, start] = joint_q[row, 0]


def test_what_is_written_to_a_target_is_what_the_next_solve_reads():
    rig = Rig(*RIGS['panda'])
    targets = wp.array(rig.poses[:, rig.links[0], :3], dtype=wp.vec3, device='cpu')
    solver = fused(rig.model, [IKObjectivePosition(rig.links[0], (0.0, 0.0, 0.0), targets)])
    start = wp.array(rig.goal, dtype=wp.float32, device='cpu')
    assert np.max(solver.compute_costs(start).numpy()) < 1e-10
    targets.assign(targets.numpy() + 1.0)
    np.testing.assert_allclose(solver.compute_costs(start).numpy(), 3.0, rtol=1e-4)


@pytest.mark.parametrize('name', ['panda', 'ur5_robot', 'talos_full_v2'])
@pytest.mark.parametrize('part', [0.2, 0.6])
def test_a_penalty_inside_the_limits_moves_joints_that_nothing_else_moves(name, part):
    model = robot(name)
    lower, upper = (np.asarray(bounds) for bounds in model.limits64()[:2])
    lower, upper = np.clip(lower, -3.0, 3.0), np.clip(upper, -3.0, 3.0)
    middle = 0.5 * (lower + upper)
    inner = [(middle + part * (bound - middle)).astype(np.float32) for bound in (lower, upper)]
    start = model.random_joint_q(N, np.random.default_rng(4)).astype(np.float32)
    found = {}
    for use_fused in (True, False):
        penalty = IKObjectiveJointLimit(*(wp.array(bound) for bound in inner), weight=1.0)
        solver = IKSolver(model, n_problems=N, objectives=[penalty], use_fused=use_fused)
        joint_q = wp.array(start)
        solver.step(joint_q, joint_q, iterations=60)
        found[use_fused] = joint_q.numpy()
        assert np.all(solver.status.numpy() == 0)
    outside = np.maximum(inner[0] - found[True], found[True] - inner[1])
    assert outside.max() < 1e-5
    np.testing.assert_allclose(found[True], found[False], atol=1e-4)
