# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""All kernels for pairs of primitives, compiled together.

Several kernels use the measurement of a pair, which takes seconds to compile. Warp compiles a
module as a whole, so in a common module it is compiled once. All kernels are created together,
because Warp compiles a module again if a kernel is added after it was loaded.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace

import warp as wp

from ros_ik.kinematics.collision.pairs.pair_distance import pair_distance_kernels
from ros_ik.kinematics.collision.pairs.pair_path import pair_path_kernel
from ros_ik.kinematics.collision.pairs.pair_rows import pair_rows_kernel
from ros_ik.kinematics.collision.pairs.pair_sweep import pair_sweep_kernel
from ros_ik.kinematics.runtime.kernel_launch import block_size
from ros_ik.kinematics.runtime.kernel_launch import MAX_REGISTERS


@functools.cache
def pair_kernels(scalar: type, convex: bool) -> SimpleNamespace:
    """Build the kernels of one floating-point type.

    Args:
        scalar: ``wp.float32`` or ``wp.float64``.
        convex: True if there are shapes other than spheres, capsules and half-spaces; without
            them the kernels compile in a fraction of the time.

    Returns:
        ``place``, ``distances`` and ``jacobian`` of :func:`pair_distance_kernels`, ``sweep``,
        ``choose`` and ``follow``.
    """
    kinds = 'convex' if convex else 'round'
    module = wp.get_module(f'ros_ik_pairs_{scalar.__name__}_{kinds}')
    module.options['block_dim'] = block_size(MAX_REGISTERS)
    kernels = pair_distance_kernels(scalar, convex, module)
    kernels.sweep = pair_sweep_kernel(scalar, convex, module)
    kernels.choose = pair_rows_kernel(scalar, convex, module)
    kernels.follow = pair_path_kernel(scalar, convex, module)
    return kernels
