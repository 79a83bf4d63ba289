# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Redundant joint of seven, and its place beside the other six."""

import functools
from typing import Any
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def redundancy_struct() -> Any:
    """Return the struct of the redundant joint."""

    @wp.struct
    class Redundancy:
        index: int  # in the chain; the first or the last joint
        slides: int
        axis: wp.vec3d  # in the world for the first joint, in the tool for the last
        pivot: wp.vec3d  # [m]
        locked_value: wp.float64  # position at which it is locked in the chain of the other six
        separation: wp.float64  # least distance of distinct values

    return Redundancy


@no_type_check
@wp.func
def joint_of_six(k: int, redundant: int) -> int:
    """Return the joint of the chain that is number ``k`` of the six beside the redundant one."""
    return k + wp.where(k >= redundant, 1, 0)


@no_type_check
@wp.func
def number_of_six(joint: int, redundant: int) -> int:
    """Return the number of a joint of the chain among the six beside the redundant one."""
    return joint - wp.where(joint > redundant, 1, 0)
