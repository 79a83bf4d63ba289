# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Decorator of kernels, with the options that all are compiled with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp


def compiled_kernel(
    *, differentiable: bool = False, module: wp.Module | None = None, **options: Any
) -> Callable[[Callable[..., Any]], wp.Kernel]:
    """Return a decorator that makes a kernel, usually in a module of its own, compiled alone.

    Flags of the compiler are no options to use lightly: Warp reads its headers again for each set
    of them, 1.7 s of a cold start.

    A static value that depends on a loop belongs in a ``wp.func``. In the body of a kernel Warp
    writes the code anew at each start, cached or not: half a second for a large kernel.

    No block size is set: every launch on a GPU has Warp's default of 256 threads per block. A
    kernel that needs another number gets it as ``block_dim`` of its ``wp.launch``.

    ``array[k] += x`` compiles to an atomic operation on a GPU. Where one thread owns the element
    it is written as ``array[k] = array[k] + x``; a test looks for atomics in what is compiled.

    Args:
        differentiable: Whether it has an adjoint.
        module: The module of kernels that are compiled together, None for its own.
        options: Further options of its own module.
    """

    def decorate(function: Callable[..., Any]) -> wp.Kernel:
        return wp.kernel(
            function,
            enable_backward=differentiable,
            module=module or 'unique',
            module_options=options or None,
        )

    return decorate
