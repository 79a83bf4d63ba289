# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Elimination in the order of the kinematic tree, against a dense solver."""

import numpy as np
import pytest
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.solvers.least_squares.bounded_step import bounded_step_functions
from ros_ik.solvers.least_squares.bounded_step import make_step_workspace
from ros_ik.solvers.least_squares.bounded_step import step_workspace_struct
from ros_ik.solvers.least_squares.envelope import elimination


@pytest.mark.parametrize('name', ['talos_full_v2', 'tiago', 'panda'])
def test_the_envelope_solves_what_a_dense_solver_does(name):
    (path,) = (path for path in ALL_URDFS if path.stem == name)
    model = load(path)
    rng = np.random.default_rng(2)
    n = model.joint_dof_count
    start, ancestor = model.joint_qd_start.numpy(), model.joint_ancestor.numpy()
    dof_parent = np.full(n, -1)
    for joint in range(model.joint_count):
        above = ancestor[joint]
        while above >= 0 and start[above] == start[above + 1]:
            above = ancestor[above]
        for dof in range(start[joint], start[joint + 1]):
            dof_parent[dof] = start[above + 1] - 1 if above >= 0 else -1
    coupled = np.zeros((n, n), dtype=bool)
    H = np.zeros((n, n))
    for leaf in range(n):
        chain = [leaf]
        while dof_parent[chain[-1]] >= 0:
            chain.append(dof_parent[chain[-1]])
        J = rng.normal(size=(6, len(chain)))
        H[np.ix_(chain, chain)] += J.T @ J
        coupled[np.ix_(chain, chain)] = True
    order = elimination(coupled, dof_parent)
    assert sorted(order.order.tolist()) == list(range(n))
    places = np.arange(n)
    assert np.sum(places - order.first) < np.sum(places)  # it does save work
    work = make_step_workspace(1, n, order, 'cpu')
    g = rng.normal(size=n)
    work.hessian.assign(H[None])
    work.gradient.assign(g[None])
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    work.low.assign(low[None])
    work.high.assign(high[None])
    wp.launch(_step_kernel(), dim=1, inputs=[work, 0.1], device='cpu')
    exact = np.linalg.solve(H + 0.1 * np.eye(n), -g)
    np.testing.assert_allclose(work.step.numpy()[0], exact, atol=1e-9)


def _step_kernel():
    bounded_step = bounded_step_functions().bounded_step
    Work = step_workspace_struct()

    @wp.kernel(enable_backward=False, module='unique')
    def take(work: Work, damping: wp.float64):
        bounded_step(work, wp.tid(), damping)

    return take
