# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Symmetric positive definite systems of a few unknowns, in registers.

All loops are unrolled, so each size is compiled separately. This pays off for up to about eight
unknowns, for which loops over arrays in memory take three times as long.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def small_system_functions(scalar: type, m: int) -> SimpleNamespace:
    """Build the functions for systems of m unknowns.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        m: Number of unknowns.

    Returns:
        ``solve_all(H, g, damping) -> x``, ``solve_free(H, g, damping, fixed, d) -> x``,
        ``determinant(H) -> det`` and ``iteration_start() -> x``. If a matrix is not positive
        definite, the results are meaningless and usually not finite.
    """
    vecm, matmm = wp.types.vector(m, scalar), wp.types.matrix((m, m), scalar)
    zero, one, last = scalar(0.0), scalar(1.0), m - 1

    @wp.func
    def eliminate(H: matmm, g: vecm, damping: scalar):
        """Solve (H + damping) x = g by L D L^T; return x and the determinant, the product of D.

        Only the lower triangle of H is read.
        """
        L = matmm()
        scaled = matmm()  # L D
        inverse = vecm()  # of D
        x = vecm()
        det = one
        for i in range(m):
            rhs = g[i]
            pivot = H[i, i] + damping
            for j in range(i):
                s = H[i, j]
                for k in range(j):
                    s -= scaled[i, k] * L[j, k]
                scaled[i, j] = s
                L[i, j] = s * inverse[j]
                pivot -= s * L[i, j]
                rhs -= L[i, j] * x[j]
            inverse[i] = one / pivot
            det *= pivot
            x[i] = rhs
        for i in range(last, -1, -1):
            s = x[i] * inverse[i]
            for k in range(last, i, -1):
                s -= L[k, i] * x[k]
            x[i] = s
        return x, det

    # Compilers remove results that the caller does not use.
    @wp.func
    def solve_all(H: matmm, g: vecm, damping: scalar) -> vecm:
        """Solve (H + damping) x = g, from the lower triangle of H."""
        x, _det = eliminate(H, g, damping)
        return x

    @wp.func
    def determinant(H: matmm) -> scalar:
        """Return the determinant of H, from its lower triangle."""
        _x, det = eliminate(H, vecm(), zero)
        return det

    @wp.func
    def solve_free(H: matmm, g: vecm, damping: scalar, fixed: vecm, d: vecm) -> vecm:
        """Solve for the free variables; those with fixed = 1 keep their value d."""
        A = matmm()
        rhs = vecm()
        for i in range(m):
            free = one - fixed[i]
            rhs[i] = g[i]
            for j in range(i):
                A[i, j] = H[i, j] * free * (one - fixed[j])
                rhs[i] -= H[i, j] * d[j] * fixed[j]
                rhs[j] -= H[i, j] * d[i] * fixed[i]
            A[i, i] = H[i, i]
        for i in range(m):
            if fixed[i] > zero:
                A[i, i] = one
                rhs[i] = d[i] * (one + damping)
        return solve_all(A, rhs, damping)

    @wp.func
    def iteration_start() -> vecm:
        """Return a start for inverse iteration that is unlikely to be normal to an eigenvector."""
        x = vecm()
        for j in range(m):
            x[j] = one + scalar(0.3) * scalar(j)
        return x

    return SimpleNamespace(
        solve_all=solve_all,
        solve_free=solve_free,
        determinant=determinant,
        iteration_start=iteration_start,
    )
