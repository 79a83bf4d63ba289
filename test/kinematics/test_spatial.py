# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Sines, cosines and arctangents of kernels against those of NumPy."""

import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics.spatial import arctangent
from ros_ik.solvers.pose_ik.kernels.functions import sincos_function


@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
def test_sine_and_cosine(scalar):
    sincos = sincos_function(scalar)

    @wp.kernel(enable_backward=False, module='unique')
    def evaluate(x: wp.array(dtype=scalar), out: wp.array(dtype=wp.types.vector(2, scalar))):
        out[wp.tid()] = sincos(x[wp.tid()])

    dtype = np.float32 if scalar is wp.float32 else np.float64
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-1e4, 1e4, 5000), np.arange(-40, 41) * np.pi / 4]).astype(
        dtype
    )
    out = wp.zeros(len(x), dtype=wp.types.vector(2, scalar), device='cpu')
    wp.launch(
        evaluate, dim=len(x), inputs=[wp.array(x, dtype=scalar, device='cpu'), out], device='cpu'
    )
    exact = np.stack([np.sin(x.astype(np.float64)), np.cos(x.astype(np.float64))], axis=1)
    # Rounding of the argument reduction grows with |x| in float32.
    tolerance = 1e-3 if scalar is wp.float32 else 1e-12
    np.testing.assert_allclose(out.numpy(), exact, atol=tolerance)


def test_arctangent_is_the_library_function_to_a_few_roundings():
    @wp.kernel(enable_backward=False, module='unique')
    def evaluate(points: wp.array(dtype=wp.vec2d), out: wp.array(dtype=wp.float64)):
        point = points[wp.tid()]
        out[wp.tid()] = arctangent(point[0], point[1])

    rng = np.random.default_rng(0)
    angles = np.concatenate([rng.uniform(-np.pi, np.pi, 5000), np.arange(-8, 9) * np.pi / 8])
    points = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    points *= 10.0 ** rng.uniform(-30.0, 30.0, (len(points), 1))
    axes = [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 0.0], [1e-300, 1.0]]
    points = np.concatenate([points, axes])
    out = wp.zeros(len(points), dtype=wp.float64, device='cpu')
    wp.launch(
        evaluate, dim=len(points), device='cpu',
        inputs=[wp.array(points, dtype=wp.vec2d, device='cpu'), out],
    )  # fmt: skip
    exact = np.arctan2(points[:, 0], points[:, 1])
    np.testing.assert_allclose(out.numpy(), exact, rtol=5e-16, atol=0.0)
