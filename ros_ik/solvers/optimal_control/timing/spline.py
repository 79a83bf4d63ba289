# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cubic splines with continuous second derivatives through equally spaced points.

With m_k the second derivative at point k and h the spacing,

    m_{k-1} + 4 m_k + m_{k+1} = 6 (x_{k-1} - 2 x_k + x_{k+1}) / h^2

(Biagiotti and Melchiorri, "Trajectory Planning for Automatic Machines and Robots", 2008, 4.4).
"""

from __future__ import annotations

import numpy as np

# Least number of points of a spline that begins and ends at rest.
MIN_RESTING = 6


def natural_spline(points: np.ndarray, spacing: float) -> np.ndarray:
    """Return the second derivatives of the natural spline, which are zero at its ends, [k, n].

    Args:
        points: Points [k, n], k at least 2.
        spacing: Distance between their parameters.
    """
    second = np.zeros_like(points)
    if len(points) > 2:
        bends = points[:-2] - 2.0 * points[1:-1] + points[2:]
        diagonal = np.full(len(bends), 4.0)
        second[1:-1] = _solved(diagonal, 6.0 / spacing**2 * bends)
    return second


def spline_values(
    points: np.ndarray, second: np.ndarray, spacing: float, at: np.ndarray
) -> np.ndarray:
    """Return values of a spline, [len(at), n].

    Args:
        points: Its points [k, n].
        second: Second derivatives there, same shape.
        spacing: Distance between their parameters.
        at: Parameters, from 0 to ``spacing * (k - 1)``.
    """
    k = np.clip(np.floor(at / spacing).astype(int), 0, len(points) - 2)
    s = (at / spacing - k)[:, None]
    r, square = 1.0 - s, spacing**2 / 6.0
    return np.asarray(
        r * points[k] + s * points[k + 1]
        + square * ((r**3 - r) * second[k] + (s**3 - s) * second[k + 1])
    )  # fmt: skip


def spline_slopes(points: np.ndarray, second: np.ndarray, spacing: float) -> np.ndarray:
    """Return the first derivatives of a spline at its points, [k, n]."""
    rises = np.diff(points, axis=0) / spacing
    first = rises - spacing / 6.0 * (2.0 * second[:-1] + second[1:])
    last = rises[-1:] + spacing / 6.0 * (second[-2:-1] + 2.0 * second[-1:])
    return np.concatenate([first, last])


def resting_spline(points: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the spline through points in time with zero velocity and acceleration at its ends.

    This requires moving the points next to the ends (same source, 4.4.4), by less than their
    distance from the ends.

    Args:
        points: Positions at the ticks [k, n], k at least :data:`MIN_RESTING`.
        dt: Duration of a tick [s].

    Returns:
        Positions, velocities and accelerations at the ticks, [k, n] each.
    """
    x = points.copy()
    bends = x[:-2] - 2.0 * x[1:-1] + x[2:]
    bends[0], bends[-1] = x[2] - x[0], x[-3] - x[-1]
    bends[1] = x[0] - 2.0 * x[2] + x[3]
    bends[-2] = x[-1] - 2.0 * x[-3] + x[-4]
    diagonal = np.full(len(bends), 4.0)
    diagonal[[0, -1]] = 6.0
    lower = np.ones(len(bends))
    upper = np.ones(len(bends))
    lower[1] = upper[-2] = 0.0
    accelerations = np.zeros_like(x)
    accelerations[1:-1] = _solved(diagonal, 6.0 / dt**2 * bends, lower, upper)
    x[1] = x[0] + dt**2 / 6.0 * accelerations[1]
    x[-2] = x[-1] + dt**2 / 6.0 * accelerations[-2]
    velocities = spline_slopes(x, accelerations, dt)
    velocities[[0, -1]] = 0.0
    return x, velocities, accelerations


def _solved(
    diagonal: np.ndarray,
    right: np.ndarray,
    lower: np.ndarray | None = None,
    upper: np.ndarray | None = None,
) -> np.ndarray:
    """Solve a tridiagonal system for n right-hand sides [k, n]; off-diagonals None are ones."""
    k = len(diagonal)
    lower = np.ones(k) if lower is None else lower
    upper = np.ones(k) if upper is None else upper
    pivots, values = diagonal.copy(), right.copy()
    for row in range(1, k):
        factor = lower[row] / pivots[row - 1]
        pivots[row] -= factor * upper[row - 1]
        values[row] -= factor * values[row - 1]
    values[-1] /= pivots[-1]
    for row in range(k - 2, -1, -1):
        values[row] = (values[row] - upper[row] * values[row + 1]) / pivots[row]
    return values
