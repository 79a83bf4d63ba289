# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The two rules by which Levenberg-Marquardt adapts its damping."""

import numpy as np
import pytest
import warp as wp

from ros_ik.solvers.least_squares.damping import damped_smoothly
from ros_ik.solvers.least_squares.damping import damping_functions
from ros_ik.solvers.least_squares.damping import GROWTH

RATIOS = np.array([1.0, 0.5, 0.49, 0.25, 0.24, 1e-3, -1.0, 0.9, 0.75, 2.0])
TAKEN = np.array([1, 1, 1, 1, 1, 1, 0, 0, 1, 1])


@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
def test_damping_after_a_step(scalar):
    rules = damping_functions(scalar)
    in_steps, smoothly = rules.damp_in_steps, rules.damp_smoothly

    @wp.kernel(enable_backward=False, module='unique')
    def adapt(
        ratio: wp.array(dtype=scalar),
        taken: wp.array(dtype=wp.int32),
        found: wp.array2d(dtype=scalar),
    ):
        k = wp.tid()
        predicted = scalar(3.0)
        is_taken = taken[k] == 1
        found[k, 0] = in_steps(
            scalar(2.0), ratio[k] * predicted, predicted, is_taken, scalar(4.0)
        )
        damping, growth = smoothly(scalar(3.0), scalar(16.0), ratio[k], is_taken)
        found[k, 1] = damping
        found[k, 2] = growth

    given = [
        wp.array(RATIOS, dtype=scalar, device='cpu'),
        wp.array(TAKEN, dtype=wp.int32, device='cpu'),
    ]
    found = wp.zeros((len(RATIOS), 3), dtype=scalar, device='cpu')
    wp.launch(adapt, len(RATIOS), given, [found], device='cpu')
    stepped, smooth, growth = found.numpy().T
    np.testing.assert_allclose(stepped, [0.5, 0.5, 2.0, 2.0, 8.0, 8.0, 8.0, 8.0, 0.5, 0.5])
    # Madsen, Nielsen, Tingleff, section 2.2, (2.21).
    factors = np.maximum(1.0 / 3.0, 1.0 - (2.0 * RATIOS - 1.0) ** 3)
    np.testing.assert_allclose(smooth, 3.0 * np.where(TAKEN == 1, factors, 16.0), rtol=1e-6)
    np.testing.assert_array_equal(growth, np.where(TAKEN == 1, GROWTH, 32.0))
    on_host = [
        damped_smoothly(3.0, 16.0, r, bool(t)) for r, t in zip(RATIOS, TAKEN, strict=True)
    ]
    tolerance = 1e-6 if scalar is wp.float32 else 1e-15
    np.testing.assert_allclose(found.numpy()[:, 1:], on_host, rtol=tolerance)
