# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Residuals to which a task gives zero weight have no effect on a step."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load

from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

PANDA = next(path for path in ALL_URDFS if path.stem == 'panda')
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])


class Case:
    """A Panda with an objective, one row of which has no weight in its task."""

    def __init__(self, kind):
        self.model = load(PANDA)
        self.diff = DifferentialIK(self.model)
        tip = self.model.body_index('panda_hand_tcp')
        pose = self.diff.body_poses(HOME)[tip]
        near = pose + [0.02, 0.03, 0, 0, 0, 0, 0]
        self.weight = np.array([1.0, 1.0, 0.0])
        if kind == 'position':
            self.target = near[:3]
            self.objective = IKObjectivePosition(tip, np.zeros(3), self.target)
            self.set = self.objective.set_target_positions
        elif kind == 'center of mass':
            self.target = np.array([0.1, 0.0, 0.3])
            self.objective = IKObjectiveCenterOfMass(self.target)
            self.set = self.objective.set_target_positions
        elif kind == 'pose':
            self.target = near
            self.objective = IKObjectivePose(tip, near)
            self.set = self.objective.set_target_poses
            self.weight = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
        else:
            self.target = HOME + 0.1
            self.objective = IKObjectiveJointPosition(self.model, self.target)
            self.set = self.objective.set_target_positions
            self.weight = np.where(np.arange(9) == 2, 0.0, 1.0)

    def step(self, value, max_error, damping, priority):
        """Return the step with a target whose third entry is a value."""
        target = self.target.copy()
        target[2] = value
        if len(target) == 7 and not np.isfinite(value):
            target[3:] = value
        self.set(target[None])
        task = Task(
            self.objective, gain=0.5, weight=self.weight, max_error=max_error, damping=damping
        )
        rest = Task(
            IKObjectiveJointPosition(self.model, HOME), weight=0.01, priority=priority
        )
        step = np.zeros(9)
        status = self.diff.solve_ik(HOME, [task, rest], step)
        assert status == SolveStatus.CONVERGED
        return step


@pytest.mark.parametrize('priority', [1, 2])
@pytest.mark.parametrize('max_error', [None, 0.05])
@pytest.mark.parametrize('kind', ['position', 'center of mass', 'pose', 'posture'])
def test_a_residual_with_zero_weight_has_no_effect(kind, max_error, priority):
    """Neither its size, nor NaN, changes saturation, damping or the step."""
    case = Case(kind)
    expected = case.step(0.1, max_error, 0.01, priority)
    assert np.abs(expected).max() > 1e-3
    for value in (5.0, np.nan, np.inf):
        found = case.step(value, max_error, 0.01, priority)
        np.testing.assert_array_equal(found, expected)


def test_a_residual_with_weight_must_be_finite():
    case = Case('position')
    case.set(np.array([[np.nan, 0.0, 0.0]]))
    step = np.zeros(9)
    task = Task(case.objective, weight=case.weight, max_error=0.05)
    assert case.diff.solve_ik(HOME, [task], step) == SolveStatus.NON_FINITE_INPUT
