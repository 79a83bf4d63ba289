# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers with the limits and barriers of the node, for one version of its settings."""

from __future__ import annotations

import functools

from ros_ik.barriers import Barrier
from ros_ik.planning.context.obstacles import PlacedObstacles
from ros_ik.servo.barriers.configured_barriers import apply_settings
from ros_ik.servo.barriers.configured_barriers import make_barriers
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.settings import Settings
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlSettings

# Time between the points of an optimal motion, and its longest duration [s], which bound its size.
_KNOT_TIME, _LONGEST_MOTION = 0.01, 60.0


class BarrierSolvers:
    """Solvers of one scene, each created at the first request for it."""

    def __init__(
        self, robot: ControlledRobot, settings: Settings, placed: PlacedObstacles
    ) -> None:
        """Create no solver yet.

        Args:
            robot: The robot.
            settings: The settings, which do not change.
            placed: The obstacles, until :meth:`place`.
        """
        self._robot, self._settings, self._placed = robot, settings, placed
        self._steps: StepSolver | None = None

    def place(self, placed: PlacedObstacles) -> None:
        """Replace the obstacles."""
        self._placed = placed
        if self._steps is not None:
            self._steps.set_obstacles(placed.obstacles, placed.body_q)

    @property
    def steps(self) -> StepSolver:
        """The step solver of the servo, for its barriers.

        It is a whole solver, because barriers are evaluated only within one, on its kinematic tree
        and in its batch sizes. Creating it takes 0.06 s, in addition to kernels.
        """
        if self._steps is None:
            steps = StepSolver(self._robot, self._settings)
            if self._placed.obstacles:
                steps.set_obstacles(self._placed.obstacles, self._placed.body_q)
            self._steps = steps
        return self._steps

    @functools.cached_property
    def optimal(self) -> OptimalControl:
        """Optimal control with the limits and barriers of the node."""
        robot, settings = self._robot, self._settings
        return OptimalControl(
            robot.model,
            robot.group,
            dt=_KNOT_TIME,
            velocity=robot.scaled_velocity(settings),
            acceleration=robot.scaled_acceleration(settings),
            position_margin=robot.position_margin(settings),
            barriers=self._own_barriers(),
            settings=OptimalControlSettings(max_duration=_LONGEST_MOTION),
        )

    def _own_barriers(self) -> tuple[Barrier, ...]:
        """Return barriers for another solver; those of one scene share its obstacles."""
        scene = self.steps.scene
        barriers = make_barriers(self._robot, self._settings, scene)
        apply_settings(barriers, scene, self._settings)
        return barriers
