# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Acceleration of joints for which no limit is given."""

from __future__ import annotations

import numpy as np

# Time in which a joint reaches its velocity limit [s], and acceleration of a joint without one
# [rad/s^2 or m/s^2]; as documented in the schema of parameters.
_RISE_TIME = 0.2
DEFAULT_ACCELERATION = 10.0


def default_acceleration(velocity: np.ndarray) -> np.ndarray:
    """Return accelerations [rad/s^2 or m/s^2], 0 for joints that cannot move.

    Args:
        velocity: Velocity limits [rad/s or m/s], any shape; inf where there is none.
    """
    return np.where(np.isfinite(velocity), velocity / _RISE_TIME, DEFAULT_ACCELERATION)
