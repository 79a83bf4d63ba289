# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Range for sampling a coordinate that may lack one limit or both."""

import numpy as np


def sampling_range(
    lower: np.ndarray, upper: np.ndarray, reach: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the ranges, the limits where there are any.

    A range with one limit begins there, and is as long as one without, which is about zero.

    Args:
        lower: Lower limits [rad or m], -inf for none.
        upper: Upper limits, inf for none.
        reach: Half of the length of a range that lacks a limit.
    """
    has_one = np.isfinite(lower) | np.isfinite(upper)
    low = np.where(np.isfinite(lower), lower, np.where(has_one, upper - 2.0 * reach, -reach))
    high = np.where(np.isfinite(upper), upper, np.where(has_one, lower + 2.0 * reach, reach))
    return low, high
