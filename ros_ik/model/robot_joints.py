# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mapping of a model's coordinates to joint_states and to controllers."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.conventions.joint_type import JointType
from ros_ik.model.model import Model

# joint_states has one number per joint, without planar and floating joints.
SINGLE = (JointType.REVOLUTE, JointType.PRISMATIC)
# Minimum distance of a start from each limit, as a fraction of the range.
_MIN_ROOM = 0.05


class RobotJoints:
    """Joint names of a model and their coordinates.

    Attributes:
        names: Every joint with one coordinate, including mimic joints, in model order.
        coords: The coordinate of each, shape [len(names)].
        driven: Names except mimic joints: joints for controllers.
    """

    def __init__(self, model: Model) -> None:
        """Read the joints of ``model``."""
        self._model = model
        kinds = model.joint_type.numpy()
        joints = [j for j in range(model.joint_count) if JointType(int(kinds[j])) in SINGLE]
        self.names = tuple(model.joint_label[j] for j in joints)
        self.coords = model.joint_q_start.numpy()[joints].astype(int)
        group = set(model.joint_group('').joint_names)
        self.driven = tuple(name for name in self.names if name in group)

    def coords_of(self, names: Sequence[str]) -> np.ndarray:
        """Return the coordinate of each named joint, shape [len(names)].

        Raises:
            ArgumentError: A joint is unknown or does not have exactly one coordinate.
        """
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise ArgumentError(
                f"joint '{unknown[0]}' is not a revolute or prismatic joint of the robot: "
                f'{", ".join(self.names)}'
            )
        return self.coords[[self.names.index(name) for name in names]]

    def configuration(self, positions: Mapping[str, float]) -> np.ndarray:
        """Return a start with some joints at given positions; mimic joints follow.

        The others are at zero, or at the limit nearest to it. Revolute joints are in the middle of
        their limits if zero is outside or near a limit, because an arm that starts at a limit can
        hardly move. A lift or a gripper stays at its end.

        Args:
            positions: rad or m by joint name.

        Returns:
            Coordinates, shape [joint_coord_count].
        """
        joint_q = self._model.neutral_joint_q()
        lower, upper = driver_limits(self._model)
        kinds, dofs = self._model.joint_type.numpy(), self._model.joint_qd_start.numpy()
        for name, coord in zip(self.names, self.coords, strict=True):
            joint = self._model.joint_index(name)
            low, high = lower[dofs[joint]], upper[dofs[joint]]
            if kinds[joint] == JointType.REVOLUTE and np.isfinite(high - low):
                room = _MIN_ROOM * (high - low)
                if not low + room <= 0.0 <= high - room:
                    joint_q[coord] = 0.5 * (low + high)
        joint_q[self.coords_of(list(positions))] = list(positions.values())
        return self._model.apply_mimic(joint_q)
