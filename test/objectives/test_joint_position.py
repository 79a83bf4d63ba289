# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The joint position objective."""

import numpy as np
from objectives import rig
from objectives.test_joint_limit import joint_values
import pytest
from support.long_forms import LONG
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import IKSolver
from ros_ik.solvers import Task

PROBLEMS = [2, 0, 1, 1]


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name):
    rng = np.random.default_rng(1)
    model = rig.robot(name)
    joint_q, targets = model.random_joint_q(4, rng), model.random_joint_q(3, rng)
    weight = rng.uniform(0.5, 2.0, model.joint_dof_count)
    objective = IKObjectiveJointPosition(model, targets, weight=weight)
    error = joint_values(model, targets[PROBLEMS]) - joint_values(model, joint_q)
    exact = weight * np.nan_to_num(error)
    got = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(got, exact, atol=1e-14)
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=2e-6)
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)
    objective.set_target_positions(joint_q[:3])
    np.testing.assert_array_equal(objective.target_positions(), joint_q[:3])
    assert not np.any(rig.residuals(objective, model, joint_q[:3]))


def test_bad_arguments():
    model = rig.robot('ur5')
    for targets, weight, message in (
        (np.zeros(5), 1.0, 'target_positions'),
        (np.zeros((0, 6)), 1.0, 'target_positions'),
        (np.full(6, np.nan), 1.0, 'target_positions'),
        (np.zeros(6), np.ones(5), 'weight'),
        (np.zeros(6), -1.0, 'weight'),
        (np.zeros(6), np.nan, 'weight'),
    ):
        with pytest.raises(ArgumentError, match=message):
            IKObjectiveJointPosition(model, targets, weight=weight)
    with pytest.raises(ArgumentError, match='target_positions'):
        IKObjectiveJointPosition(model, np.zeros(6)).set_target_positions(np.zeros((2, 6)))


@pytest.mark.parametrize(('other', 'own'), [('panda', 'ur5'), ('ur5', 'panda')])
def test_targets_of_other_joints_are_refused(other, own):
    """The first joints had gone to them, or NumPy had raised an IndexError."""
    objective = IKObjectiveJointPosition(rig.robot(other), rig.robot(other).neutral_joint_q())
    model = rig.robot(own)
    step, words = np.zeros(model.joint_dof_count), 'target_positions are for a model of'
    with pytest.raises(ArgumentError, match=rf'tasks\[0\] .* {words}'):
        DifferentialIK(model).solve_ik(model.neutral_joint_q(), [Task(objective)], step)
    with pytest.raises(ArgumentError, match=words):
        IKSolver(model, 1, [objective])
