# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Equations in sines and cosines, judged by planted angles and by the roots that NumPy finds."""

import numpy as np
import pytest
import warp as wp

from ros_ik.solvers.analytic.subproblems.angle_equations import circle_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import direction_roots
from ros_ik.solvers.analytic.subproblems.angle_equations import Pairs
from ros_ik.solvers.analytic.subproblems.angle_equations import Roots
from ros_ik.solvers.analytic.subproblems.angle_equations import vec5
from ros_ik.solvers.analytic.subproblems.angle_equations import with_either_eliminated
from ros_ik.solvers.analytic.subproblems.rotations import carry_angle
from ros_ik.solvers.analytic.subproblems.rotations import mat22
from ros_ik.solvers.analytic.subproblems.rotations import vec2
from ros_ik.solvers.analytic.subproblems.rotations import vec3
from ros_ik.solvers.analytic.subproblems.slide_equations import quadratic_roots

N = 2000
# Angles of roots that are no double roots have errors far below this.
TOLERANCE = 1e-7


@wp.kernel(enable_backward=False)
def carry_kernel(
    k: wp.array(dtype=vec3), a: wp.array(dtype=vec3), b: wp.array(dtype=vec3),
    angles: wp.array(dtype=wp.float64),
):  # fmt: skip
    i = wp.tid()
    angles[i] = carry_angle(k[i], a[i], b[i], wp.float64(9.0))


@wp.kernel(enable_backward=False)
def direction_kernel(
    k: wp.array(dtype=vec3), a: wp.array(dtype=vec3), b: wp.array(dtype=vec3),
    goal: wp.array(dtype=vec3), low: wp.array(dtype=vec2), high: wp.array(dtype=vec2),
    miss: wp.array(dtype=wp.float64),
):  # fmt: skip
    i = wp.tid()
    left, right, rest = direction_roots(k[i], a[i], b[i], goal[i], wp.float64(0.0))
    low[i] = left
    high[i] = right
    miss[i] = rest


@wp.kernel(enable_backward=False)
def circle_kernel(f: wp.array(dtype=vec5), roots: wp.array(dtype=Roots), n: wp.array(dtype=int)):
    i = wp.tid()
    found, number = circle_roots(f[i], wp.float64(0.0))
    roots[i] = found
    n[i] = number


@wp.kernel(enable_backward=False)
def pairs_kernel(
    A: wp.array(dtype=mat22), B: wp.array(dtype=mat22), d: wp.array(dtype=vec2),
    pairs: wp.array(dtype=Pairs), n: wp.array(dtype=int),
):  # fmt: skip
    i = wp.tid()
    free = vec2(wp.float64(0.0), wp.float64(1.0))
    zero = wp.float64(0.0)
    found, number = with_either_eliminated(A[i], B[i], d[i], free, free, zero, zero)
    pairs[i] = found
    n[i] = number


@wp.kernel(enable_backward=False)
def quadratic_kernel(
    a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), c: wp.array(dtype=wp.float64),
    roots: wp.array(dtype=vec2), miss: wp.array(dtype=wp.float64),
):  # fmt: skip
    i = wp.tid()
    low, high, rest = quadratic_roots(a[i], b[i], c[i])
    roots[i] = vec2(low, high)
    miss[i] = rest


def computed(kernel, inputs, types):
    """Launch a kernel for each row of the inputs and return its outputs as NumPy arrays."""
    arrays = [wp.array(value, dtype=kind, device='cpu') for value, kind in inputs]
    outputs = [wp.zeros(len(arrays[0]), dtype=kind, device='cpu') for kind in types]
    wp.launch(kernel, len(arrays[0]), inputs=arrays, outputs=outputs, device='cpu')
    return [output.numpy() for output in outputs]


