# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""AT_LIMITS or UNREACHABLE: one rule, and every solver that follows it."""

import itertools

import numpy as np
import pytest
import warp as wp

from ros_ik.model import Model
from ros_ik.objectives import IKObjectivePosition
from ros_ik.solvers.batch_ik.solver import IKSolver
from ros_ik.solvers.chain.ik_chain import IkChain
from ros_ik.solvers.chain.solvers import DlsSolver
from ros_ik.solvers.chain.solvers import GaussNewtonSolver
from ros_ik.solvers.limit_status import limit_functions
from ros_ik.solvers.pose_batches.batch import inverse_kinematics
from ros_ik.solvers.status import SolveStatus

SLIDER = """
<robot name="slider"><link name="base"/><link name="tip"/>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/>
    <axis xyz="1 0 0"/><limit lower="-0.4" upper="0.5" effort="1" velocity="1"/></joint>
</robot>"""
# Targets beyond the upper limit, beyond the lower one, and beside the axis.
TARGETS = np.array([[0.9, 0.0, 0.0], [-0.7, 0.0, 0.0], [0.2, 0.3, 0.0]])
EXPECTED = [SolveStatus.AT_LIMITS, SolveStatus.AT_LIMITS, SolveStatus.UNREACHABLE]
ENDS = [0.5, -0.4, 0.2]


@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
def test_a_variable_presses_where_the_cost_falls_beyond_its_limit(scalar):
    presses = limit_functions(scalar).presses

    @wp.kernel(enable_backward=False, module='unique')
    def ask(given: wp.array2d(dtype=scalar), answer: wp.array(dtype=wp.int32)):
        k = wp.tid()
        answer[k] = int(presses(given[k, 0], given[k, 1], given[k, 2], given[k, 3]))

    rooms = (-0.01, 0.0, 0.005, 0.02, np.inf)
    table = np.array(list(itertools.product((-2.0, 0.0, 3.0), rooms, rooms, (0.0, 0.01))))
    given = wp.array(table, dtype=scalar, device='cpu')
    answer = wp.zeros(len(table), dtype=wp.int32, device='cpu')
    wp.launch(ask, len(table), [given], [answer], device='cpu')
    for (slope, below, above, close), pressed in zip(table, answer.numpy(), strict=True):
        # A positive slope falls towards the lower limit, a negative one towards the upper.
        room = {-1: above, 0: np.inf, 1: below}[int(np.sign(slope))]
        assert pressed == (room <= close)


def test_slopes_of_rounding_at_a_limit_do_not_press():
    # Targets beside the upper end of a slanted slider: the slopes there are rounding.
    model = Model.from_urdf(SLIDER.replace('xyz="1 0 0"', 'xyz="0.3 0.5 0.8"'), device='cpu')
    axis = np.array([0.3, 0.5, 0.8]) / np.sqrt(0.98)
    beside = np.random.default_rng(0).normal(size=(50, 3))
    beside -= np.outer(beside @ axis, axis)
    targets = np.hstack([0.5 * axis + beside, np.tile([0.0, 0.0, 0.0, 1.0], (50, 1))])
    for make in (DlsSolver, GaussNewtonSolver):
        solver = make(100)
        rows = solver.solve(IkChain(model, 'tip'), np.zeros((50, 1)), targets)
        np.testing.assert_allclose(rows[:, 2], 0.5, atol=1e-9)
        assert np.all(solver.status == SolveStatus.UNREACHABLE)


def test_what_is_not_solved_is_named_by_what_holds_it():
    status = limit_functions(wp.float64).unsolved_status
    assert status(False, True) == status(False, False) == SolveStatus.ITERATION_LIMIT
    assert status(True, True) == SolveStatus.AT_LIMITS
    assert status(True, False) == SolveStatus.UNREACHABLE


def by_batch(model, use_fused):
    objective = IKObjectivePosition(model.body_index('tip'), np.zeros(3), TARGETS)
    solver = IKSolver(model, len(TARGETS), [objective], use_fused=use_fused)
    found = wp.zeros((len(TARGETS), 1), dtype=wp.float32, device='cpu')
    solver.step(found, found, iterations=30)
    return solver.status.numpy(), found.numpy()[:, 0]


def poses():
    return np.hstack([TARGETS, np.tile([0.0, 0.0, 0.0, 1.0], (len(TARGETS), 1))])


def by_chain(model, make):
    solver = make(100)
    rows = solver.solve(IkChain(model, 'tip'), np.zeros((len(TARGETS), 1)), poses())
    return solver.status, rows[:, 2]


def by_search(model):
    result = inverse_kinematics(model, 'tip', poses(), np.zeros((len(TARGETS), 1)))
    return result.status, result.joint_q[:, 0]


SOLVERS = {
    'fused': lambda model: by_batch(model, True),
    'modular': lambda model: by_batch(model, False),
    'damped': lambda model: by_chain(model, DlsSolver),
    'gauss_newton': lambda model: by_chain(model, GaussNewtonSolver),
    'search': by_search,
}


@pytest.mark.parametrize('solve', SOLVERS.values(), ids=SOLVERS)
def test_every_solver_tells_limits_from_targets_beside_the_reach(solve):
    status, q = solve(Model.from_urdf(SLIDER, device='cpu'))
    np.testing.assert_allclose(q, ENDS, atol=1e-4)
    assert status.tolist() == EXPECTED
