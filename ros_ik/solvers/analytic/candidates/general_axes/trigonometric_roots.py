# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Roots of a trigonometric polynomial of degree 8, from samples, by Aberth's method."""

import math
from typing import no_type_check

import warp as wp

from ros_ik.solvers.analytic.subproblems.rotations import sincos

# Number of roots, and of samples of the determinant, enough for twelve harmonics.
ROOTS = 16
SAMPLES = 24
_DEGREE = 8
_HARMONICS = 12
_ITERATIONS = 40
# Radius of the circle of first guesses of the roots. Guesses on the unit circle would stay there.
_FIRST_RADIUS = 1.1
# Steps of the roots at which the iteration ends, for those near the unit circle and for others.
_ROOT_STEP, _FAR_STEP = 1e-6, 0.02
# Distances from the unit circle of the former, and of roots whose steps do not matter, as |ln|z||.
_NEAR_CIRCLE, _FAR_FROM_CIRCLE = 0.2, 2.0

vec16 = wp.types.vector(ROOTS, wp.float64)
vec24 = wp.types.vector(SAMPLES, wp.float64)


@no_type_check
@wp.func
def harmonics_of(det: vec24):
    """Return the harmonics 0 to 8 of samples of the determinant, and the relative rounding."""
    cosines = vec16()
    sines = vec16()
    largest = wp.float64(0.0)
    rest = wp.float64(0.0)
    k = int(0)
    while k <= wp.static(_HARMONICS):
        real = wp.float64(0.0)
        imaginary = wp.float64(0.0)
        sc = sincos(wp.float64(wp.static(2.0 * math.pi / SAMPLES)) * wp.float64(k))
        c = wp.float64(1.0)
        s = wp.float64(0.0)
        i = int(0)
        while i < wp.static(SAMPLES):
            real += det[i] * c
            imaginary -= det[i] * s
            turned_c = c * sc[1] - s * sc[0]
            s = c * sc[0] + s * sc[1]
            c = turned_c
            i += 1
        size = wp.sqrt(real * real + imaginary * imaginary)
        largest = wp.max(largest, size)
        if k > wp.static(_DEGREE):
            rest = wp.max(rest, size)
        else:
            cosines[k] = real
            sines[k] = imaginary
        k += 1
    rounding = wp.float64(1.0)
    if largest > wp.float64(0.0):
        rounding = rest / largest
        cosines /= largest
        sines /= largest
    return cosines, sines, rounding


