# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A state that limits exclude is reported as RELAXED, and left only towards the limits."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS
from support.solvers.followers import SLIDING

from ros_ik.limits import AccelerationLimit
from ros_ik.limits import MotionLimit
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

DT = 0.01
UR5 = next(path for path in ALL_URDFS if path.stem == 'ur5_robot')
# The state may be outside by 1e-6 before a step reports it.
NEAR, FAR = 5e-7, 2e-6


def posture_task(model, joint_q):
    return Task(IKObjectiveJointPosition(model, joint_q))


def bounded_variables(model, group):
    """Return (degree of freedom, coordinate) of variables between finite limits."""
    low, high, _, _ = model.limits64()
    q_start, dof_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    found = []
    for joint in range(model.joint_count):
        dof = dof_start[joint]
        one_each = dof_start[joint + 1] - dof == q_start[joint + 1] - q_start[joint] == 1
        if one_each and group.dof_variable[dof] >= 0 and np.isfinite([low[dof], high[dof]]).all():
            found.append((int(dof), int(q_start[joint])))
    return found


def random_state(model, bounded, rng):
    """Return random coordinates inside the limits of every joint."""
    joint_q = model.random_joint_q(1, rng)[0]
    low, high, _, _ = model.limits64()
    variable = model.joint_group('').dof_variable
    for dof, coord in bounded:
        if not low[dof] <= joint_q[coord] <= high[dof]:
            # PR2's mimic fingers mirror each other, but their limits do not: only 0 is left.
            joint_q[[c for d, c in bounded if variable[d] == variable[dof]]] = 0.0
    return joint_q


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_a_joint_outside_its_limits_moves_inward_only_and_says_so(path):
    model = load(path)
    rng = np.random.default_rng(1)
    bounded = bounded_variables(model, model.joint_group(''))
    if not bounded:
        pytest.skip('no joint between limits')
    diff = DifferentialIK(model, '', DifferentialIKSettings(dt=DT))
    low, high, _, _ = model.limits64()
    target = random_state(model, bounded, rng)
    tasks, limits = [posture_task(model, target)], [PositionLimit(), VelocityLimit()]
    step = np.zeros(model.joint_dof_count)
    for _ in range(5):
        dof, coord = bounded[rng.integers(len(bounded))]
        joint_q = random_state(model, bounded, rng)
        assert diff.solve_ik(joint_q, tasks, limits, step) is SolveStatus.CONVERGED
        below = rng.random() < 0.5
        for beyond, expected in (
            (FAR, SolveStatus.RELAXED), (NEAR, SolveStatus.CONVERGED),
            (0.3, SolveStatus.RELAXED), (0.0, SolveStatus.CONVERGED),
        ):  # fmt: skip
            joint_q[coord] = low[dof] - beyond if below else high[dof] + beyond
            tasks[0].objective.set_target_positions(joint_q)
            assert diff.solve_ik(joint_q, tasks, limits, step) is expected
            assert step[dof] == pytest.approx(0.0, abs=1e-12)
            tasks[0].objective.set_target_positions(target)
            assert diff.solve_ik(joint_q, tasks, limits, step) is expected
            assert step[dof] >= 0.0 if below else step[dof] <= 0.0


def test_a_locked_joint_may_be_outside():
    model = load(UR5)
    diff = DifferentialIK(model, ['shoulder_pan_joint'], DifferentialIKSettings(dt=DT))
    joint_q = model.neutral_joint_q()
    joint_q[3] = model.limits64()[1][3] + 0.5
    step = np.zeros(model.joint_dof_count)
    status = diff.solve_ik(joint_q, [posture_task(model, joint_q)], [PositionLimit()], step)
    assert status is SolveStatus.CONVERGED


@pytest.mark.parametrize('n_robots', [3, 300])
def test_in_a_batch_each_robot_has_its_status(n_robots):
    model = load(UR5)
    rng = np.random.default_rng(2)
    diff = DifferentialIK(model, '', DifferentialIKSettings(dt=DT), n_robots=n_robots, n_threads=2)
    joint_q = model.random_joint_q(n_robots, rng)
    outside = rng.random(n_robots) < 0.5
    outside[0] = True
    joint_q[outside, 2] = model.limits64()[1][2] + 0.1
    tasks = [posture_task(model, model.neutral_joint_q())]
    step = np.zeros((n_robots, model.joint_dof_count))
    for rows in (outside, np.zeros(n_robots, dtype=bool), outside):
        at = np.where(rows[:, None], joint_q, 0.1)
        status = diff.solve_ik(at, tasks, [PositionLimit()], step)
        np.testing.assert_array_equal(
            status, np.where(rows, SolveStatus.RELAXED, SolveStatus.CONVERGED)
        )


