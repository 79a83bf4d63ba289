# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Report of a step towards targets: code and text of the cause that holds the motion back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.reports.barrier_report import BarrierReport
from ros_ik.servo.reports.standstill import Standstill
from ros_ik.servo.reports.tick_reports import AccelerationReport
from ros_ik.servo.reports.tick_reports import DampingReport
from ros_ik.servo.reports.tick_reports import StillJointReport
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.state.following_error import FollowingError
from ros_ik.servo.step.singularity import Damping
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.servo.targets.target_selection import JUMP_REJECTED
from ros_ik.servo.targets.target_selection import TargetSelection


class TrackedStep(NamedTuple):
    """A step towards targets.

    Attributes:
        before: Coordinates before it.
        after: Coordinates after it.
        step: The step [joint_dof_count].
        last_step: The previous step.
        wanted: Distance by which it was to approach the targets [m plus rad].
        remaining: Distance to the targets before it [m plus rad].
        damping: Damping near a singularity.
        cut: True if the check of stops shortened it.
    """

    before: np.ndarray
    after: np.ndarray
    step: np.ndarray
    last_step: np.ndarray
    wanted: float
    remaining: float
    damping: Damping
    cut: bool


class MotionReport:
    """Causes that hold a motion back, one report each, from tick to tick."""

    def __init__(
        self,
        robot: ControlledRobot,
        solver: StepSolver,
        targets: TargetSelection,
        following: FollowingError,
        period: float,
    ) -> None:
        """Start at rest.

        Args:
            robot: The robot.
            solver: Solver of the steps.
            targets: The targets.
            following: Following error of the robot.
            period: Duration of a tick [s].
        """
        self._solver, self._targets, self._following = solver, targets, following
        self._period = period
        self._still_joints = StillJointReport(robot, targets)
        self._barriers = BarrierReport(solver)
        self._acceleration = AccelerationReport(robot, period)
        self._damping = DampingReport(period)
        self._standstill = Standstill(robot, period)

    def forget_barriers(self) -> None:
        """Drop the values of barriers after a change of settings, obstacles or motion."""
        self._barriers.forget()

    def forget_standstill(self) -> None:
        """Restart the detection of standstill after a change of the motion or of its targets."""
        self._standstill.forget()

    def update(
        self, output: ServoOutput, now: float, tracked: TrackedStep, *, reports: bool
    ) -> None:
        """Fill code and text of an output, and its barrier fields.

        A following error replaces a rejected jump. The other causes apply to the code OK only,
        except for a standstill, which quotes the cause that it replaces.

        Args:
            output: Output of the tick, with the code OK.
            now: Current time [s].
            tracked: The step of the tick.
            reports: True to find the limiting constraint; otherwise the last one is repeated.
        """
        targets, slowed_by = self._targets, self._following.slowed_by
        if targets.jump_rejected(now):
            output.code, output.text = StatusCode.TARGET_JUMP, JUMP_REJECTED
        if slowed_by:
            output.code = StatusCode.FOLLOWING_ERROR
            output.text = f'the command waits for joint {slowed_by}, which does not follow'
        wanted, left = tracked.wanted, targets.remaining(tracked.after)
        achieved = tracked.remaining - left
        if reports:
            remark = targets.sender_fault(now)
            self._barriers.update(
                output, tracked.before, tracked.after, wanted, achieved, tracked.cut
            )
            if not targets.choice.joints:
                held_back = self._limiting_acceleration(now, tracked)
                remark = remark or held_back
            if remark and output.code == StatusCode.OK:
                output.text = f'tracking; {remark}'
        else:
            self._barriers.repeat(output)
        self._still_joints.update(output, tracked.after)
        self._damping.update(output, tracked.damping, wanted / self._period)
        if not targets.choice.joints:
            self._standstill.update(
                output, targets.trackers, tracked.step, wanted, achieved, left
            )

    def _limiting_acceleration(self, now: float, tracked: TrackedStep) -> str:
        """Return the report of a joint at its acceleration limit, or ''."""
        solver = self._solver
        return self._acceleration.update(
            now, tracked.step, tracked.last_step, solver.limits.acceleration,
            solver.commanded_state.singularity.demand.limiting_joints,
        )  # fmt: skip