def units(rng, n=N):
    """Return random unit vectors."""
    vectors = rng.normal(size=(n, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rotated(k, angle, v):
    """Rotate v about k by Rodrigues' formula."""
    angle = np.asarray(angle)[:, None]
    along = k * np.sum(k * v, axis=1, keepdims=True)
    return along + np.cos(angle) * (v - along) + np.sin(angle) * np.cross(k, v)


def apart(angle, other):
    """Return the distance of two angles on the circle."""
    return np.abs(np.angle(np.exp(1j * (angle - other))))


def test_the_angle_that_rotates_one_vector_to_another():
    rng = np.random.default_rng(1)
    k, a, angle = units(rng), units(rng), rng.uniform(-np.pi, np.pi, N)
    # The last is along the axis, so that its angle is free.
    a[-1] = k[-1]
    (found,) = computed(
        carry_kernel, [(k, vec3), (a, vec3), (rotated(k, angle, a), vec3)], [wp.float64]
    )
    assert found[-1] == 9.0
    assert np.max(apart(found, angle)[:-1]) < TOLERANCE


def test_both_angles_at_which_a_vector_has_a_given_part_along_another():
    rng = np.random.default_rng(2)
    k, a, b, angle = units(rng), units(rng), units(rng), rng.uniform(-np.pi, np.pi, N)
    goal = rotated(k, angle, b)
    kinds = [vec2, vec2, wp.float64]
    low, high, miss = computed(
        direction_kernel, [(k, vec3), (a, vec3), (b, vec3), (goal, vec3)], kinds
    )
    assert np.max(miss) < 1e-14
    along = np.sum(a * goal, axis=1)
    both = np.stack([np.arctan2(*root.T) for root in (low, high)])
    for root in both:
        assert np.max(np.abs(np.sum(a * rotated(k, root, b), axis=1) - along)) < 1e-13
    regular = apart(*both) > 1e-3
    assert np.count_nonzero(regular) > 0.99 * N
    assert np.max(apart(both, angle).min(axis=0)[regular]) < TOLERANCE


def circle_roots_of_numpy(f):
    """Return the angles at which the function is zero, and the distance of the nearest others.

    With z = exp(i t) the function is a quartic in z over z^2, whose roots may leave the circle.
    """
    half = (f[3] + 1j * f[4]) / 2j, (f[1] + 1j * f[2]) / 2j
    z = np.roots([half[0], half[1], f[0], np.conj(half[1]), np.conj(half[0])])
    off = np.abs(np.abs(z) - 1.0)
    on = off < 1e-6
    gaps = np.abs(z[:, None] - z[None]) + 9.0 * np.eye(4)
    return np.angle(z[on]), min(np.min(gaps), np.min(off[~on], initial=9.0))


def test_every_root_on_the_circle_is_found():
    rng = np.random.default_rng(3)
    f = rng.normal(size=(N, 5))
    roots, n = computed(circle_kernel, [(f, vec5)], [Roots, int])
    judged = np.zeros(5, dtype=int)
    for row, found, number in zip(f, roots, n, strict=True):
        expected, gap = circle_roots_of_numpy(row)
        if gap < 1e-3:
            continue
        judged[len(expected)] += 1
        if not len(expected):
            # The extremes, each with its residual.
            assert number and np.all(found[:number, 1] > 0.0)
            continue
        assert number == len(expected) and not np.any(found[:number, 1])
        for angle in expected:
            assert np.min(apart(found[:number, 0], angle)) < TOLERANCE
    assert np.all(judged[[0, 2, 4]] > 100) and not np.any(judged[[1, 3]])


@pytest.mark.parametrize('size', [1e-3, 1.0, 1e3])
def test_planted_pairs_of_angles_solve_two_equations(size):
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(2, N, 2, 2)) * size
    x, y = rng.uniform(-np.pi, np.pi, (2, N))
    X, Y = (np.stack([np.sin(t), np.cos(t)], axis=1)[..., None] for t in (x, y))
    d = (A @ X + B @ Y)[..., 0]
    pairs, n = computed(pairs_kernel, [(A, mat22), (B, mat22), (d, vec2)], [Pairs, int])
    used = np.arange(8) < n[:, None]
    first = np.arctan2(pairs[..., 0], pairs[..., 1])
    other = np.arctan2(pairs[..., 2], pairs[..., 3])
    distance = np.hypot(apart(first, x[:, None]), apart(other, y[:, None]))
    # Where two solutions nearly meet, rounding moves them by its square root.
    distance = np.where(used, distance, np.inf).min(axis=1)
    assert np.max(distance) < 1e-4 and np.mean(distance < TOLERANCE) > 0.99


def test_roots_of_quadratics():
    rng = np.random.default_rng(5)
    a, b, c = rng.normal(size=(3, N))
    # The last are linear.
    a[-10:] = 0.0
    roots, miss = computed(
        quadratic_kernel, [(value, wp.float64) for value in (a, b, c)], [vec2, wp.float64]
    )
    real = b * b - 4.0 * a * c >= 0.0
    assert np.all((miss == 0.0) == real) and 100 < np.count_nonzero(real) < N
    for row in np.flatnonzero(real):
        expected = np.sort(np.roots([a[row], b[row], c[row]]))
        np.testing.assert_allclose(np.unique(np.sort(roots[row])), expected, rtol=1e-7)
