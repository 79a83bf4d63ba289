# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Barriers and solvers with the limits of the node, for one version of its settings."""

from __future__ import annotations

from collections.abc import Iterable
import functools

from ros_ik.barriers import Barrier
from ros_ik.planning.context.motion_barriers import MotionBarriers
from ros_ik.planning.context.obstacles import PlacedObstacles
from ros_ik.servo.barriers.configured_barriers import apply_settings
from ros_ik.servo.barriers.configured_barriers import make_barriers
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.settings import Settings
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlSettings
from ros_ik.solvers.graph_cache import GraphCache

# Time between the points of an optimal motion, and its longest duration [s], which bound its size.
_KNOT_TIME, _LONGEST_MOTION = 0.01, 60.0


class BarrierSolvers:
    """Barriers and solvers of one set of obstacles, each created at the first request for it."""

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
        # Barriers by the joints that they have in addition to those of the node.
        self._barriers: GraphCache[MotionBarriers] = GraphCache()

    def place(self, placed: PlacedObstacles) -> None:
        """Replace the obstacles."""
        self._placed = placed
        for barriers in (*self._barriers, *([self.own] if 'own' in vars(self) else [])):
            barriers.place(placed)

    @functools.cached_property
    def own(self) -> MotionBarriers:
        """Barriers of the joints that the node controls."""
        return self._made(())

    def of_motion(self, joint_names: Iterable[str]) -> MotionBarriers:
        """Return the barriers of the joints that the node controls, and of some more.

        Those of a few sets of joints are kept.

        Args:
            joint_names: Joints that move, none of them a mimic joint.
        """
        model = self._robot.model
        others = set(joint_names).difference(self._robot.group.joint_names)
        names = tuple(sorted(others, key=model.joint_index))
        return self._barriers.get(names, lambda: self._made(names)) if names else self.own

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
            barriers=self._solver_barriers(),
            settings=OptimalControlSettings(max_duration=_LONGEST_MOTION),
        )

    def _made(self, others: tuple[str, ...]) -> MotionBarriers:
        """Return barriers of the joints of the node and of others."""
        names = (*self._robot.group.joint_names, *others)
        return MotionBarriers(self._robot, self._settings, names, self._placed)

    def _solver_barriers(self) -> tuple[Barrier, ...]:
        """Return barriers for another solver; those of one scene share its obstacles."""
        scene = self.own.scene
        barriers = make_barriers(self._robot, self._settings, scene)
        apply_settings(barriers, scene, self._settings)
        return barriers
