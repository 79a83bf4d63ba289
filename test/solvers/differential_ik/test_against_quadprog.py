# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Control steps of every robot, against programs from Pinocchio solved by quadprog."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.robots import ALL_URDFS
from support.robots.robots import IDS
from support.robots.robots import load
from support.robots.robots import pin
from support.robots.robots import PinocchioRobot
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS
from support.robots.urdf_limits import variable_matrix

from ros_ik.barriers import PositionBarrier
from ros_ik.errors import ArgumentError
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT = 0.01
POSTURE_WEIGHT = 0.1
GAIN = 0.4


def deepest_link(model):
    """Return the link behind the most joints; among equals the last."""
    parents = model.joint_parent.numpy()
    child = model.joint_child.numpy()
    movable = np.diff(model.joint_qd_start.numpy()) > 0
    depth = {-1: 0}
    for joint in range(model.joint_count):  # parents first
        depth[int(child[joint])] = depth[int(parents[joint])] + int(movable[joint])
    return max(range(model.body_count), key=lambda body: (depth[body], body))


def random_unit_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


class Step:
    """Random steps of one robot: frame and posture task, limits, a box.

    With a lead the barrier acts ahead by it [s], after random previous steps.
    """

    def __init__(self, path, seed, lead=0.0):
        self.path, self.lead = path, lead
        self.model = load(path)
        self.rng = np.random.default_rng(seed)
        self.link = deepest_link(self.model)
        settings = DifferentialIKSettings(dt=DT, barrier_lead=lead)
        self.diff = DifferentialIK(self.model, '', settings)
        self.frame = IKObjectivePose(
            self.link, np.array([0, 0, 0, 0, 0, 0, 1.0]), exact_jacobian=False
        )
        self.posture = IKObjectiveJointPosition(self.model, np.zeros(self.model.joint_coord_count))
        self.tasks = [Task(self.frame, gain=GAIN), Task(self.posture, weight=POSTURE_WEIGHT)]
        self.limits = [PositionLimit(), VelocityLimit()]
        # It knows the previous step, and is too wide to matter.
        self.acceleration = AccelerationLimit(np.full(self.model.joint_dof_count, 1e6))
        if lead:
            self.limits.append(self.acceleration)
        self.last = np.zeros(self.diff.group.n_variables)
        self.barrier = PositionBarrier(
            self.link, [-np.inf, -50.0, -50.0], [50.0, 50.0, np.inf], gain=2.0, margin=0.01,
            safe_displacement_gain=0.3,
        )  # fmt: skip

    def draw(self):
        self.joint_q = self.model.random_joint_q(1, self.rng)[0]
        self.target = np.concatenate(
            [self.rng.uniform(-1, 1, 3), random_unit_quaternion(self.rng)]
        )
        self.target_q = self.model.random_joint_q(1, self.rng)[0]
        self.frame.set_target_pose(0, self.target)
        self.posture.set_target_positions(self.target_q)
        if self.lead:
            fold = self.reduction()
            speed = np.minimum(self.model.limits64()[2], 1.0) @ np.abs(fold)
            self.last = DT * speed * self.rng.uniform(-1.0, 1.0, len(speed))
            self.acceleration.set_last_displacement(fold @ self.last)

    def reduction(self):
        """Matrix from the variables of the group to all degrees of freedom."""
        return variable_matrix(self.path_text(), self.model, self.diff.group)

    def expected(self):
        """Solve the same program with quadprog, from Pinocchio's kinematics."""
        qpsolvers = pytest.importorskip('qpsolvers', reason='qpsolvers is not installed')
        oracle = PinocchioRobot(self.path_text(), self.model)
        label = self.model.body_label[self.link]
        position, rotation = oracle.pose(self.joint_q, label)
        target_rotation = pin.Quaternion(self.target[3:]).toRotationMatrix()
        error = GAIN * np.concatenate([
            self.target[:3] - position, pin.log3(target_rotation @ rotation.T)
        ])  # fmt: skip
        fold = self.reduction()
        jacobian = oracle.jacobian(self.joint_q, label) @ fold
        posture = self.target_q - self.joint_q
        hessian = jacobian.T @ jacobian + POSTURE_WEIGHT**2 * fold.T @ fold
        gradient = -jacobian.T @ error - POSTURE_WEIGHT**2 * fold.T @ posture
        hessian += 1e-12 * np.eye(len(gradient))
        slopes = np.array([-jacobian[0], jacobian[1], -jacobian[1], jacobian[2]])
        h = (
            np.array([50 - position[0], position[1] + 50, 50 - position[1], position[2] + 50])
            - 0.01
        )
        hessian += 0.3 / max(np.sum(slopes**2), 1e-300) * np.eye(len(gradient))
        # The velocity plus the lead times the acceleration has the bound.
        ahead = (1.0 + self.lead / DT) * -slopes / DT
        bound = 2.0 * h / (1 + h) - self.lead / DT * slopes @ self.last / DT
        return qpsolvers.solve_qp(
            hessian, gradient, ahead, bound, *self.box(fold), solver='quadprog'
        )

    def box(self, fold):
        """Equality part (none) and bounds of the variables."""
        low, high, speed, _ = self.model.limits64()
        step_low = np.maximum(-np.maximum(self.joint_q - low, 0), -speed * DT)
        step_high = np.minimum(np.maximum(high - self.joint_q, 0), speed * DT)
        lower, upper = np.full(fold.shape[1], -np.inf), np.full(fold.shape[1], np.inf)
        for dof, variable in np.argwhere(fold != 0):
            ends = np.sort(
                [step_low[dof] / fold[dof, variable], step_high[dof] / fold[dof, variable]]
            )
            lower[variable] = max(lower[variable], ends[0])
            upper[variable] = min(upper[variable], ends[1])
        return None, None, lower, upper

    def expected_status(self):
        """Status at coordinates of which mimic joints alone can leave their limits."""
        low, high, _, _ = self.model.limits64()
        inside = (low - 1e-6 <= self.joint_q) & (self.joint_q <= high + 1e-6)
        return SolveStatus.CONVERGED if inside.all() else SolveStatus.RELAXED

    def path_text(self):
        return self.path.read_text()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ('path', 'lead'),
    [(path, 0.0) for path in ALL_URDFS] + [(path, 0.1) for path in SOME_URDFS],
    ids=[*IDS, *(f'{name} ahead' for name in SOME_IDS)],
)
def test_step_equals_pinocchio_and_quadprog(path, lead):
    if not load(path).joint_dof_count:
        with pytest.raises(ArgumentError, match='no movable joint'):
            DifferentialIK(load(path))
        return
    step = Step(path, seed=len(path.name), lead=lead)
    if step.diff.group.n_variables != step.model.joint_dof_count - len(step.model.mimic_driver):
        pytest.fail('the whole robot must be the group')
    delta_q = np.zeros(step.model.joint_dof_count)
    for _ in range(either(1, 3)):
        step.draw()
        status = step.diff.solve_ik(step.joint_q, step.tasks, step.limits, [step.barrier], delta_q)
        assert status is step.expected_status()
        expected = step.reduction() @ step.expected()
        # Some robots have zero velocity limits, so the step is zero: no scale to compare with.
        scale = max(np.abs(expected).max(), 1e-9)
        assert np.abs(delta_q - expected).max() <= 1e-5 * scale
