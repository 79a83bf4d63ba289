# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Accepted targets of one frame task: rejection of jumps, withdrawal, motion between messages."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import copy
import dataclasses
import math

import numpy as np

from ros_ik.servo.interface.target import PoseTarget
from ros_ik.servo.interface.target import TwistTarget
from ros_ik.servo.motion.pose_math import float_difference
from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.servo.motion.pose_math import pose_between
from ros_ik.servo.motion.ramped_approach import ApproachLimits
from ros_ik.servo.targets.active_axes import ActiveAxes
from ros_ik.servo.targets.jump_check import is_jump
from ros_ik.servo.targets.jump_check import rejects_jumps
from ros_ik.servo.targets.sender_check import SenderCheck
from ros_ik.servo.targets.target_motion import TargetMotion
from ros_ik.settings import Settings


class AcceptedTargets:
    """Pose and velocity that one frame task may follow. Poses are those in its reference link.

    Attributes:
        pose: Accepted target pose [7], or None.
        floats: The last accepted pose as plain floats.
        received: Time from which the age of the pose is counted [s].
        lasting: Accepted pose target that is valid as long as the command contains it, in the
            reference link; None for a pose that becomes stale.
        twist: Accepted target velocity, or None.
        rejected: ``received`` of the last pose rejected as a jump [s], -inf if there is none.
        rejected_sequence: Sequence number of that pose, 0 if there is none.
        jumps: Number of poses rejected as jumps.
        sender: Check of the senders of targets.
        predicts: True if poses are predicted between messages.
        motion: Motion of the pose, if it is predicted.
    """

    def __init__(self, reference: int) -> None:
        """Start without a target; :meth:`apply` must come next.

        Args:
            reference: Index of the reference link.
        """
        self._reference = reference
        self.motion, self.sender = TargetMotion(), SenderCheck()
        self._sequence = self._twist_sequence = self.rejected_sequence = 0
        self.pose: np.ndarray | None = None
        self.floats: Sequence[float] = IDENTITY.tolist()
        self.twist: TwistTarget | None = None
        self.received = self.rejected = -math.inf
        self.lasting: PoseTarget | None = None
        self.jumps = 0

    def branch(self) -> AcceptedTargets:
        """Return a copy whose pose may move independently."""
        other = copy.copy(self)
        other.motion = copy.copy(self.motion)
        return other

    def apply(
        self,
        settings: Settings,
        axes: ActiveAxes,
        limits: tuple[ApproachLimits, ApproachLimits],
        *,
        predicts: bool,
    ) -> None:
        """Apply settings.

        Args:
            settings: Settings.
            axes: Axes on which jumps are rejected.
            limits: Linear and angular limits of the frame, which a predicted motion keeps.
            predicts: True to predict poses between messages.
        """
        self._settings, self._axes, self._limits = settings, axes, limits
        self.predicts = predicts
        if not predicts:
            self.motion.reset()

    def drop(self, sequence: int) -> None:
        """Drop the targets, and ignore those up to ``sequence``."""
        self.pose = self.twist = None
        self.motion.reset()
        self.sender.reset()
        self.received = self.rejected = -math.inf
        self.lasting = None
        self._sequence = max(self._sequence, sequence)
        self._twist_sequence = max(self._twist_sequence, sequence)

    def is_newer(self, target: PoseTarget) -> bool:
        """Return True if a pose target is new."""
        return target.sequence > self._sequence

    def accept(
        self,
        target: PoseTarget,
        body_q: np.ndarray,
        frame_pose: Callable[[np.ndarray], Sequence[float]],
    ) -> bool:
        """Accept a new pose unless it is rejected as a jump; return True if it was accepted.

        Args:
            target: The target.
            body_q: Link poses at the commanded configuration. A target in a moving link is
                evaluated there once, so that neither the lag nor the noise of the measured state
                enters it.
            frame_pose: Function of ``body_q`` that returns the pose of the frame.
        """
        self._sequence = target.sequence
        target = in_reference(target, self._reference, body_q)
        pose = target.pose
        floats = pose.tolist()
        continues = target.lasting or self.sender.add(
            floats[:3], target.received, target.stamp, target.sender
        )
        if rejects_jumps(self._settings) and is_jump(
            *self._axes.lengths(float_difference(floats, frame_pose(body_q))), self._settings
        ):
            self.rejected, self.rejected_sequence = target.received, target.sequence
            self.jumps += 1
            return False
        if self.predicts and not self._add_to_motion(target, floats, continues):
            self.received = target.received
            return True
        self.pose, self.floats = pose, floats
        self.received, self.rejected = target.received, -math.inf
        self.lasting = target if target.lasting else None
        return True

    def accept_twist(self, target: TwistTarget | None) -> bool:
        """Accept a target velocity if it is new; return True if it was."""
        if target is None or target.sequence <= self._twist_sequence:
            return False
        self.twist, self._twist_sequence = target, target.sequence
        self.sender.twists.add(target.sender, target.received)
        return True

    def withdraw(self, target: PoseTarget | None) -> bool:
        """Drop a lasting pose that the command no longer contains; return True if it did."""
        lasting = self.lasting
        if lasting is None or (target is not None and target.sequence == lasting.sequence):
            return False
        self.pose, self.lasting, self.received = None, None, -math.inf
        self.motion.reset()
        return True

    def _add_to_motion(self, target: PoseTarget, pose: Sequence[float], continues: bool) -> bool:
        """Add a pose to the motion of the target; return True if it is the newest one.

        A pose that does not continue the motion of the previous one starts a new one.
        """
        if target.lasting:
            self.motion.reset()
            return True
        linear, angular = self._limits
        is_newest = self.motion.add(
            pose, target.received, target.stamp, (linear.speed, angular.speed),
            (linear.acceleration, angular.acceleration),
        )  # fmt: skip
        if not continues:
            self.motion.restart()
        return is_newest


def in_reference(target: PoseTarget, reference: int, body_q: np.ndarray) -> PoseTarget:
    """Return a target with its pose in the reference link of its task.

    Args:
        target: The target, in any link.
        reference: Index of the reference link.
        body_q: Link poses at which it is evaluated [body_count, 7].
    """
    if target.frame_link == reference:
        return target
    pose = pose_between(body_q[reference], body_q[target.frame_link], target.pose)
    return dataclasses.replace(target, pose=pose, frame_link=reference)
