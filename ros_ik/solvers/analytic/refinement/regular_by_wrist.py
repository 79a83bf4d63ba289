# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp function that shows that six revolute joints are far from singular, by three of them.

The joints of the wrist have the axes w_k and move the tool with the velocities v_k, the others
have w_i and v_i. Elimination of the rotations leaves the determinant of the Jacobian, up to its
sign:

    D det [v_i - sum_k y_ik v_k],   sum_k y_ik w_k = w_i,   D = det [w_k]

This takes half of the operations of J^T J and its determinant, which
:mod:`ros_ik.solvers.analytic.refinement.polish` computes for any joints.
"""

import functools
from typing import no_type_check
import zlib

import warp as wp

from ros_ik.solvers.analytic.refinement.polish import polish_functions

# Squared determinant of the axes of the wrist up to which rounding may matter.
_IN_PLANE = 1e-6


@no_type_check
@functools.cache
def regular_by_wrist_function(wrist: tuple[int, ...]) -> wp.Function:
    """Build ``is_regular(chain, refinement, axes, pivots, p) -> bool`` for three of six joints."""
    structure = zlib.crc32(repr(wrist).encode()) & 0x7FFFFFFF
    k1, k2, k3 = wrist
    i1, i2, i3 = (joint for joint in range(6) if joint not in wrist)
    polishing = polish_functions(6, False, False)
    velocities, is_far = polishing.velocities, polishing.is_far
    Chain, Refinement, matn3 = polishing.Chain, polishing.Refinement, polishing.matn3

    @wp.func
    def remainder(
        w: wp.vec3d, v: wp.vec3d, reciprocal: wp.mat33d, wrist_v: wp.mat33d, D: wp.float64
    ) -> wp.vec3d:  # fmt: skip
        """Return D (v - sum_k y_k v_k)."""
        return D * v - (reciprocal * w) * wrist_v

    @wp.func
    def is_regular(
        chain: Chain, refinement: Refinement, axes: matn3, pivots: matn3, p: wp.vec3d
    ) -> bool:  # fmt: skip
        """Return True if a configuration is far from singular, and the wrist not in a plane."""
        _structure = wp.static(structure)
        v = velocities(chain, axes, pivots, p)
        w1, w2, w3 = axes[k1], axes[k2], axes[k3]
        # D times the vectors that are reciprocal to the axes.
        reciprocal = wp.matrix_from_rows(wp.cross(w2, w3), wp.cross(w3, w1), wp.cross(w1, w2))
        D = wp.dot(w1, reciprocal[0])
        wrist_v = wp.matrix_from_rows(v[k1], v[k2], v[k3])
        a = remainder(axes[i1], v[i1], reciprocal, wrist_v, D)
        b = remainder(axes[i2], v[i2], reciprocal, wrist_v, D)
        c = remainder(axes[i3], v[i3], reciprocal, wrist_v, D)
        square = D * D
        L = refinement.length
        det = L * L * L * wp.dot(a, wp.cross(b, c)) / square
        total = wp.ddot(v, v) + wp.float64(6.0) * L * L
        return square > wp.float64(wp.static(_IN_PLANE)) and is_far(refinement, det * det, total)

    return is_regular
