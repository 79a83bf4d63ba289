# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses on the host, of one configuration or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.evaluate import eval_fk

if TYPE_CHECKING:
    from ros_ik.model import Model


def link_poses(model: Model, joint_q: np.ndarray) -> np.ndarray:
    """Return the pose of every link in the world, x y z qx qy qz qw, [.., body_count, 7].

    Args:
        model: The robot.
        joint_q: Coordinates, float64 [joint_coord_count] or [n, joint_coord_count].
    """
    rows = np.atleast_2d(joint_q)
    body_q = np.empty((len(rows), model.body_count, 7))
    eval_fk(model, rows, body_q)
    return body_q if joint_q.ndim > 1 else body_q[0]
