# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Users' functions of the documents and the examples, on branching robots with mimic joints.

Beside them are classes of objectives and of a limit, as the documents describe them.
"""

import functools
from pathlib import Path
import re
import runpy

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik import DifferentialIK
from ros_ik import IKObjective
from ros_ik import IKObjectiveJointPosition
from ros_ik import IKObjectiveLinkFunction
from ros_ik import IKObjectivePosition
from ros_ik import IKSolver
from ros_ik import JointFunctionLimit
from ros_ik import link_dofs
from ros_ik import LinkFunctionBarrier
from ros_ik import SolveStatus
from ros_ik import Task
from ros_ik.limits import Limit

ROOT = Path(__file__).resolve().parents[2]
# Mimic joints lie between the base and the link; other joints do not move it.
LINKS = {
    'baxter': 'r_gripper_r_finger_tip',
    'pr2': 'r_gripper_l_finger_tip_link',
    'romeo': 'RThumb3Link',
    'talos_full_v2': 'gripper_right_fingertip_3_link',
}
FOLDER = ROOT / 'examples/library'


@functools.cache
def page(name, first, until, folder):
    """Return the names that a block of a page declares, from a text up to another one."""
    text = (ROOT / name).read_text()
    (block,) = (
        block for block in re.findall(r'^```python\n(.*?)^```', text, re.DOTALL | re.MULTILINE)
        if first in block
    )  # fmt: skip
    path = Path(folder) / 'block.py'
    path.write_text(block.partition(until)[0])
    return runpy.run_path(str(path))


class Robot:
    """A solver for all joints of a robot at random configurations."""

    def __init__(self, name, n=3):
        self.model = load(next(path for path in ALL_URDFS if path.stem == name))
        self.link, self.n = self.model.body_index(LINKS[name]), n
        self.solver = DifferentialIK(self.model, n_robots=n)
        self.q = self.model.random_joint_q(n, np.random.default_rng(5))
        group = self.solver.group
        assert len(np.unique(group.dof_variable)) < self.model.joint_dof_count
        assert len(link_dofs(self.model, self.link)) < self.model.joint_dof_count
        # From the variables of the step to the degrees of freedom.
        self.drive = np.zeros((self.model.joint_dof_count, group.n_variables))
        self.drive[np.arange(len(self.drive)), group.dof_variable] = group.dof_scale

    def derivatives(self, values):
        """Return the derivatives [n, rows, n_variables] of values [n, rows] of coordinates."""
        found = []
        for way in 1e-6 * self.drive.T:
            steps = np.tile(way, (self.n, 1))
            ahead, behind = (self.solver.integrate(self.q, sign * steps) for sign in (1, -1))
            found.append((values(ahead) - values(behind)) / 2e-6)
        return np.moveaxis(np.array(found), 0, -1)


def barriers(folder):
    """Return the functions of a barrier and their parameters, of a page and of the example."""
    table = page('docs/control_steps.md', 'above_rate', 'over_table', folder)
    yield table['above'], table['above_rate'], table['table']
    example = runpy.run_path(str(FOLDER / 'own_barrier.py'))
    column = example['Column']()
    column.center, column.radius = wp.vec3d(0.1, 0.2, 0.0), 0.05
    yield example['distance'], example['distance_rate'], column


@pytest.mark.parametrize('name', LINKS)
def test_barriers_have_the_derivatives_of_their_values(name, tmp_path):
    for value, rate, parameters in barriers(tmp_path):
        robot = Robot(name)
        barrier = LinkFunctionBarrier(robot.link, value, rate, parameters)
        expected = robot.derivatives(lambda q, b=barrier, r=robot: r.solver.barrier_values(q, [b]))
        task = Task(IKObjectivePosition(robot.link, np.zeros(3), np.zeros(3)))
        step = np.zeros((robot.n, robot.model.joint_dof_count))
        robot.solver.solve_ik(robot.q, [task], [], [barrier], step, regularization=1e-3)
        jacobian = wp.full(expected.shape, wp.nan, dtype=wp.float64, device='cpu')
        barrier.launch_jacobian(jacobian, 0)
        np.testing.assert_allclose(jacobian.numpy(), expected, atol=1e-8)


def objectives(folder):
    """Return the functions of an objective and their parameters, of a page and of the example."""
    example = runpy.run_path(str(FOLDER / 'own_objective.py'))
    glass = example['Glass']()
    glass.axis = wp.vec3d(0.0, 0.6, 0.8)
    yield example['tilt'], example['tilt_rate'], glass
    block = page('docs/inverse_kinematics.md', 'tilt_rate', 'upright', folder)
    yield block['tilt'], block['tilt_rate'], block['glass']


@wp.kernel
def write_heights(
    body_q: wp.array2d(dtype=wp.transform),
    links: wp.vec2i,
    start: int,
    residuals: wp.array2d(dtype=float),
):
    row = wp.tid()
    above = wp.transform_get_translation(body_q[row, links[0]])
    below = wp.transform_get_translation(body_q[row, links[1]])
    residuals[row, start] = above[2] - below[2]


@wp.kernel
def write_slopes(
    body_q: wp.array2d(dtype=wp.transform),
    joint_S_s: wp.array2d(dtype=wp.spatial_vector),
    link: int,
    sign: float,
    link_dof: wp.array(dtype=wp.int32),
    start: int,
    jacobian: wp.array3d(dtype=float),
):
    row, k = wp.tid()
    S = joint_S_s[row, link_dof[k]]
    p = wp.transform_get_translation(body_q[row, link])
    velocity = wp.spatial_top(S) + wp.cross(wp.spatial_bottom(S), p)
    jacobian[row, start, link_dof[k]] = jacobian[row, start, link_dof[k]] + sign * velocity[2]


class HeightAbove(IKObjective):
    """Difference in height of two links, with a Jacobian from a tape."""

    def __init__(self, above, below):
        super().__init__()
        self.links = above, below

    def residual_dim(self):
        return 1

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        wp.launch(
            write_heights, dim=body_q.shape[0], inputs=[body_q, wp.vec2i(*self.links), start_idx],
            outputs=[residuals], device=self.device,
        )  # fmt: skip


class HeightAboveByFormula(HeightAbove):
    """The same with a formula for the Jacobian."""

    def init_buffers(self, model, jacobian_mode=None):
        self.dofs = [
            wp.array(link_dofs(model, link), dtype=wp.int32, device=self.device)
            for link in self.links
        ]

    def supports_analytic(self):
        return True

    def compute_jacobian_analytic(self, body_q, joint_q, model, jacobian, joint_S_s, start_idx):
        for link, dofs, sign in zip(self.links, self.dofs, (1.0, -1.0), strict=True):
            wp.launch(
                write_slopes, dim=(body_q.shape[0], dofs.shape[0]),
                inputs=[body_q, joint_S_s, link, sign, dofs, start_idx], outputs=[jacobian],
                device=self.device,
            )  # fmt: skip


@pytest.mark.parametrize('kind', [HeightAbove, HeightAboveByFormula])
@pytest.mark.parametrize('name', LINKS)
def test_classes_of_objectives_lead_to_the_best_step(name, kind):
    robot = Robot(name)
    below = robot.model.body_count - 1

    def errors(q):
        poses = robot.solver.body_poses(q)
        return poses[:, robot.link, 2, None] - poses[:, below, 2, None]

    # Their residuals and Jacobians are in float32.
    assert_best_step(robot, kind(robot.link, below), errors, 1e-6)


@pytest.mark.parametrize('kind', [HeightAbove, HeightAboveByFormula])
@pytest.mark.parametrize('name', LINKS)
def test_classes_of_objectives_are_solved_by_a_batch_solver(name, kind):
    robot = Robot(name)
    mode = 'analytic' if kind is HeightAboveByFormula else 'autodiff'
    solver = IKSolver(robot.model, robot.n, [kind(robot.link, 1)], jacobian_mode=mode)
    q = wp.array(robot.q, dtype=wp.float32, device='cpu')
    solver.step(q, q, iterations=30)
    poses = robot.solver.body_poses(q.numpy().astype(np.float64))
    away = np.abs(poses[:, robot.link, 2] - poses[:, 1, 2])
    solved = solver.status.numpy() == SolveStatus.CONVERGED
    assert solved.any() and np.all(away[solved] < 2e-3)
    np.testing.assert_allclose(robot.model.apply_mimic(q.numpy()), q.numpy(), atol=1e-6)


@pytest.mark.parametrize('name', LINKS)
def test_objectives_lead_to_the_best_step(name, tmp_path):
    for residual, rate, parameters in objectives(tmp_path):
        robot = Robot(name)
        objective = IKObjectiveLinkFunction(robot.link, residual, rate, parameters)

        task = Task(objective)
        assert_best_step(
            robot, objective, lambda q, r=robot, t=task: r.solver.task_errors(q, [t])[0].copy(),
            1e-7,
        )  # fmt: skip


def assert_best_step(robot, objective, errors, tolerance):
    """Compare a step with the one of least squares, from errors [n, rows] of coordinates."""
    gain, damping, step = 0.3, 1e-3, np.zeros((robot.n, robot.model.joint_dof_count))
    task = Task(objective, gain=gain)
    status = robot.solver.solve_ik(robot.q, [task], [], [], step, regularization=damping)
    assert np.all(status == SolveStatus.CONVERGED)
    for found, J, error in zip(step, robot.derivatives(errors), errors(robot.q), strict=True):
        normal = J.T @ J + damping * np.eye(J.shape[1])
        best = robot.drive @ np.linalg.solve(normal, -gain * J.T @ error)
        np.testing.assert_allclose(found, best, atol=tolerance)


def limits(model, joint_q, folder):
    """Return the functions of a limit, their parameters and speeds, of a page and the example."""
    block = page('docs/control_steps.md', 'above_rate', 'over_table', folder)
    yield block['between'], block['speeds'], 0.5, 1.0
    example = runpy.run_path(str(FOLDER / 'own_barrier.py'))
    joints = [example['Slow']() for _ in range(model.joint_dof_count)]
    for dof, joint in enumerate(joints):
        joint.middle, joint.reach, joint.fast, joint.slow = joint_q[dof], 0.3, 2.0, 0.2
    yield example['slower_outside'], joints, 2.0, 2.0


@pytest.mark.parametrize('name', LINKS)
def test_limits_hold_for_mimic_joints_and_their_drivers(name, tmp_path):
    robot = Robot(name, 1)
    for bounds, parameters, down, up in limits(robot.model, robot.q[0], tmp_path):
        task = Task(IKObjectivePosition(robot.link, np.zeros(3), np.array([[3.0, 3.0, -3.0]])))
        limit, step = JointFunctionLimit(bounds, parameters), np.zeros_like(robot.drive[:, :1].T)
        solver = DifferentialIK(robot.model, n_robots=1)
        solver.solve_ik(robot.q, [task], [limit], [], step, regularization=1e-4)
        speed = step[0] / solver.settings.dt
        assert np.all((speed >= -down - 1e-9) & (speed <= up + 1e-9))
        reached = np.isclose(speed, up) | np.isclose(speed, -down)
        assert reached[link_dofs(robot.model, robot.link)].any()


@wp.kernel
def slow_down(
    link_dof: wp.array(dtype=wp.int32),
    dof_variable: wp.array(dtype=wp.int32),
    dof_scale: wp.array(dtype=wp.float64),
    most: wp.float64,
    lower: wp.array2d(dtype=wp.float64),
    upper: wp.array2d(dtype=wp.float64),
):
    row = wp.tid()
    for k in range(link_dof.shape[0]):
        variable = dof_variable[link_dof[k]]
        scale = wp.abs(dof_scale[link_dof[k]])
        if variable >= 0 and scale > wp.float64(0.0):
            lower[row, variable] = wp.max(lower[row, variable], -most / scale)
            upper[row, variable] = wp.min(upper[row, variable], most / scale)


class Gentle(Limit):
    """A limit of one's own on the speeds of the joints that move a link."""

    def __init__(self, link, speed):
        self.link, self.speed = link, speed

    def _allocate(self, state):
        dofs = link_dofs(state.model, self.link)
        self._link_dof = wp.array(dofs, dtype=wp.int32, device=state.device)

    def launch(self, lower, upper):
        state = self._state
        wp.launch(
            slow_down, dim=state.n_robots,
            inputs=[
                self._link_dof, state.dof_variable, state.dof_scale, self.speed * state.dt,
            ],
            outputs=[lower, upper], device=state.device,
        )  # fmt: skip


@pytest.mark.parametrize('name', LINKS)
def test_a_class_of_a_limit_bounds_the_joints_that_move_a_link(name):
    robot = Robot(name)
    goals = robot.q + 1.0
    task = Task(IKObjectiveJointPosition(robot.model, robot.model.apply_mimic(goals)))
    step = np.zeros((robot.n, robot.model.joint_dof_count))
    robot.solver.solve_ik(robot.q, [task], [Gentle(robot.link, 0.3)], [], step)
    speed = np.abs(step) / robot.solver.settings.dt
    dofs = link_dofs(robot.model, robot.link)
    group = robot.solver.group
    driven = np.isin(group.dof_variable, group.dof_variable[dofs])
    assert speed[:, dofs].max() == pytest.approx(0.3)
    assert speed[:, ~driven].min() > 10.0
