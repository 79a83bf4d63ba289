# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reports of a tick on targets, singularities, acceleration limits and joints that cannot move."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import math

import numpy as np

from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.interface.target import JointVelocityTarget
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.singularity import Damping
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.servo.targets.tracking import TargetKind

# Increase of the smallest singular value that indicates leaving a singularity [m/rad/s]. Motion in
# the null space changes it too.
_MIN_GROWTH = 0.02
# Requested speed below which damping is not reported [m/s plus rad/s].
_MIN_SPEED = 1e-4

# Fraction of an acceleration limit that counts as reaching it, and minimum duration [s].
_AT_LIMIT, _HELD, _HELD_LONGEST = 0.99, 0.15, 0.5
# Period of samples of the joints, and the longest time that one sample represents [s].
_SAMPLE_PERIOD, _LONGEST_LOOK = 0.01, 0.05

# Distance above which a joint that cannot move is not at its target [rad or m]. A target may be
# its measured position, with noise.
_ELSEWHERE = 1e-3


def report_targets(
    output: ServoOutput, targets: TargetSelection, poses: np.ndarray, now: float
) -> None:
    """Report the errors of the command for the fresh targets.

    Args:
        output: Output of the tick.
        targets: The targets.
        poses: Link poses at the commanded configuration [body_count, 7].
        now: Current time [s].
    """
    for tracker, report in zip(targets.trackers, output.tasks, strict=True):
        report.active = tracker.target_kind.is_from_sender
        follows_twist = tracker.target_kind is TargetKind.TWIST
        fresh = not follows_twist and targets.has_fresh_pose(tracker, now)
        if fresh or report.active:
            tracker.measure(poses)
        if fresh:
            report.linear_error = tracker.linear_error
            report.angular_error = tracker.angular_error
            report.reached = tracker.reached(report.linear_error, report.angular_error)
    if targets.has_fresh_center(now):
        output.center_of_mass = targets.center.report(poses, targets.choice.center)


class DampingReport:
    """Change of the smallest singular value from tick to tick."""

    def __init__(self, dt: float) -> None:
        """Start without a value; ``dt`` is the duration of a tick [s]."""
        self._dt = dt
        self._sigma = math.inf

    def update(self, output: ServoOutput, damping: Damping, speed: float) -> None:
        """Report a damped step, and whether it leaves the singularity.

        Args:
            output: Output of the tick; an existing report takes precedence.
            damping: Damping of its step.
            speed: Requested speed [m/s plus rad/s].
        """
        before, self._sigma = self._sigma, damping.sigma
        is_damped = damping.is_near or damping.slows
        if output.code != StatusCode.OK or not is_damped or speed < _MIN_SPEED:
            return
        leaving = damping.sigma > before + _MIN_GROWTH * self._dt
        output.code = (
            StatusCode.LEAVING_SINGULARITY if leaving else StatusCode.DAMPED_NEAR_SINGULARITY
        )
        output.text = (
            f'task {output.tasks[damping.task].name} '
            f'{"leaves" if leaving else "is damped near"} a singularity '
            f'(least singular value {damping.sigma:.1e})'
        )


class AccelerationReport:
    """Report of joints at their acceleration limits."""

    def __init__(self, robot: ControlledRobot, dt: float) -> None:
        """Start without a limited joint; ``dt`` is the duration of a tick [s]."""
        self._dofs, self._names = robot.group.variable_dof, robot.group.joint_names
        self._dt = dt
        self._looked, self._remark = -math.inf, ''
        # Shorter by half a tick, so that jitter does not skip every other sample.
        self._sample_period = _SAMPLE_PERIOD - 0.5 * dt
        # Time at the limit minus time below it, for each joint [s].
        self._times = np.zeros(len(self._names))

    def update(
        self,
        now: float,
        step: np.ndarray,
        last: np.ndarray,
        acceleration: np.ndarray,
        limiting_joints: Callable[[], Sequence[int]],
    ) -> str:
        """Return a report of the joint whose acceleration limit holds frames back.

        Args:
            now: Time of the tick [s].
            step: Its step [joint_dof_count].
            last: Previous step.
            acceleration: Acceleration limits of the controlled joints [rad/s^2 or m/s^2].
            limiting_joints: Function that returns the indices of the controlled joints that limit
                a frame.

        Returns:
            The report as text, or ''.
        """
        since = now - self._looked
        if 0.0 <= since < self._sample_period:
            return self._remark
        since, self._looked = min(max(since, 0.0), _LONGEST_LOOK), now
        change = np.abs((step - last)[self._dofs])
        least = _AT_LIMIT * self._dt**2 * acceleration
        at_limit = (least > 0.0) & (change >= least)
        for joint in limiting_joints():
            at_limit[joint] = True
        times = self._times
        times += np.where(at_limit, since, -since)
        np.clip(times, 0.0, _HELD_LONGEST, out=times)
        worst = int(times.argmax())
        self._remark = ''
        if times[worst] > _HELD:
            name = self._names[worst]
            self._remark = f'the acceleration limit of joint {name} slows the motion on its path'
        return self._remark


class StillJointReport:
    """Report of targets that move joints with a velocity limit of 0."""

    def __init__(self, robot: ControlledRobot, targets: TargetSelection) -> None:
        """Find these joints.

        Args:
            robot: The robot.
            targets: The targets.
        """
        self._names, self._targets = robot.group.joint_names, targets
        self._coords, self._still = robot.coords, np.flatnonzero(~robot.can_move)

    def update(self, output: ServoOutput, joint_q: np.ndarray) -> None:
        """Report such a joint if its target is elsewhere, or a velocity.

        Args:
            output: Output of the tick; an existing report takes precedence.
            joint_q: Commanded coordinates [joint_coord_count].
        """
        if not len(self._still) or output.code != StatusCode.OK:
            return
        targets = self._targets
        if not targets.choice.joints:
            return
        if isinstance(targets.joints, JointVelocityTarget):
            wanted, least = targets.joints.velocities, 0.0
        else:
            wanted, least = targets.joint_displacement(joint_q[self._coords]), _ELSEWHERE
        for joint in self._still:
            if abs(wanted[joint]) > least:
                output.code = StatusCode.JOINT_BOUND
                output.text = (
                    f'joint {self._names[joint]} cannot move, because its velocity limit is 0'
                )
                return
