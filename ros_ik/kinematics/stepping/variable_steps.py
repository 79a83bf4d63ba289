# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps of the variables of a group, x, from those of the degrees of freedom, dq = S x."""

import functools
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def variable_steps_function() -> wp.Function:
    """Return the Warp function ``write_variable_steps``, float64."""
    zero = wp.constant(wp.float64(0.0))

    @wp.func
    def write_variable_steps(
        i: int,
        step: wp.array2d(dtype=wp.float64),  # [n, joint_dof_count]
        dof: wp.array(dtype=wp.int32),  # [moving]
        variable: wp.array(dtype=wp.int32),  # [moving]
        factor: wp.array(dtype=wp.float64),  # [moving]
        x: wp.array2d(dtype=wp.float64),  # [n, variables]
    ):
        """Write x of robot i; a variable that moves nothing is 0."""
        for j in range(x.shape[1]):
            x[i, j] = zero
        for k in range(dof.shape[0]):
            if factor[k] != zero:
                x[i, variable[k]] = step[i, dof[k]] / factor[k]

    return write_variable_steps
