# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The batched quadratic program against quadprog, its own optimality conditions, and bad input."""

import numpy as np
import pytest

from ros_ik.errors import ArgumentError
from ros_ik.solvers import DenseQP
from ros_ik.solvers import SolveStatus

SIZES = [(1, 2), (3, 30), (7, 0), (7, 6), (7, 40), (32, 0), (32, 10)]


def random_programs(n, rows, batch, seed, *, least_b=0.0):
    """Programs as control steps have them: a Hessian of nearly full rank, a box around zero."""
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(batch, max(1, n - 1), n))
    return {
        'H': np.einsum('bij,bik->bjk', jacobian, jacobian) + 1e-4 * np.eye(n),
        'c': rng.normal(size=(batch, n)),
        'lower': -rng.uniform(0, 1, (batch, n)),
        'upper': rng.uniform(0, 1, (batch, n)),
        'A': rng.normal(size=(batch, rows, n)),
        'b': rng.uniform(least_b, 1, (batch, rows)),
    }


def solve(programs, **options):
    """Solve on the CPU and return the solver."""
    batch, n = programs['c'].shape
    qp = DenseQP(batch, n, programs['b'].shape[1], device='cpu', **options)
    for name, value in programs.items():
        if value.size:
            getattr(qp, name).assign(value)
    qp.launch()
    return qp


def quadprog_solution(programs, i):
    """Solution of program i by quadprog, None where it is infeasible."""
    qpsolvers = pytest.importorskip('qpsolvers', reason='qpsolvers is not installed')
    rows = programs['b'].shape[1]
    return qpsolvers.solve_qp(
        programs['H'][i],
        programs['c'][i],
        programs['A'][i] if rows else None,
        programs['b'][i] if rows else None,
        lb=programs['lower'][i],
        ub=programs['upper'][i],
        solver='quadprog',
    )


