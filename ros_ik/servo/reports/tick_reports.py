# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports of a tick on targets, frames and singularities."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.command import ServoOutput
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.singularity import Damping
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.servo.targets.tracking import Pursuit

# Growth of the least singular value that counts as leaving a singularity [m/rad/s]; joints that
# settle in the null space change it too.
_LEAST_GROWTH = 0.02
# Speed asked for below which nothing is damped that could be noticed [m/s plus rad/s].
_LEAST_SPEED = 1e-4

# Part of an acceleration limit that counts as all of it, and how long a joint has to be there [s].
_AT_LIMIT, _HELD, _HELD_LONGEST = 0.99, 0.15, 0.5
# Longest time that one look at joints stands for [s].
_LONGEST_LOOK = 0.05


def report_targets(
    output: ServoOutput, goals: TargetSelection, poses: np.ndarray, now: float
) -> None:
    """Say how far the command is from the targets that are fresh.

    Args:
        output: Output of the tick.
        goals: The targets.
        poses: Link poses at the commanded configuration [body_count, 7].
        now: Current time [s].
    """
    for tracker, report in zip(goals.trackers, output.tasks, strict=True):
        report.active = tracker.pursuit is not Pursuit.NONE
        follows_twist = tracker.pursuit is Pursuit.TWIST
        fresh = not follows_twist and goals.has_fresh_pose(tracker, now)
        if fresh or report.active:
            tracker.measure(poses)
        if fresh:
            report.linear_error = tracker.linear_error
            report.angular_error = tracker.angular_error
            report.reached = tracker.reached(report.linear_error, report.angular_error)
    if goals.has_fresh_center(now):
        output.center_of_mass = goals.center.report(poses, goals.choice.center)


def report_measured(
    output: ServoOutput,
    goals: TargetSelection,
    poses: Sequence[np.ndarray | None],
    center: np.ndarray | None,
) -> None:
    """Report the measured frames, their distance to the targets, and the reached ones.

    Args:
        output: Output of the tick, with the errors of the command and what that has reached.
        goals: The targets.
        poses: Measured pose of each frame in its reference link [7], None where it is not known.
        center: Measured centre of mass in the base frame [m], [3], None where it is not known.
    """
    for tracker, report, pose in zip(goals.trackers, output.tasks, poses, strict=True):
        report.current_pose = pose
        measured = math.nan, math.nan
        if pose is not None and not math.isnan(report.linear_error):
            measured = tracker.errors_at(pose)
        report.measured_linear_error, report.measured_angular_error = measured
        report.reached = report.reached and tracker.reached(*measured)
    if output.center_of_mass is not None and center is not None:
        goals.center.report_measured(output.center_of_mass, center)


def current_poses(goals: TargetSelection, poses: np.ndarray | None) -> list[np.ndarray | None]:
    """Return the pose of each frame, [7] in its reference link, None if links are unknown.

    Args:
        goals: The targets, with the frames.
        poses: Link poses [body_count, 7].
    """
    return [None if poses is None else tracker.frame_pose(poses) for tracker in goals.trackers]


class DampingReport:
    """Follows the least singular value from tick to tick."""

    def __init__(self, dt: float) -> None:
        """Start without a value; ``dt`` is the duration of a tick [s]."""
        self._dt = dt
        self._sigma = math.inf

    def update(self, output: ServoOutput, damping: Damping, speed: float) -> None:
        """Report a damped step, and whether it leaves the singularity.

        Args:
            output: Output of the tick; what it says already is more important.
            damping: Damping of its step.
            speed: Speed asked for [m/s plus rad/s].
        """
        before, self._sigma = self._sigma, damping.sigma
        is_damped = damping.square > 0.0 or damping.slows
        if output.code != StatusCode.OK or not is_damped or speed < _LEAST_SPEED:
            return
        leaving = damping.sigma > before + _LEAST_GROWTH * self._dt
        output.code = (
            StatusCode.LEAVING_SINGULARITY if leaving else StatusCode.DAMPED_NEAR_SINGULARITY
        )
        output.text = (
            f'task {output.tasks[damping.task].name} '
            f'{"leaves" if leaving else "is damped near"} a singularity '
            f'(least singular value {damping.sigma:.1e})'
        )


class AccelerationReport:
    """Follows which joints need all the acceleration that they may have."""

    def __init__(self, robot: ControlledRobot, dt: float) -> None:
        """Start without any; ``dt`` is the duration of a tick [s]."""
        self._dofs, self._names = robot.group.variable_dof, robot.group.joint_names
        self._dt = dt
        self._looked = -math.inf
        # For how long each joint has been at its limit, less what it has not been.
        self._times = np.zeros(len(self._names))

    def update(
        self,
        now: float,
        step: np.ndarray,
        last: np.ndarray,
        acceleration: np.ndarray,
        held_back_by: Sequence[int],
    ) -> str:
        """Return which joint's acceleration limit holds the frames back on their paths.

        Args:
            now: Time of the tick [s].
            step: Its step [joint_dof_count].
            last: The step before it.
            acceleration: Acceleration limits of the controlled joints [rad/s^2 or m/s^2].
            held_back_by: Indices of the controlled joints that have too little for a frame.

        Returns:
            A sentence for a person, or ''.
        """
        since, self._looked = min(max(now - self._looked, 0.0), _LONGEST_LOOK), now
        change = np.abs((step - last)[self._dofs])
        least = _AT_LIMIT * self._dt**2 * acceleration
        at_limit = (least > 0.0) & (change >= least)
        for joint in held_back_by:
            at_limit[joint] = True
        self._times += np.where(at_limit, since, -since)
        np.clip(self._times, 0.0, _HELD_LONGEST, out=self._times)
        worst = int(self._times.argmax())
        if self._times[worst] <= _HELD:
            return ''
        return f'the acceleration limit of joint {self._names[worst]} holds the path back'
