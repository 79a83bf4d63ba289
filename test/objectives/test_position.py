# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The position objective: residuals from Pinocchio's poses, Jacobians in three ways, targets."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectivePosition

OFFSET = np.array([0.1, -0.2, 0.3])
WEIGHT = np.array([1.0, 2.0, 0.5])
PROBLEMS = [2, 0, 1, 1]


def expected(name, joint_q, targets, problems=PROBLEMS):
    """w (p_t - p) from an independent pose of the link."""
    poses = rig.link_poses(name, joint_q)
    points = np.array([p + R @ OFFSET for (p, R), _ in poses])
    return WEIGHT * (np.asarray(targets)[problems] - points)


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name):
    rng = np.random.default_rng(1)
    model, (link, _) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    targets = rng.normal(size=(3, 3))
    objective = IKObjectivePosition(link, wp.vec3(*OFFSET), targets, WEIGHT)
    exact = expected(name, joint_q, targets)
    # The offset went through a vec3 of float32.
    np.testing.assert_allclose(
        rig.residuals(objective, model, joint_q, PROBLEMS), exact, atol=1e-7
    )
    single = rig.residuals(objective, model, joint_q, PROBLEMS, wp.float32)
    np.testing.assert_allclose(single, exact, atol=1e-5)
    rig.check_jacobians(objective, model, joint_q, PROBLEMS, double_tape=LONG)


def test_targets_change_one_by_one_and_together():
    rng = np.random.default_rng(2)
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = model.random_joint_q(4, rng)
    targets = rng.normal(size=(3, 3))
    objective = IKObjectivePosition(link, OFFSET, np.zeros((3, 3)), WEIGHT)
    for k, target in enumerate(targets):
        objective.set_target_position(k, target)
    one_by_one = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(one_by_one, expected('panda', joint_q, targets), atol=1e-12)
    objective.set_target_positions(2 * targets)
    together = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(together, expected('panda', joint_q, 2 * targets), atol=1e-12)
    objective.set_target_positions(wp.array(3 * targets, dtype=wp.vec3d, device='cpu'))
    together = rig.residuals(objective, model, joint_q, PROBLEMS)
    np.testing.assert_allclose(together, expected('panda', joint_q, 3 * targets), atol=1e-12)


@pytest.mark.parametrize('dtype', [wp.vec3, wp.vec3d])
def test_a_warp_array_of_targets_is_read_where_it_is(dtype):
    rng = np.random.default_rng(3)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q = model.random_joint_q(4, rng)
    targets = rng.normal(size=(3, 3)).astype(np.float32)
    array = wp.zeros(3, dtype=dtype, device='cpu')
    objective = IKObjectivePosition(link, OFFSET, array, WEIGHT)
    array.assign(targets)
    for scalar, tolerance in ((wp.float64, 1e-12), (wp.float32, 1e-5)):
        got = rig.residuals(objective, model, joint_q, PROBLEMS, scalar)
        np.testing.assert_allclose(got, expected('ur5', joint_q, targets), atol=tolerance)
    objective.set_target_position(1, (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(array.numpy()[1], (1.0, 2.0, 3.0))
    objective.set_target_positions(wp.array(2 * targets, dtype=wp.vec3, device='cpu'))
    np.testing.assert_array_equal(array.numpy(), 2 * targets)
    objective.set_target_positions(targets)
    np.testing.assert_array_equal(array.numpy(), targets)
    np.testing.assert_array_equal(objective.target_positions.numpy(), targets)


def test_one_target_serves_every_problem():
    rng = np.random.default_rng(4)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q = model.random_joint_q(4, rng)
    objective = IKObjectivePosition(link, OFFSET, (1.0, 2.0, 3.0), WEIGHT)
    exact = expected('ur5', joint_q, [(1.0, 2.0, 3.0)], [0, 0, 0, 0])
    for problem_idx in (None, PROBLEMS):
        got = rig.residuals(objective, model, joint_q, problem_idx)
        np.testing.assert_allclose(got, exact, atol=1e-12)


def test_weights_change_between_solves():
    rng = np.random.default_rng(5)
    model, (link, _) = rig.robot('ur5'), rig.links('ur5')
    joint_q = model.random_joint_q(1, rng)
    objective = IKObjectivePosition(link, OFFSET, np.zeros(3), WEIGHT)
    before = rig.residuals(objective, model, joint_q)
    objective.weight = 3.0
    after = rig.residuals(objective, model, joint_q)
    np.testing.assert_allclose(after, before * 3.0 / WEIGHT, atol=1e-12)
    np.testing.assert_array_equal(objective.weight, [3.0, 3.0, 3.0])
    with pytest.raises(ArgumentError, match='weight'):
        objective.weight = -1.0


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((3, np.zeros(2), np.zeros(3)), 'link_offset'),
        ((3, (0, 0, np.nan), np.zeros(3)), 'link_offset'),
        ((3, np.zeros(3), np.zeros(4)), 'target_positions'),
        ((3, np.zeros(3), np.zeros((0, 3))), 'target_positions'),
        ((3, np.zeros(3), np.zeros((2, 2, 3))), 'target_positions'),
        ((3, np.zeros(3), (0, np.nan, 0)), 'target_positions'),
        ((3, np.zeros(3), 'here'), 'target_positions'),
        ((3, np.zeros(3), wp.zeros(2, dtype=wp.vec4, device='cpu')), 'target_positions'),
        ((3, np.zeros(3), wp.zeros((2, 3), dtype=wp.int32, device='cpu')), 'target_positions'),
        ((3, np.zeros(3), np.zeros(3), -1.0), 'weight'),
        ((3, np.zeros(3), np.zeros(3), np.nan), 'weight'),
        ((3, np.zeros(3), np.zeros(3), (1.0, 2.0)), 'weight'),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        IKObjectivePosition(*arguments)


@pytest.mark.parametrize('link', [-1, 99])
def test_unknown_links(link):
    objective = IKObjectivePosition(link, np.zeros(3), np.zeros(3))
    with pytest.raises(ArgumentError, match='link_index'):
        rig.set_up(objective, rig.robot('panda'), 1)


def test_bad_targets_later():
    array = wp.zeros(2, dtype=wp.vec3, device='cpu')
    for objective in (
        IKObjectivePosition(3, np.zeros(3), np.zeros((2, 3))),
        IKObjectivePosition(3, np.zeros(3), array),
    ):
        for problem, value in ((2, np.zeros(3)), (-1, np.zeros(3)), (0, np.zeros(2))):
            with pytest.raises(ArgumentError, match='target_positions'):
                objective.set_target_position(problem, value)
        for values in (
            np.zeros((3, 3)),
            np.zeros((2, 2)),
            wp.zeros(3, dtype=wp.vec3, device='cpu'),
            wp.zeros(2, dtype=wp.vec2, device='cpu'),
        ):
            with pytest.raises(ArgumentError, match='target_positions'):
                objective.set_target_positions(values)


def test_more_rows_than_targets():
    model = rig.robot('ur5')
    joint_q = model.random_joint_q(3, np.random.default_rng(0))
    objective = IKObjectivePosition(3, np.zeros(3), np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match='2 targets for a batch of 3'):
        rig.residuals(objective, model, joint_q)
