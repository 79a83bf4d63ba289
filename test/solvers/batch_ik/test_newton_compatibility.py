# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objectives and models of Newton in our solver; the oracle is newton.ik itself."""

import numpy as np
import pytest
from support.long_forms import either
from support.solvers.ik_problems import bare_model
from support.solvers.ik_problems import KINDS
from support.solvers.ik_problems import newton
from support.solvers.ik_problems import NEWTON_IK_FIELDS
from support.solvers.ik_problems import newton_model
from support.solvers.ik_problems import newton_poses
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import PoseProblems
from support.solvers.ik_problems import random_newton_q
from support.solvers.ik_problems import solve
from support.solvers.ik_problems import to_warp
import warp as wp

import ros_ik
from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.status import SolveStatus

nik = newton.ik
pytestmark = pytest.mark.oracle
MODES = ('analytic', 'autodiff', 'mixed')
# Optimizers and modes that are compared with Newton's.
NEWTON_MODES = (
    ('lm', 'analytic'), *either((), (('lm', 'autodiff'), ('lbfgs', 'autodiff'))),
)  # fmt: skip
N = 40


def newton_objectives(model, link, poses, limits=True):
    """Return Newton's position, rotation and joint limit objectives."""
    found = [
        nik.IKObjectivePosition(
            link, wp.vec3(0.01, 0.02, 0.1), to_warp(poses[:, :3], wp.vec3), weight=1.5
        ),
        nik.IKObjectiveRotation(
            link, wp.quat_identity(), to_warp(poses[:, 3:], wp.vec4), weight=0.7
        ),
    ]
    if limits:
        found.append(
            nik.IKObjectiveJointLimit(model.joint_limit_lower, model.joint_limit_upper, weight=0.1)
        )
    return found


class SphereAvoidance(nik.IKObjective):
    """A user's objective written for Newton: a link stays out of a sphere; autodiff only."""

    def __init__(self, link, center, radius):
        super().__init__()
        self.link, self.center, self.radius = link, wp.vec3(*center), radius

    def residual_dim(self):
        return 1

    def init_buffers(self, model, jacobian_mode):
        seed = np.zeros((self.n_batch, self.total_residuals), dtype=np.float32)
        seed[:, self.residual_offset] = 1.0
        self.seed = wp.array(seed.flatten(), dtype=wp.float32, device=self.device)

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx):
        wp.launch(
            sphere_residual, dim=body_q.shape[0],
            inputs=[body_q, self.link, self.center, self.radius, start_idx],
            outputs=[residuals], device=self.device,
        )  # fmt: skip

    def compute_jacobian_autodiff(self, tape, model, jacobian, start_idx, dq_dof):
        tape.backward(grads={tape.outputs[0]: self.seed})
        wp.launch(
            sphere_jacobian, dim=jacobian.shape[0::2], inputs=[tape.gradients[dq_dof], start_idx],
            outputs=[jacobian], device=self.device,
        )  # fmt: skip


@wp.kernel
def sphere_residual(
    body_q: wp.array2d(dtype=wp.transform),
    link: int,
    center: wp.vec3,
    radius: float,
    start: int,
    residuals: wp.array2d(dtype=float),
):
    row = wp.tid()
    distance = wp.length(wp.transform_get_translation(body_q[row, link]) - center)
    residuals[row, start] = 0.05 * wp.log(1.0 + wp.exp((radius - distance) / 0.05))


@wp.kernel
def sphere_jacobian(
    gradient: wp.array2d(dtype=float), start: int, jacobian: wp.array3d(dtype=float)
):
    row, dof = wp.tid()
    jacobian[row, start, dof] = gradient[row, dof]


class Watched:
    """A model that refuses fields which newton.ik does not read."""

    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        if name in NEWTON_IK_FIELDS:
            return getattr(self._model, name)
        if name.endswith('64') or name.startswith(('constraint_mimic_', 'joint_mimic_')):
            raise AttributeError(name)
        raise AssertionError(f'the solver reads model.{name}')


