# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Warp's output on the terminal of the demo's programs."""

from __future__ import annotations

import warp as wp


def quieten_warp() -> None:
    """Keep Warp's greeting and its line for each kernel off the terminal; warnings still show."""
    wp.config.log_level = wp.LOG_WARNING
