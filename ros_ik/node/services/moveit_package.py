# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Availability of moveit_msgs, and the services that need it; imports nothing of it."""

from __future__ import annotations

import importlib.util

from ros_ik.settings import Settings

HAS_MOVEIT = importlib.util.find_spec('moveit_msgs') is not None
NAMES = ('compute_ik', 'compute_fk')


def names_offered(settings: Settings) -> tuple[str, ...]:
    """Return the names of the enabled and available services."""
    return NAMES if HAS_MOVEIT and settings.moveit_services != 'off' else ()


def missing_package(settings: Settings) -> str:
    """Return an error if the settings need moveit_msgs and it is missing, otherwise ''."""
    if settings.moveit_services != 'on' or HAS_MOVEIT:
        return ''
    return "parameter 'moveit_services': 'on' needs moveit_msgs, which is not installed"
