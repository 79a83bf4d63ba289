# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The device of the GPU tests, and comparison of the results of two devices."""

import os

import numpy as np
import pytest
import warp as wp

# A test of the GPU runs where there is one; GPU_TEST_DEVICE=cpu rehearses it on any machine.
DEVICE = os.environ.get('GPU_TEST_DEVICE') or 'cuda:0'

on_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        DEVICE != 'cpu' and not wp.is_cuda_available(), reason='no CUDA device on this machine'
    ),
]


def assert_agree(there, here, *, rtol=1e-6, atol=1e-8, share=1.0):
    """Assert that arrays by name agree.

    Args:
        there: Arrays of the device under test.
        here: Arrays of the CPU.
        rtol: Relative tolerance; sums are ordered and rounded in other ways.
        atol: Absolute tolerance.
        share: Least share of rows that agree. A search that branches on rounding ends elsewhere
            for a few.
    """
    assert set(there) == set(here) and here
    for name, expected in here.items():
        expected, found = np.asarray(expected), np.asarray(there[name])
        assert found.shape == expected.shape and found.dtype == expected.dtype, name
        close = np.isclose(found, expected, rtol=rtol, atol=atol, equal_nan=True)
        rows = close.reshape(len(close), -1).all(axis=1) if close.ndim else close
        assert np.mean(rows) >= share, f'{name}: {np.mean(rows):.4f} of the rows agree'
