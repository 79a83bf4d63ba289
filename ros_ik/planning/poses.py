# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Many poses at once, shape [.., 7], x y z qx qy qz qw; float64."""

from __future__ import annotations

import numpy as np

from ros_ik.servo.pose_math import quat_conjugate
from ros_ik.servo.pose_math import quat_multiply
from ros_ik.servo.pose_math import quat_rotate


def compose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the poses b, given in the frames a, in the frames in which a are given.

    Args:
        a: Poses with unit quaternions, shape [.., 7]; broadcast against ``b``.
        b: Poses, shape [.., 7]; a quaternion that is not unit keeps its length.
    """
    # pose_math works on components: the axis of components goes first and comes back last.
    first, second = (np.moveaxis(poses, -1, 0) for poses in np.broadcast_arrays(a, b))
    position = first[:3] + quat_rotate(first[3:], second[:3])
    turn = quat_multiply(first[3:], second[3:])
    return np.moveaxis(np.concatenate([position, turn]), 0, -1)


def inverse(a: np.ndarray) -> np.ndarray:
    """Return the outer frames seen from the poses a, shape [.., 7]."""
    components = np.moveaxis(a, -1, 0)
    turn = quat_conjugate(components[3:])
    position = -quat_rotate(turn, components[:3])
    return np.moveaxis(np.concatenate([position, turn]), 0, -1)
