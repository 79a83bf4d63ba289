# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Measured state of the robot, an input of a tick; all times are in s on one clock."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ros_ik.model import Model


# Age after which the states of a joint count as ended, unless joint_state_timeout is longer [s].
# Grippers and other joints that the servo does not move may report seldom.
ENDED_AFTER = 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class ControllerReference:
    """Reference of the controllers for the controlled joints, as they report it.

    Attributes:
        positions: [rad or m], [n_variables].
        velocities: [rad/s or m/s], [n_variables]; NaN where they are not reported.
        received: Time of receipt of each [s], -inf before the first.
    """

    positions: np.ndarray
    velocities: np.ndarray
    received: np.ndarray

    def is_fresh(self, now: float, timeout: float) -> bool:
        """Return True if all references are known and no older than ``timeout`` [s]."""
        return bool(np.all(np.abs(now - self.received) <= timeout))


def _no_reference() -> ControllerReference | None:
    return None


@dataclasses.dataclass(frozen=True, eq=False)
class Measurement:
    """Measured state of the robot; another state is another object, as servos compare by identity.

    Attributes:
        joint_q: Coordinates, float64 [joint_coord_count]; valid where ``received`` is finite.
        received: Time of receipt of each coordinate [s], -inf before the first.
        reference: Function that returns the reference of the controllers, or None; called when a
            motion starts.
    """

    joint_q: np.ndarray
    received: np.ndarray
    reference: Callable[[], ControllerReference | None] = _no_reference

    @property
    def known(self) -> np.ndarray:
        """Mask of the coordinates with a state, bool [joint_coord_count]."""
        return np.isfinite(self.received)

    def current(self, now: float, timeout: float) -> np.ndarray:
        """Return the mask of the coordinates whose states have not ended.

        Args:
            now: Current time [s].
            timeout: ``joint_state_timeout`` [s].

        Returns:
            bool [joint_coord_count].
        """
        return np.abs(now - self.received) <= max(timeout, ENDED_AFTER)


def completed_coords(
    model: Model, joint_q: np.ndarray, known: np.ndarray, others: np.ndarray | None = None
) -> np.ndarray:
    """Return coordinates of which some are measured [joint_coord_count].

    Mimic joints are where their drivers put them.

    Args:
        model: The robot.
        joint_q: Measured coordinates [joint_coord_count].
        known: Mask of those that are known.
        others: Coordinates in the place of unknown ones; None for neutral ones.
    """
    rest = model.neutral_joint_q() if others is None else others
    return model.apply_mimic(np.where(known, joint_q, rest))
