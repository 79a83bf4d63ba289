# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp function that reads a number which other threads of the launch may write."""

import functools
from typing import no_type_check

import warp as wp


@no_type_check
@functools.cache
def fresh_read_function() -> wp.Function:
    """Build ``fresh_read(numbers, k) -> numbers[k]`` of a contiguous array, as it is now.

    The caches of the multiprocessors of a GPU are not coherent: an ordinary read may return the
    old number until the kernel ends.
    """

    @wp.func_native('return *static_cast<volatile int*>(numbers.data + k);')
    def fresh_read(numbers: wp.array(dtype=wp.int32), k: int) -> int: ...

    return fresh_read
