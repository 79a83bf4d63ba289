# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A function of a link, its height, for objectives of users."""

import warp as wp


@wp.struct
class Height:
    """Target height of the link."""

    target: wp.float64


@wp.func
def too_low(height: Height, pose: wp.transformd) -> wp.float64:
    """Return the missing height, as one number."""
    return height.target - wp.transform_get_translation(pose)[2]


@wp.func
def too_low_rate(height: Height, pose: wp.transformd, velocity: wp.spatial_vectord) -> wp.float64:
    """Rate of the missing height."""
    return -velocity[2]
