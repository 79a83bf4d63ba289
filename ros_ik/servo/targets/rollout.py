# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps behind the command: what the next ticks would command if nothing new were heard.

They are found as the servo finds its own, with the same speeds and braking, limits, barriers,
damping and checks, by a solver apart from that of the servo: neither its warm start nor any state
of its goals is touched. Only the obstacles are the same objects.
"""

from __future__ import annotations

import math

import numpy as np

from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.obstacle_scene import ObstacleScene
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.servo.targets.references import set_references
from ros_ik.servo.targets.secondary_motion import SecondaryMotion
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.settings import Settings


class Rollout:
    """Predicts the next steps of one robot; owned by the control thread."""

    def __init__(
        self, robot: ControlledRobot, settings: Settings, scene: ObstacleScene | None
    ) -> None:
        """Set up a solver and run it once, which compiles and captures everything.

        Args:
            robot: The robot.
            settings: The settings; ``rollout_steps`` is the number of steps.
            scene: The scene of the servo's solver, None where nothing is watched.

        Raises:
            SettingsError: A barrier on a link that the model does not have.
        """
        self._robot, self._settings = robot, settings
        self._solver = StepSolver(robot, settings, scene)
        self._last, self._step = np.zeros((2, robot.model.joint_dof_count))

    def apply(self, settings: Settings) -> None:
        """Take over settings."""
        self._settings = settings
        self._solver.apply(settings)

    def predict(
        self,
        joint_q: np.ndarray,
        step: np.ndarray,
        solver: StepSolver,
        goals: TargetSelection,
        secondary: SecondaryMotion,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where the next steps lead; from the first that fails on, where the last led.

        Args:
            joint_q: Commanded coordinates after this tick [joint_coord_count].
            step: The step that led there [joint_dof_count].
            solver: The solver that found it, which is only read.
            goals: The targets in force, which are only read.
            secondary: Motion of the joints beside them, which is only read.

        Returns:
            Coordinates after each step [rollout_steps, joint_coord_count], and the velocity of
            each step [rollout_steps, joint_dof_count], rad/s or m/s; zero from a failure on.
        """
        count, period = self._settings.rollout_steps, self._settings.period
        ahead = np.empty((count, len(joint_q)))
        velocities = np.zeros((count, len(step)))
        self._solver.continue_from(solver)
        goals, secondary = goals.branch(), secondary.branch()
        self._last[:] = step
        for row in range(count):
            after = self._next(joint_q, goals, secondary)
            if after is None:
                ahead[row:] = joint_q
                break
            ahead[row] = joint_q = after
            np.divide(self._step, period, out=velocities[row])
            self._last, self._step = self._step, self._last
        return ahead, velocities

    def _next(
        self, joint_q: np.ndarray, goals: TargetSelection, secondary: SecondaryMotion
    ) -> np.ndarray | None:
        """Make one step as the servo does; return where it leads, None where it fails."""
        solver, step = self._solver, self._step
        goals.now += self._settings.period
        set_references(
            solver, self._robot, goals, secondary, joint_q, self._last, self._settings
        )
        solver.update_damping()
        status = solver.solve(joint_q, self._last, step)
        # A sum of squares is finite only where every number is.
        if not status.ok or not math.isfinite(step.dot(step)):
            return None
        solver.enforce_stopping(joint_q, step, self._last)
        after = solver.ahead.advance(joint_q, step)
        if solver.limits.fault(joint_q, step, after):
            return None
        solver.limits.take(self._last)
        return after