@pytest.fixture(scope='module')
def problems():
    model = panda()
    return PoseProblems(model, model.body_index('panda_hand'), N)


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_costs_no_worse_than_newtons_on_our_model(problems, optimizer, mode):
    costs = {}
    for solver_type, options in ((IKSolver, {'respect_limits': False}), (nik.IKSolver, {})):
        # Newton's kernels of a mode take seconds to compile.
        if solver_type is nik.IKSolver and (optimizer, mode) not in NEWTON_MODES:
            continue
        objectives = newton_objectives(problems.model, problems.link, problems.poses)
        solver = solver_type(
            problems.model, N, objectives, optimizer=optimizer, jacobian_mode=mode, **options
        )
        solve(solver, problems.seeds, iterations=24)
        costs[solver_type] = solver.costs.numpy().copy()
    ours = costs[IKSolver]
    assert np.all(np.isfinite(ours))
    if nik.IKSolver in costs:
        theirs = costs[nik.IKSolver]
        # The same method to rounding: single rows may end in different minima of their own.
        for quantile in (0.1, 0.25, 0.5, 0.75, 0.9):
            assert np.quantile(ours, quantile) <= 1.05 * np.quantile(theirs, quantile) + 1e-10
    else:
        assert np.median(ours) < 0.05


@pytest.mark.parametrize('mode', ['analytic', 'autodiff'])
@pytest.mark.parametrize('kind', KINDS)
def test_our_solver_reaches_poses_on_a_newton_model(kind, mode):
    model, link, n = newton_model(kind), 3, 24
    rng = np.random.default_rng(3)
    goals = random_newton_q(model, n, rng)
    near = goals + rng.normal(0.0, 0.05, goals.shape).astype(np.float32)
    targets = newton_poses(model, goals, link)
    solver = IKSolver(model, n, [IKObjectivePose(link, targets)], jacobian_mode=mode)
    found = solve(solver, near, iterations=60)
    assert np.mean(solver.status.numpy() == SolveStatus.CONVERGED) >= 0.9
    reached = newton_poses(model, found, link)[solver.status.numpy() == SolveStatus.CONVERGED]
    wanted = targets[solver.status.numpy() == SolveStatus.CONVERGED]
    # The cost tolerance 1e-6 allows 1 mm; float32 kinematics of two libraries adds 1e-6.
    assert np.max(np.abs(reached[:, :3] - wanted[:, :3])) < 1.1e-3
    assert np.min(np.abs(np.sum(reached[:, 3:] * wanted[:, 3:], axis=1))) > 1.0 - 1e-6


@pytest.mark.parametrize('kind', KINDS)
def test_analytic_and_autodiff_jacobians_agree(kind):
    model, link, n = newton_model(kind), 3, 6
    rng = np.random.default_rng(5)
    q = to_warp(random_newton_q(model, n, rng))
    targets = newton_poses(model, random_newton_q(model, n, rng), link)
    jacobians = []
    for mode in ('analytic', 'autodiff'):
        # Position only: of a rotation, the analytic Jacobian is that of small errors.
        objectives = newton_objectives(model, link, targets)[::2]
        optimizer = IKOptimizerLM(model, n, objectives, jacobian_mode=mode)
        optimizer.step(q, wp.zeros_like(q), iterations=0)
        jacobians.append(optimizer._evaluation.jacobian.numpy())
    assert np.max(np.abs(jacobians[0])) > 0.1
    np.testing.assert_allclose(jacobians[0], jacobians[1], atol=2e-6)


class Coordinates(nik.IKObjective):
    """Residuals that are the coordinates themselves; autodiff only."""

    def __init__(self, n_coords):
        super().__init__()
        self.n_coords = n_coords

    def residual_dim(self):
        return self.n_coords

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx):
        wp.launch(
            coordinate_residuals, dim=joint_q.shape, inputs=[joint_q, start_idx],
            outputs=[residuals], device=self.device,
        )  # fmt: skip

    def compute_jacobian_autodiff(self, tape, model, jacobian, start_idx, dq_dof):
        for row in range(start_idx, start_idx + self.n_coords):
            seed = np.zeros((self.n_batch, self.total_residuals), dtype=np.float32)
            seed[:, row] = 1.0
            tape.backward(grads={tape.outputs[0]: to_warp(seed.flatten())})
            wp.launch(
                sphere_jacobian, dim=jacobian.shape[0::2], inputs=[tape.gradients[dq_dof], row],
                outputs=[jacobian], device=self.device,
            )  # fmt: skip
            tape.zero()


@wp.kernel
def coordinate_residuals(
    joint_q: wp.array2d(dtype=float), start: int, residuals: wp.array2d(dtype=float)
):
    row, c = wp.tid()
    residuals[row, start + c] = joint_q[row, c]


