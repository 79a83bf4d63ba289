# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rest short of a pose target: no local motion helps, and nothing will change by itself.

A robot counts as stationary once, for some time without a break, its joints have been slower than
a small part of their limits and each step has brought it less than a twentieth nearer than it was
to. Slow motion comes nearer as far as it is to; motion along a barrier moves the joints.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.command import ServoOutput
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.targets.tracking import Pursuit
from ros_ik.servo.targets.tracking import TaskTracker

# How long the robot has to rest before that is said [s].
_TIME = 0.5
# Part of the velocity limits below which joints rest; the limit of one without [rad/s or m/s].
_SLOW, _NO_LIMIT = 5e-3, 1.0
# Part of the asked-for approach that counts as none.
_NONE = 0.05
# Once stationary, so many times as much of both still is rest: the report does not flicker.
_LOOSER = 3.0
# Change of what is left to the targets from which on they are others [1].
_OTHER = 0.1
# What may be the reason; a more urgent code stays.
_CAUSES = (
    StatusCode.DAMPED_NEAR_SINGULARITY,
    StatusCode.LEAVING_SINGULARITY,
    StatusCode.SLOWED_BY_BARRIER,
    StatusCode.HALTED_BY_BARRIER,
    StatusCode.JOINT_BOUND,
)


class Standstill:
    """Follows the steps from tick to tick."""

    def __init__(self, robot: ControlledRobot, period: float) -> None:
        """Start in motion; ``period`` is the duration of a tick [s]."""
        limit = np.where(np.isfinite(robot.velocity), robot.velocity, _NO_LIMIT)
        self._longest = _SLOW * period * limit
        self._needed = max(1, math.ceil(_TIME / period))
        self.forget()

    def forget(self) -> None:
        """Begin anew: the motion or its targets are others."""
        self._ticks, self._left = 0, math.nan

    def update(
        self,
        output: ServoOutput,
        trackers: tuple[TaskTracker, ...],
        step: np.ndarray,
        wanted: float,
        achieved: float,
        left: float,
    ) -> None:
        """Say that the robot has come to rest short of a pose target, and what holds it.

        Args:
            output: Output of the tick, with all that is known of it.
            trackers: The frame tasks.
            step: The step [joint_dof_count].
            wanted: How much nearer the targets the step was to come [m plus rad].
            achieved: How much nearer it came.
            left: What is left to the targets [m plus rad].
        """
        if not self._rests(step, wanted, achieved, left):
            self.forget()
            return
        self._ticks += 1
        if self._ticks < self._needed:
            return
        names = [
            report.name
            for report, tracker in zip(output.tasks, trackers, strict=True)
            if tracker.pursuit is Pursuit.POSE and not report.reached
        ]
        if not names or output.code not in (StatusCode.OK, *_CAUSES):
            return
        cause = 'no motion of the joints brings it nearer'
        if output.code in _CAUSES:
            cause = output.text
        output.code = StatusCode.STATIONARY
        output.text = f'at rest short of the target of {", ".join(names)}: {cause}'

    def _rests(self, step: np.ndarray, wanted: float, achieved: float, left: float) -> bool:
        is_said = self._ticks >= self._needed
        looser = _LOOSER if is_said else 1.0
        if achieved > looser * _NONE * wanted:
            return False
        if math.isnan(self._left):
            self._left = left
        if abs(left - self._left) > _OTHER * self._left:
            return False
        if is_said:
            # What still creeps is at rest; only a jump is another target.
            self._left = left
        return bool((np.abs(step) <= looser * self._longest).all())
