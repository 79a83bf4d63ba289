# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What planners' requests are answered from: the robot, its settings, its measured state."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import copy
import dataclasses
import functools
from pathlib import Path

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics import eval_fk
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.chain import relative_chain
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.planning.budget import RequestError
from ros_ik.servo.pose_math import IDENTITY
from ros_ik.servo.robot import ControlledRobot
from ros_ik.servo.robot import resolve_robot
from ros_ik.servo.step_solver import link_offset
from ros_ik.servo.step_solver import StepSolver
from ros_ik.settings import Settings


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """A frame on a link.

    Attributes:
        link: Index of the link.
        offset: Pose of the frame in the link, shape [7].
    """

    link: int
    offset: np.ndarray


class Planner:
    """The robot as planners' requests see it; one thread at a time uses it.

    Attributes:
        model: The model, on the CPU.
        robot: The settings resolved against the model.
        settings: The settings in force.
        joint_q: Measured configuration, the neutral one for joints not heard of,
            [joint_coord_count].
        known: Which coordinates were measured, bool [joint_coord_count].
    """

    def __init__(
        self,
        urdf: str,
        srdf: str,
        settings: Settings,
        package_paths: Sequence[str | Path] = (),
    ) -> None:
        """Build the model.

        Args:
            urdf: Text of the robot description.
            srdf: Text of the semantic description, '' for none.
            settings: The settings.
            package_paths: Folders in which ``package://`` meshes are looked up, once a request
                asks for a check of collisions.

        Raises:
            RosIkError: A description or a setting that is unusable.
        """
        self._builder = ModelBuilder()
        self._builder.add_urdf(urdf, srdf=srdf or None)
        self._documents = urdf, srdf or None, tuple(package_paths)
        self.model: Model = self._builder.finalize('cpu')
        self.robot: ControlledRobot = resolve_robot(self.model, settings)
        self.settings = settings
        self.joint_q = self.model.neutral_joint_q()
        self.known = np.zeros(self.model.joint_coord_count, dtype=bool)
        self._coord_of_dof = dof_coordinates(self.model)
        self._names = {coord: name for name, coord in self.robot.coord_of.items()}

    def apply(self, settings: Settings) -> None:
        """Take over settings that differ in dynamic parameters only."""
        if settings.limits_position_margin != self.settings.limits_position_margin:
            for name in ('bounded_model', 'collision_model'):
                self.__dict__.pop(name, None)
        self.settings = settings

    def measure(self, joint_q: np.ndarray, known: np.ndarray) -> None:
        """Take over a measured state: coordinates and which of them are known."""
        self.known = known
        self.joint_q = self.model.apply_mimic(
            np.where(known, joint_q, self.model.neutral_joint_q())
        )

    @functools.cached_property
    def bounded_model(self) -> Model:
        """The model with ``limits.position_margin`` taken off the limits of the controlled joints.

        Solutions are to lie where the node itself would hold the robot.
        """
        return self._bounded(self._builder)

    @functools.cached_property
    def collision_model(self) -> Model:
        """The same with the meshes that collide: reading them may take seconds.

        Raises:
            ModelError: A mesh file that cannot be read.
        """
        urdf, srdf, package_paths = self._documents
        builder = ModelBuilder()
        builder.add_urdf(urdf, srdf=srdf, package_paths=package_paths)
        return self._bounded(builder)

    @functools.cached_property
    def steps(self) -> StepSolver:
        """The step of the servo, for its barriers: made at the first request that needs them."""
        return StepSolver(self.robot, self.settings)

    def frame(self, link: str) -> Frame:
        """Return the origin of a link, or for '' the controlled frame of the first frame task.

        Raises:
            RequestError: An unknown link.
        """
        return Frame(self.link(link), IDENTITY) if link else self.task_frames()[0]

    def task_frames(self) -> list[Frame]:
        """Return the controlled frame of each frame task, with its offset in the link."""
        return [
            Frame(link, link_offset(task))
            for link, task in zip(self.robot.task_links, self.settings.tasks, strict=True)
        ]

    def reference(self, link: str) -> int:
        """Return the index of a link, of the base frame for ''.

        Raises:
            RequestError: An unknown link.
        """
        return self.link(link) if link else self.robot.base_link

    def link(self, name: str) -> int:
        """Return the index of a link.

        Raises:
            RequestError: An unknown link.
        """
        try:
            return self.model.body_index(name)
        except ArgumentError as error:
            raise RequestError(str(error)) from error

    def coordinates(self, names: Sequence[str]) -> np.ndarray:
        """Return the coordinates of joints, int [len(names)].

        Raises:
            RequestError: A joint that the model lacks or that has several degrees of freedom, or
                one that is named twice.
        """
        coords = []
        for index, name in enumerate(names):
            coord = self.robot.coord_of.get(name)
            if coord is None:
                raise RequestError(self._no_joint(name))
            if name in names[:index]:
                raise RequestError(f'joint {name!r} is named twice')
            coords.append(coord)
        return np.array(coords, dtype=int)

    def driving_coordinates(self, names: Sequence[str]) -> np.ndarray:
        """Return the coordinates of joints that may be set freely; see :meth:`coordinates`.

        Raises:
            RequestError: As there, or a joint that follows another one.
        """
        coords = self.coordinates(names)
        for name in names:
            driver = self.model.mimic_driver.get(self.model.joint_index(name))
            if driver is not None:
                leader = self.model.joint_label[driver[0]]
                raise RequestError(f'joint {name!r} follows {leader!r}: give that one instead')
        return coords

    def require_measured(self, dofs: Iterable[int], given: np.ndarray) -> None:
        """Check that the joints of some degrees of freedom are known.

        Args:
            dofs: Degrees of freedom.
            given: Coordinates that need no measurement.

        Raises:
            RequestError: Joints were not heard of, with their names.
        """
        start = self.model.joint_qd_start.numpy()
        joints = np.searchsorted(start, np.fromiter(dofs, int), side='right') - 1
        drivers = {self.model.mimic_driver.get(int(k), (int(k),))[0] for k in joints}
        coords = {int(self._coord_of_dof[start[k]]) for k in drivers} - {-1}
        missing = sorted(c for c in coords - {int(c) for c in given} if not self.known[c])
        if missing:
            names = ', '.join(self._names[c] for c in missing)
            raise RequestError(f'no joint states yet of {names}, which the request leaves out')

    def moving_dofs(self, link: int, reference: int) -> np.ndarray:
        """Return the degrees of freedom that move a link as seen from another one."""
        return relative_chain(self.model, link, reference)[0]

    def configurations(self, coords: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return whole configurations, the other joints as measured.

        Args:
            coords: Coordinates that are given, [k].
            positions: Their values, shape [n, k].

        Returns:
            Shape [n, joint_coord_count].
        """
        joint_q = np.tile(self.joint_q, (len(positions), 1))
        joint_q[:, coords] = positions
        return self.model.apply_mimic(joint_q)

    def body_poses(self, joint_q: np.ndarray) -> np.ndarray:
        """Return link poses in the world, shape [n, body_count, 7]."""
        poses = np.empty((len(joint_q), self.model.body_count, 7))
        eval_fk(self.model, joint_q, poses)
        return poses

    def _no_joint(self, name: str) -> str:
        try:
            self.model.joint_index(name)
        except ArgumentError as error:
            return str(error)
        return f'joint {name!r} does not have one degree of freedom'

    def _bounded(self, builder: ModelBuilder) -> Model:
        """Return a model with the margin taken off the limits."""
        robot, margin = self.robot, self.robot.position_margin(self.settings)
        tighter = copy.copy(builder)
        tighter.joint_limit_lower = _moved(builder.joint_limit_lower, robot.lower, margin)
        tighter.joint_limit_upper = _moved(builder.joint_limit_upper, robot.upper, -margin)
        return tighter.finalize('cpu')


def _moved(given: Sequence[float], limits: np.ndarray, by: np.ndarray) -> list[float]:
    """Return limits moved where there is something to move; unlimited ones stay as given."""
    moves = np.isfinite(limits) & (by != 0.0)
    return np.where(moves, limits + by, given).tolist()