@pytest.mark.parametrize('kind', KINDS)
def test_autodiff_jacobian_matches_finite_differences(kind):
    model, link, n = newton_model(kind), 3, 4
    rng = np.random.default_rng(6)
    start = random_newton_q(model, n, rng)
    targets = newton_poses(model, random_newton_q(model, n, rng), link)
    # The second objective allocates as it goes, which no graph can repeat.
    optimizer = IKOptimizerLM(
        model, n, [IKObjectivePose(link, targets), Coordinates(model.joint_coord_count)],
        jacobian_mode='autodiff', respect_limits=False, use_graph=False,
    )  # fmt: skip
    evaluation = optimizer._evaluation
    q = to_warp(start)
    optimizer.step(q, wp.zeros_like(q), iterations=0)
    jacobian = evaluation.jacobian.numpy()

    def residuals(step):
        moved = wp.zeros_like(q)
        launch_integrate(optimizer._tree, q, to_warp(step), moved)
        optimizer.compute_costs(moved)
        return evaluation.residuals.numpy().astype(np.float64)

    # Central differences in float32: rounding 1e-7 / 2e-2 and curvature 1e-4 / 6.
    h = 1e-2
    for dof in range(model.joint_dof_count):
        step = np.zeros((n, model.joint_dof_count))
        step[:, dof] = h
        slope = (residuals(step) - residuals(-step)) / (2.0 * h)
        np.testing.assert_allclose(jacobian[:, :, dof], slope, atol=5e-4)


def test_reads_only_what_newton_ik_reads(problems):
    for optimizer in ('lm', 'lbfgs'):
        for mode in ('analytic', 'autodiff'):
            solver = IKSolver(
                Watched(problems.model), N, [problems.objective()], optimizer=optimizer,
                jacobian_mode=mode, sampler='roberts', n_seeds=2,
            )  # fmt: skip
            solve(solver, problems.seeds, iterations=2)


def test_a_bare_namespace_gives_what_the_model_gives():
    model = newton_model('d6')
    rng = np.random.default_rng(1)
    q = random_newton_q(model, 8, rng)
    targets = newton_poses(model, random_newton_q(model, 8, rng), 3)
    results = [
        solve(IKSolver(which, 8, [IKObjectivePose(3, targets)]), q, iterations=10)
        for which in (model, bare_model(model))
    ]
    np.testing.assert_array_equal(*results)


def test_newtons_enum_members_name_ours(problems):
    solver = IKSolver(
        problems.model, N, [problems.objective()], optimizer=nik.IKOptimizer.LM,
        jacobian_mode=nik.IKJacobianType.ANALYTIC, sampler=nik.IKSampler.GAUSS, n_seeds=3,
    )  # fmt: skip
    assert solver.joint_q.shape == (3 * N, problems.model.joint_coord_count)


def test_a_users_autodiff_objective_of_newton_keeps_a_link_out_of_a_sphere(problems):
    model, link = problems.model, problems.model.body_index('panda_link4')
    start = np.tile(model.neutral_joint_q().astype(np.float32), (N, 1)) + 0.1 * problems.seeds
    free = IKSolver(model, N, [SphereAvoidance(link, (9.0, 9.0, 9.0), 0.1)])
    before = solve(free, start, iterations=1)
    body_q = np.zeros((N, model.body_count, 7))
    eval_fk(model, before.astype(np.float64), body_q)
    center = body_q[:, link, :3].mean(axis=0)
    distance = np.linalg.norm(body_q[:, link, :3] - center, axis=1)
    assert distance.min() < 0.1
    for mode in ('autodiff', 'mixed'):
        solver = IKSolver(model, N, [SphereAvoidance(link, center, 0.15)], jacobian_mode=mode)
        after = solve(solver, before, iterations=40)
        eval_fk(model, after.astype(np.float64), body_q)
        assert np.linalg.norm(body_q[:, link, :3] - center, axis=1).min() > 0.15
    with pytest.raises(ArgumentError, match='SphereAvoidance has no analytic Jacobian'):
        IKSolver(model, N, [SphereAvoidance(link, center, 0.1)], jacobian_mode='analytic')


