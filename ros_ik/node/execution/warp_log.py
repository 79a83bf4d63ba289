# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp's output on the terminal."""

from __future__ import annotations

import warp as wp


def quieten_warp() -> None:
    """Suppress Warp's greeting and its line for each kernel; warnings still appear."""
    wp.config.log_level = wp.LOG_WARNING
