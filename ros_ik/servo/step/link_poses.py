# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Link poses for several parts of a tick, computed once for each configuration."""

from __future__ import annotations

import numpy as np

from ros_ik.solvers import DifferentialIK


class LinkPoses:
    """The link poses at the configuration that was requested last."""

    def __init__(self) -> None:
        """Start without poses."""
        self._joint_q = b''
        self._poses = np.zeros((0, 7))

    def at(self, diff: DifferentialIK, joint_q: np.ndarray) -> np.ndarray:
        """Return the poses of all links in the world [body_count, 7], not to be written to.

        Args:
            diff: A solver of the model; another one for the same model gives the same.
            joint_q: Coordinates [joint_coord_count].
        """
        numbers = joint_q.tobytes()
        if numbers != self._joint_q:
            self._joint_q, self._poses = numbers, diff.body_poses(joint_q)
        return self._poses
