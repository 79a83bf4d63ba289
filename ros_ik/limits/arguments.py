# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of limits, checked."""

from typing import Any

import numpy as np

from ros_ik.errors import ArgumentError


def dof_values(name: str, values: Any) -> np.ndarray:
    """Return float64 values, none of them negative or NaN; the shape is checked with the model.

    Raises:
        ArgumentError: Naming the argument.
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} must be numbers, got {values!r}') from error
    if not np.all(array >= 0.0):
        raise ArgumentError(f'{name} must not be negative, got {values}')
    return array
