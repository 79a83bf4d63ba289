# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Context of planners' requests: the robot, its settings, its measured state."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
from pathlib import Path

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.chain import relative_chain
from ros_ik.numbers import check_bounded
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.budget import UnmeasuredError
from ros_ik.planning.context.planning_context import PlanningContext
from ros_ik.servo.barriers.watched_joints import WatchedJoints
from ros_ik.servo.interface.measurement import completed_coords
from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.servo.robot.controlled_robot import link_offset
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


class Planner(PlanningContext):
    """The robot for planners' requests; used by one thread at a time.

    Attributes:
        joint_q: Measured configuration, neutral for unknown joints, [joint_coord_count].
        known: Mask of the measured coordinates, bool [joint_coord_count].
        current: Mask of those whose states have not ended, bool [joint_coord_count].
    """

    def __init__(
        self,
        urdf: str,
        srdf: str,
        settings: Settings,
        package_paths: Sequence[str | Path] = (),
        device: str = 'cpu',
    ) -> None:
        """Build the model; see :class:`PlanningContext`."""
        super().__init__(urdf, srdf, settings, package_paths, device)
        self.joint_q = self.model.neutral_joint_q()
        self.known = self.current = np.zeros(self.model.joint_coord_count, dtype=bool)
        self._coord_of_dof = dof_coordinates(self.model)
        self._names = {coord: name for name, coord in self.robot.coord_of.items()}

    def measure(
        self, joint_q: np.ndarray, known: np.ndarray, current: np.ndarray | None = None
    ) -> None:
        """Store a measured state.

        Args:
            joint_q: Coordinates [joint_coord_count].
            known: Mask of those that were ever measured, bool [joint_coord_count].
            current: Mask of those whose states have not ended; None for the known ones.
        """
        self.known = np.asarray(known, dtype=bool)
        self.current = self.known if current is None else np.asarray(current, dtype=bool)
        self.joint_q = completed_coords(self.model, joint_q, known)

    @contextlib.contextmanager
    def at(self, names: Sequence[str], positions: Sequence[float]) -> Iterator[None]:
        """Replace the measured state within a context.

        Args:
            names: Joints with a given position; the others stay as measured.
            positions: Their positions [rad or m].

        Raises:
            RequestError: An unknown joint, another number of positions than names, or a number
                that is not finite.
        """
        if len(names) != len(positions):
            raise RequestError(
                f'expected {len(names)} positions, one per joint name, got {len(positions)}'
            )
        with argument_errors_as_request_errors():
            check_bounded('position', np.asarray(positions))
        coords = self.coordinates(names)
        before = self.joint_q, self.known, self.current
        joint_q = self.joint_q.copy()
        joint_q[coords] = positions
        self.measure(joint_q, with_given(self.known, coords), with_given(self.current, coords))
        try:
            yield
        finally:
            self.joint_q, self.known, self.current = before

    def frame(self, link: str) -> Frame:
        """Return the origin of a link; for '' the controlled frame of the first frame task.

        Raises:
            RequestError: An unknown link.
        """
        return self.task_frames()[0] if _is_default(link) else Frame(self.link(link), IDENTITY)

    def task_frames(self) -> list[Frame]:
        """Return the controlled frame of each frame task, with its offset in the link."""
        return [
            Frame(link, link_offset(task))
            for link, task in zip(self.robot.task_links, self.settings.tasks, strict=True)
        ]

    def reference(self, link: str) -> int:
        """Return the index of a link; that of the base frame for ''.

        Raises:
            RequestError: An unknown link.
        """
        return self.robot.base_link if _is_default(link) else self.link(link)

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
            coord = self.robot.coord_of.get(name) if isinstance(name, str) else None
            if coord is None:
                raise RequestError(self._no_joint(name))
            if name in names[:index]:
                raise RequestError(f'joint {name!r} is named twice')
            coords.append(coord)
        return np.array(coords, dtype=int)

    def driving_coordinates(self, names: Sequence[str]) -> np.ndarray:
        """Return the coordinates of joints that are not mimic joints; see :meth:`coordinates`.

        Raises:
            RequestError: As :meth:`coordinates`, or a mimic joint.
        """
        coords = self.coordinates(names)
        for name in names:
            driver = self.model.mimic_driver.get(self.model.joint_index(name))
            if driver is not None:
                leader = self.model.joint_label[driver[0]]
                raise RequestError(f'joint {name!r} follows {leader!r}: give only the latter')
        return coords

    def require_shapes(self) -> None:
        """Check that the collision shapes of all links are known.

        An answer can only be free of collisions if every link was checked.

        Raises:
            UnmeasuredError: Shapes are missing, with the names of their links.
        """
        missing = self.robot.shapes.unmeasured
        if missing:
            raise UnmeasuredError(missing)

    def variables_of(self, joint_group: str) -> np.ndarray:
        """Return the indices of controlled joints in a group, int [k]; '' selects all.

        Joints with a velocity limit of 0 are left out: the node could not move them to a solution.

        Raises:
            RequestError: The model has no such group.
        """
        own = self.robot.group
        if joint_group in ('', own.name):
            return np.flatnonzero(self.robot.can_move)
        try:
            names = self.model.joint_group(joint_group).joint_names
        except ArgumentError as error:
            raise RequestError(str(error)) from error
        return np.flatnonzero(np.isin(own.joint_names, names) & self.robot.can_move)

    def require_measured(self, dofs: Iterable[int], given: np.ndarray) -> None:
        """Check that the joints of some degrees of freedom are known.

        Args:
            dofs: Degrees of freedom.
            given: Coordinates that need no measurement.

        Raises:
            RequestError: Joints without a state, with their names.
        """
        start = self.model.joint_qd_start.numpy()
        joints = np.searchsorted(start, np.fromiter(dofs, int), side='right') - 1
        drivers = {self.model.mimic_driver.get(int(k), (int(k),))[0] for k in joints}
        coords = {int(self._coord_of_dof[start[k]]) for k in drivers} - {-1}
        missing = sorted(c for c in coords - {int(c) for c in given} if not self.known[c])
        if missing:
            raise RequestError(_omitted(self._names[c] for c in missing))

    def unknown_joints(self, watched: WatchedJoints, given: np.ndarray) -> tuple[str, ...]:
        """Return the joints on which distances depend and whose state is unknown.

        These joints have no state yet, or their states have ended.

        Args:
            watched: Joints on which the distances depend.
            given: Coordinates that need no measurement.
        """
        return watched.unknown(with_given(self.current, given), self.obstacles)

    def require_arm(
        self, watched: WatchedJoints, names: Sequence[str], given: np.ndarray
    ) -> None:
        """Check the joints that carry the joints of a request, as seen from the base frame.

        Args:
            watched: Joints on which distances depend; the others need no state.
            names: Joints of the request.
            given: Coordinates that need no measurement.

        Raises:
            RequestError: Joints that have no state yet, with their names.
        """
        model, links = self.model, self.model.joint_child.numpy()[
            [self.model.joint_index(name) for name in names]
        ]
        below = np.column_stack([links, np.full_like(links, self.robot.base_link)])
        carries = self.robot.link_joints.between(below)
        unknown = watched.unknown(with_given(self.known, given), self.obstacles)
        # A joint with several degrees of freedom has no position that a request could give.
        missing = [
            name
            for name in unknown
            if carries[model.joint_index(name)] and name in self.robot.coord_of
        ]
        if missing:
            raise RequestError(_omitted(missing))

    def needed_dofs(self) -> np.ndarray:
        """Return the degrees of freedom whose state the node needs for its own steps."""
        start = self.model.joint_qd_start.numpy()
        return np.array([start[self.model.joint_index(name)] for name in self.robot.needed])

    def moving_dofs(self, link: int, reference: int) -> np.ndarray:
        """Return the degrees of freedom that move a link relative to another one."""
        return relative_chain(self.model, link, reference)[0]

    def locked_joint_q(self, link: int | None) -> np.ndarray:
        """Return the configuration of the joints that are not solved for.

        Args:
            link: Link whose pose alone matters, so that the state of joints that do not move it is
                irrelevant; None if all links matter.

        Returns:
            Shape [joint_coord_count].
        """
        if link is None:
            return self.joint_q
        coords = self._coord_of_dof[self.moving_dofs(link, -1)]
        joint_q = self.model.neutral_joint_q()
        joint_q[coords[coords >= 0]] = self.joint_q[coords[coords >= 0]]
        return joint_q

    def configurations(self, coords: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return complete configurations, with other joints as measured.

        Args:
            coords: Given coordinates, [k].
            positions: Their values, shape [n, k].

        Returns:
            Shape [n, joint_coord_count].
        """
        joint_q = np.tile(self.joint_q, (len(positions), 1))
        joint_q[:, coords] = positions
        return self.model.apply_mimic(joint_q)

    def _no_joint(self, name: str) -> str:
        try:
            self.model.joint_index(name)
        except ArgumentError as error:
            return str(error)
        return f'joint {name!r} does not have one degree of freedom'


def with_given(mask: np.ndarray, coords: np.ndarray) -> np.ndarray:
    """Return a mask with some coordinates set, bool [joint_coord_count]."""
    mask = mask.copy()
    mask[coords] = True
    return mask


def _omitted(names: Iterable[str]) -> str:
    """Return the fault of a request that omits joints whose state is needed and unknown."""
    return f'no joint states yet of {", ".join(names)}, which the request omits'


def _is_default(link: str) -> bool:
    """Return True for '', which names no link."""
    return isinstance(link, str) and not link
