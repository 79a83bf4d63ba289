# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The joint task, blended with the damping of changes of a step."""

import math

import numpy as np
import pytest
from support.robots.robots import urdf_text

from ros_ik.model import Model
from ros_ik.servo.step.joint_task import JointTask
from ros_ik.solvers import DifferentialIK


@pytest.fixture(scope='module')
def model():
    return Model.from_urdf(urdf_text('ur5_robot'), device='cpu')


def least_cost(terms):
    """Return the step that minimises the sum of w^2 |dq - d|^2 over pairs (w^2, d)."""
    return sum(weight * step for weight, step in terms) / sum(weight for weight, _ in terms)


def step_of(model, joints, joint_q):
    """Return the step of the joint task alone."""
    step = np.zeros(model.joint_dof_count)
    DifferentialIK(model, '').solve_ik(joint_q, [joints.task], step)
    return step


@pytest.mark.parametrize('square', [0.0, 1e-4, 0.03, 0.25, 7.0])
def test_the_step_has_the_least_cost_of_both_terms(model, square):
    rng = np.random.default_rng(0)
    q, target, last = rng.normal(size=(3, 6)) * [[1.0], [1.0], [1e-3]]
    joints = JointTask(model)
    joints.set_weight(0.05, 0.02)
    joints.set_target(target)
    joints.damp_change(square, q, last)
    rounded = 2.0 ** (math.floor(math.log2(square)) + 1) if square else 0.0
    expected = least_cost([(0.05**2, 0.02 * (target - q)), (rounded, last)])
    np.testing.assert_allclose(step_of(model, joints, q), expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize('end', ['no damping', 'another weight'])
def test_afterwards_the_target_counts_alone(model, end):
    rng = np.random.default_rng(1)
    q, target = rng.normal(size=(2, 6))
    joints = JointTask(model)
    joints.set_weight(0.05, 0.02)
    joints.set_target(target)
    joints.damp_change(0.1, q, np.full(6, 1e-3))
    if end == 'another weight':
        joints.set_weight(0.5, 0.02)
    joints.damp_change(0.0, q, np.full(6, 1e-3))
    np.testing.assert_allclose(step_of(model, joints, q), 0.02 * (target - q), rtol=1e-7)
