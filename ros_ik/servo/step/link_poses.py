# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses, computed again only for another configuration."""

from __future__ import annotations

import numpy as np

from ros_ik.solvers import DifferentialIK


class LinkPoses:
    """Link poses at the configuration requested last."""

    def __init__(self) -> None:
        """Start empty."""
        self._joint_q = b''
        self._poses = np.zeros((0, 7))

    def at(self, diff: DifferentialIK, joint_q: np.ndarray) -> np.ndarray:
        """Return the poses of all links in the world [body_count, 7], read-only.

        Args:
            diff: Solver of the model; any solver of the same model gives the same poses.
            joint_q: Coordinates [joint_coord_count].
        """
        numbers = joint_q.tobytes()
        if numbers != self._joint_q:
            self._joint_q, self._poses = numbers, diff.body_poses(joint_q)
        return self._poses