@pytest.mark.oracle
@pytest.mark.parametrize(('n', 'rows'), SIZES)
def test_equals_quadprog(n, rows):
    programs = random_programs(n, rows, batch=100, seed=n + rows)
    qp = solve(programs)
    assert np.all(qp.status.numpy() == SolveStatus.CONVERGED)
    for i, x in enumerate(qp.x.numpy()):
        expected = quadprog_solution(programs, i)
        # Both are exact methods; 1e-7 leaves room for the condition number of 1e4.
        np.testing.assert_allclose(x, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(('n', 'rows'), SIZES)
def test_solution_meets_the_optimality_conditions(n, rows):
    programs = random_programs(n, rows, batch=100, seed=1 + n + rows)
    qp = solve(programs)
    x, of_bound, of_row = qp.x.numpy(), qp.bound_multiplier.numpy(), qp.row_multiplier.numpy()
    gradient = np.einsum('bij,bj->bi', programs['H'], x) + programs['c']
    stationarity = gradient + of_bound + np.einsum('bri,br->bi', programs['A'], of_row)
    slack = programs['b'] - np.einsum('bri,bi->br', programs['A'], x)
    # Multipliers grow to about 1e2 here, so 1e-8 is a relative accuracy of 1e-10.
    np.testing.assert_allclose(stationarity, 0.0, atol=1e-8)
    assert np.all(of_row >= 0.0)
    np.testing.assert_allclose(of_row * slack, 0.0, atol=1e-8)
    np.testing.assert_allclose(np.maximum(of_bound, 0.0) * (programs['upper'] - x), 0.0, atol=1e-8)
    np.testing.assert_allclose(np.minimum(of_bound, 0.0) * (x - programs['lower']), 0.0, atol=1e-8)


def test_condition_number_of_a_lone_frame_task():
    """Six rows for seven joints and a regularization of 1e-12, as Oink has it."""
    rng = np.random.default_rng(5)
    jacobian = rng.normal(size=(50, 6, 7))
    error = 0.01 * rng.normal(size=(50, 6))
    programs = random_programs(7, 0, batch=50, seed=5)
    programs['H'] = np.einsum('bij,bik->bjk', jacobian, jacobian) + 1e-12 * np.eye(7)
    programs['c'] = np.einsum('bij,bi->bj', jacobian, error)
    qp = solve(programs)
    assert np.all(qp.status.numpy() == SolveStatus.CONVERGED)
    reached = np.einsum('bij,bj->bi', jacobian, qp.x.numpy()) + error
    free = np.all(np.abs(qp.bound_multiplier.numpy()) == 0.0, axis=1)
    assert free.sum() > 10
    np.testing.assert_allclose(reached[free], 0.0, atol=1e-7)


def test_bounds_hold_exactly_when_rows_conflict_with_them():
    programs = random_programs(7, 8, batch=300, seed=2, least_b=-30.0)
    programs['b'] -= 20.0
    qp = solve(programs)
    x = qp.x.numpy()
    assert np.all(qp.status.numpy() == SolveStatus.RELAXED)
    assert np.all(x >= programs['lower']) and np.all(x <= programs['upper'])


def test_relaxed_recovery_never_turns_back():
    """Rows that ask for more than the box can give still improve, and the others hold."""
    programs = random_programs(7, 6, batch=300, seed=3)
    programs['b'][:, :2] = -25.0
    qp = solve(programs)
    moved = np.einsum('bri,bi->br', programs['A'], qp.x.numpy())
    relaxed = qp.status.numpy() == SolveStatus.RELAXED
    assert relaxed.all()
    # Ten feasibility tolerances of room around the closest point, and one for the last solve.
    room = 11 * qp.tolerance * np.linalg.norm(programs['A'], axis=2)
    assert np.all(moved[:, :2] <= room[:, :2])
    assert np.all(moved[:, 2:] <= programs['b'][:, 2:] + room[:, 2:])
    # Two rows and seven joints: nearly always both can improve by a good part of the box.
    assert np.median(moved[:, :2]) < -0.5


def test_recoveries_that_exclude_each_other_stay_where_they_are():
    """-x <= -0.5 and x <= -0.3 ask for opposite directions; neither barrier may get worse."""
    programs = {
        'H': np.ones((1, 1, 1)), 'c': np.zeros((1, 1)),
        'lower': np.full((1, 1), -1.0), 'upper': np.full((1, 1), 1.0),
        'A': np.array([[[-1.0], [1.0]]]), 'b': np.array([[-0.5, -0.3]]),
    }  # fmt: skip
    qp = solve(programs)
    assert qp.status.numpy()[0] == SolveStatus.RELAXED
    np.testing.assert_allclose(qp.x.numpy(), 0.0, atol=1e-9)


def test_bounds_that_exclude_zero_relax_every_row():
    programs = {
        'H': np.eye(2)[None], 'c': np.zeros((1, 2)),
        'lower': np.array([[0.4, -1.0]]), 'upper': np.array([[0.6, 1.0]]),
        'A': np.array([[[1.0, 0.0]]]), 'b': np.array([[0.1]]),
    }  # fmt: skip
    qp = solve(programs)
    assert qp.status.numpy()[0] == SolveStatus.RELAXED
    np.testing.assert_allclose(qp.x.numpy(), [[0.4, 0.0]], atol=1e-8)


@pytest.mark.parametrize('least', [0.0, 5e-11, 5e-10, 1e-9, 5e-9])
def test_a_bound_that_excludes_zero_by_hardly_anything_is_met(least):
    # As of a joint that is just coming to rest: it may not turn back yet.
    programs = {
        'H': np.ones((1, 1, 1)), 'c': np.zeros((1, 1)),
        'lower': np.full((1, 1), least), 'upper': np.full((1, 1), 0.1),
        'A': np.ones((1, 1, 1)), 'b': np.full((1, 1), -0.5),
    }  # fmt: skip
    qp = solve(programs)
    assert qp.status.numpy()[0] == SolveStatus.RELAXED
    assert least <= qp.x.numpy()[0, 0] <= least + 11 * qp.tolerance


def test_a_row_that_holds_does_not_pull_where_another_cannot():
    programs = {
        'H': np.eye(2)[None], 'c': np.array([[0.0, -1.0]]),
        'lower': np.array([[0.4, -1.0]]), 'upper': np.array([[0.6, 1.0]]),
        'A': np.array([[[1.0, 0.0], [-1.0, 0.0], [-4.0, 1.0]]]), 'b': np.array([[0.1, 2.0, 3.0]]),
    }  # fmt: skip
    qp = solve(programs)
    assert qp.status.numpy()[0] == SolveStatus.RELAXED
    np.testing.assert_allclose(qp.x.numpy(), [[0.4, 1.0]], atol=1e-8)


def least_violation(programs, i):
    """Root of the least sum of squares by which rows of unit length are broken, by quadprog.

    Rows that 0 satisfies, and others beyond 0, are violated only as far as the bounds force them.
    """
    qpsolvers = pytest.importorskip('qpsolvers', reason='qpsolvers is not installed')
    norm = np.linalg.norm(programs['A'][i], axis=1)
    rows, n = programs['A'][i].shape
    for most in (np.maximum(-programs['b'][i], 0.0) / norm, np.full(rows, 1e3)):
        x = qpsolvers.solve_qp(
            np.diag([1e-9] * n + [1.0] * rows), np.zeros(n + rows),
            np.hstack([programs['A'][i] / norm[:, None], -np.eye(rows)]), programs['b'][i] / norm,
            lb=np.concatenate([programs['lower'][i], np.zeros(rows)]),
            ub=np.concatenate([programs['upper'][i], most]), solver='quadprog',
        )  # fmt: skip
        if x is not None:
            return np.linalg.norm(x[n:])


@pytest.mark.oracle
@pytest.mark.parametrize(('n', 'rows'), [(1, 2), (3, 30), (7, 6), (7, 40), (32, 40)])
def test_rows_are_violated_no_more_than_necessary(n, rows):
    rng = np.random.default_rng(11 + n + rows)
    programs = random_programs(n, rows, batch=100, seed=n + rows, least_b=-0.2)
    # As of a robot in motion: the first joints cannot stop in one step.
    side = rng.choice([-1.0, 1.0], size=(100, (n + 1) // 2))
    programs['lower'][:, : side.shape[1]] = np.where(side > 0.0, 0.5, -1.0)
    programs['upper'][:, : side.shape[1]] = np.where(side > 0.0, 1.0, -0.5)
    qp = solve(programs)
    relaxed = np.flatnonzero(qp.status.numpy() == SolveStatus.RELAXED)
    assert len(relaxed) > 20
    norm = np.linalg.norm(programs['A'], axis=2)
    moved = np.einsum('bri,bi->br', programs['A'], qp.x.numpy())
    broken = np.linalg.norm(np.maximum(moved - programs['b'], 0.0) / norm, axis=1)
    for i in relaxed:
        # Eleven feasibility tolerances for each row, as above.
        room = 11 * qp.tolerance * np.sqrt(rows) + 1e-8
        assert broken[i] == pytest.approx(least_violation(programs, i), abs=room)


@pytest.mark.parametrize('name', ['H', 'c', 'A', 'b', 'lower', 'upper'])
def test_nan_is_refused_and_neighbours_are_solved(name):
    programs = random_programs(7, 3, batch=4, seed=4)
    good = solve(programs).x.numpy()
    programs[name][2].flat[0] = np.nan
    qp = solve(programs)
    assert list(qp.status.numpy()) == [
        SolveStatus.CONVERGED, SolveStatus.CONVERGED,
        SolveStatus.NON_FINITE_INPUT, SolveStatus.CONVERGED,
    ]  # fmt: skip
    np.testing.assert_array_equal(qp.x.numpy()[2], 0.0)
    np.testing.assert_array_equal(qp.x.numpy()[[0, 1, 3]], good[[0, 1, 3]])
    assert qp.iterations.numpy()[2] == 0


def test_iteration_limit_gives_a_zero_step():
    programs = random_programs(7, 6, batch=50, seed=6)
    qp = solve(programs, max_iterations=1)
    limited = qp.status.numpy() == SolveStatus.ITERATION_LIMIT
    assert limited.sum() > 25
    np.testing.assert_array_equal(qp.x.numpy()[limited], 0.0)


def test_indefinite_hessian_is_reported():
    programs = random_programs(3, 0, batch=1, seed=7)
    programs['H'][0] = np.diag([1.0, -1.0, 1.0])
    qp = solve(programs)
    assert qp.status.numpy()[0] == SolveStatus.NUMERICAL_FAILURE
    np.testing.assert_array_equal(qp.x.numpy(), 0.0)


@pytest.mark.parametrize(('n', 'rows'), [(1, 1), (3, 2), (7, 6), (20, 12)])
@pytest.mark.parametrize('distance', [1e4, 1e6, 1e9, 1e15, 1e160])
def test_a_row_that_is_met_only_far_away_is_approached(n, rows, distance):
    """A row nearly without coefficients: rounding of its distance must not fail the search."""
    programs = random_programs(n, rows, batch=100, seed=9 + n, least_b=-0.05)
    norm = np.linalg.norm(programs['A'][:, :1], axis=2, keepdims=True)
    programs['A'][:, :1] /= norm * distance
    programs['b'][:, 0] = -1.0
    qp = solve(programs)
    assert np.all(qp.status.numpy() == SolveStatus.RELAXED)
    moved = np.einsum('bj,bj->b', programs['A'][:, 0], qp.x.numpy()) * distance
    reach = np.where(programs['A'][:, 0] > 0.0, programs['lower'], programs['upper'])
    best = np.einsum('bj,bj->b', programs['A'][:, 0], reach) * distance
    if rows == 1:
        np.testing.assert_allclose(moved, best, atol=1e-7)
    assert np.all(moved <= 1e-8)


def test_redundant_and_empty_rows():
    """The same row many times, and rows without coefficients, do not change the step."""
    programs = random_programs(7, 1, batch=50, seed=8, least_b=-0.05)
    once = solve(programs)
    programs['A'] = np.concatenate(
        [np.repeat(programs['A'], 9, axis=1), np.zeros((50, 2, 7))], axis=1
    )
    programs['b'] = np.concatenate(
        [np.repeat(programs['b'], 9, axis=1), -np.ones((50, 2))], axis=1
    )
    many = solve(programs)
    np.testing.assert_array_equal(many.status.numpy(), SolveStatus.RELAXED)  # 0 <= -1 never holds
    np.testing.assert_allclose(many.x.numpy(), once.x.numpy(), rtol=1e-8, atol=1e-9)
    programs['b'][:, 9:] = 0.0
    many = solve(programs)
    np.testing.assert_array_equal(many.status.numpy(), once.status.numpy())
    np.testing.assert_allclose(many.x.numpy(), once.x.numpy(), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ('options', 'name'),
    [
        ({'batch': 0}, 'batch'),
        ({'n_variables': 0}, 'n_variables'),
        ({'n_rows': -1}, 'n_rows'),
        ({'max_iterations': 0}, 'max_iterations'),
        ({'max_iterations': 2**31}, 'max_iterations must be an integer of at most'),
    ],
)
def test_bad_sizes_are_named(options, name):
    with pytest.raises(ArgumentError, match=name):
        DenseQP(**({'batch': 1, 'n_variables': 2, 'n_rows': 0} | options))


@pytest.mark.parametrize('scale', [0.0, 1e-30, 1e-150, 1e-170, 1e-219, 1e-310])
@pytest.mark.parametrize('least_b', [-0.5, -5.0])
def test_coefficients_whose_squares_underflow_count_as_zero(scale, least_b):
    """Symmetric postures have such coefficients; their squares are zero, or denormal."""
    n, rows, batch = 7, 12, 500
    programs = random_programs(n, rows, batch, seed=5, least_b=least_b)
    still = np.random.default_rng(6).random((batch, 1, n)) < 0.6
    still[..., 0] = False
    programs['H'] = np.tile(2.0 * np.eye(n), (batch, 1, 1))
    programs['A'] = np.where(still, scale * programs['A'], programs['A'])
    programs['c'] = np.where(still[:, 0], scale * programs['c'], programs['c'])
    qp = solve(programs)
    programs['A'] = np.where(still, 0.0, programs['A'])
    programs['c'] = np.where(still[:, 0], 0.0, programs['c'])
    expected = solve(programs)
    np.testing.assert_array_equal(qp.status.numpy(), expected.status.numpy())
    assert set(qp.status.numpy()) <= {SolveStatus.CONVERGED, SolveStatus.RELAXED}
    np.testing.assert_allclose(qp.x.numpy(), expected.x.numpy(), atol=1e-9)


@pytest.mark.parametrize('scale', [1e100, 1e160, 1e200, 1e300])
def test_coefficients_whose_squares_overflow_harm_no_other_program(scale):
    programs = random_programs(7, 12, 500, seed=7, least_b=-0.5)
    expected = solve(programs)
    large = np.random.default_rng(8).random(500) < 0.2
    programs['A'][large, :, 1::2] *= scale
    qp = solve(programs)
    x, least, most = qp.x.numpy(), programs['lower'], programs['upper']
    assert np.all((least <= x) & (x <= most))
    np.testing.assert_array_equal(x[~large], expected.x.numpy()[~large])
    failed = qp.status.numpy() == SolveStatus.NUMERICAL_FAILURE
    np.testing.assert_array_equal(x[failed], 0.0)
