# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Predicted steps after the command, as if no target arrived and none became stale.

They use the same speeds, limits, barriers, damping and checks as the command, but a solver of
their own and copies of the targets. The warm start and the targets of the servo stay unchanged;
only the obstacles are shared.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.barriers.obstacle_scene import ObstacleScene
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.servo.targets.references import set_references
from ros_ik.servo.targets.secondary_motion import SecondaryMotion
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.settings import Settings


class Rollout:
    """Prediction of the next steps of one robot; owned by the control thread."""

    def __init__(
        self, robot: ControlledRobot, settings: Settings, scene: ObstacleScene | None
    ) -> None:
        """Set up a solver and run it once, which compiles and captures all kernels.

        Args:
            robot: The robot.
            settings: Settings; ``rollout_steps`` is the number of steps.
            scene: Obstacle scene of the servo's solver, or None without barriers.
        """
        self._solver = StepSolver(robot, settings, scene)
        self._last, self._step = np.zeros((2, robot.model.joint_dof_count))

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self._solver.apply(settings)

    def predict(
        self,
        joint_q: np.ndarray,
        step: np.ndarray,
        solver: StepSolver,
        targets: TargetSelection,
        secondary: SecondaryMotion,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict the next steps. After a failure, the last valid configuration is repeated.

        Args:
            joint_q: Commanded coordinates after this tick [joint_coord_count].
            step: Step of this tick [joint_dof_count].
            solver: Solver of the servo; not modified.
            targets: Active targets; not modified.
            secondary: Secondary motion; not modified.

        Returns:
            Coordinates after each step [rollout_steps, joint_coord_count], and velocity of each
            step [rollout_steps, joint_dof_count], rad/s or m/s; zero after a failure.
        """
        settings = self._solver.settings
        count, period = settings.rollout_steps, settings.period
        predicted = np.empty((count, len(joint_q)))
        velocities = np.zeros((count, len(step)))
        self._solver.continue_from(solver)
        targets, secondary = targets.branch(), secondary.branch()
        self._last[:] = step
        for row in range(count):
            after = self._next(joint_q, targets, secondary)
            if after is None:
                predicted[row:] = joint_q
                break
            predicted[row] = joint_q = after
            np.divide(self._step, period, out=velocities[row])
            self._last, self._step = self._step, self._last
        return predicted, velocities

    def _next(
        self, joint_q: np.ndarray, targets: TargetSelection, secondary: SecondaryMotion
    ) -> np.ndarray | None:
        """Return the coordinates after one more step, or None if it fails."""
        solver, step = self._solver, self._step
        targets.now += solver.settings.period
        set_references(solver, targets, secondary, joint_q, self._last)
        solver.update_damping()
        status = solver.solve(joint_q, self._last, step)
        # A sum of squares is finite only if every number is finite.
        if not status.ok or not math.isfinite(step.dot(step)):
            return None
        solver.limit_to_stoppable(joint_q, step, self._last)
        after = solver.commanded_state.advance(joint_q, step)
        if solver.limits.check.violation(joint_q, step, after):
            return None
        solver.limits.shift_steps(self._last)
        return after
