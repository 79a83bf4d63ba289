# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of joint positions by name to coordinates."""

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
    """Write positions into coordinates [joint_coord_count], in place, without mimic joints.

    Args:
        model: The model.
        joint_q: Coordinates, float64.
        positions: Positions [rad or m] of joints with one coordinate, by name.

    Raises:
        ArgumentError: Not a mapping, a joint that is unknown or does not have exactly one
            coordinate, or a position that is not finite.
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
