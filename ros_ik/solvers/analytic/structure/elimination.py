# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Elimination for six general revolute joints by polynomials of degree 16.

The method is that of Raghavan and Roth, "Kinematic analysis of the 6R manipulator of general
geometry" (1990), with joint axes instead of Denavit-Hartenberg parameters. E_1 .. E_6 = M is
required for one line, axis 6, which E_6 does not move:

    E_3 E_4 E_5 (axis 6) = E_2^-1 E_1^-1 M (axis 6).

Rigid motions transform 14 functions of a line through p along l linearly: l, p, p x l,
|p|^2 l - 2 (p.l) p, |p|^2 and p.l. Each side is therefore linear in (cos, sin, 1) of each of its
joints. The right side has eight products of joints 1 and 2 and a constant. Six combinations of the
14 equations do not contain these products. In the half angles x_4 and x_5, these six equations and
the same multiplied by x_4 are twelve equations

    A(q_3) v = 0,   v = (x_4^3, x_4^2, x_4, 1) times (x_5^2, x_5, 1).

det A is a trigonometric polynomial of degree 12 whose harmonics 9 to 12 vanish. The rest is a
polynomial of degree 16 in the half angle of joint 3. The rounding errors in these four harmonics
measure its accuracy. Axes 1 and 2 must be skew, otherwise det A vanishes.
"""

from __future__ import annotations

import dataclasses

import numpy as np

# Three angles that determine functions linear in (cos, sin, 1), and the matrix from values to
# coefficients.
_ANGLES = 2.0 * np.pi * np.arange(3) / 3.0
_COEFFICIENTS = np.linalg.inv(np.stack([np.cos(_ANGLES), np.sin(_ANGLES), np.ones(3)], axis=1))
# (cos, sin, 1) times 1 + x^2, as coefficients of (x^2, x, 1) of the half angle x.
_HALF_ANGLE = np.array([[-1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 1.0]])
# Number of samples, equal to the number of coefficients of 12 harmonics.
_SAMPLES = 2.0 * np.pi * np.arange(25) / 25.0
_DEGREE = 8
_ROOTS = 2 * _DEGREE
# Ratio of the second singular value to the first below which there is a second null vector.
_SECOND_NULL = 1e-2
# The same for a third null vector, which does not belong to a solution.
_THIRD_NULL = 2e-3
# Least ratio of singular values at which the products of joints 1 and 2 are determined.
_LEAST_RANK = 1e-4
# Rotation of the pencil of two null vectors [rad], to avoid a root at infinity for an angle of pi.
_PENCIL_TURN = 0.6


@dataclasses.dataclass(frozen=True)
class Elimination:
    """Equations of n poses after elimination.

    Attributes:
        matrices: A as coefficients of (cos, sin, 1) of joint 3, shape [n, 3, 12, 12].
        left: Left side minus the constant of the right side, as coefficients of (cos, sin, 1) of
            joints 3, 4 and 5, shape [n, 14, 3, 3, 3].
        products: Matrix from a left side to the products of joints 1 and 2, [n, 8, 14].
        harmonics: Coefficients of exp(i k q_3) in det A for k from 0 to 8, shape [n, 9].
        peak: Angle of joint 3 at which |det A| is largest [rad], shape [n].
        rounding: Ratio of the largest of harmonics 9 to 12 to the largest of all, shape [n]; 1 if
            the determinant vanishes, or the products of joints 1 and 2 are not determined.
    """

    matrices: np.ndarray
    left: np.ndarray
    products: np.ndarray
    harmonics: np.ndarray
    peak: np.ndarray
    rounding: np.ndarray


def eliminate(h: np.ndarray, p: np.ndarray, R: np.ndarray, t: np.ndarray) -> Elimination:
    """Eliminate joints 1, 2 and 6, and then 4 and 5, at n poses.

    Args:
        h: Directions of the axes, shape [n, 6, 3].
        p: Points on them, shape [n, 6, 3], in units of about the reach, near the origin.
        R: Rotation of the motion M, shape [n, 3, 3].
        t: Its translation, shape [n, 3].
    """
    n = len(R)
    point, line = p[:, 5], h[:, 5]
    for k in (4, 3, 2):
        point, line = _at_three_angles(h[:, k], p[:, k], point, line, 1.0)
    values = _line_functions(point, line)
    C = _COEFFICIENTS
    left = np.einsum('nzyxi,ax,by,cz->niabc', values, C, C, C, optimize=True)
    point = np.einsum('nij,nj->ni', R, p[:, 5]) + t
    line = np.einsum('nij,nj->ni', R, h[:, 5])
    for k in (0, 1):
        point, line = _at_three_angles(h[:, k], p[:, k], point, line, -1.0)
    values = _line_functions(point, line)
    right = np.einsum('nxyi,ax,by->niab', values, C, C, optimize=True).reshape(n, 14, 9)
    left[:, :, 2, 2, 2] -= right[:, :, 8]
    U, S, Vt = np.linalg.svd(right[:, :, :8])
    scaled = U[:, :, :8] / np.maximum(S, 1e-12 * S[:, :1])[:, None]
    products = np.swapaxes(scaled @ Vt, 1, 2)
    free = (np.swapaxes(U[:, :, 8:], 1, 2) @ left.reshape(n, 14, 27)).reshape(n, 6, 3, 3, 3)
    matrices = _dialytic(free)
    det = np.linalg.det(_at(matrices[:, None], _SAMPLES))
    harmonics = np.fft.rfft(det) / len(_SAMPLES)
    size = np.abs(harmonics)
    largest = size.max(axis=1)
    rest = size[:, _DEGREE + 1 :].max(axis=1)
    # With dependent columns, joints 1 and 2 are not determined.
    rest = np.where(S[:, 7] < _LEAST_RANK * S[:, 0], largest, rest)
    rounding = np.where(largest > 0.0, rest / np.where(largest > 0.0, largest, 1.0), 1.0)
    peak = _SAMPLES[np.argmax(np.abs(det), axis=1)]
    return Elimination(matrices, left, products, harmonics[:, : _DEGREE + 1], peak, rounding)


def roots(equations: Elimination) -> tuple[np.ndarray, np.ndarray]:
    """Return the roots of det A as angles of joint 3 and distances from the real ones.

    The half angle of the polynomial is measured so that the peak is at infinity. Its leading
    coefficient is then large, no root is near infinity, and the companion matrices are real.

    Returns:
        Angles [rad], shape [n, 16], and imaginary parts of the angles, at least 0, [n, 16].
    """
    start = equations.peak + np.pi
    shifted = equations.harmonics * np.exp(1j * start[:, None] * np.arange(_DEGREE + 1))
    shifted[:, 1:] *= 2.0
    polynomial = np.real(shifted @ _HARMONIC_POLYNOMIALS)
    leading = np.where(polynomial[:, :1] == 0.0, 1.0, polynomial[:, :1])
    companion = np.zeros((len(start), _ROOTS, _ROOTS))
    companion[:, np.arange(1, _ROOTS), np.arange(_ROOTS - 1)] = 1.0
    companion[:, 0] = -polynomial[:, 1:] / leading
    x = np.linalg.eigvals(companion).astype(complex)
    # exp(i q) = (1 + i x) / (1 - i x); its values zero and infinity belong to no angle.
    up, down = np.abs(1.0 + 1j * x), np.abs(1.0 - 1j * x)
    imaginary = np.abs(np.log(np.maximum(up, 1e-300)) - np.log(np.maximum(down, 1e-300)))
    return start[:, None] + np.angle((1.0 + 1j * x) * np.conj(1.0 - 1j * x)), imaginary


def null_vectors(
    matrices: np.ndarray, angle: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vectors v with A(angle) v = 0, and which of them exist.

    If two configurations have nearly the same angle of joint 3, A has two null vectors. Vectors of
    the form of v in their span are eigenvectors of a matrix pencil, because the first nine
    elements of v are x_4 times the last nine.

    Args:
        matrices: Coefficients of A, shape [m, 3, 12, 12].
        angle: Angles of joint 3 [rad], shape [m].

    Returns:
        Vectors [m, 2, 12], a mask [m, 2], and whether there are more than two null vectors [m], in
        which case the vectors are arbitrary combinations.
    """
    _, S, Vt = np.linalg.svd(_at(matrices, angle))
    vectors = np.repeat(Vt[:, None, 11], 2, axis=1)
    there = np.ones((len(angle), 2), dtype=bool)
    there[:, 1] = S[:, 10] < _SECOND_NULL * S[:, 0]
    two = np.flatnonzero(there[:, 1])
    if len(two):
        basis = np.swapaxes(Vt[two, 10:], 1, 2)
        c, s = np.cos(_PENCIL_TURN), np.sin(_PENCIL_TURN)
        high, low = basis[:, :9], basis[:, 3:]
        pencil = np.linalg.pinv(c * low - s * high) @ (c * high + s * low)
        ratios, mixtures = np.linalg.eig(pencil)
        found = np.swapaxes(basis @ np.real(mixtures), 1, 2)
        # A conjugate pair has a single real part; the second vector is then the null vector.
        is_real = np.imag(ratios).any(axis=1) == 0
        vectors[two, 1] = found[:, 1]
        vectors[two[is_real], 0] = found[is_real, 0]
    return vectors, there, S[:, 9] < _THIRD_NULL * S[:, 0]


