# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp function for the status of a pose without a solution."""

import functools
from typing import no_type_check

import warp as wp

from ros_ik.kinematics.tree import tree_struct
from ros_ik.solvers.limit_status import limit_functions
from ros_ik.solvers.pose_ik.kernels.placement import configuration_functions
from ros_ik.solvers.pose_ik.kernels.placement import placement_struct
from ros_ik.solvers.pose_ik.kernels.tool_errors import tool_error_functions

# Step for the derivative of the cost at a limit [rad or m], and the least relative derivative per
# radian or metre that is not rounding, which is 1e-9.
_PROBE, _SLOPE = 1e-6, 1e-6


@no_type_check
@functools.cache
def unsolved_function() -> wp.Function:
    """Build ``unsolved(tree, placement, out, joint_q, target) -> status``."""
    Placement = placement_struct()
    Tree = tree_struct(wp.float64)
    tool_error = tool_error_functions().tool_error
    write_followers = configuration_functions().write_followers
    limits = limit_functions(wp.float64)
    presses, unsolved_status = limits.presses, limits.unsolved_status

    @wp.func
    def cost_at(
        tree: Tree,
        placement: Placement,
        out: int,
        variable: int,
        value: wp.float64,
        joint_q: wp.array2d(dtype=wp.float64),
        target: wp.transformd,
    ) -> wp.float64:
        """Set a variable to a value, and return the cost of the search there."""
        joint_q[out, placement.coordinate[variable]] = value
        write_followers(placement, out, joint_q)
        moved, turned, _inside = tool_error(tree, placement, out, joint_q, target)
        moved = placement.position_weight * moved
        turned = placement.length * turned
        return moved * moved + turned * turned

    @wp.func
    def unsolved(
        tree: Tree,
        placement: Placement,
        out: int,
        joint_q: wp.array2d(dtype=wp.float64),
        target: wp.transformd,
    ) -> int:
        """Return AT_LIMITS if the cost is lower beyond the limit of a variable, or UNREACHABLE."""
        probe = wp.float64(wp.static(_PROBE))
        is_pressed = bool(False)
        for j in range(placement.coordinate.shape[0]):
            value = joint_q[out, placement.coordinate[j]]
            below = value - placement.lower[j]
            above = placement.upper[j] - value
            if wp.min(below, above) <= wp.float64(0.0):
                change = cost_at(tree, placement, out, j, value + probe, joint_q, target)
                change -= cost_at(tree, placement, out, j, value - probe, joint_q, target)
                cost = cost_at(tree, placement, out, j, value, joint_q, target)
                # Of rounding alone a slope may have either sign.
                if wp.abs(change) > probe * wp.float64(wp.static(_SLOPE)) * cost:
                    pressed = presses(change, below, above, wp.float64(0.0))
                    is_pressed = is_pressed or pressed
        return unsolved_status(True, is_pressed)

    return unsolved
