# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Folders in which meshes of robot descriptions are looked up."""

from __future__ import annotations

from collections.abc import Mapping
import os


def package_paths(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the folders of the ROS packages in an environment, that of this process by default.

    Args:
        environment: Values of its variables.
    """
    prefixes = environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    return tuple(os.path.join(prefix, 'share') for prefix in prefixes if prefix)
