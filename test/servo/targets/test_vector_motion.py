# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The offset with which an estimate is followed decays as its differential equation says."""

import numpy as np
import pytest
from scipy.linalg import expm

from ros_ik.servo.targets.vector_motion import _Estimate


@pytest.mark.parametrize('rate', [2.0, 30.0, 200.0])
@pytest.mark.parametrize('time', [0.0, 0.003, 0.05])
def test_offsets_decay_with_a_triple_pole(rate, time):
    rng = np.random.default_rng(0)
    estimate = _Estimate()
    state, offset = rng.normal(size=(2, 3, 3)) * np.array([0.01, 0.2, 3.0])[:, None]
    estimate.state, estimate.offset = (
        tuple(map(tuple, rows.tolist())) for rows in (state, offset)
    )
    estimate._rate, estimate.acceleration_time = rate, 1.0
    # (d/dt + w)^3 o = 0 as a system of the first order.
    decay = expm(time * np.array([[0, 1, 0], [0, 0, 1], [-(rate**3), -3 * rate**2, -3 * rate]]))
    np.testing.assert_allclose(estimate._offset_at(time), decay @ offset, rtol=1e-9, atol=1e-9)
    # Both forms of the position, one of which each tick computes.
    followed = np.subtract(estimate.position_at(time), estimate.output_at(time))
    np.testing.assert_allclose(followed, (decay @ offset)[0], rtol=1e-9, atol=1e-12)