@pytest.mark.parametrize('ik', [nik, ros_ik], ids=['newton', 'ros_ik'])
def test_methods_copy_targets_into_the_array_that_was_given(ik):
    model = newton_model('free')  # a link that can be anywhere
    link = model.body_count - 1
    start = to_warp(random_newton_q(model, 1, np.random.default_rng(0)))
    first, second = (to_warp([[x, 0.0, 0.0]], wp.vec3) for x in (0.1, 0.2))
    objective = ik.IKObjectivePosition(link, wp.vec3(), first)
    solver = ik.IKSolver(model, 1, [objective])

    def reached():
        out = wp.zeros_like(start)
        solver.step(start, out, iterations=30)
        return newton_poses(model, out.numpy(), link)[0, 0]

    assert reached() == pytest.approx(0.1, abs=1e-3)
    objective.set_target_positions(second)
    assert reached() == pytest.approx(0.2, abs=1e-3)
    assert first.numpy()[0, 0] == np.float32(0.2)
    second.assign([[0.3, 0.0, 0.0]])
    assert reached() == pytest.approx(0.2, abs=1e-3)
    first.assign([[0.4, 0.0, 0.0]])
    assert reached() == pytest.approx(0.4, abs=1e-3)
    objective.set_target_position(0, wp.vec3(0.5, 0.0, 0.0))
    assert reached() == pytest.approx(0.5, abs=1e-3)
    assert first.numpy()[0, 0] == np.float32(0.5)


TARGETS = {  # name of the attribute, numbers per row, type of the array, objective of an array
    'position': (
        'target_positions', 3, wp.vec3, lambda a: IKObjectivePosition(3, np.zeros(3), a)
    ),
    'rotation': (
        'target_rotations', 4, wp.vec4, lambda a: IKObjectiveRotation(3, [0, 0, 0, 1], a)
    ),
    'pose': ('target_poses', 7, wp.transform, lambda a: IKObjectivePose(3, a)),
    'joints': (
        'target_positions', 9, wp.float32, lambda a: IKObjectiveJointPosition(panda(), a)
    ),
}  # fmt: skip


@pytest.mark.parametrize('kind', TARGETS)
def test_another_array_of_targets_leaves_the_first_as_it_is(kind):
    name, width, dtype, make = TARGETS[kind]
    first, second, third = (to_warp([[0.1 * k] * (width - 1) + [1.0]], dtype) for k in (1, 2, 3))
    before = first.numpy().copy()
    objective = make(first)
    setattr(objective, name, second)
    getattr(objective, f'set_{name}')(third)
    np.testing.assert_array_equal(first.numpy(), before)
    np.testing.assert_array_equal(second.numpy(), third.numpy())


def test_too_few_targets_of_a_newton_objective_are_refused(problems):
    objectives = newton_objectives(problems.model, problems.link, problems.poses[:1])
    with pytest.raises(ArgumentError, match='1 targets for 40 problems'):
        IKSolver(problems.model, N, objectives)


def test_joints_outside_the_articulation_and_bodies_without_a_joint():
    builder = newton.ModelBuilder()
    post = builder.add_link(xform=wp.transform((0.3, 0.2, 0.1), wp.quat_identity()), mass=1.0)
    links = [builder.add_link(mass=1.0) for _ in range(3)]
    arm = [
        builder.add_joint_revolute(
            parent, child, axis=(0.0, 1.0, 0.0), parent_xform=wp.transform((0.0, 0.0, 0.4))
        )
        for parent, child in zip([post, *links[:2]], links, strict=True)
    ]
    builder.add_articulation(arm)
    # A loop closure: its joint would place the middle link, and with it the last one, elsewhere.
    builder.add_joint_revolute(-1, links[1], axis=(0.0, 1.0, 0.0))
    model = builder.finalize(device='cpu', skip_validation_joints=True)
    optimizer = IKOptimizerLM(
        model, 1, [IKObjectivePose(links[2], [0.3, 0.2, 1.3, 0.0, 0.0, 0.0, 1.0])]
    )
    q = to_warp(np.zeros((1, model.joint_coord_count)))
    optimizer.step(q, wp.zeros_like(q), iterations=0)
    np.testing.assert_allclose(
        optimizer._evaluation.body_q.numpy()[0, links[2], :3], (0.3, 0.2, 1.3), atol=1e-6
    )
    assert optimizer.costs.numpy()[0] < 1e-10
