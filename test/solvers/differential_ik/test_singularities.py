# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Passes through wrist, elbow and shoulder singularities: bounded joint speed, no halt."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.kinematics import eval_jacobian
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task

DT, GAIN, ACCELERATION = 0.01, 0.3, 10.0
# Levenberg damping c bounds the step: sigma e / (sigma^2 + c e^2) <= 1 / (2 sqrt(c)).
DAMPING = 25.0
ROBOTS = {
    'ur5_robot': ('base_link', 'ee_link'),
    'panda': ('panda_link0', 'panda_hand_tcp'),
}
# Singular configurations, by joint of the chain.
SINGULAR = {
    ('ur5_robot', 'wrist'): [0.3, -1.2, 1.4, -1.0, 0.0, 0.4],
    ('ur5_robot', 'elbow'): [0.3, -1.2, 0.0, -0.6, 0.8, 0.4],
    ('ur5_robot', 'shoulder'): [0.3, -2.26209, 1.19087, -1.0, 0.8, 0.4],
    ('panda', 'wrist'): [1.129, 0.467, 1.064, -1.441, -1.5708, 3.395, 0.143],
    ('panda', 'elbow'): [0.657, 1.354, -0.411, -0.467, 0.0, 1.192, 0.684],
    ('panda', 'shoulder'): [0.475, 0.0, 1.540, -2.972, 2.010, 1.341, -2.697],
}
CASES = sorted(SINGULAR)


class Pass:
    """A joint path across a singular configuration; the arm is told the poses only."""

    def __init__(self, name, place, *, limited, damping=DAMPING):
        (path,) = (path for path in ALL_URDFS if path.stem == name)
        base, tip = ROBOTS[name]
        self.model, self.tip = load(path), load(path).body_index(tip)
        settings = DifferentialIKSettings(dt=DT)
        self.diff = DifferentialIK(self.model, f'{base}:{tip}', settings)
        self.dofs = self.diff.group.variable_dof
        self.coords = self.dofs - (self.model.joint_dof_count - self.model.joint_coord_count)
        assert self.model.joint_dof_count == self.model.joint_coord_count
        rng = np.random.default_rng(8)
        center = np.array(SINGULAR[name, place])
        low, high, self.speed, _ = self.model.limits64()
        room = np.minimum(center - low[self.dofs], high[self.dofs] - center)
        along = rng.choice([-1.0, 1.0], len(center)) * np.minimum(0.3, 0.9 * room)
        # Smooth in time, at rest at both ends, then a second of rest.
        phase = np.concatenate([np.linspace(0.0, np.pi, 301), np.full(200, np.pi)])
        self.path = center - np.cos(phase)[:, None] * along
        self.singular = center
        start = self.whole(self.path[0])
        self.objective = IKObjectivePose(self.tip, self.pose(start))
        self.tasks = [Task(self.objective, gain=GAIN, damping=damping)]
        self.acceleration = None
        self.limits = [PositionLimit()]
        if limited:
            limit = np.full(self.model.joint_dof_count, ACCELERATION)
            self.acceleration = AccelerationLimit(limit)
            self.limits += [VelocityLimit(), self.acceleration]

    def whole(self, q):
        """Return coordinates of the whole robot."""
        joint_q = self.model.neutral_joint_q()
        joint_q[self.coords] = q
        return joint_q

    def pose(self, joint_q):
        return self.diff.body_poses(joint_q)[self.tip]

    def run(self):
        """Return statuses, steps of the chain [k, n] and errors of the tip [k, 2], m and rad."""
        joint_q, statuses, steps, errors = self.whole(self.path[0]), [], [], []
        step = np.zeros(self.model.joint_dof_count)
        for q in self.path[1:]:
            self.objective.set_target_pose(0, self.pose(self.whole(q)))
            statuses.append(self.diff.solve_ik(joint_q, self.tasks, self.limits, delta_q=step))
            if self.acceleration is not None:
                self.acceleration.set_last_displacement(step)
            joint_q = self.diff.integrate(joint_q, step)
            steps.append(step[self.dofs].copy())
            residuals = self.diff.task_errors(joint_q, self.tasks)[0]
            errors.append([np.linalg.norm(residuals[:3]), np.linalg.norm(residuals[3:])])
        return statuses, np.array(steps), np.array(errors)


def least_singular_value(model, tip, dofs, joint_q):
    jacobian = np.zeros((1, 6, model.joint_dof_count))
    eval_jacobian(model, joint_q[None], tip, jacobian)
    return np.linalg.svd(jacobian[0][:, dofs], compute_uv=False)[-1]


@pytest.mark.parametrize(('name', 'place'), CASES)
def test_the_configurations_are_singular(name, place):
    at = Pass(name, place, limited=False)
    values = [
        least_singular_value(at.model, at.tip, at.dofs, at.whole(q))
        for q in (at.singular, at.path[0])
    ]
    assert values[0] < 2e-3
    assert values[1] > 1e-2


@pytest.mark.parametrize(('name', 'place'), CASES)
def test_a_pass_inside_limits_neither_halts_nor_jumps(name, place):
    at = Pass(name, place, limited=True)
    statuses, steps, errors = at.run()
    assert all(status.ok for status in statuses)
    assert np.all(np.abs(steps) <= at.speed[at.dofs] * DT + 1e-12)
    change = np.diff(steps, axis=0, prepend=0.0)
    assert np.all(np.abs(change) <= ACCELERATION * DT**2 + 1e-12)
    assert errors[-1, 0] < 1e-4
    assert errors[-1, 1] < 1e-3


@pytest.mark.parametrize(('name', 'place'), CASES)
def test_damping_alone_bounds_the_step(name, place):
    """The bound holds for the joints together, whatever the error."""
    at = Pass(name, place, limited=False)
    statuses, steps, errors = at.run()
    assert all(status.ok for status in statuses)
    assert np.all(np.linalg.norm(steps, axis=1) <= 0.5 / np.sqrt(DAMPING) + 1e-9)
    assert errors[-1, 0] < 1e-4


@pytest.mark.parametrize('factor', [1e-6, 1e-3, 1.0, 1e3])
def test_the_bound_does_not_depend_on_the_error(factor):
    """At the singularity itself, towards the direction that is lost."""
    at = Pass('ur5_robot', 'wrist', limited=False)
    q = at.singular.copy()
    for offset in (0.0, 1e-9, 1e-6, 1e-3, 1e-2):
        q[4] = offset
        joint_q = at.whole(q)
        pose = at.pose(joint_q)
        pose[:3] += factor * np.array([0.3, -0.7, 0.2])
        at.objective.set_target_pose(0, pose)
        step = np.zeros(at.model.joint_dof_count)
        assert at.diff.solve_ik(joint_q, at.tasks, delta_q=step).ok
        assert np.linalg.norm(step) <= 0.5 / np.sqrt(DAMPING)


def test_without_damping_the_step_is_not_bounded():
    """Shows that the passes above are demanding."""
    at = Pass('ur5_robot', 'wrist', limited=False, damping=0.0)
    _, steps, _ = at.run()
    assert np.linalg.norm(steps, axis=1).max() > 0.5 / np.sqrt(DAMPING)
