# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Joints that move links, and those without a state; a mimic joint counts as its driver."""

from __future__ import annotations

import numpy as np

from ros_ik.kinematics.chain import dofs_of_links
from ros_ik.model import Model


class LinkJoints:
    """Table of the joints of one model that move each of its links."""

    def __init__(self, model: Model) -> None:
        """Read the joints of the model."""
        start = model.joint_qd_start.numpy()
        # Row 0 is the world.
        self._moves = np.zeros((model.body_count + 1, model.joint_dof_count), dtype=bool)
        for body, dofs in enumerate(dofs_of_links(model, range(model.body_count))):
            self._moves[body + 1, dofs] = True
        joints = np.searchsorted(start, np.arange(model.joint_dof_count), side='right') - 1
        self._driver = np.array(
            [model.mimic_driver.get(joint, (joint,))[0] for joint in joints.tolist()], dtype=int
        )
        self._n_joints = model.joint_count
        self._coords = model.joint_q_start.numpy()

    def between(self, pairs: np.ndarray) -> np.ndarray:
        """Return the joints that move the links of any pair relative to each other.

        Args:
            pairs: Pairs of links, int [n, 2]; -1 for the world.

        Returns:
            Mask, bool [joint_count].
        """
        joints = np.zeros(self._n_joints, dtype=bool)
        joints[self._driver[self._apart(pairs).any(axis=0)]] = True
        return joints

    def moved(self, pairs: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """Return the pairs whose links some joints move relative to each other, bool [n].

        Args:
            pairs: Pairs of links, int [n, 2]; -1 for the world.
            joints: Mask of the joints, bool [joint_count].
        """
        return (self._apart(pairs) & joints[self._driver]).any(axis=1)

    def without_state(self, known: np.ndarray) -> np.ndarray:
        """Return the joints of which a coordinate is unknown, bool [joint_count].

        Args:
            known: Mask of the known coordinates, bool [joint_coord_count].
        """
        missing = np.concatenate([[0], np.cumsum(~known)])
        # A joint with several degrees of freedom has several coordinates.
        return missing[self._coords[1:]] > missing[self._coords[:-1]]

    def _apart(self, pairs: np.ndarray) -> np.ndarray:
        """Return the degrees of freedom that move one link of each pair, bool [n, dofs]."""
        first, second = (pairs + 1).T
        return self._moves[first] ^ self._moves[second]
