# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Least change of a barrier in one step, and the value at which a row allows a given fall."""

from typing import no_type_check

import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics.row_bound import row_bound_functions


def there_and_back(scalar, falls, gain, dt):
    """Return the value for each fall, and the bound of a row at this value."""
    functions = row_bound_functions(scalar)
    row_bound, inside_of_fall = functions.row_bound, functions.inside_of_fall

    @no_type_check
    @wp.kernel(enable_backward=False, module='unique')
    def apply(
        fall: wp.array(dtype=scalar),
        gain: scalar,
        dt: scalar,
        inside: wp.array(dtype=scalar),
        bound: wp.array(dtype=scalar),
    ):
        k = wp.tid()
        inside[k] = inside_of_fall(fall[k], gain, dt)
        bound[k] = row_bound(inside[k], scalar(1.0), gain, scalar(wp.inf), dt)

    given = wp.array(falls, dtype=scalar, device='cpu')
    out = [wp.zeros(len(falls), dtype=scalar, device='cpu') for _ in range(2)]
    wp.launch(apply, len(falls), [given, scalar(gain), scalar(dt)], out, device='cpu')
    return [values.numpy() for values in out]


# A value near 1 / eps away from zero has lost the digits of the fall.
@pytest.mark.parametrize(('scalar', 'rtol'), [(wp.float64, 1e-12), (wp.float32, 1e-3)])
def test_a_row_at_the_value_of_a_fall_allows_that_fall(scalar, rtol):
    rng = np.random.default_rng(0)
    gain, dt = 5.0, 0.01
    falls = gain * dt * rng.uniform(0.0, 0.999, 400)
    inside, bound = there_and_back(scalar, falls, gain, dt)
    np.testing.assert_allclose(bound, -falls, rtol=rtol)
    # The saturation as it is written in roboplan's Oink.
    expected = -dt * gain * inside / (1.0 + np.abs(inside))
    np.testing.assert_allclose(bound, expected, rtol=rtol)


def test_no_row_allows_a_fall_of_the_gain_times_the_step():
    inside, _ = there_and_back(wp.float64, np.array([0.05, 0.051, 1.0, np.inf]), 5.0, 0.01)
    assert np.all(np.isinf(inside))