def angles(
    equations: Elimination, rows: np.ndarray, angle: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Return the angles of joints 1 to 5 [rad], shape [m, 5].

    Args:
        equations: The equations.
        rows: Pose of each solution, int [m].
        angle: Angle of joint 3 [rad], shape [m].
        v: Null vector, shape [m, 12].
    """
    grid = v.reshape(-1, 4, 3)
    q4 = _angle_of_ratio(grid[:, :3], grid[:, 1:])
    q5 = _angle_of_ratio(grid[:, :, :2], grid[:, :, 1:])
    unknowns = [np.stack([np.cos(q), np.sin(q), np.ones_like(q)], axis=1) for q in (angle, q4, q5)]
    left = np.einsum('niabc,na,nb,nc->ni', equations.left[rows], *unknowns, optimize=True)
    products = np.einsum('nij,nj->ni', equations.products[rows], left)
    # (cos, sin, 1) of joint 1 times those of joint 2, without the last, 1.
    q1 = np.arctan2(products[:, 5], products[:, 2])
    q2 = np.arctan2(products[:, 7], products[:, 6])
    return np.stack([q1, q2, angle, q4, q5], axis=1)


def turned(h: np.ndarray, angle: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate vectors v about unit vectors h by angles [rad]; shapes are broadcast."""
    along = h * np.sum(h * v, axis=-1, keepdims=True)
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    return along + c * (v - along) + s * np.cross(h, v)


def _at_three_angles(
    h: np.ndarray, x: np.ndarray, point: np.ndarray, line: np.ndarray, sense: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rotate lines about axes by each of the three angles.

    Args:
        h: Directions of the axes, shape [n, 3].
        x: Points on them, shape [n, 3].
        point: Points on the lines, shape [n, .., 3].
        line: Directions of the lines, shape [n, .., 3].
        sense: +1 or -1, direction of the rotation.

    Returns:
        Points and directions, shape [n, .., 3, 3].
    """
    shape = (len(h), *(1,) * (point.ndim - 1), 3)
    h, x = h.reshape(shape), x.reshape(shape)
    angle = sense * _ANGLES
    return x + turned(h, angle, point[..., None, :] - x), turned(h, angle, line[..., None, :])


def _line_functions(p: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Return the functions of lines through p, shape [.., 14]."""
    square = np.sum(p * p, axis=-1, keepdims=True)
    dot = np.sum(p * line, axis=-1, keepdims=True)
    parts = [line, p, np.cross(p, line), square * line - 2.0 * dot * p, square, dot]
    return np.concatenate(parts, axis=-1)


def _dialytic(free: np.ndarray) -> np.ndarray:
    """Return the coefficients of A, rows of unit norm, from the six equations in joints 3 to 5.

    Args:
        free: Coefficients for (cos, sin, 1) of joints 3, 4 and 5, shape [n, 6, 3, 3, 3].
    """
    n = len(free)
    halves = np.einsum('nrabc,bj,ck->narjk', free, _HALF_ANGLE, _HALF_ANGLE, optimize=True)
    A = np.zeros((n, 3, 2, 6, 4, 3))
    A[:, :, 0, :, 1:] = halves
    A[:, :, 1, :, :3] = halves
    matrices = A.reshape(n, 3, 12, 12)
    norm = np.sqrt(np.sum(matrices * matrices, axis=(1, 3), keepdims=True))
    return matrices / np.where(norm > 0.0, norm, 1.0)


def _at(matrices: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return A at angles of joint 3 [rad]."""
    c, s = np.cos(angle)[..., None, None], np.sin(angle)[..., None, None]
    return c * matrices[..., 0, :, :] + s * matrices[..., 1, :, :] + matrices[..., 2, :, :]


def _angle_of_ratio(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return angles whose half tangent x is the least-squares solution of high = x low, [m]."""
    cross = np.sum(high * low, axis=(1, 2))
    excess = np.sum(low * low - high * high, axis=(1, 2))
    return np.arctan2(2.0 * cross, excess)


def _harmonic_polynomials() -> np.ndarray:
    """Return (1 + i x)^(8+k) (1 - i x)^(8-k) for k from 0 to 8, highest power first, [9, 17].

    They are exp(i k q) times (1 + x^2)^8 for the half angle x.
    """
    # 1 + i x vanishes at x = i.
    zeros = [[1j] * (_DEGREE + k) + [-1j] * (_DEGREE - k) for k in range(_DEGREE + 1)]
    return np.array([np.poly(z) / np.polyval(np.poly(z), 0.0) for z in zeros])


_HARMONIC_POLYNOMIALS = _harmonic_polynomials()