class MovingArm:
    """A UR5 under limits on position, velocity and acceleration that chases postures."""

    def __init__(self):
        self.model = load(UR5)
        self.diff = DifferentialIK(self.model, '', DifferentialIKSettings(dt=DT))
        dofs = self.model.joint_dof_count
        self.velocity = VelocityLimit(np.full(dofs, 1.0))
        self.acceleration = AccelerationLimit(np.full(dofs, 4.0))
        self.limits = [PositionLimit(), self.velocity, self.acceleration]
        self.tasks = [posture_task(self.model, self.model.neutral_joint_q())]
        self.joint_q = self.model.neutral_joint_q()
        self.step = np.zeros(dofs)

    def tick(self):
        self.acceleration.set_last_displacement(self.step)
        status = self.diff.solve_ik(self.joint_q, self.tasks, self.limits, self.step)
        self.joint_q = self.joint_q + self.step
        return status


def test_a_motion_within_its_limits_is_never_called_relaxed():
    arm = MovingArm()
    rng = np.random.default_rng(3)
    low, high, _, _ = arm.model.limits64()
    for _ in range(20):
        # Also beyond the limits: the arm brakes in front of them.
        arm.tasks[0].objective.set_target_positions(rng.uniform(1.3 * low, 1.3 * high))
        assert {arm.tick() for _ in range(60)} == {SolveStatus.CONVERGED}


def test_a_velocity_that_no_acceleration_allows_to_end_is_reported():
    arm = MovingArm()
    arm.tasks[0].objective.set_target_positions(arm.model.limits64()[1])
    for _ in range(50):
        assert arm.tick() is SolveStatus.CONVERGED
    assert arm.step.max() == pytest.approx(DT, rel=1e-9)
    arm.velocity.scale = 0.5
    assert arm.tick() is SolveStatus.RELAXED
    assert arm.step.max() == pytest.approx(0.5 * DT, rel=1e-9)  # the velocity limit comes first
    assert arm.tick() is SolveStatus.CONVERGED


def test_a_state_too_fast_to_stop_before_its_limit_is_reported():
    arm = MovingArm()
    high = arm.model.limits64()[1]
    arm.joint_q = high - 0.001
    arm.step[:] = DT
    arm.tasks[0].objective.set_target_positions(high)
    assert arm.tick() is SolveStatus.RELAXED
    assert np.all(arm.joint_q <= high)


def motion_limit(model):
    velocity = model.limits64()[2]
    return MotionLimit(velocity, 4.0 * velocity, np.full_like(velocity, np.inf))


@pytest.mark.parametrize(
    'make',
    [
        lambda model: [PositionLimit(), VelocityLimit()],
        lambda model: [PositionLimit(), VelocityLimit(), AccelerationLimit(4.0 * np.ones(2))],
        lambda model: [motion_limit(model)],
    ],
    ids=['position', 'acceleration', 'motion'],
)
def test_limits_of_a_mimic_joint_that_exclude_every_position_of_its_driver_have_no_effect(make):
    """The driver had moved towards the range of its follower alone, and past its target."""
    model = Model.from_urdf(SLIDING.format(lower=5.0), device='cpu')
    limits, driver = make(model), model.joint_q_start.numpy()[model.joint_index('driver')]
    solver = DifferentialIK(model, ['driver'], settings=DifferentialIKSettings(dt=DT))
    joint_q, step = np.zeros(2), np.zeros(2)
    target = IKObjectivePosition(model.body_index('a'), np.zeros(3), np.zeros(3))
    # One list and one task: the solver records its kernels for the objects that it is given.
    tasks = [Task(target, gain=0.2)]
    for wanted in (0.2, -0.2, 3.0, -3.0):
        target.set_target_position(0, (wanted, 0.0, 0.0))
        for _ in range(400):
            for limit in limits:
                if isinstance(limit, AccelerationLimit):
                    limit.set_last_displacement(step)
                elif isinstance(limit, MotionLimit):
                    limit.set_last_displacements(step, step)
            status = solver.solve_ik(joint_q, tasks, limits, (), step)
            assert status is SolveStatus.CONVERGED
            joint_q = solver.integrate(joint_q, step)
        assert abs(joint_q[driver] - np.clip(wanted, -1.0, 1.0)) < 0.02
