# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot with the measured and the commanded poses of its links."""

from __future__ import annotations

from collections.abc import Sequence
import threading

import numpy as np

from ros_ik.kinematics import eval_fk
from ros_ik.model import Model
from ros_ik.model.building.joints.mimic_range import driver_limits
from ros_ik.model.conventions import poses
from ros_ik.model.robot_joints import RobotJoints
from ros_ik.viewer.robot.robot_meshes import LinkMesh
from ros_ik.viewer.robot.robot_meshes import read_meshes

MEASURED, COMMANDED = 0, 1
# Limits beyond this count as none: models have very large ones [rad or m, rad/s or m/s].
UNBOUNDED = 1e3


class RobotState:
    """A robot whose joints are measured and commanded.

    Attributes:
        model: The robot.
        meshes: Meshes of its links.
        problems: Messages about shapes that cannot be drawn.
        root_link: Name of the root link, the frame of poses in the world.
        body_q: Poses of the links in the world, measured and commanded [2, body_count, 7].
    """

    def __init__(
        self, text: str, package_paths: Sequence[str], triangles: int, ended: threading.Event
    ) -> None:
        """Read a description and its meshes; takes seconds for large ones.

        Args:
            text: The description.
            package_paths: Folders in which meshes are looked up.
            triangles: Maximum number of triangles of the robot, 0 for no limit.
            ended: Event that stops the reading of meshes.

        Raises:
            ModelError: The description is malformed.
        """
        self.model = Model.from_urdf(text, package_paths=package_paths, device='cpu')
        self._joints = RobotJoints(self.model)
        self._coords = dict(zip(self._joints.names, self._joints.coords.tolist(), strict=True))
        start = self._joints.configuration({})
        self._joint_q = np.stack([start, start])
        self._computed: np.ndarray | None = None
        self.body_q = np.zeros((2, self.model.body_count, 7))
        self._is_known = [False, False]
        self._measured: set[str] = set()
        self.update()
        moving = set(self.model.joint_child.numpy().tolist())
        parents = self.model.joint_parent.numpy().tolist()
        children = self.model.joint_child.numpy().tolist()
        on_world = [child for parent, child in zip(parents, children, strict=True) if parent < 0]
        roots = on_world or [b for b in range(self.model.body_count) if b not in moving]
        self.root_link = self.model.body_label[roots[0]]
        self.problems: list[str] = []
        self.meshes: list[LinkMesh] = read_meshes(
            self.model, text, triangles, self.problems, ended
        )

    def set_joints(self, which: int, names: Sequence[str], positions: Sequence[float]) -> None:
        """Set positions [rad or m] by joint; unknown joints and invalid numbers are ignored."""
        for name, position in zip(names, positions, strict=False):
            coord = self._coords.get(name)
            if coord is not None and np.isfinite(position):
                self._joint_q[which, coord] = position
                if which == MEASURED:
                    self._measured.add(name)
        self._is_known[which] = True

    def is_known(self, which: int) -> bool:
        """Return True if joints were measured or commanded yet."""
        return self._is_known[which]

    def are_measured(self, names: Sequence[str]) -> bool:
        """Return True if each of these joints was measured; publishers may have some each."""
        return self._measured.issuperset(names)

    def described(self, names: Sequence[str]) -> list[str]:
        """Return the names of joints with one coordinate that the description has."""
        return [name for name in names if name in self._coords]

    def limits(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower and upper positions [rad or m] and velocity limits of joints, one each."""
        starts = self.model.joint_qd_start.numpy()
        dofs = [int(starts[self.model.joint_index(name)]) for name in names]
        lower, upper = driver_limits(self.model)
        velocity = self.model.limits64()[2]
        return lower[dofs], upper[dofs], velocity[dofs]

    def positions(self, names: Sequence[str]) -> dict[str, float]:
        """Return the measured positions [rad or m] of joints by name."""
        return {name: float(self._joint_q[MEASURED, self._coords[name]]) for name in names}

    def update(self) -> None:
        """Compute the poses of the links, if a joint has moved."""
        if self._computed is not None and np.array_equal(self._joint_q, self._computed):
            return
        self._computed = self._joint_q.copy()
        both = np.stack([self.model.apply_mimic(joint_q) for joint_q in self._joint_q])
        eval_fk(self.model, both, self.body_q)

    def link_pose(self, name: str) -> np.ndarray | None:
        """Return the measured pose of a link in the world [7], or None for an unknown link."""
        if name not in self.model.body_label:
            return None
        return self.body_q[MEASURED, self.model.body_label.index(name)]

    @property
    def root_pose(self) -> np.ndarray:
        """The pose of the root link in the world [7]."""
        return self.body_q[MEASURED, self.model.body_label.index(self.root_link)]

    @property
    def lowest(self) -> float:
        """The height of the lowest drawn point in the world [m], 0 if nothing is drawn."""
        heights = []
        for mesh in self.meshes:
            pose = self.body_q[MEASURED, mesh.link]
            heights.append(float(pose[2] + poses.rotate(pose[3:], mesh.vertices)[:, 2].min()))
        return min(heights, default=0.0)

    @property
    def center(self) -> np.ndarray:
        """The middle of the origins of the links [3], m."""
        origins = self.body_q[MEASURED, :, :3]
        return 0.5 * (origins.min(axis=0) + origins.max(axis=0))

    @property
    def radius(self) -> float:
        """The distance from the centre to the farthest origin of a link [m], at least 0.05."""
        away = np.linalg.norm(self.body_q[MEASURED, :, :3] - self.center, axis=1)
        return max(float(away.max()), 0.05)
