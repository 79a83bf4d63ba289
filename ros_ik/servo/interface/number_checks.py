# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reasons to reject the numbers of a message."""

from __future__ import annotations

from collections.abc import Sequence
import math

from ros_ik.numbers import is_bounded
from ros_ik.numbers import is_finite
from ros_ik.servo.interface.codes import Rejection

# A shorter quaternion is one that was not set.
_MIN_NORM = 1e-6


def numbers_rejection(values: Sequence[float], count: int) -> Rejection | None:
    """Return the reason to reject a list that must have ``count`` numbers, or None."""
    if len(values) != count:
        return Rejection.WRONG_SIZE
    if is_bounded(values):
        return None
    return Rejection.TOO_LARGE_NUMBER if is_finite(values) else Rejection.NON_FINITE


def quaternion_rejection(quaternion: Sequence[float]) -> Rejection:
    """Return the reason to reject four bounded numbers that are not a unit quaternion."""
    if math.hypot(*quaternion) < _MIN_NORM:
        return Rejection.ZERO_QUATERNION
    return Rejection.NOT_UNIT_QUATERNION