@no_type_check
@wp.func
def unit_circle_roots(cosines: vec16, sines: vec16):
    """Return the roots exp(i q) of a trigonometric polynomial by the method of Aberth (1973).

    All roots are improved together by Newton steps that the other roots repel.

    Args:
        cosines: Real parts of the harmonics 0 to 8.
        sines: Their imaginary parts.

    Returns:
        Real and imaginary parts of the roots.
    """
    real = vec16()
    imaginary = vec16()
    i = int(0)
    while i < wp.static(ROOTS):
        sc = sincos(wp.float64(wp.static(2.0 * math.pi / ROOTS)) * wp.float64(i) + wp.float64(0.2))
        real[i] = wp.float64(wp.static(_FIRST_RADIUS)) * sc[1]
        imaginary[i] = wp.float64(wp.static(_FIRST_RADIUS)) * sc[0]
        i += 1
    iteration = int(0)
    while iteration < wp.static(_ITERATIONS):
        p_re = vec16()
        p_im = vec16()
        d_re = vec16()
        d_im = vec16()
        k = int(wp.static(_DEGREE))
        while k >= wp.static(-_DEGREE):
            re = cosines[wp.abs(k)]
            im = sines[wp.abs(k)]
            if k < 0:
                im = -im
            i = int(0)
            while i < wp.static(ROOTS):
                x = real[i]
                y = imaginary[i]
                d = d_re[i] * x - d_im[i] * y + p_re[i]
                d_im[i] = d_re[i] * y + d_im[i] * x + p_im[i]
                d_re[i] = d
                p = p_re[i] * x - p_im[i] * y + re
                p_im[i] = p_re[i] * y + p_im[i] * x + im
                p_re[i] = p
                i += 1
            k -= 1
        push_re = vec16()
        push_im = vec16()
        k = int(0)
        while k < wp.static(ROOTS):
            x = real[k]
            y = imaginary[k]
            i = int(0)
            while i < wp.static(ROOTS):
                dx = real[i] - x
                dy = imaginary[i] - y
                square = dx * dx + dy * dy
                inverse = wp.float64(1.0) / wp.max(square, wp.float64(1.0e-30))
                push_re[i] = push_re[i] + dx * inverse
                push_im[i] = push_im[i] - dy * inverse
                i += 1
            k += 1
        unsettled = wp.float64(0.0)
        i = int(0)
        while i < wp.static(ROOTS):
            # The step is p / (p' - p push).
            x = d_re[i] - p_re[i] * push_re[i] + p_im[i] * push_im[i]
            y = d_im[i] - p_re[i] * push_im[i] - p_im[i] * push_re[i]
            inverse = wp.float64(1.0) / wp.max(x * x + y * y, wp.float64(1.0e-300))
            step_re = (p_re[i] * x + p_im[i] * y) * inverse
            step_im = (p_im[i] * x - p_re[i] * y) * inverse
            square = real[i] * real[i] + imaginary[i] * imaginary[i]
            change = (step_re * step_re + step_im * step_im) / wp.max(square, wp.float64(1.0e-300))
            real[i] = real[i] - step_re
            imaginary[i] = imaginary[i] - step_im
            near = wp.abs(square - wp.float64(1.0)) < wp.float64(wp.static(2.0 * _NEAR_CIRCLE))
            far = square > wp.float64(wp.static(math.exp(2.0 * _FAR_FROM_CIRCLE)))
            far = far or square < wp.float64(wp.static(math.exp(-2.0 * _FAR_FROM_CIRCLE)))
            bound = wp.where(
                near, wp.float64(wp.static(_ROOT_STEP**2)), wp.float64(wp.static(_FAR_STEP**2))
            )
            bound = wp.where(far, wp.float64(wp.inf), bound)
            unsettled = wp.max(unsettled, wp.where(change <= bound, wp.float64(0.0), change))
            i += 1
        iteration += 1
        if unsettled == wp.float64(0.0):
            iteration = wp.static(_ITERATIONS)
    return real, imaginary


@no_type_check
@wp.func
def root_error(
    real: vec16, imaginary: vec16, x: wp.float64, y: wp.float64, leading: wp.float64,
    noise: wp.float64,
) -> wp.float64:  # fmt: skip
    """Return the error of a root near the unit circle for an error of the polynomial.

    The polynomial is its leading coefficient times the distances to the roots. The error of a
    cluster of m roots is the m-th root of the error of the polynomial over the other factors, for
    the smallest cluster that is so much smaller than the distance to the next root.

    Args:
        real: Real parts of the roots.
        imaginary: Their imaginary parts.
        x: Real part of the root.
        y: Its imaginary part.
        leading: Size of the leading coefficient.
        noise: Error of the polynomial.
    """
    distances = vec16()
    i = int(0)
    while i < wp.static(ROOTS):
        dx = real[i] - x
        dy = imaginary[i] - y
        distance = wp.sqrt(dx * dx + dy * dy)
        at = i
        while at > 0 and distances[wp.max(at - 1, 0)] > distance:
            distances[at] = distances[at - 1]
            at -= 1
        distances[at] = distance
        i += 1
    error = wp.pow(noise / leading, wp.float64(wp.static(1.0 / ROOTS)))
    rest = leading
    cluster = int(wp.static(ROOTS - 1))
    while cluster > 0:
        # The first distance is that of the root to itself.
        rest *= distances[cluster]
        here = wp.pow(noise / rest, wp.float64(1.0) / wp.float64(cluster))
        if here <= wp.float64(0.5) * distances[cluster]:
            error = here
        cluster -= 1
    return error
