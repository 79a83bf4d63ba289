# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Models and solvers of a robot, created on demand and kept between requests."""

from __future__ import annotations

from collections.abc import Sequence
import copy
import functools
from pathlib import Path

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.planning.context.chain_solver_cache import ChainSolvers
from ros_ik.planning.context.obstacles import add_obstacle
from ros_ik.servo import Obstacle
from ros_ik.servo.robot.barriers import apply_settings
from ros_ik.servo.robot.barriers import make_barriers
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.servo.step.step_solver import StepSolver
from ros_ik.settings import Settings
from ros_ik.solvers import OptimalControl
from ros_ik.solvers import OptimalControlSettings

# Time between the points of an optimal motion, and its longest duration [s], which bound its size.
_KNOT_TIME, _LONGEST_MOTION = 0.01, 60.0


class PlanningContext:
    """A robot, its obstacles and its solvers; used by one thread at a time.

    Attributes:
        model: The model.
        robot: Settings resolved in the model.
        settings: The current settings.
        chains: Pose solvers.
        obstacles: Obstacles.
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
        self._builder = ModelBuilder()
        self._builder.add_urdf(urdf, srdf=srdf or None, package_paths=package_paths)
        self.robot: ControlledRobot = resolve_robot(self._builder.finalize(device), settings)
        self.model: Model = self.robot.model
        self.settings = settings
        self.chains = ChainSolvers()
        self.obstacles: tuple[Obstacle, ...] = ()
        self._placed_at = self.model.neutral_joint_q()

    def apply(self, settings: Settings) -> None:
        """Apply settings that differ in dynamic parameters only."""
        if settings.limits_position_margin != self.settings.limits_position_margin:
            self._forget('bounded_model', 'collision_model')
        self.settings = settings
        self._forget('steps', 'optimal')

    def place(self, obstacles: tuple[Obstacle, ...], joint_q: np.ndarray) -> None:
        """Set the obstacles.

        Args:
            obstacles: Obstacles.
            joint_q: Configuration when obstacles in moving links arrived [joint_coord_count].
        """
        self.obstacles, self._placed_at = obstacles, joint_q
        self._forget('collision_model')
        if 'steps' in self.__dict__:
            self._set_obstacles(self.steps)

    @functools.cached_property
    def bounded_model(self) -> Model:
        """The model with position limits tightened by ``limits.position_margin``.

        Solutions then lie within the limits of the node itself.
        """
        return self._bounded(self._builder)

    @functools.cached_property
    def collision_model(self) -> Model:
        """The bounded model with the obstacles as shapes of the world."""
        if not self.obstacles:
            return self.bounded_model
        builder = ModelBuilder()
        builder.add_builder(self._builder)
        body_q = self.body_poses(self._placed_at[None])[0]
        for obstacle in self.obstacles:
            add_obstacle(builder, obstacle, body_q)
        return self._bounded(builder)

    @functools.cached_property
    def steps(self) -> StepSolver:
        """The step solver of the servo, for its barriers; created at the first request for it.

        It is a whole solver, because barriers are evaluated only within one, on its kinematic tree
        and in its batch sizes. Creating it takes 0.06 s, in addition to kernels.
        """
        steps = StepSolver(self.robot, self.settings)
        if self.obstacles:
            self._set_obstacles(steps)
        return steps

    @functools.cached_property
    def optimal(self) -> OptimalControl:
        """Optimal control with the limits and barriers of the node."""
        robot, settings = self.robot, self.settings
        return OptimalControl(
            self.model,
            robot.group,
            dt=_KNOT_TIME,
            velocity=robot.velocity * settings.limits_velocity_scale,
            acceleration=robot.acceleration * settings.limits_acceleration_scale,
            position_margin=robot.position_margin(settings),
            barriers=self._own_barriers(),
            settings=OptimalControlSettings(max_duration=_LONGEST_MOTION),
        )

    def _own_barriers(self) -> tuple[Barrier, ...]:
        """Return barriers for another solver; those of one scene share its obstacles."""
        barriers = make_barriers(self.robot, self.settings, self.steps.scene)
        apply_settings(barriers, self.steps.scene, self.settings)
        return barriers

    def _set_obstacles(self, steps: StepSolver) -> None:
        steps.set_obstacles(self.obstacles, self.body_poses(self._placed_at[None])[0])

    def _forget(self, *names: str) -> None:
        """Drop cached properties, so that they are created again on demand.

        functools.cached_property stores its value in the instance's ``__dict__``.
        """
        for name in names:
            self.__dict__.pop(name, None)

    def body_poses(self, joint_q: np.ndarray) -> np.ndarray:
        """Return link poses in the world, shape [n, body_count, 7]."""
        poses = np.empty((len(joint_q), self.model.body_count, 7))
        eval_fk(self.model, joint_q, poses)
        return poses

    def _bounded(self, builder: ModelBuilder) -> Model:
        """Return a model with limits tightened by the margin."""
        robot, margin = self.robot, self.robot.position_margin(self.settings)
        tighter = copy.copy(builder)
        tighter.joint_limit_lower = _moved(builder.joint_limit_lower, robot.lower, margin)
        tighter.joint_limit_upper = _moved(builder.joint_limit_upper, robot.upper, -margin)
        return tighter.finalize(self.model.device)


def _moved(given: Sequence[float], limits: np.ndarray, by: np.ndarray) -> list[float]:
    """Return limits moved by a margin; infinite ones keep the given value."""
    return np.where(np.isfinite(limits), limits + by, given).tolist()
