# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barriers of the joints that a request moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.planning.context.obstacles import PlacedObstacles
from ros_ik.servo.barriers.barrier_rows import BarrierRows
from ros_ik.servo.barriers.configured_barriers import apply_settings
from ros_ik.servo.barriers.configured_barriers import make_barriers
from ros_ik.servo.barriers.configured_barriers import make_scene
from ros_ik.servo.barriers.watched_joints import WatchedJoints
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings


class MotionBarriers:
    """Barriers over every pair that some joints move, with the margins of the node.

    A barrier has the pairs that the joints of its solver move, so each set of joints has barriers
    of its own. The solver is there for its kinematic tree; it solves nothing.

    Attributes:
        robot: The robot.
        barriers: The barriers.
        rows: Rows of the barrier values.
        scene: Collision shapes of the robot, and obstacles; None without barriers of collisions.
        watched: Joints on which the barriers depend.
    """

    def __init__(
        self,
        robot: ControlledRobot,
        settings: Settings,
        joint_names: Sequence[str],
        placed: PlacedObstacles,
    ) -> None:
        """Make the barriers; this takes some ten milliseconds, in addition to kernels.

        Args:
            robot: The robot.
            settings: The settings, which do not change.
            joint_names: Joints that move, none of them a mimic joint.
            placed: The obstacles, until :meth:`place`.
        """
        self.robot = robot
        self._diff = DifferentialIK(
            robot.model, tuple(joint_names), DifferentialIKSettings(dt=settings.period)
        )
        self.scene = make_scene(robot, settings)
        self.barriers: tuple[Barrier, ...] = make_barriers(robot, settings, self.scene)
        apply_settings(self.barriers, self.scene, settings)
        self.rows = BarrierRows(self.barriers, 0.0, settings)
        if placed.obstacles:
            self.place(placed)
        self.watched = WatchedJoints.of_barriers(robot, joint_names)
        # The first evaluation allocates the arrays of the barriers.
        self.values(robot.model.neutral_joint_q())

    def place(self, placed: PlacedObstacles) -> None:
        """Replace the obstacles."""
        if self.scene is not None and self.scene.max_obstacles:
            self.scene.set_obstacles(placed.obstacles, placed.body_q)

    def values(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the value of each barrier row [m], without margins.

        Args:
            joint_q: Coordinates [joint_coord_count].
        """
        if not self.barriers:
            return np.zeros(0)
        return self._diff.barrier_values(joint_q, self.barriers)
