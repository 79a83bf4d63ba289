# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of shapes that overlap or touch by design.

Two shapes are in contact with a margin if their distance does not exceed it, up to rounding. At a
margin of 0, shapes that only touch are in contact. A barrier differs: it is violated below its
margin only, so that a robot may rest there.
"""

import numpy as np

# Error [m] of a distance, because a model stores sizes and poses in float32.
_ROUNDING = 1e-6


def in_contact(distance: np.ndarray, margin: float) -> np.ndarray:
    """Find the pairs that are in contact.

    Args:
        distance: Distances [m].
        margin: Distance [m] up to which a pair is in contact.

    Returns:
        bool, in the shape of ``distance``.
    """
    return distance <= margin + _ROUNDING
