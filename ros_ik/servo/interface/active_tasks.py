# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks that a step pursues: those with an active target."""

from __future__ import annotations

from typing import NamedTuple


class ActiveTasks(NamedTuple):
    """Tasks with an active target.

    Attributes:
        frames: Mask of the frame tasks.
        center: True for the centre of mass.
        joints: True for the joint target, which excludes all others.
    """

    frames: tuple[bool, ...]
    center: bool = False
    joints: bool = False
