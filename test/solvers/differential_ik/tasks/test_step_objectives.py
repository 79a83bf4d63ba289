# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Objectives of float32 kernels, Newton's and a user's, as tasks of a control step."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import urdf_text
from support.robots.urdf_limits import variable_matrix
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjective
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

# Effect of residuals and Jacobians in float32 on a step of some 1e-2 rad.
STEP_TOLERANCE = 2e-5


def robot(name):
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    return load(path)


@wp.kernel
def squared_reach(
    body_q: wp.array2d(dtype=wp.transform),
    link: int,
    start: int,
    residuals: wp.array2d(dtype=float),
):
    row = wp.tid()
    p = wp.transform_get_translation(body_q[row, link])
    residuals[row, start] = wp.dot(p, p)


@wp.kernel
def joint_gap(
    joint_q: wp.array2d(dtype=float),
    coord: int,
    target: float,
    start: int,
    residuals: wp.array2d(dtype=float),
):
    row = wp.tid()
    residuals[row, start] = joint_q[row, coord] - target


class SquaredReach(IKObjective):
    """A user's objective: |p|^2 of a link, differentiated from a tape."""

    def __init__(self, link):
        super().__init__()
        self.link = link

    def residual_dim(self):
        return 1

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            squared_reach,
            dim=body_q.shape[0],
            inputs=[body_q, self.link, start_idx],
            outputs=[residuals],
            device=self.device,
        )


class JointGap(IKObjective):
    """A user's objective: one coordinate and its target."""

    def __init__(self, coord, target):
        super().__init__()
        self.coord, self.target = coord, target

    def residual_dim(self):
        return 1

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            joint_gap,
            dim=body_q.shape[0],
            inputs=[joint_q, self.coord, self.target, start_idx],
            outputs=[residuals],
            device=self.device,
        )


def solved(model, objectives, joint_q, *, limits=True, n_robots=1):
    """Return status and step of a posture and some objectives."""
    diff = DifferentialIK(model, n_robots=n_robots)
    tasks = [Task(objective, gain=0.2) for objective in objectives]
    tasks.append(Task(IKObjectiveJointPosition(model, model.neutral_joint_q()), weight=0.1))
    step = np.zeros((*joint_q.shape[:-1], model.joint_dof_count))
    chosen = [PositionLimit(), VelocityLimit()] if limits else []
    status = diff.solve_ik(joint_q, tasks, chosen, delta_q=step)
    return status, step


@pytest.mark.oracle
@pytest.mark.parametrize('name', ['panda', 'ur5_robot', 'talos_left_arm', 'tiago'])
def test_objectives_of_newton_make_the_step_of_ours(name):
    ik = pytest.importorskip('newton.ik', reason='newton is not installed')
    model, rng = robot(name), np.random.default_rng(3)
    link = model.body_count - 1
    for joint_q in model.random_joint_q(3, rng):
        position = rng.uniform(-0.5, 0.5, 3)
        # Near the target: Newton's Jacobian of a rotation leaves out terms of the angle squared.
        quaternion = DifferentialIK(model).body_poses(joint_q)[link, 3:]
        quaternion += rng.uniform(-1e-3, 1e-3, 4)
        quaternion /= np.linalg.norm(quaternion)
        theirs = [
            ik.IKObjectivePosition(
                link, wp.vec3(0.0, 0.0, 0.1), wp.array([position], dtype=wp.vec3, device='cpu')
            ),
            ik.IKObjectiveRotation(
                link, wp.quat_identity(), wp.array([quaternion], dtype=wp.vec4, device='cpu')
            ),
        ]
        ours = [
            IKObjectivePosition(link, (0.0, 0.0, 0.1), position),
            IKObjectiveRotation(link, (0.0, 0.0, 0.0, 1.0), quaternion),
        ]
        status, step = solved(model, theirs, joint_q, limits=False)
        expected_status, expected = solved(model, ours, joint_q, limits=False)
        assert status == expected_status == SolveStatus.CONVERGED
        np.testing.assert_allclose(step, expected, atol=STEP_TOLERANCE)


