# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of several libraries, and the addresses of their memory."""

import importlib

import numpy as np
import pytest
import warp as wp


class StandardArray:
    """An array with DLPack alone, as of an unknown library."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **arguments):
        return self.values.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def torch():
    """Return PyTorch, or skip."""
    return pytest.importorskip('torch', reason='PyTorch is not installed', exc_type=ImportError)


def jax_numpy():
    """Return the arrays of JAX on the CPU and in float64, or skip."""
    jax = pytest.importorskip('jax', reason='JAX is not installed', exc_type=ImportError)
    jax.config.update('jax_enable_x64', True)
    jax.config.update('jax_platforms', 'cpu')
    return importlib.import_module('jax.numpy')


# Makers of arrays, by library: from an array of NumPy, with memory of their own.
MAKERS = {
    'numpy': np.array,
    'warp': lambda values: wp.array(values, device='cpu'),
    'dlpack': lambda values: StandardArray(np.array(values)),
    'torch': lambda values: torch().tensor(values),
    'jax': lambda values: jax_numpy().asarray(np.array(values)),
}


def address(array):
    """Return the address of the first number of an array."""
    if isinstance(array, StandardArray):
        return address(array.values)
    if isinstance(array, np.ndarray):
        return array.__array_interface__['data'][0]
    for name in ('ptr', 'data_ptr', 'unsafe_buffer_pointer'):
        if hasattr(array, name):
            found = getattr(array, name)
            return found() if callable(found) else found
    raise TypeError(type(array).__name__)


def numbers(array):
    """Return the content of an array as one of NumPy."""
    if isinstance(array, StandardArray):
        return array.values
    return array.numpy() if hasattr(array, 'numpy') else np.asarray(array)
