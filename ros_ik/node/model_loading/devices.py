# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choice of the device: the first of the requested ones that works."""

from __future__ import annotations

import warp as wp

from ros_ik.errors import RosIkError


def choose_device(wanted: str) -> tuple[str, tuple[str, ...]]:
    """Return a device that works, and a sentence for each one before it that does not.

    Args:
        wanted: The parameter ``device``: one device, or several with commas between them.

    Raises:
        RosIkError: None of them works.
    """
    faults: list[str] = []
    for name in wanted.replace(' ', '').split(','):
        fault = fault_of(name)
        if not fault:
            return 'cpu' if name == 'auto' else name, tuple(faults)
        faults.append(fault)
    reasons = '; '.join(faults)
    raise RosIkError(f"parameter 'device': {wanted!r} asked for, but {reasons}")


def fault_of(device: str) -> str:
    """Return why a device cannot be used, '' where it can.

    A GPU that was lost stays lost for the process that used it: CUDA gives every call the error
    of the kernel that failed.
    """
    if not device.startswith('cuda'):
        return ''
    if not wp.is_cuda_available():
        return f'{device}: CUDA is not available'
    try:
        wp.synchronize_device(device)
        wp.zeros(1, dtype=float, device=device).numpy()
    except (RuntimeError, ValueError) as error:
        return f'{device} does not answer ({error}); restart the process to use it again'
    return ''
