# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Loops over lanes: several configurations of one thread, worked on side by side.

Clang turns a loop over lanes into vector instructions, a fifth of the time of one configuration
after the other, if it can tell that no lane depends on another:

- the loop is ``while lane < wp.static(lanes)``, without a further condition, and Warp leaves it;
- its body has no loop that is not unrolled, and calls no function of the C library: ``sincos`` and
  ``arctangent`` of ``kinematics.spatial`` instead, and no ``wp.isfinite``;
- what lanes hold stands in vectors and matrices with the lane as the last index, and is passed to
  no function as a whole; rare cases wait for a second loop.

``-Rpass-missed=loop-vectorize`` among ``wp.config.cpu_compiler_flags`` says why a loop is none. On
a GPU a thread has one lane.
"""

import warp as wp


def lanes_on(device: wp.DeviceLike, most: int) -> int:
    """Return how many lanes kernels have on a device: ``most`` on a CPU, 1 on a GPU."""
    return most if wp.get_device(device).is_cpu else 1
