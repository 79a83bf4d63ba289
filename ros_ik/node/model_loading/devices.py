# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Selection of the device: the first of the requested ones that works."""

from __future__ import annotations

import warp as wp

from ros_ik.errors import RosIkError
from ros_ik.launch_lock import LAUNCH_LOCK


def choose_device(wanted: str) -> tuple[str, tuple[str, ...]]:
    """Return a working device, and a message for each earlier one that does not work.

    Args:
        wanted: The parameter ``device``: one device, or several separated by commas.

    Raises:
        RosIkError: No device works.
    """
    faults: list[str] = []
    for name in wanted.replace(' ', '').split(','):
        fault = fault_of(name)
        if not fault:
            return 'cpu' if name == 'auto' else name, tuple(faults)
        faults.append(fault)
    reasons = '; '.join(faults)
    raise RosIkError(f"parameter 'device': {wanted!r} was requested, but {reasons}")


def fault_of(device: str) -> str:
    """Return why a device cannot be used, or ''.

    After a failed kernel, CUDA returns its error for every further call of the process, so a lost
    GPU stays lost.
    """
    if not device.startswith('cuda'):
        return ''
    if not wp.is_cuda_available():
        return f'{device}: CUDA is not available'
    try:
        with LAUNCH_LOCK.shared():
            wp.synchronize_device(device)
            wp.zeros(1, dtype=float, device=device).numpy()
    except (RuntimeError, ValueError) as error:
        return f'{device} does not answer ({error}); restart the process to use it again'
    return ''
