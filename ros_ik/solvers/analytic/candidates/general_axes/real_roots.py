# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp functions that tell which roots of the determinant may be real."""

from typing import no_type_check

import warp as wp

from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import root_error
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import ROOTS
from ros_ik.solvers.analytic.candidates.general_axes.trigonometric_roots import vec16
from ros_ik.solvers.analytic.subproblems.rotations import sincos

# Largest imaginary part of a root that may be real [rad]. Double roots have an error of the square
# root of the rounding. For a rotated target it is about the square root of the angle, 0.14 rad; a
# bound of 0.2 rad found no more solutions.
NEARLY_REAL = 0.08
# Largest imaginary part of a root that must have a solution [rad].
_REAL = 1e-4
# Number of errors of a root within which it may be real.
_ERRORS = 3.0
# Number of roots of each pose that become candidates even if they are not real. They are the
# starts of the search for the nearest configuration of an unreachable pose.
_MIN_ROOTS = 2


@no_type_check
@wp.func
def sorted_roots(root_x: vec16, root_y: vec16):
    """Return angles and imaginary parts of roots exp(i q), and the number of candidates.

    The candidates are first: nearly real roots, and at least some.
    """
    roots = vec16()
    imaginary = vec16()
    i = int(0)
    while i < wp.static(ROOTS):
        roots[i] = arctangent(root_y[i], root_x[i])
        square = root_x[i] * root_x[i] + root_y[i] * root_y[i]
        imaginary[i] = wp.abs(wp.float64(0.5) * wp.log(wp.max(square, wp.float64(1.0e-300))))
        i += 1
    count = int(0)
    i = int(0)
    while i < wp.static(ROOTS):
        rank = int(0)
        j = int(0)
        while j < wp.static(ROOTS):
            if imaginary[j] < imaginary[i]:
                rank += 1
            j += 1
        nearly = imaginary[i] < wp.float64(wp.static(NEARLY_REAL))
        if nearly or rank < wp.static(_MIN_ROOTS):
            this_root = roots[i]
            this_imaginary = imaginary[i]
            roots[i] = roots[count]
            imaginary[i] = imaginary[count]
            roots[count] = this_root
            imaginary[count] = this_imaginary
            count += 1
        i += 1
    return roots, imaginary, count


@no_type_check
@wp.func
def may_be_real(
    angle: wp.float64, imaginary: wp.float64, root_x: vec16, root_y: vec16, leading: wp.float64,
    noise: wp.float64,
) -> bool:  # fmt: skip
    """Return True if a root is real within its error, see :func:`root_error`."""
    is_real = imaginary < wp.float64(wp.static(_REAL))
    if not is_real and imaginary < wp.float64(wp.static(NEARLY_REAL)):
        on_circle = sincos(angle)
        error = root_error(root_x, root_y, on_circle[1], on_circle[0], leading, noise)
        is_real = imaginary < wp.float64(wp.static(_ERRORS)) * error
    return is_real
