# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Decorator of kernels, with common compiler options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp

from ros_ik.kinematics.runtime.kernel_launch import block_size


def compiled_kernel(
    *,
    differentiable: bool = False,
    is_for_cpu: bool = False,
    module: wp.Module | None = None,
    registers: int | None = None,
    max_registers: int | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], wp.Kernel]:
    """Return a decorator that makes a kernel, by default in a module that is compiled alone.

    Avoid other compiler flags: Warp parses its headers again for each set of flags, which adds
    1.7 s to a cold start.

    Put static values that depend on a loop into a ``wp.func``. In the body of a kernel they make
    Warp generate the code again at each start, even if it is cached, which takes half a second for
    a large kernel.

    A kernel with many registers has fewer threads per block on a GPU than Warp's default of 256
    and is launched by :func:`~ros_ik.kinematics.runtime.kernel_launch.launch`. A test compares
    ``registers`` with the table of compiled kernels.

    ``array[k] += x`` compiles to an atomic operation on a GPU. If a single thread owns the
    element, write ``array[k] = array[k] + x`` instead. A test searches the generated source
    for atomics.

    Args:
        differentiable: True if the kernel has an adjoint.
        is_for_cpu: True for a kernel that only CPUs run. The table of kernels for GPUs does not
            have it.
        module: Module of kernels that are compiled together; None for a separate module.
        registers: Number of registers of a thread on a GPU, for a kernel in a separate module;
            None for less than 128.
        max_registers: Largest number of registers of a thread on a GPU, for a kernel that gains
            more from resident threads than it loses by keeping values on the stack.
        options: Other options of the separate module.
    """

    registers = registers or max_registers
    if registers is not None:
        options['block_dim'] = block_size(registers)

    def decorate(function: Callable[..., Any]) -> wp.Kernel:
        return wp.kernel(
            function,
            enable_backward=differentiable,
            module=module or 'unique',
            module_options=options or None,
            cuda_max_registers=max_registers,
        )

    return decorate
