# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rejection of targets that are too far from the command, ``target_jump_policy``.

With 'reject' the servo ignores a target farther than ``max_target_step_*``; with 'saturate' it
pursues a point at that distance on the way to it.
"""

from __future__ import annotations

import math

from ros_ik.settings import Settings


def rejects_jumps(settings: Settings) -> bool:
    """Return True if targets may be rejected, so that their distances are needed."""
    return settings.target_jump_policy == 'reject'


def is_jump(linear: float, angular: float, settings: Settings) -> bool:
    """Return True if a target is to be rejected, because it is too far from the command.

    Args:
        linear: Distance of the target from the commanded position, on active axes [m].
        angular: Angle from the commanded orientation, on active axes [rad].
        settings: Settings in force.
    """
    return rejects_jumps(settings) and (
        linear > settings.max_target_step_linear or angular > settings.max_target_step_angular
    )


def pursued_distances(settings: Settings) -> tuple[float, float]:
    """Return the distance [m] and angle [rad] at which a target is pursued at most."""
    if rejects_jumps(settings):
        return math.inf, math.inf
    return settings.max_target_step_linear, settings.max_target_step_angular
