# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp


def compiled_kernel(
    *, differentiable: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], wp.Kernel]:
    """Return a decorator that makes a kernel in a module of its own, compiled alone.

    A product may be fused with the sum it goes into, on a CPU as Warp has it on CUDA. All kernels
    are compiled so: Warp reads its headers again for each set of flags, which takes 1.7 s.

    Args:
        differentiable: Whether it has an adjoint.
        options: Further options of its module.
    """
    flags = wp.config.cpu_compiler_flags
    fused = f'{"-march=native" if flags is None else flags} -ffp-contract=fast'

    def decorate(function: Callable[..., Any]) -> wp.Kernel:
        return wp.kernel(
            function,
            enable_backward=differentiable,
            module='unique',
            module_options={'cpu_compiler_flags': fused, **options},
        )

    return decorate
