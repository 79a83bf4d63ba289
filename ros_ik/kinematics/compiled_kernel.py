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

    Flags of the compiler are no options to use lightly: Warp reads its headers again for each set
    of them, 1.7 s of a cold start.

    Args:
        differentiable: Whether it has an adjoint.
        options: Further options of its module.
    """

    def decorate(function: Callable[..., Any]) -> wp.Kernel:
        return wp.kernel(
            function,
            enable_backward=differentiable,
            module='unique',
            module_options=options or None,
        )

    return decorate
