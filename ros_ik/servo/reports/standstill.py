# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of a robot at rest short of its pose target, in a local minimum.

The robot is stationary if, for some time without interruption, its joints are slower than a small
part of their limits and each step approaches the target by less than a twentieth of the requested
approach. A slow motion does make the requested approach, and a motion along a barrier moves the
joints.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.targets.tracking import TargetKind
from ros_ik.servo.targets.tracking import TaskTracker

# Time of rest before it is reported [s].
_TIME = 0.5
# Fraction of the velocity limit below which a joint is at rest; limit of a joint without one
# [rad/s or m/s].
_SLOW, _NO_LIMIT = 5e-3, 1.0
# Fraction of the requested approach below which there is none.
_NONE = 0.05
# Hysteresis: factor on both fractions while the robot is reported as stationary.
_LOOSER = 3.0
# Relative change of the remaining distance that indicates a new target [1].
_OTHER = 0.1
# Codes that STATIONARY may replace.
_CAUSES = (
    StatusCode.DAMPED_NEAR_SINGULARITY,
    StatusCode.LEAVING_SINGULARITY,
    StatusCode.SLOWED_BY_BARRIER,
    StatusCode.HALTED_BY_BARRIER,
    StatusCode.JOINT_BOUND,
)


class Standstill:
    """Detection of standstill from tick to tick."""

    def __init__(self, robot: ControlledRobot, period: float) -> None:
        """Start in motion; ``period`` is the duration of a tick [s]."""
        limit = np.where(np.isfinite(robot.velocity), robot.velocity, _NO_LIMIT)
        self._longest = _SLOW * period * limit
        self._needed = max(1, math.ceil(_TIME / period))
        self.forget()

    def forget(self) -> None:
        """Restart after a change of the motion or of its targets."""
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
        """Report in the output if the robot is stationary, and the constraint that holds it.

        Args:
            output: Output of the tick.
            trackers: The frame tasks.
            step: The step [joint_dof_count].
            wanted: Distance by which the step was to approach the targets [m plus rad].
            achieved: Distance by which it did approach them [m plus rad].
            left: Remaining distance to the targets [m plus rad].
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
            if tracker.target_kind is TargetKind.POSE and not report.reached
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
            # Creeping counts as rest; only a jump of the distance is a new target.
            self._left = left
        return bool((np.abs(step) <= looser * self._longest).all())
