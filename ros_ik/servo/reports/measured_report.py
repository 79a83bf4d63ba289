# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Report of a tick on the measured robot: poses of frames, centre of mass, following errors."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ros_ik.servo.interface.output import ServoOutput
from ros_ik.servo.state.following_error import FollowingError
from ros_ik.servo.step.link_poses import LinkPoses
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.solvers import DifferentialIK


class MeasuredReport:
    """Last measured poses and following errors, which outputs repeat.

    Attributes:
        following_errors: Measured minus commanded position of each controlled joint [rad or m].
    """

    def __init__(
        self, diff: DifferentialIK, targets: TargetSelection, following: FollowingError
    ) -> None:
        """Start without a measurement.

        Args:
            diff: Solver of the model.
            targets: The targets, with the frames.
            following: Following error of the robot.
        """
        self._diff, self._targets, self._following = diff, targets, following
        self._link_poses = LinkPoses()
        self._poses: Sequence[np.ndarray | None] = [None] * len(targets.trackers)
        self._center: np.ndarray | None = None
        self.following_errors = following.errors()

    def measure(self, joint_q: np.ndarray | None, *, has_center: bool) -> None:
        """Measure the frames, and the centre of mass if it is asked for.

        Args:
            joint_q: Measured coordinates [joint_coord_count], None if unknown.
            has_center: True for the centre of mass.
        """
        links = None if joint_q is None else self._link_poses.at(self._diff, joint_q)
        self._poses = [
            None if links is None else tracker.frame_pose(links)
            for tracker in self._targets.trackers
        ]
        self._center = None
        if links is not None and has_center:
            self._center = self._targets.center.center(links)
        self.following_errors = self._following.errors()

    def update(self, output: ServoOutput) -> None:
        """Report the measured frames, their errors, and the reached targets.

        Args:
            output: Output of the tick, with the errors of the command.
        """
        trackers = self._targets.trackers
        for tracker, report, pose in zip(trackers, output.tasks, self._poses, strict=True):
            report.current_pose = pose
            measured = math.nan, math.nan
            if pose is not None and not math.isnan(report.linear_error):
                measured = tracker.errors_at(pose)
            report.measured_linear_error, report.measured_angular_error = measured
            report.reached = report.reached and tracker.reached(*measured)
        if output.center_of_mass is not None and self._center is not None:
            self._targets.center.report_measured(output.center_of_mass, self._center)
        output.following_errors = self.following_errors
