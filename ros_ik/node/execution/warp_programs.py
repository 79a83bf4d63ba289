# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp in the programs of this package."""

from __future__ import annotations

import warp as wp

from ros_ik.kinematics.runtime.shared_compilation import share_compilations


def prepare_warp() -> None:
    """Share compilations with other processes, and suppress Warp's greeting and its lines.

    Warnings still appear.
    """
    share_compilations()
    wp.config.log_level = wp.LOG_WARNING
