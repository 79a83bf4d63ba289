# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Determinant and inverse of a Gram matrix A = J J^T by Cholesky factors, with gradient.

d sqrt(det A) = sqrt(det A) / 2 tr(A^-1 dA)
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def gram_functions(k: int) -> SimpleNamespace:
    """Build functions of a positive (semi)definite matrix [k, k], in float64.

    Returns:
        The types ``matrix`` and ``vector``, and the functions

        - ``root_determinant(A) -> float64``, with a backward pass; zero for a singular A;
        - ``inverse(A) -> matrix``, for a regular A.
    """
    matrix = wp.types.matrix((k, k), wp.float64)
    vector = wp.types.vector(k, wp.float64)
    size = wp.constant(k)

    @wp.func
    def factor(A: matrix) -> matrix:
        """Return the Cholesky factor, with zeros in columns without a positive pivot."""
        L = matrix()
        for j in range(size):
            pivot = A[j, j]
            for a in range(j):
                pivot -= L[j, a] * L[j, a]
            if pivot > wp.float64(0.0):
                L[j, j] = wp.sqrt(pivot)
                for i in range(j + 1, size):
                    value = A[i, j]
                    for a in range(j):
                        value -= L[i, a] * L[j, a]
                    L[i, j] = value / L[j, j]
        return L

    @wp.func
    def inverse(A: matrix) -> matrix:
        """Return L^-T L^-1."""
        L = factor(A)
        M = matrix()  # L^-1
        for j in range(size):
            M[j, j] = wp.float64(1.0) / L[j, j]
            for i in range(j + 1, size):
                value = wp.float64(0.0)
                for a in range(j, i):
                    value -= L[i, a] * M[a, j]
                M[i, j] = value / L[i, i]
        return wp.transpose(M) * M

    @wp.func
    def root_determinant(A: matrix) -> wp.float64:
        L = factor(A)
        product = wp.float64(1.0)
        for j in range(size):
            product *= L[j, j]
        return product

    @wp.func_grad(root_determinant)
    def adjoint_root_determinant(A: matrix, adj_ret: wp.float64):
        root = root_determinant(A)
        if root > wp.float64(0.0):
            wp.adjoint[A] += (wp.float64(0.5) * root * adj_ret) * inverse(A)

    return SimpleNamespace(
        matrix=matrix, vector=vector, root_determinant=root_determinant, inverse=inverse
    )
