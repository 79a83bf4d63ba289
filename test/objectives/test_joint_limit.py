# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The joint limit objective, on models whose coordinates are not their degrees of freedom too."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.model import JointType
from ros_ik.objectives import IKObjectiveJointLimit


def joint_values(model, joint_q):
    """Coordinate of each degree of freedom, NaN for those of quaternion joints."""
    values = np.full((len(joint_q), model.joint_dof_count), np.nan)
    q_start, qd_start = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    for joint, kind in enumerate(model.joint_type.numpy()):
        if kind not in (JointType.BALL, JointType.FREE):
            for k in range(qd_start[joint + 1] - qd_start[joint]):
                values[:, qd_start[joint] + k] = joint_q[:, q_start[joint] + k]
    return values


def expected(model, joint_q, lower, upper, weight):
    values = joint_values(model, joint_q)
    violation = np.clip(values - upper, 0, None) + np.clip(lower - values, 0, None)
    return weight * np.where(np.isnan(values), 0.0, violation)


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name):
    rng = np.random.default_rng(1)
    model = rig.robot(name)
    dofs = model.joint_dof_count
    joint_q = model.random_joint_q(4, rng)
    lower, upper = rng.uniform(-0.6, 0.0, dofs), rng.uniform(0.0, 0.6, dofs)
    lower[::4], upper[1::4] = -np.inf, np.inf
    weight = rng.uniform(0.5, 2.0, dofs)
    objective = IKObjectiveJointLimit(lower, upper, weight)
    exact = expected(model, joint_q, lower, upper, weight)
    assert np.any(exact > 0) and np.any(exact == 0)
    got = rig.residuals(objective, model, joint_q, [2, 0, 1, 1])
    np.testing.assert_allclose(got, exact, atol=1e-14)
    single = rig.residuals(objective, model, joint_q, None, wp.float32)
    np.testing.assert_allclose(single, exact, atol=1e-6)
    rig.check_jacobians(objective, model, joint_q, double_tape=LONG)


def test_inside_the_limits_there_is_no_cost():
    model = rig.robot('talos floating')
    joint_q = model.random_joint_q(5, np.random.default_rng(2))
    objective = IKObjectiveJointLimit(model.joint_limit_lower, model.joint_limit_upper)
    # Limits of the model are rounded to float32.
    assert rig.residuals(objective, model, joint_q).max() < 1e-6
    inside = IKObjectiveJointLimit(*(k * np.ones(model.joint_dof_count) for k in (-9, 9)))
    assert not np.any(rig.analytic(inside, model, joint_q))


def test_warp_arrays_of_limits_are_read_where_they_are():
    model = rig.robot('ur5')
    joint_q = np.full((1, 6), 0.5)
    lower = wp.full(6, -1.0, dtype=wp.float32, device='cpu')
    upper = wp.full(6, 1.0, dtype=wp.float32, device='cpu')
    objective = IKObjectiveJointLimit(lower, upper)
    np.testing.assert_array_equal(objective.weight, 0.1)
    assert not np.any(rig.residuals(objective, model, joint_q))
    upper.fill_(0.25)
    np.testing.assert_allclose(rig.residuals(objective, model, joint_q), 0.025, atol=1e-15)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((np.zeros(3), np.zeros(2)), 'joint_limit_upper'),
        ((np.zeros((3, 2)), np.zeros((3, 2))), 'joint_limit_lower'),
        (((0, np.nan), (1, 1)), 'joint_limit_lower'),
        (((0, 2), (1, 1)), 'joint_limit_lower'),
        ((np.zeros(2), np.ones(2), -0.1), 'weight'),
        ((np.zeros(2), np.ones(2), (1, 1, 1)), 'weight'),
        ((np.zeros(2), np.ones(2), np.nan), 'weight'),
        ((wp.zeros(2, dtype=wp.int32, device='cpu'), np.ones(2)), 'joint_limit_lower'),
        ((wp.zeros(2, dtype=wp.float32, device='cpu'), np.ones(2)), 'one type'),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        IKObjectiveJointLimit(*arguments)


def test_limits_of_another_model():
    objective = IKObjectiveJointLimit(np.zeros(5), np.ones(5))
    with pytest.raises(ArgumentError, match='must have 6 values'):
        rig.set_up(objective, rig.robot('ur5'), 1)


@pytest.mark.parametrize('given', [list, lambda values: wp.array(values, dtype=wp.float64)])
def test_replaced_limits_keep_their_order(given):
    objective = IKObjectiveJointLimit([-1.0, -1.0], [1.0, 1.0])
    with wp.ScopedDevice('cpu'):
        for _ in range(2):
            with pytest.raises(ArgumentError, match=r'lower is above .* freedom \[1\]'):
                objective.joint_limit_lower = given([0.0, 9.0])
            with pytest.raises(ArgumentError, match=r'lower is above .* freedom \[0\]'):
                objective.joint_limit_upper = given([-9.0, 0.0])
            with pytest.raises(ArgumentError, match='joint_limit_upper'):
                objective.joint_limit_upper = given([1.0])
            np.testing.assert_array_equal(objective.joint_limit_lower.numpy(), -1.0)
            np.testing.assert_array_equal(objective.joint_limit_upper.numpy(), 1.0)
            objective.joint_limit_upper = given([9.0, 9.0])
            objective.joint_limit_lower = given([8.0, 8.0])
            objective.joint_limit_lower = given([-1.0, -1.0])
            objective.joint_limit_upper = given([1.0, 1.0])
            objective.bind_device('cpu')


def test_replaced_numbers_pass_to_another_device():
    """Like those given at first; the array of Warp stays where the caller has it."""
    objective = IKObjectiveJointLimit([-1.0, -1.0], [1.0, 1.0])
    objective.bind_device('cpu')
    objective.joint_limit_upper = [2.0, 2.0]
    assert objective._upper._buffer is not None
    objective.joint_limit_upper = wp.full(2, 3.0, dtype=wp.float64, device='cpu')
    objective.joint_limit_upper = [2.0, 2.0]
    assert objective._upper._buffer is not None
