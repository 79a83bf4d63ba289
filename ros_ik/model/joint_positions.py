# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joint positions by name, put into coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.conventions.checks import as_number

if TYPE_CHECKING:
    from ros_ik.model.model import Model


def write_positions(model: Model, joint_q: np.ndarray, positions: Mapping[str, Any]) -> None:
    """Write positions into coordinates [joint_coord_count], in place; no mimic joint follows.

    Args:
        model: The model.
        joint_q: Coordinates, float64.
        positions: Positions [rad or m] of joints with one coordinate, by name.

    Raises:
        ArgumentError: No mapping, a joint that the model lacks or that has not one coordinate, or
            a position that is no finite number.
    """
    if not isinstance(positions, Mapping):
        raise ArgumentError(f'positions must map names of joints to numbers, got {positions!r}')
    start = model.joint_q_start.numpy()
    for name, position in positions.items():
        joint = model.joint_index(name)
        count = int(start[joint + 1] - start[joint])
        if count != 1:
            raise ArgumentError(f'positions: joint {name!r} has {count} coordinates, not one')
        value = as_number(f'positions: joint {name!r}', position)
        if not np.isfinite(value):
            raise ArgumentError(f'positions: joint {name!r} must be finite, got {position}')
        joint_q[start[joint]] = value
