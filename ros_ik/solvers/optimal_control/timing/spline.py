# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cubic splines with continuous second derivatives that stay between bounds.

With control points c_k at the parameters k,

    S(k) = (c_{k-1} + 4 c_k + c_{k+1}) / 6,    S''(k) = c_{k-1} - 2 c_k + c_{k+1}

and S'' is linear in between. Every value is a mean of four neighbouring control points. So a
spline whose control points are between bounds is between them everywhere, which an interpolating
spline is not (de Boor, "A Practical Guide to Splines", 2001, chapter IX). Control points

    c_k = x_k - (x_{k-1} - 2 x_k + x_{k+1}) / 6

lead the spline by given points x_k, up to their fourth differences divided by 36.
"""

from __future__ import annotations

import numpy as np


def control_points(
    points: np.ndarray, low: np.ndarray, high: np.ndarray, tangents: np.ndarray | None = None
) -> np.ndarray:
    """Return control points between bounds whose spline is near given points, [k, n].

    Where a bound is near, a control point moves less far, but in the same direction. It stays near
    the same straight line or surface if the points lie on one.

    Args:
        points: Points [k, n], within the bounds.
        low: Lower bounds [n].
        high: Upper bounds [n].
        tangents: Directions in which the spline need not be near a point, [k, n]; None for none.
    """
    shift = np.zeros_like(points)
    shift[1:-1] = (2.0 * points[1:-1] - points[:-2] - points[2:]) / 6.0
    if tangents is not None:
        square = np.maximum(np.sum(tangents**2, axis=1), np.finfo(float).tiny)
        shift -= (np.sum(shift * tangents, axis=1) / square)[:, None] * tangents
    room = np.where(shift > 0.0, high - points, points - low)
    with np.errstate(divide='ignore', invalid='ignore'):
        parts = np.where(shift == 0.0, 1.0, room / np.abs(shift))
    return np.asarray(points + np.clip(np.min(parts, axis=1), 0.0, 1.0)[:, None] * shift)


def spline_at(control: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values and first and second derivatives of a spline, [len(at), n] each.

    It begins and ends at the first and the last control point, with second derivatives of zero.

    Args:
        control: Its control points [k, n], k at least 2.
        at: Parameters, from 0 to k - 1.
    """
    ends = 2.0 * control[:1] - control[1:2], 2.0 * control[-1:] - control[-2:-1]
    c = np.concatenate([ends[0], control, ends[1]])
    k = np.clip(np.floor(at).astype(int), 0, len(control) - 2)
    s = (at - k)[:, None]
    before, here, after, next_after = c[k], c[k + 1], c[k + 2], c[k + 3]
    r = 1.0 - s
    values = (
        r**3 * before + (4.0 - 6.0 * s**2 + 3.0 * s**3) * here
        + (4.0 - 6.0 * r**2 + 3.0 * r**3) * after + s**3 * next_after
    ) / 6.0  # fmt: skip
    first, middle, last = here - before, after - here, next_after - after
    slopes = 0.5 * (r**2 * first + (1.0 + 2.0 * s * r) * middle + s**2 * last)
    return values, slopes, r * (middle - first) + s * (last - middle)


def resting_spline(control: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the spline in time that rests at the first and the last control point.

    Args:
        control: Control points [k, n], dt apart.
        dt: Duration of a tick [s].

    Returns:
        Positions, velocities and accelerations at the ticks, [k + 2, n] each, with zero velocities
        and accelerations in the first and in the last row. Tick k + 1 is near control point k.
    """
    c = np.concatenate([control[:1], control[:1], control, control[-1:], control[-1:]])
    rises = np.diff(c, axis=0)
    bends = np.diff(rises, axis=0)
    return c[1:-1] + bends / 6.0, 0.5 * (rises[1:] + rises[:-1]) / dt, bends / dt**2
