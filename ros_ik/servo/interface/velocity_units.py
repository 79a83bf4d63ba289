# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Units of target velocities: SI, or fractions of full speed, as from joysticks."""

from __future__ import annotations

from collections.abc import Sequence

from ros_ik.numbers import is_bounded
from ros_ik.servo.interface.codes import Rejection
from ros_ik.settings import Settings

# Largest accepted fraction of full speed: 1, plus the rounding error of single precision.
FULL_DEFLECTION = 1.0 + 1e-6


def frame_speeds(values: Sequence[float], settings: Settings) -> Sequence[float] | Rejection:
    """Return a velocity of a frame in SI units.

    Args:
        values: Linear and angular velocity as received, six numbers.
        settings: Settings in force.

    Returns:
        The velocity [m/s, rad/s], or the reason why it is rejected.
    """
    linear, angular = settings.scale_linear, settings.scale_rotational
    return _scaled(values, (linear, linear, linear, angular, angular, angular), settings)


def joint_speeds(values: Sequence[float], settings: Settings) -> Sequence[float] | Rejection:
    """Return velocities of joints in SI units [rad/s or m/s], or the reason to reject them.

    Args:
        values: Velocities as received.
        settings: Settings in force.
    """
    return _scaled(values, (settings.scale_joint,) * len(values), settings)


def _scaled(
    values: Sequence[float], scales: Sequence[float], settings: Settings
) -> Sequence[float] | Rejection:
    # The check of targets rejects numbers that are not finite or too large.
    if settings.command_in_type == 'speed_units' or not is_bounded(values):
        return values
    if max(map(abs, values), default=0.0) > FULL_DEFLECTION:
        return Rejection.BEYOND_SCALE
    return [scale * value for scale, value in zip(scales, values, strict=True)]
