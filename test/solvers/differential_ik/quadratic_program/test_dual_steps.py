# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps of two launches, as of batches that more than fill a GPU, are those of one launch."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.robots import urdf_text
import warp as wp

from ros_ik.barriers import PositionBarrier
from ros_ik.kinematics.runtime.kernel_launch import max_resident_threads
from ros_ik.kinematics.runtime.row_list import RowList
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task
from ros_ik.solvers.differential_ik import step_arrays
from ros_ik.solvers.differential_ik.quadratic_program import dual_fallback

TIP = 'panda_hand_tcp'
N = 120


@pytest.fixture(scope='module')
def panda():
    return Model.from_urdf(urdf_text('panda'), device='cpu')


def solve(monkeypatch, panda, *, lists, has_box, regularization):
    """Return steps, statuses, rounds and the problem of robots on either side of a box."""
    monkeypatch.setattr(
        step_arrays, 'list_of_failed', lambda n, device: RowList(n, device) if lists else None
    )
    rng = np.random.default_rng(4)
    joint_q = panda.random_joint_q(N, rng)
    joint_q[7, 2] = np.nan
    tip = panda.body_index(TIP)
    tasks = [Task(IKObjectivePosition(tip, np.zeros(3), rng.uniform(-0.5, 0.5, (N, 3))))]
    boxes = [PositionBarrier(tip, [-0.2] * 3, [0.2] * 3, gain=40.0)] if has_box else []
    solver = DifferentialIK(panda, f'panda_link0:{TIP}', n_robots=N, n_threads=1)
    step = np.zeros((N, panda.joint_dof_count))
    arguments = tasks, [VelocityLimit()], boxes, step, regularization
    for _ in range(2):  # nothing of the first solve is left in the list of the second
        status = solver.solve_ik(joint_q, *arguments)
        joint_q[8] = panda.neutral_joint_q()
    solved = solver._problems.last
    return (step, status, solved.rounds.copy(), solved._arrays.active_bound.numpy()), solved


# Rows that conflict with the limits; a Hessian of rank 3.
@pytest.mark.parametrize(('has_box', 'regularization'), [(True, 1e-6), (False, 0.0)])
def test_two_launches_give_the_answers_of_one(monkeypatch, panda, has_box, regularization):
    options = {'has_box': has_box, 'regularization': regularization}
    expected, _ = solve(monkeypatch, panda, lists=False, **options)
    found, solved = solve(monkeypatch, panda, lists=True, **options)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    _, status, rounds, _ = found
    failed = np.flatnonzero(rounds < 0)
    assert 3 < len(failed) < N
    assert status[7] == SolveStatus.NON_FINITE_INPUT and rounds[7] == 0
    listed = solved._scratch[0].failed.rows
    assert listed.ends.numpy()[-1] == len(failed)
    np.testing.assert_array_equal(listed.row.numpy()[: len(failed)], failed)


def test_only_batches_that_more_than_fill_a_gpu_are_listed(monkeypatch):
    card = SimpleNamespace(is_cuda=True, sm_count=2)
    monkeypatch.setattr(wp, 'get_device', lambda device: card)
    monkeypatch.setattr(wp, 'is_mempool_enabled', lambda device: True)
    monkeypatch.setattr(dual_fallback, 'RowList', lambda n, device: n)
    most = max_resident_threads(card)
    assert dual_fallback.list_of_failed(most, card) is None
    assert dual_fallback.list_of_failed(most + 1, card) == most + 1