@pytest.mark.parametrize('name', ['panda', 'tiago'])
def test_a_differentiated_objective_makes_the_step_of_its_formula(name):
    """The step for |p|^2 is that of the position objective's rows, combined by the chain rule."""
    model, rng = robot(name), np.random.default_rng(4)
    link = model.body_count - 1
    joint_q = model.random_joint_q(1, rng)[0]
    status, step = solved(model, [SquaredReach(link)], joint_q, limits=False)
    assert status == SolveStatus.CONVERGED

    def reach(q):
        return float(np.sum(DifferentialIK(model).body_poses(q)[link, :3] ** 2))

    diff = DifferentialIK(model)
    fold = variable_matrix(urdf_text(name), model, diff.group)
    row = np.zeros(fold.shape[1])
    for k in range(len(row)):
        ahead, behind = (diff.integrate(joint_q, s * 1e-6 * fold[:, k]) for s in (1.0, -1.0))
        row[k] = (reach(ahead) - reach(behind)) / 2e-6
    posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
    gap = DifferentialIK(model).task_errors(joint_q, [Task(posture)])[0]
    # minimise (row x + 0.2 r)^2 + 0.01 |F x - gap|^2 + 1e-12 |x|^2
    H = np.outer(row, row) + 0.01 * fold.T @ fold + 1e-12 * np.eye(len(row))
    c = row * 0.2 * reach(joint_q) - 0.01 * fold.T @ gap
    np.testing.assert_allclose(step, fold @ np.linalg.solve(H, -c), atol=5e-4)


def test_mimic_joints_follow_in_a_differentiated_objective():
    model = robot('tiago')
    joint_q = model.neutral_joint_q()
    coord = int(model.joint_q_start.numpy()[model.joint_index('torso_lift_joint')])
    status, step = solved(model, [JointGap(coord, float(joint_q[coord]) + 0.01)], joint_q)
    assert status == SolveStatus.CONVERGED
    assert step[coord] > 1e-4


def test_each_robot_of_a_batch_gets_its_own_step():
    model, rng = robot('panda'), np.random.default_rng(5)
    joint_q = model.random_joint_q(3, rng)
    link = model.body_count - 1
    _, together = solved(model, [SquaredReach(link)], joint_q, n_robots=3)
    for row, q in zip(together, joint_q, strict=True):
        _, alone = solved(model, [SquaredReach(link)], q)
        np.testing.assert_allclose(row, alone, atol=1e-12)


def test_one_solver_serves_several_combinations_of_the_same_objective():
    model, joint_q = robot('panda'), robot('panda').neutral_joint_q()
    diff, task = DifferentialIK(model), Task(SquaredReach(model.body_count - 1), gain=0.2)
    posture = Task(IKObjectiveJointPosition(model, joint_q), weight=0.1)
    steps = []
    for limits in ([], [VelocityLimit()], []):
        step = np.zeros(model.joint_dof_count)
        assert diff.solve_ik(joint_q, [task, posture], limits, delta_q=step).ok
        steps.append(step)
    np.testing.assert_array_equal(steps[0], steps[2])
    assert np.abs(steps[0]).max() > 0.0


def test_a_target_that_is_no_number_is_refused_and_the_next_step_is_good():
    ik = pytest.importorskip('newton.ik', reason='newton is not installed')
    model = robot('panda')
    joint_q, link = model.neutral_joint_q(), model.body_count - 1
    targets = wp.array([[np.nan, 0.0, 0.5]], dtype=wp.vec3, device='cpu')
    task = Task(ik.IKObjectivePosition(link, wp.vec3(), targets))
    posture = Task(IKObjectiveJointPosition(model, joint_q), weight=0.1)
    diff, step = DifferentialIK(model), np.ones(model.joint_dof_count)
    limits = [VelocityLimit()]
    status = diff.solve_ik(joint_q, [task, posture], limits, delta_q=step)
    assert status == SolveStatus.NON_FINITE_INPUT
    assert not step.any()
    targets.assign(np.array([[0.4, 0.0, 0.5]], dtype=np.float32))
    assert diff.solve_ik(joint_q, [task, posture], limits, delta_q=step).ok
    assert step.any()


def test_what_is_no_objective_is_refused():
    with pytest.raises(ArgumentError, match='objective must be an IKObjective'):
        Task('tool0')
