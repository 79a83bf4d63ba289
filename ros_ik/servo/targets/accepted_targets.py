# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Accepted targets of frame tasks and of the centre of mass.

Jumps are rejected, targets withdrawn, and senders checked. Poses move between messages.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import copy
import dataclasses
import math

import numpy as np

from ros_ik.servo.interface.target import CenterOfMassTarget
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


class TargetStream:
    """Stream of the places that a frame or the centre of mass is to reach.

    Attributes:
        received: Time from which the age of the accepted target is counted [s], -inf without one.
        rejected: ``received`` of the last target rejected as a jump [s], -inf if there is none.
        rejected_sequence: Sequence number of that target, 0 if there is none.
        jumps: Number of targets rejected as jumps.
        sender: Check of the senders of targets.
    """

    def __init__(self) -> None:
        """Start without a target; :meth:`apply` must come next."""
        self.sender = SenderCheck()
        self._sequence = self.rejected_sequence = self.jumps = 0
        self.received = self.rejected = -math.inf

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._settings = settings

    def drop(self, sequence: int) -> None:
        """Drop the target, and ignore those up to ``sequence``."""
        self.sender.reset()
        self.received = self.rejected = -math.inf
        self._sequence = max(self._sequence, sequence)

    def is_newer(self, target: PoseTarget | CenterOfMassTarget) -> bool:
        """Return True if a target is new."""
        return target.sequence > self._sequence

    def note(self, target: PoseTarget | CenterOfMassTarget, position: Sequence[float]) -> bool:
        """Note a new target; return True if it continues the motion of the previous one.

        Args:
            target: The target.
            position: Its position [m].
        """
        self._sequence = target.sequence
        return target.lasting or self.sender.add(
            position, target.received, target.stamp, target.sender
        )

    def rejects(
        self,
        target: PoseTarget | CenterOfMassTarget,
        distances: Callable[[], tuple[float, float]],
    ) -> bool:
        """Reject a target that is a jump; return True if it is one.

        Args:
            target: The target.
            distances: Function that returns its distance [m] and angle [rad] from the command; it
                is called only where jumps are rejected.
        """
        settings = self._settings
        if not (rejects_jumps(settings) and is_jump(*distances(), settings)):
            return False
        self.rejected, self.rejected_sequence = target.received, target.sequence
        self.jumps += 1
        return True

    def accept_time(self, target: PoseTarget | CenterOfMassTarget) -> None:
        """Count the age from that of an accepted target, after which none is rejected."""
        self.received, self.rejected = target.received, -math.inf


class AcceptedTargets(TargetStream):
    """Pose and velocity that one frame task may follow. Poses are those in its reference link.

    Attributes:
        pose: Accepted target pose [7], or None.
        floats: The last accepted pose as plain floats.
        lasting: Accepted pose target that is valid as long as the command contains it, in the
            reference link; None for a pose that becomes stale.
        twist: Accepted target velocity, or None.
        predicts: True if poses are predicted between messages.
        motion: Motion of the pose, if it is predicted.
    """

    def __init__(self, reference: int) -> None:
        """Start without a target; :meth:`apply` must come next.

        Args:
            reference: Index of the reference link.
        """
        super().__init__()
        self._reference, self.motion, self._twist_sequence = reference, TargetMotion(), 0
        self.pose: np.ndarray | None = None
        self.floats: Sequence[float] = IDENTITY.tolist()
        self.twist: TwistTarget | None = None
        self.lasting: PoseTarget | None = None

    def branch(self) -> AcceptedTargets:
        """Return a copy whose pose may move independently."""
        other = copy.copy(self)
        other.motion = copy.copy(self.motion)
        return other

    def configure(
        self,
        axes: ActiveAxes,
        limits: tuple[ApproachLimits, ApproachLimits],
        *,
        predicts: bool,
    ) -> None:
        """Set what depends on the frame.

        Args:
            axes: Axes on which jumps are rejected.
            limits: Linear and angular limits of the frame, which a predicted motion keeps.
            predicts: True to predict poses between messages.
        """
        self._axes, self._limits, self.predicts = axes, limits, predicts
        if not predicts:
            self.motion.reset()

    def drop(self, sequence: int) -> None:
        """Drop the targets, and ignore those up to ``sequence``."""
        super().drop(sequence)
        self.pose = self.twist = self.lasting = None
        self.motion.reset()
        self._twist_sequence = max(self._twist_sequence, sequence)

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
        target = in_reference(target, self._reference, body_q)
        pose = target.pose
        floats = pose.tolist()
        continues = self.note(target, floats[:3])
        if self.rejects(
            target, lambda: self._axes.lengths(float_difference(floats, frame_pose(body_q)))
        ):
            return False
        if self.predicts and not self._add_to_motion(target, floats, continues):
            self.received = target.received
            return True
        # A repeated pose stays the same object, by which others know what they have measured.
        if self.pose is None or floats != self.floats:
            self.pose, self.floats = pose, floats
        self.accept_time(target)
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
