# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Models and solvers of a robot, created on demand and kept between requests."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.planning.context.barrier_solvers import BarrierSolvers
from ros_ik.planning.context.bounded_models import BoundedModels
from ros_ik.planning.context.chain_solver_cache import ChainSolvers
from ros_ik.planning.context.motion_barriers import MotionBarriers
from ros_ik.planning.context.obstacles import PlacedObstacles
from ros_ik.servo import Obstacle
from ros_ik.servo.barriers.watched_joints import WatchedJoints
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.settings import Settings
from ros_ik.solvers import OptimalControl
from ros_ik.solvers.graph_cache import GraphCache


class PlanningContext:
    """A robot, its obstacles and its solvers; used by one thread at a time.

    Attributes:
        model: The model.
        robot: Settings resolved in the model.
        settings: The current settings.
        chains: Pose solvers.
    """

    def __init__(
        self,
        urdf: str,
        srdf: str,
        settings: Settings,
        package_paths: Sequence[str | Path] = (),
        device: str = 'cpu',
    ) -> None:
        """Build the model.

        Args:
            urdf: Text of the robot description.
            srdf: Text of the semantic description, or ''.
            settings: The settings.
            package_paths: Folders in which ``package://`` meshes are looked up; meshes are read at
                the first distance.
            device: Warp device of the models and solvers.

        Raises:
            RosIkError: The description or a setting is invalid.
        """
        checked_instance('settings', Settings, settings)
        self._builder = ModelBuilder()
        self._builder.add_urdf(urdf, srdf=srdf, package_paths=package_paths)
        self.robot: ControlledRobot = resolve_robot(self._builder.finalize(device), settings)
        self.model: Model = self.robot.model
        self.settings = settings
        self.chains = ChainSolvers()
        self._contacts: GraphCache[WatchedJoints] = GraphCache()
        self._placed = PlacedObstacles((), self.model, self.model.neutral_joint_q())
        # Replaced with the margin, and with any setting.
        self._models = self._bounded_models(settings)
        self._solvers = BarrierSolvers(self.robot, settings, self._placed)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Obstacles."""
        return self._placed.obstacles

    def apply(self, settings: Settings) -> None:
        """Apply settings that differ in dynamic parameters only; an error leaves the old ones."""
        models = self._models
        if settings.limits_position_margin != self.settings.limits_position_margin:
            models = self._bounded_models(settings)
        solvers = BarrierSolvers(self.robot, settings, self._placed)
        self.settings, self._models, self._solvers = settings, models, solvers

    def place(self, obstacles: tuple[Obstacle, ...], joint_q: np.ndarray) -> None:
        """Set the obstacles.

        Args:
            obstacles: Obstacles.
            joint_q: Configuration when obstacles in moving links arrived [joint_coord_count].
        """
        # The memory of the last model with obstacles is released before there is another.
        last = self._models.release()
        if last is not None:
            self.chains.discard(last)
        placed = PlacedObstacles(obstacles, self.model, joint_q)
        self._solvers.place(placed)
        # After an error, they still differ from the given ones.
        self._placed = placed

    @property
    def bounded_model(self) -> Model:
        """The model with position limits tightened by ``limits.position_margin``.

        Solutions then lie within the limits of the node itself.
        """
        return self._models.free

    @property
    def collision_model(self) -> Model:
        """The bounded model with the obstacles as shapes of the world."""
        return self._models.with_obstacles(self._placed)

    @property
    def barriers(self) -> MotionBarriers:
        """Barriers of the joints that the node controls."""
        return self._solvers.own

    def barriers_of(self, joint_names: Iterable[str]) -> MotionBarriers:
        """Return those barriers and those of more joints; see :class:`BarrierSolvers`."""
        return self._solvers.of_motion(joint_names)

    def contacts_of(self, joint_names: tuple[str, ...]) -> WatchedJoints:
        """Return the joints on which contacts depend that some joints cause."""
        return self._contacts.get(
            joint_names, lambda: WatchedJoints.of_contacts(self.robot, joint_names)
        )

    @property
    def optimal(self) -> OptimalControl:
        """Optimal control; see :attr:`BarrierSolvers.optimal`."""
        return self._solvers.optimal

    def body_poses(self, joint_q: np.ndarray) -> np.ndarray:
        """Return link poses in the world, shape [n, body_count, 7]."""
        return link_poses(self.model, joint_q)

    def _bounded_models(self, settings: Settings) -> BoundedModels:
        margin = self.robot.position_margin(settings)
        return BoundedModels(self._builder, self.robot, margin)
