# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Test of the demo's targets in advance, with the solver alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.barriers import PositionBarrier
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.poses import pose_errors
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

# The node's default distance from the position limits [rad or m].
_NODE_MARGIN = 0.02
# Tolerances of a trial [m, rad], a tenth of those of the demo.
_TOLERANCE = (1e-4, 1e-3)
_STEPS = 400


class Trial:
    """Test of targets with the solver alone."""

    def __init__(self, robot: DemoRobot, *, uses_orientation: bool) -> None:
        """Build the solver for the chain of a robot."""
        model = robot.model
        self._diff = DifferentialIK(model, robot.group, DifferentialIKSettings(dt=0.02))
        self._tip = robot.tip
        self._tolerance = (
            _TOLERANCE[0],
            _TOLERANCE[1] if uses_orientation else np.inf,
        )
        rotation_weight = 0.5 if uses_orientation else 0.0
        self._objective = IKObjectivePose(
            robot.tip,
            [0, 0, 0, 0, 0, 0, 1],
            rotation_weight=rotation_weight,
            exact_jacobian=False,
        )
        self._posture = IKObjectiveJointPosition(model, model.neutral_joint_q())
        self._tasks = [
            Task(self._objective, gain=0.2, max_error=(0.05, 0.3)),
            Task(self._posture, gain=0.02, weight=0.01),
        ]
        self._limits = [PositionLimit(margin=_NODE_MARGIN), VelocityLimit()]
        self._step = np.zeros(model.joint_dof_count)

    def pose(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the pose of the tip [7]."""
        return self._diff.body_poses(joint_q)[self._tip]

    def follow(
        self,
        joint_q: np.ndarray,
        target: np.ndarray,
        barriers: Sequence[PositionBarrier],
        steps: int = _STEPS,
    ) -> tuple[np.ndarray, bool]:
        """Move towards a pose; return the final configuration, and True if it was reached."""
        self._objective.set_target_pose(0, target)
        self._posture.set_target_positions(joint_q)
        for _ in range(steps):
            status = self._diff.solve_ik(
                joint_q, self._tasks, self._limits, barriers, self._step, 1e-8
            )
            if status not in (SolveStatus.CONVERGED, SolveStatus.RELAXED):
                return joint_q, False
            joint_q = self._diff.integrate(joint_q, self._step)
            distance, angle = pose_errors(self.pose(joint_q), target)
            if distance < self._tolerance[0] and angle < self._tolerance[1]:
                return joint_q, True
        return joint_q, False
