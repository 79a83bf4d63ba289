# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Vectorised loops over lanes, several configurations that one thread processes together.

Clang vectorises a loop over lanes, which then takes a fifth of the time, if it can prove that the
lanes are independent:

- The loop is ``while lane < wp.static(lanes)`` without any other condition, which Warp does not
  unroll.
- Its body has no loop that is not unrolled, and calls no function of the C library. Use ``sincos``
  and ``arctangent`` of :mod:`ros_ik.kinematics.spatial`, and no ``wp.isfinite``.
- Data of lanes are in vectors and matrices with the lane as the last index. Functions get their
  entries, never a whole vector or matrix. A second loop handles rare cases.

``-Rpass-missed=loop-vectorize`` in ``wp.config.cpu_compiler_flags`` reports why a loop is not
vectorised. On a GPU, a thread has a single lane.

With lanes, one thread works on all problems, in a loop of its kernel. The loop is
``while more:``, and its last line ``more = wp.static(lanes > 1) and problem < n``. Compilers then
read the constants of a kernel and spread them over the lanes once for all problems, which saves a
sixth of the time of closed forms. The body is in the kernel or in a function that is inlined. On a
GPU the loop disappears.
"""

import warp as wp


def lanes_on(device: wp.DeviceLike, most: int) -> int:
    """Return the number of lanes of kernels on a device, ``most`` on a CPU, 1 on a GPU."""
    return most if wp.get_device(device).is_cpu else 1


def threads_of(lanes: int, n: int) -> int:
    """Return the number of threads for n problems of a kernel with such a loop."""
    return n if lanes == 1 else 1
