# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets beyond the reach: said of every one that is far away, and of none that is reached."""

import numpy as np
import pytest
from support.robots.robots import load
from support.robots.robots import SOME_IDS
from support.robots.robots import SOME_URDFS
from support.solvers.ik_problems import panda
from support.solvers.ik_problems import to_warp

from ros_ik import eval_fk
from ros_ik import IKObjectivePose
from ros_ik import IKObjectivePosition
from ros_ik import IKSolver
from ros_ik import SolveStatus
from ros_ik.errors import ArgumentError

N = 1000
OFFSET = np.array([0.1, -0.2, 0.05])


def link_points(model, link, joint_q):
    """Return the positions of the offset point of a link, [n, 3]."""
    body_q = np.zeros((len(joint_q), model.body_count, 7))
    eval_fk(model, joint_q, body_q)
    p, q = body_q[:, link, :3], body_q[:, link, 3:]
    across = 2.0 * np.cross(q[:, :3], OFFSET)
    return p + OFFSET + q[:, 3:] * across + np.cross(q[:, :3], across)


def solver_of(model, objective, **options):
    count = len(objective.target_positions)
    return IKSolver(model, count, [objective], jacobian_mode='analytic', **options)


def judged(solver):
    """Return which problems are beyond the reach, whatever a search would say of them."""
    solver.status.fill_(int(SolveStatus.ITERATION_LIMIT))
    solver._mark_beyond_reach()
    status = solver.status.numpy()
    assert np.all(np.isin(status, [SolveStatus.ITERATION_LIMIT, SolveStatus.UNREACHABLE]))
    return status == SolveStatus.UNREACHABLE


@pytest.mark.parametrize('path', SOME_URDFS, ids=SOME_IDS)
def test_no_pose_of_a_configuration_is_beyond_the_reach(path):
    model = load(path)
    rng = np.random.default_rng(0)
    joint_q = model.random_joint_q(N, rng)
    parents = set(model.joint_parent.numpy().tolist())
    tips = [body for body in range(model.body_count) if body not in parents][:4]
    for tip in tips:
        points = link_points(model, tip, joint_q)
        try:
            objective = IKObjectivePosition(tip, OFFSET, points)
            solver = solver_of(model, objective)
        except ArgumentError as error:
            assert 'moves' in str(error)  # the tip never does
            continue
        assert not judged(solver).any()
        # No link is 200 m long, but some slides have no limits.
        away = rng.normal(size=(N, 3))
        away *= 1000.0 / np.linalg.norm(away, axis=1)[:, None]
        objective.set_target_positions(away)
        beyond = judged(solver)
        assert beyond.all() or not beyond.any()


@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
@pytest.mark.parametrize('distance', [1.5, 5.0, 500.0])
def test_a_target_beyond_the_reach_is_unreachable_at_once(optimizer, distance):
    model = panda()
    link, rng = model.body_index('panda_hand_tcp'), np.random.default_rng(1)
    targets = rng.normal(size=(50, 3))
    targets *= distance / np.linalg.norm(targets, axis=1)[:, None]
    solver = IKSolver(
        model, 50, [IKObjectivePosition(link, np.zeros(3), targets + [0.0, 0.0, 0.333])],
        jacobian_mode='analytic', optimizer=optimizer,
    )  # fmt: skip
    joint_q = to_warp(np.tile(model.neutral_joint_q(), (50, 1)))
    solver.step(joint_q, joint_q, iterations=2)
    known = [SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS]
    assert np.all(np.isin(solver.status.numpy(), known))


def test_a_residual_that_is_tolerated_is_no_reason():
    model = panda()
    link, target = model.body_index('panda_hand_tcp'), np.array([[5.0, 0.0, 0.0]])
    objective = IKObjectivePosition(link, OFFSET, target)
    assert judged(solver_of(model, objective)).all()
    assert not judged(solver_of(model, objective, cost_tolerance=30.0)).any()
    pose = np.array([[5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    for weight, beyond in ((1.0, True), ([1.0, 1.0, 0.0], False), (1e-4, False)):
        objective = IKObjectivePose(link, pose, position_weight=weight)
        assert judged(IKSolver(model, 1, [objective])).all() == beyond
    relative = IKObjectivePose(link, pose, reference_link_index=model.body_index('panda_link1'))
    assert not judged(IKSolver(model, 1, [relative])).any()


class Far(IKObjectivePosition):
    """Residuals of the user's own, which say nothing of the position."""

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx):
        residuals.zero_()


def test_residuals_of_ones_own_are_no_position():
    model = panda()
    objective = Far(model.body_index('panda_hand_tcp'), np.zeros(3), np.array([[9.0, 0.0, 0.0]]))
    assert not judged(IKSolver(model, 1, [objective], jacobian_mode='analytic')).any()


def test_replaced_targets_and_offsets_are_judged():
    model = panda()
    link, near = model.body_index('panda_hand_tcp'), np.array([[0.4, 0.0, 0.4]])
    objective = IKObjectivePosition(link, np.zeros(3), near)
    solver = IKSolver(model, 1, [objective])
    assert not judged(solver).any()
    objective.target_positions = np.array([[0.4, 0.0, 4.0]])
    assert judged(solver).all()
    objective.link_offset = [0.0, 0.0, 4.0]
    assert not judged(solver).any()
