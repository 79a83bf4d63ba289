# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The program of a step solved from a guess, against the dual method, its fallback."""

import numpy as np
import pytest
import warp as wp

from ros_ik.solvers import DenseQP
from ros_ik.solvers import SolveStatus
from ros_ik.solvers.differential_ik.quadratic_program.active_set import step_active_set_function
from ros_ik.solvers.differential_ik.quadratic_program.program import every_variable
from ros_ik.solvers.differential_ik.quadratic_program.program import make_step_program
from ros_ik.solvers.differential_ik.quadratic_program.program import step_program_struct
from ros_ik.solvers.least_squares.envelope import dense_elimination
from ros_ik.solvers.least_squares.envelope import Elimination
from ros_ik.solvers.least_squares.envelope import elimination

Program = step_program_struct()
solve_from_guess = step_active_set_function()


@wp.kernel(enable_backward=False, module='unique')
def solve_programs(program: Program, is_warm: int, rounds: wp.array(dtype=wp.int32)):
    i = wp.tid()
    rounds[i] = solve_from_guess(i, program, is_warm != 0, wp.float64(1e-10))


def random_programs(n, rows, batch, seed):
    """Programs as steps have them; a tenth of the variables is pinned, some have no bounds."""
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(batch, max(1, n - 1), n))
    lower, upper = -rng.uniform(0, 1, (batch, n)), rng.uniform(0, 1, (batch, n))
    pinned = rng.uniform(size=(batch, n)) < 0.1
    lower[pinned] = upper[pinned] = 0.0
    lower[rng.uniform(size=(batch, n)) < 0.1] = -np.inf
    return {
        'H': np.einsum('bij,bik->bjk', jacobian, jacobian) + 1e-4 * np.eye(n),
        'c': 2.0 * rng.normal(size=(batch, n)),
        'lower': lower,
        'upper': upper,
        'J': rng.normal(size=(batch, rows, n)),
        'd': -rng.uniform(0, 1, (batch, rows)),
    }


def load(programs, order):
    batch, n = programs['c'].shape
    program = make_step_program(batch, n, programs['d'].shape[1], order, 'cpu')
    for name, values in programs.items():
        if values.size:
            getattr(program, name).assign(values)
    return program


def run(program, batch, *, is_warm):
    rounds = wp.zeros(batch, dtype=wp.int32, device='cpu')
    wp.launch(
        solve_programs, dim=batch, inputs=[program, int(is_warm)], outputs=[rounds], device='cpu'
    )
    return rounds.numpy()


def dual_solutions(programs):
    batch, n = programs['c'].shape
    qp = DenseQP(batch, n, programs['d'].shape[1], device='cpu')
    for name, values in (
        ('H', programs['H']), ('c', programs['c']), ('lower', programs['lower']),
        ('upper', programs['upper']), ('A', -programs['J']), ('b', -programs['d']),
    ):  # fmt: skip
        if values.size:
            getattr(qp, name).assign(values)
    qp.launch()
    return qp.x.numpy(), qp.status.numpy()


@pytest.mark.parametrize(
    ('n', 'rows'), [(1, 0), (1, 2), (7, 0), (7, 6), (7, 40), (32, 0), (32, 12)]
)
def test_equals_the_dual_method_from_no_guess_and_from_its_own(n, rows):
    batch = 200
    programs = random_programs(n, rows, batch, seed=n + rows)
    program = load(programs, dense_elimination(n))
    expected, status = dual_solutions(programs)
    cold = run(program, batch, is_warm=False)
    solved = cold > 0
    # The dual method solves the rest: rows that conflict, more rows than there is memory for, a
    # cycle, too many changes. These programs are harder than those of steps.
    assert np.all(status[solved] == SolveStatus.CONVERGED)
    assert solved.mean() > {0: 0.9, 2: 0.9, 6: 0.8, 12: 0.2, 40: 0.2}[rows]
    # Both are exact; multipliers of 1e2 and a condition number of 1e6 leave this.
    np.testing.assert_allclose(program.x.numpy()[solved], expected[solved], rtol=1e-6, atol=1e-8)
    first = program.x.numpy()
    warm = run(program, batch, is_warm=True)
    assert np.all(warm[solved] == 1)
    np.testing.assert_array_equal(program.x.numpy()[solved], first[solved])
    side, x = program.active_bound.numpy()[solved], first[solved]
    np.testing.assert_array_equal(x[side == 1], programs['upper'][solved][side == 1])


def test_a_wrong_guess_costs_rounds_and_changes_nothing():
    batch, rng = 200, np.random.default_rng(5)
    programs = random_programs(7, 6, batch, seed=4)
    program = load(programs, dense_elimination(7))
    cold = run(program, batch, is_warm=False)
    expected = program.x.numpy()
    program.active_bound.assign(rng.integers(-1, 2, (batch, 7)).astype(np.int32))
    program.binding.assign((rng.uniform(size=(batch, 6)) < 0.3).astype(np.int32))
    guessed = run(program, batch, is_warm=True)
    both = (cold > 0) & (guessed > 0)
    assert both.mean() > 0.6
    np.testing.assert_allclose(program.x.numpy()[both], expected[both], rtol=1e-7, atol=1e-9)
    assert np.all(guessed <= 12) and np.all(cold <= 12)


def test_rows_that_depend_on_each_other_are_left_to_the_dual_method():
    programs = random_programs(7, 1, 50, seed=6)
    programs['J'] = np.repeat(programs['J'], 3, axis=1)
    programs['d'] = np.repeat(programs['d'] + 1.0, 3, axis=1)  # asks for a recovery
    program = load(programs, dense_elimination(7))
    assert np.any(run(program, 50, is_warm=False) == -1)


def test_limbs_stay_apart_in_the_factor():
    """Two arms of three joints on a torso of one: the order gives the same answer, and zeros."""
    rng = np.random.default_rng(7)
    arms = [[0, 1, 2, 3], [0, 4, 5, 6]]
    H = np.tile(1e-3 * np.eye(7), (20, 1, 1))
    coupled = np.eye(7, dtype=bool)
    for arm in arms:
        jacobian = rng.normal(size=(20, 3, 4))
        H[np.ix_(range(20), arm, arm)] += np.einsum('bij,bik->bjk', jacobian, jacobian)
        coupled[np.ix_(arm, arm)] = True
    programs = random_programs(7, 4, 20, seed=8) | {'H': H}
    order = elimination(coupled, np.array([-1, 0, 1, 2, 0, 4, 5]))
    apart, dense = load(programs, order), load(programs, dense_elimination(7))
    rounds = run(apart, 20, is_warm=False), run(dense, 20, is_warm=False)
    solved = (rounds[0] > 0) & (rounds[1] > 0)
    assert solved.mean() > 0.7
    np.testing.assert_allclose(
        apart.x.numpy()[solved], dense.x.numpy()[solved], rtol=1e-7, atol=1e-9
    )
    assert np.count_nonzero(order.first) == 3  # the second limb starts at itself
    assert order.order[-1] == 0


def test_every_variable_has_a_place():
    order = every_variable(Elimination(np.array([3, 1]), np.array([0, 0])), 4)
    np.testing.assert_array_equal(order.order, [3, 1, 0, 2])
    np.testing.assert_array_equal(order.first, [0, 0, 2, 3])
