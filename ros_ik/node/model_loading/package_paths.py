# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Folders in which meshes of robot descriptions are looked up."""

from __future__ import annotations

import os


def package_paths() -> tuple[str, ...]:
    """Return the folders of the ROS packages in this environment."""
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    return tuple(os.path.join(prefix, 'share') for prefix in prefixes if prefix)
