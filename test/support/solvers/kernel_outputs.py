# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Outputs of a kernel of floating-point states, a thread for each."""

import numpy as np
import warp as wp


def launched(kernel, columns, *widths):
    """Return the outputs of a kernel on states given by columns."""
    state = wp.array(np.column_stack(columns), dtype=wp.float64, device='cpu')
    outputs = [wp.zeros((len(columns[0]), w), dtype=wp.float64, device='cpu') for w in widths]
    wp.launch(kernel, len(columns[0]), inputs=[state, *outputs], device='cpu')
    return [output.numpy() for output in outputs]
