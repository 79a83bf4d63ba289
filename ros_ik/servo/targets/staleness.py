# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Staleness of targets: poses, velocities, joint targets and the centre of mass."""

from __future__ import annotations

from ros_ik.servo.interface.target import JointTarget
from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.interface.target import TwistTarget
from ros_ik.servo.targets.center_tracking import CenterTracker
from ros_ik.servo.targets.tracking import TaskTracker
from ros_ik.settings import Settings


class Staleness:
    """Timeout of targets, ``command_timeout``; a lasting target is never stale."""

    def __init__(self, settings: Settings) -> None:
        """Start with the timeout of the settings."""
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._timeout = settings.command_timeout

    def is_fresh(self, received: float, now: float) -> bool:
        """Return True if a target received at a time is not stale."""
        # A time in the future is from another clock; its distance from now counts as age.
        return abs(now - received) <= self._timeout

    def has_fresh_pose(self, tracker: TaskTracker, now: float) -> bool:
        """Return True if a frame task has a pose target that is not stale."""
        accepted = tracker.accepted
        return accepted.pose is not None and (
            accepted.lasting is not None or self.is_fresh(accepted.received, now)
        )

    def fresh_twist(self, tracker: TaskTracker, now: float) -> TwistTarget | None:
        """Return the target velocity of a frame task, or None if there is none or it is stale."""
        twist = tracker.accepted.twist
        return twist if twist is not None and self.is_fresh(twist.received, now) else None

    def has_fresh_center(self, center: CenterTracker, now: float) -> bool:
        """Return True if the centre of mass has a target that is not stale."""
        return center.target is not None and self.is_fresh(center.accepted.received, now)

    def is_fresh_joints(self, target: JointTarget | JointVelocityTarget, now: float) -> bool:
        """Return True if a joint target is not stale."""
        return target.lasting or self.is_fresh(target.received, now)
