# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets of a command; all times are in s on one clock."""

from __future__ import annotations

import dataclasses
from typing import ClassVar
from typing import Protocol

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class PoseTarget:
    """Valid target pose of a frame task.

    Attributes:
        pose: x y z [m] qx qy qz qw of the task's frame, unit quaternion, float64 [7].
        frame_link: Link in whose frame the pose is given.
        received: Time from which its age is counted [s].
        sequence: Sequence number, common to targets of all kinds.
        lasting: True if the target is valid as long as the command contains it, and never becomes
            stale.
        stamp: Time of the message on the clock of its sender [s]; None if unknown.
        sender: Identifier of the publisher; None if unknown.
        topic: Name of its topic, or ''; the servo does not read it.
    """

    pose: np.ndarray
    frame_link: int
    received: float
    sequence: int
    lasting: bool = False
    stamp: float | None = None
    sender: bytes | None = None
    topic: str = ''


@dataclasses.dataclass(frozen=True, eq=False)
class TwistTarget:
    """Valid target velocity of a frame task.

    Attributes:
        linear: Linear velocity of the task's frame [m/s], float64 [3].
        angular: Angular velocity [rad/s], float64 [3].
        frame_link: Link along whose axes both are given.
        received: Time from which its age is counted [s].
        sequence: Sequence number, common to targets of all kinds.
        sender: Identifier of the publisher; None if unknown.
    """

    linear: np.ndarray
    angular: np.ndarray
    frame_link: int
    received: float
    sequence: int
    sender: bytes | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class CenterOfMassTarget:
    """Valid target position of the centre of mass.

    Attributes:
        position: x y z [m], float64 [3].
        frame_link: Link in whose frame the position is given.
        received: Time from which its age is counted [s].
        sequence: Sequence number, common to targets of all kinds.
        stamp: Stamp of its message on the clock of the sender [s], or None.
        sender: Identifier of the publisher; None if unknown.
    """

    position: np.ndarray
    frame_link: int
    received: float
    sequence: int
    stamp: float | None = None
    sender: bytes | None = None
    lasting: ClassVar[bool] = False


class JointMotion(Protocol):
    """Motion of a joint target."""

    def aim(self, now: float, acceleration: np.ndarray, dt: float) -> np.ndarray:
        """Return the positions to aim at in one tick, a pure function.

        The servo stops at every position it aims at, so this one is ahead of the motion by the
        braking distance.

        Args:
            now: Time of the tick [s], which a prediction advances.
            acceleration: Acceleration limits in force of the controlled joints [n_variables].
            dt: Duration of a tick [s].

        Returns:
            One per controlled joint [rad or m]; NaN for joints without a target.
        """


@dataclasses.dataclass(frozen=True, eq=False)
class JointTarget:
    """Valid target positions of some of the controlled joints.

    Attributes:
        positions: One per controlled joint [rad or m]; NaN for joints without a target.
        received: Time from which its age is counted [s].
        sequence: Sequence number, common to targets of all kinds.
        lasting: True if the target is valid as long as the command contains it, and never becomes
            stale.
        sender: Identifier of the publisher; None if unknown.
        motion: Motion that goes on from these positions, for the same joints; None if they stay.
    """

    positions: np.ndarray
    received: float
    sequence: int
    lasting: bool = False
    sender: bytes | None = None
    motion: JointMotion | None = None

    @property
    def named(self) -> np.ndarray:
        """Mask of the joints with a target, bool [n_variables]."""
        return np.isfinite(self.positions)


@dataclasses.dataclass(frozen=True, eq=False)
class JointVelocityTarget:
    """Valid target velocities of controlled joints; joints without one stand still.

    Attributes:
        velocities: One per controlled joint [rad/s or m/s]; NaN for joints without a target.
        received: Time from which its age is counted [s].
        sequence: Sequence number, common to targets of all kinds.
        sender: Identifier of the publisher; None if unknown.
    """

    velocities: np.ndarray
    received: float
    sequence: int
    sender: bytes | None = None
    lasting: ClassVar[bool] = False

    @property
    def named(self) -> np.ndarray:
        """Mask of the joints with a target, bool [n_variables]."""
        return np.isfinite(self.velocities)
