# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Determinant and inverse of Gram matrices, against NumPy."""

import numpy as np
import pytest
import warp as wp

from ros_ik.objectives.jacobian.gram import gram_functions


@pytest.mark.parametrize('k', [1, 2, 3, 6])
def test_gram_functions(k):
    gram = gram_functions(k)
    matrix, inverse, root_determinant = gram.matrix, gram.inverse, gram.root_determinant

    @wp.kernel(enable_backward=False, module='unique')
    def evaluate(
        A: wp.array(dtype=matrix), B: wp.array(dtype=matrix), root: wp.array(dtype=float)
    ):
        B[0] = inverse(A[0])
        root[0] = float(root_determinant(A[0]))

    factor = np.random.default_rng(k).normal(size=(k, k + 1))
    exact = factor @ factor.T
    A = wp.array(exact[None], dtype=matrix, device='cpu')
    B = wp.zeros(1, dtype=matrix, device='cpu')
    root = wp.zeros(1, dtype=float, device='cpu')
    wp.launch(evaluate, dim=1, inputs=[A], outputs=[B, root], device='cpu')
    np.testing.assert_allclose(B.numpy()[0] @ exact, np.eye(k), atol=1e-10)
    np.testing.assert_allclose(root.numpy()[0], np.sqrt(np.linalg.det(exact)), rtol=1e-6)
