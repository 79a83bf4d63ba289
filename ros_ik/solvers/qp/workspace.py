# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Memory that the dual active-set method works on."""

from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.solvers.qp.active_set import active_set_functions


@shares_launch_lock
def make_workspace(
    scalar: type,
    batch: int,
    n_variables: int,
    n_rows: int,
    device: wp.DeviceLike,
    *,
    interleaves: bool = True,
) -> Any:
    """Return a ``Workspace`` of :func:`active_set_functions`, its arrays zero.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        batch: Number of programs.
        n_variables: Number of variables.
        n_rows: Number of rows besides the bounds.
        device: Device of the arrays.
        interleaves: False to store each program in one piece on a GPU too, because few of a batch
            are solved.
    """
    n, rows = n_variables, n_rows
    allocate = batch_zeros if interleaves else wp.zeros

    def zeros(*shape: int, dtype: type = scalar) -> wp.array:
        return allocate((batch, *shape), dtype, device)

    workspace = active_set_functions(scalar).Workspace()
    workspace.H, workspace.J, workspace.R = zeros(n, n), zeros(n, n), zeros(n, n)
    workspace.c, workspace.d, workspace.z, workspace.r = zeros(n), zeros(n), zeros(n), zeros(n)
    workspace.u, workspace.b, workspace.row_norm = zeros(n + 1), zeros(rows), zeros(rows)
    workspace.is_broken = zeros(rows, dtype=wp.int32)
    workspace.active = zeros(n + 1, dtype=wp.int32)
    workspace.is_active = zeros(2 * n + rows, dtype=wp.int32)
    return workspace
