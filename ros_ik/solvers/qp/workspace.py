# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Memory that the dual active-set method works on."""

from typing import Any

import warp as wp

from ros_ik.solvers.qp.active_set import active_set_functions


def make_workspace(
    scalar: type, batch: int, n_variables: int, n_rows: int, device: wp.DeviceLike
) -> Any:
    """Return a ``Workspace`` of :func:`active_set_functions`, its arrays zero.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        batch: Number of programs.
        n_variables: Number of variables.
        n_rows: Number of rows besides the bounds.
        device: Device of the arrays.
    """
    n, rows = n_variables, n_rows

    def zeros(*shape: int, dtype: type = scalar) -> wp.array:
        return wp.zeros((batch, *shape), dtype=dtype, device=device)

    workspace = active_set_functions(scalar).Workspace()
    workspace.H, workspace.J, workspace.R = zeros(n, n), zeros(n, n), zeros(n, n)
    workspace.c, workspace.d, workspace.z, workspace.r = zeros(n), zeros(n), zeros(n), zeros(n)
    workspace.u, workspace.b, workspace.row_norm = zeros(n + 1), zeros(rows), zeros(rows)
    workspace.is_broken = zeros(rows, dtype=wp.int32)
    workspace.active = zeros(n + 1, dtype=wp.int32)
    workspace.is_active = zeros(2 * n + rows, dtype=wp.int32)
    return workspace
