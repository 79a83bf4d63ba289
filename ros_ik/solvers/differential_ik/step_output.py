# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Outputs of a control step: arrays and statuses."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.numbers import check_writable
from ros_ik.solvers.status import SolveStatus

# Statuses by their codes; looked up several times a step, where SolveStatus(code) takes longer.
STATUSES = {int(status): status for status in SolveStatus}


def check_step_output(delta_q: np.ndarray) -> None:
    """Check that a step can be written into an array.

    Raises:
        ArgumentError: Not a NumPy array of floats, or a read-only one.
    """
    dtype = getattr(delta_q, 'dtype', type(delta_q).__name__)
    if not isinstance(delta_q, np.ndarray) or delta_q.dtype.kind != 'f':
        # NumPy would round a step to zero in an array of integers.
        raise ArgumentError(f'delta_q must be an array of floats, got {dtype}')
    check_writable('delta_q', delta_q)


def write_step(delta_q: np.ndarray, step: np.ndarray, variables: np.ndarray) -> None:
    """Write a step of all degrees of freedom or of the variables, by the shape of ``delta_q``."""
    if delta_q.shape == step.shape:
        delta_q[...] = step
    elif delta_q.shape == variables.shape:
        delta_q[...] = variables
    else:
        raise wrong_step(delta_q.shape, step, variables)


def wrong_step(shape: Sequence[int], step: np.ndarray, variables: np.ndarray) -> ArgumentError:
    """Return the error for an array of the step that has a wrong shape."""
    return ArgumentError(
        f'delta_q must have shape {list(step.shape)} or {variables.shape[-1]} in its last '
        f'dimension, got {list(shape)}'
    )


def solved_into(
    delta_q: wp.array, solve: Callable[[np.ndarray], SolveStatus | np.ndarray]
) -> SolveStatus | np.ndarray:
    """Solve into a Warp array; on the CPU the host writes to its memory."""
    step = delta_q.numpy()
    status = solve(step)
    if not wp.get_device(delta_q.device).is_cpu:
        with LAUNCH_LOCK.shared():
            delta_q.assign(step)
    return status


def returned_status(status: np.ndarray, ndim: int) -> SolveStatus | np.ndarray:
    """Return a single status, or a copy of all if the coordinates have two dimensions."""
    return STATUSES[status.item(0)] if ndim == 1 else status.copy()
