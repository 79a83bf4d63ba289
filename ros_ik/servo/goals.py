# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The targets that are known and which of them count: the newest kind wins, stale ones do not."""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.codes import StatusCode
from ros_ik.servo.command import Command
from ros_ik.servo.command import JointTarget
from ros_ik.servo.command import PoseTarget
from ros_ik.servo.events import Events
from ros_ik.servo.holding import HoldReason
from ros_ik.servo.robot import ControlledRobot
from ros_ik.servo.tracking import TaskTracker
from ros_ik.settings import Settings


class Goals:
    """Targets of the frame tasks and of the joints.

    Attributes:
        trackers: One per frame task.
        joints: The joint target, None for none.
        active: Which frame tasks count.
        joint_mode: Whether the joint target counts.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Start without targets."""
        self.trackers = tuple(
            TaskTracker(link, reference, settings.period)
            for link, reference in zip(robot.task_links, robot.task_references, strict=True)
        )
        self.joints: JointTarget | None = None
        self.active: tuple[bool, ...] = (False,) * len(self.trackers)
        self.joint_mode = False
        self._joint_sequence = 0
        self.apply(settings)

    def apply(self, settings: Settings) -> None:
        """Take over settings."""
        self._timeout = settings.command_timeout
        for tracker, task in zip(self.trackers, settings.tasks, strict=True):
            tracker.apply(task, settings)

    def drop(self, command: Command) -> None:
        """Forget every target received so far."""
        seen = [target.sequence for target in command.poses if target is not None]
        if command.joints is not None:
            seen.append(command.joints.sequence)
        newest = max(seen, default=0)
        for tracker in self.trackers:
            tracker.drop(newest)
        self.joints = None
        self._joint_sequence = max(self._joint_sequence, newest)

    def rest(self) -> None:
        """Forget which targets counted and every velocity: the next motion starts from rest."""
        self.active, self.joint_mode = (False,) * len(self.trackers), False
        for tracker in self.trackers:
            tracker.rest()

    def new_poses(self, command: Command) -> list[tuple[TaskTracker, PoseTarget]]:
        """Return the pose targets not seen yet, with their trackers."""
        pairs = zip(self.trackers, command.poses, strict=False)
        return [
            (tracker, target) for tracker, target in pairs if target and tracker.is_newer(target)
        ]

    def new_joints(self, command: Command) -> JointTarget | None:
        """Return the joint target if it was not seen yet."""
        joints = command.joints
        return joints if joints is not None and joints.sequence > self._joint_sequence else None

    def accept_joints(self, target: JointTarget) -> bool:
        """Take a joint target; return whether it names other joints than the one before."""
        before, self.joints = self.joints, target
        self._joint_sequence = target.sequence
        if before is None:
            return True
        named, named_before = np.isfinite(target.positions), np.isfinite(before.positions)
        return bool((named != named_before).any())

    def is_fresh(self, received: float, now: float) -> bool:
        """Return whether something received at that time still counts."""
        return now - received <= self._timeout

    def choose(self, now: float) -> bool:
        """Decide which targets count; return whether that changed."""
        fresh = tuple(t.goal is not None and self.is_fresh(t.received, now) for t in self.trackers)
        times = [t.received for t, is_fresh in zip(self.trackers, fresh, strict=True) if is_fresh]
        newest = max(times, default=-math.inf)
        received = self._joints_received()
        joint_mode = self.is_fresh(received, now) and received > newest
        active = tuple(is_fresh and not joint_mode for is_fresh in fresh)
        if (active, joint_mode) == (self.active, self.joint_mode):
            return False
        for tracker, was, is_active in zip(self.trackers, self.active, active, strict=True):
            if is_active and not was:
                tracker.rest()
        self.active, self.joint_mode = active, joint_mode
        return True

    def missing(self, now: float, events: Events) -> HoldReason | None:
        """Return the reason to hold where no target is fresh."""
        newest = max((t.received for t in self.trackers if t.goal is not None), default=-math.inf)
        newest = max(newest, self._joints_received())
        if self.is_fresh(newest, now):
            return None
        if any(self.is_fresh(tracker.rejected, now) for tracker in self.trackers):
            return HoldReason(
                StatusCode.TARGET_JUMP, 'the target lies too far away and was refused', False
            )
        if events.clock_jumped:
            return HoldReason(
                StatusCode.CLOCK_JUMP, 'the clock went backwards: targets were dropped', False
            )
        if newest == -math.inf:
            return HoldReason(StatusCode.OK, 'ready, waiting for a target', False)
        return HoldReason(
            StatusCode.COMMAND_STALE, 'the last target is older than command_timeout', False
        )

    def jump_refused(self, now: float) -> bool:
        """Return whether the newest target of a task was refused as a jump a short time ago."""
        return any(self.is_fresh(tracker.rejected, now) for tracker in self.trackers)

    def remaining(self, positions: np.ndarray) -> float:
        """Return the distance that is left to all targets that count [m plus rad].

        Args:
            positions: Commanded positions of the controlled joints; poses are those last measured.
        """
        if self.joint_mode:
            return float(np.nansum(np.abs(self.joint_way(positions))))
        return sum(
            tracker.linear_error + tracker.angular_error
            for tracker, active in zip(self.trackers, self.active, strict=True)
            if active
        )

    def joint_way(self, positions: np.ndarray) -> np.ndarray:
        """Return what is left to the joint target, NaN for joints that are not commanded.

        Args:
            positions: Commanded positions of the controlled joints.
        """
        return self.joints.positions - positions  # type: ignore[union-attr]

    def _joints_received(self) -> float:
        return self.joints.received if self.joints is not None else -math.inf
