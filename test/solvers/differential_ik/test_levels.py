# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Feedforward between levels of priority, judged by the formula in NumPy and by Pinocchio."""

import functools

import numpy as np
import pytest
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from ros_ik import AccelerationLimit
from ros_ik import DifferentialIK
from ros_ik import DifferentialIKSettings
from ros_ik import IKObjectivePosition
from ros_ik import Model
from ros_ik import SolveStatus
from ros_ik import Task
from ros_ik import VelocityLimit
from ros_ik.errors import ArgumentError

# Robots with links near the base, in the middle and at the end of a chain.
ROBOTS = {
    'panda': ('panda_link3', 'panda_link5', 'panda_hand'),
    'ur5_robot': ('upper_arm_link', 'wrist_1_link', 'ee_link'),
    'talos_reduced': ('arm_left_3_link', 'arm_right_3_link', 'arm_left_7_link'),
}
ORDERS = ((1, 2, 3), (3, 1, 2), (2, 3, 1), (1, 1, 2), (5, 5, 1), (1, 9, 9))
LAMBDA = 1e-6
WEIGHTS = (1.0, 0.7, 2.0)


class Scene:
    """Three links of a robot with a target each, and the last step."""

    def __init__(self, name, *, feedforward):
        self.links, text = ROBOTS[name], urdf_text(name)
        self.model = Model.from_urdf(text, device='cpu')
        self.pinocchio = PinocchioRobot(text, self.model)
        settings = DifferentialIKSettings(level_feedforward=feedforward)
        self.solver = DifferentialIK(self.model, settings=settings)
        group = self.solver.group
        self.map = np.zeros((self.model.joint_dof_count, group.n_variables))
        moving = np.flatnonzero(group.dof_variable >= 0)
        self.map[moving, group.dof_variable[moving]] = group.dof_scale[moving]
        self.objectives = [
            IKObjectivePosition(self.model.body_index(link), np.zeros(3), np.zeros(3))
            for link in self.links
        ]
        self.tasks = [
            Task(objective, weight=weight, gain=0.8)
            for objective, weight in zip(self.objectives, WEIGHTS, strict=True)
        ]
        # Far from any acceleration that the steps have.
        self.limit = AccelerationLimit(np.full(self.model.joint_dof_count, 1e9))

    def draw(self, rng):
        """Draw a configuration inside the limits, and the last step of the variables."""
        lower, upper = self.model.limits64()[:2]
        dofs = self.solver.group.variable_dof
        low, high = np.maximum(lower[dofs], -2.0), np.minimum(upper[dofs], 2.0)
        at = self.model.neutral_joint_q()
        goal = rng.uniform(0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high)
        self.q = self.solver.integrate(at, self.map @ goal)
        self.last = rng.uniform(-1e-3, 1e-3, len(dofs))
        self.limit.set_last_displacement(self.map @ self.last)
        self.J = [self.pinocchio.jacobian(self.q, link)[:3] @ self.map for link in self.links]

    def ask_for(self, wanted):
        """Set targets at displacements of the links [m], divided by the gain."""
        for objective, link, displacement in zip(
            self.objectives, self.links, wanted, strict=True
        ):
            position = self.pinocchio.pose(self.q, link)[0]
            objective.set_target_position(0, position + displacement / 0.8)

    def step(self, priorities, regularization=LAMBDA):
        """Return the step of the variables with these priorities."""
        for task, priority in zip(self.tasks, priorities, strict=True):
            task.priority = priority
        x = np.zeros(self.solver.group.n_variables)
        status = self.solver.solve_ik(self.q, self.tasks, [self.limit], (), x, regularization)
        assert status == SolveStatus.CONVERGED
        return x


kept = functools.cache(Scene)


def formula(scene, wanted, priorities, last):
    """Return the step by the formula of ``tasks.priorities``."""
    n = scene.map.shape[1]
    H, c, N, J_s = LAMBDA * np.eye(n), np.zeros(n), np.eye(n), np.zeros((0, n))
    for level in sorted(set(priorities)):
        own = [k for k, priority in enumerate(priorities) if priority == level]
        for k in own:
            P = scene.J[k] @ N
            H += WEIGHTS[k] ** 2 * P.T @ P
            c += WEIGHTS[k] ** 2 * P.T @ (wanted[k] - (scene.J[k] - P) @ last)
        J_s = np.vstack([J_s, *(scene.J[k] for k in own)])
        N = np.eye(n) - J_s.T @ np.linalg.solve(
            J_s @ J_s.T + LAMBDA * np.eye(len(J_s)), J_s
        )
    return np.linalg.solve(H, c)


@pytest.mark.parametrize('feedforward', [True, False])
@pytest.mark.parametrize('name', ROBOTS)
def test_it_is_the_formula(name, feedforward):
    scene, rng = kept(name, feedforward=feedforward), np.random.default_rng(4)
    for priorities in ORDERS:
        scene.draw(rng)
        wanted = rng.uniform(-1e-3, 1e-3, (3, 3))
        scene.ask_for(wanted)
        last = scene.last if feedforward else np.zeros_like(scene.last)
        expected = formula(scene, wanted, priorities, last)
        np.testing.assert_allclose(scene.step(priorities), expected, atol=1e-9)


@pytest.mark.parametrize('name', ROBOTS)
def test_a_step_that_all_tasks_ask_for_is_made_whatever_their_order(name):
    with_it, without = (kept(name, feedforward=flag) for flag in (True, False))
    worst = []
    for scene in (with_it, without):
        rng = np.random.default_rng(7)
        missed = []
        for priorities in ORDERS:
            scene.draw(rng)
            wanted = [J @ scene.last for J in scene.J]
            scene.ask_for(wanted)
            x = scene.step(priorities, 1e-10)
            missed.append(np.abs([J @ (x - scene.last) for J in scene.J]).max())
        worst.append(max(missed))
    # The steps are up to 1e-3 rad; what is left with it is of the regularization.
    assert worst[0] < 1e-6 and worst[1] > 1e-4


def test_it_needs_an_acceleration_limit_where_priorities_differ():
    scene = Scene('ur5_robot', feedforward=True)
    scene.draw(np.random.default_rng(1))
    scene.ask_for(np.zeros((3, 3)))
    x = np.zeros(scene.solver.group.n_variables)
    assert scene.solver.solve_ik(scene.q, scene.tasks, [VelocityLimit()], (), x).ok
    scene.tasks[0].priority = 2
    with pytest.raises(ArgumentError, match='level_feedforward needs an AccelerationLimit'):
        scene.solver.solve_ik(scene.q, scene.tasks, [VelocityLimit()], (), x)
    assert scene.step((2, 1, 1)).shape == x.shape


def test_a_flag_is_true_or_false():
    for value in ('yes', 2, None):
        with pytest.raises(ArgumentError, match='level_feedforward'):
            DifferentialIKSettings(level_feedforward=value)
