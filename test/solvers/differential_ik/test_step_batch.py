# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps of many robots, in parts on several threads, against one robot at a time."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.barriers import PositionBarrier
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

ROBOTS = {'panda': 'panda_hand_tcp', 'g1_29dof_with_hand_rev_1_0': 'left_wrist_yaw_link'}


class ManipulabilityAsRows(IKObjectiveManipulability):
    """An objective evaluated as residuals and Jacobian."""

    has_record = False


class Problem:
    """Robots in states of their own, with targets and postures of their own and one box."""

    def __init__(self, name, n, with_rows=False):
        self.model = load(next(path for path in ALL_URDFS if path.stem == name))
        self.tip, self.with_rows = self.model.body_index(ROBOTS[name]), with_rows
        rng = np.random.default_rng(n)
        self.q = self.model.random_joint_q(n, rng)
        quaternion = rng.normal(size=(n, 4))
        quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
        self.targets = np.hstack([rng.uniform(-0.5, 0.5, (n, 3)), quaternion])
        self.postures = self.model.random_joint_q(n, rng)

    def solve(self, rows, **options):
        """Return steps and statuses of some of the robots, solved together."""
        q = self.q[rows]
        diff = DifferentialIK(self.model, n_robots=len(q), **options)
        tasks = [
            Task(IKObjectivePose(self.tip, self.targets[rows], exact_jacobian=False), gain=0.3),
            Task(IKObjectiveJointPosition(self.model, self.postures[rows]), weight=0.1),
        ]
        if self.with_rows:
            tasks.append(Task(ManipulabilityAsRows(self.tip, 0.1), weight=0.01))
        limits = [PositionLimit(), VelocityLimit()]
        # Robots start on either side of its faces, so recoveries and conflicts are among them.
        box = PositionBarrier(self.tip, [-0.2, -0.2, -0.2], [0.2, 0.2, 0.2], gain=40.0)
        steps = np.zeros((len(q), self.model.joint_dof_count))
        status = diff.solve_ik(q, tasks, limits, [box], steps)
        return steps, status, diff._problems.last


@pytest.mark.parametrize('name', list(ROBOTS))
def test_parts_on_threads_equal_one_robot_at_a_time(name):
    n = 300
    problem = Problem(name, n)
    together, status, captured = problem.solve(np.arange(n), n_threads=2)
    assert len(captured._graphs[False]) == 8  # parts of at most 38 robots
    whole, same, one = problem.solve(np.arange(n), n_threads=1)
    assert len(one._graphs[False]) == 1
    np.testing.assert_array_equal(together, whole)
    np.testing.assert_array_equal(status, same)
    assert {SolveStatus.CONVERGED, SolveStatus.RELAXED} == set(status)
    for k in range(0, n, 58):
        alone, its, _ = problem.solve(np.array([k]))
        np.testing.assert_array_equal(together[k], alone[0])
        assert status[k] == its[0]


def test_tasks_that_come_as_rows_are_solved_in_one_part():
    problem = Problem('panda', 140, with_rows=True)
    together, _, captured = problem.solve(np.arange(140))
    assert len(captured._graphs[False]) == 1
    for k in (0, 139):
        alone, _, _ = problem.solve(np.array([k]))
        np.testing.assert_allclose(together[k], alone[0], atol=1e-12)


def test_a_robot_without_a_number_does_not_disturb_the_others():
    problem = Problem('panda', 150)
    good, _, _ = problem.solve(np.arange(150))
    problem.q[77, 2] = np.nan
    steps, status, _ = problem.solve(np.arange(150))
    assert status[77] == SolveStatus.NON_FINITE_INPUT
    np.testing.assert_array_equal(steps[77], 0.0)
    others = np.arange(150) != 77
    np.testing.assert_array_equal(steps[others], good[others])
