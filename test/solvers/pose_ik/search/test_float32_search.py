# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A search in float32, as of batches that more than fill a GPU, before that in float64."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.arms import reachable
from support.robots.robots import urdf_text

from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers.pose_ik.search import search
from ros_ik.solvers.pose_ik.search.lane_plan import LanePlan

N = 200
ARMS = (
    ('tiago', 'arm_tool_link'),
    *either((), (('panda', 'panda_hand_tcp'), ('ur5_robot', 'tool0'))),
)
TOLERANCES = ((1e-3, 1e-2), (1e-9, 1e-9))
# Three lanes, which pause three times.
PLAN = LanePlan(3, 61, 1, 77, 16, (8, 61, 77))
# Rounding of the errors.
ROUNDING = 1e-12


@pytest.fixture(scope='module', params=ARMS, ids=lambda arm: arm[0])
def arm(request):
    """Model of an arm, its tool, poses of which some are out of reach or not finite, and seeds."""
    name, link = request.param
    model = Model.from_urdf(urdf_text(name), device='cpu')
    poses, seeds = reachable(model, link, N, seed=5)
    poses[::20, 0] += 5.0
    poses[5] = np.nan
    return model, link, poses, seeds


def solver(monkeypatch, arm, tolerance, is_float32_first=True):
    """Make a solver of a few lanes that pause."""
    monkeypatch.setattr(search, 'lane_plan', lambda *_: PLAN)
    monkeypatch.setattr(search, 'is_worth_float32', lambda *_: is_float32_first)
    position, rotation = tolerance
    return ChainIK(
        *arm[:2], N, n_threads=1, position_tolerance=position, rotation_tolerance=rotation
    )


@pytest.mark.parametrize('tolerance', TOLERANCES, ids=str)
def test_solutions_are_within_the_tolerances(monkeypatch, arm, tolerance):
    model, link, poses, seeds = arm
    expected = solver(monkeypatch, arm, tolerance, is_float32_first=False).solve(poses, seeds)
    first = solver(monkeypatch, arm, tolerance)
    for _ in range(2):  # nothing of a run is left for the next one
        result = first.solve(poses, seeds)
        np.testing.assert_array_equal(result.status, expected.status)
        found = result.status == SolveStatus.CONVERGED
        assert found.sum() == N - 11
        # Without a solution in float32, the search in float64 begins at the seed.
        np.testing.assert_array_equal(result.joint_q[~found], expected.joint_q[~found])
        body_q = np.zeros((N, model.body_count, 7))
        eval_fk(model, result.joint_q, body_q)
        reached, wanted = body_q[found, model.body_index(link)], poses[found]
        apart = np.linalg.norm(reached[:, :3] - wanted[:, :3], axis=1)
        assert np.all(apart <= tolerance[0] + ROUNDING)
        # Unit quaternions at an angle a are 2 sin(a / 4) apart, and q and -q are the same.
        chords = [np.linalg.norm(reached[:, 3:] - s * wanted[:, 3:], axis=1) for s in (-1, 1)]
        angle = 4.0 * np.arcsin(0.5 * np.min(chords, axis=0))
        assert np.all(angle <= tolerance[1] + ROUNDING)


@pytest.mark.parametrize('tolerance', TOLERANCES, ids=str)
def test_few_iterations_in_float64_are_left(monkeypatch, arm, tolerance):
    first = solver(monkeypatch, arm, tolerance)
    found = first.solve(*arm[2:]).status == SolveStatus.CONVERGED
    found_at = first._found_at.numpy().reshape(N, 3)[found, 0]
    # The convergence is quadratic: 1e-4, below 1e-7, below 1e-9.
    # It is slower next to a singular configuration.
    assert np.mean(found_at <= (1 if tolerance is TOLERANCES[0] else 4)) > 0.9


def test_answers_do_not_depend_on_the_run(monkeypatch, arm):
    answers = [solver(monkeypatch, arm, TOLERANCES[0]).solve(*arm[2:]) for _ in range(2)]
    np.testing.assert_array_equal(answers[0].joint_q, answers[1].joint_q)
