# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Triangles of the robot's collision shapes, and lines between its links, for the picture."""

from __future__ import annotations

import numpy as np

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.errors import ModelError
from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model import Model
from ros_ik.model.conventions.flags import ShapeFlags
from ros_ik.model.conventions.rotations import matrix_from_quaternion
from ros_ik.model.readers.mesh_lookup import mesh_folders

# Maximum number of triangles in the picture.
_MAX_TRIANGLES = 6000
# Number of facets of round shapes.
_SECTIONS = 16


class RobotPicture:
    """Shapes of a robot at given configurations; without trimesh there are no shapes."""

    def __init__(self, robot: DemoRobot) -> None:
        """Read the collision shapes; missing meshes are ignored."""
        folders = mesh_folders(robot.files.urdf_path)
        self._model = Model.from_urdf(robot.text, package_paths=folders, device='cpu')
        self._shapes = _triangles_of_links(self._model)

    def triangles(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the corners of the triangles at a configuration [m], [n, 3, 3]."""
        body_q = link_poses(self._model, joint_q)
        parts = [_placed(body_q[body], corners) for body, corners in self._shapes]
        return np.concatenate(parts) if parts else np.zeros((0, 3, 3))

    def link_segments(self, joint_q: np.ndarray) -> np.ndarray:
        """Return line segments between connected links at a configuration [m], [n, 2, 3]."""
        positions = link_poses(self._model, joint_q)[:, :3]
        parents = self._model.joint_parent.numpy()
        children = self._model.joint_child.numpy()[parents >= 0]
        return np.stack([positions[parents[parents >= 0]], positions[children]], axis=1)


def _placed(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points [..., 3] in the frame of a pose [7]."""
    return points @ matrix_from_quaternion(pose[3:]).T + pose[:3]


def _triangles_of_links(model: Model) -> list[tuple[int, np.ndarray]]:
    """Return link and triangles [n, 3, 3] of each collision shape, simplified."""
    try:
        from ros_ik.model.shapes.shape_scene import shape_scene
    except ModuleNotFoundError:
        return []
    kinds, bodies = model.shape_type.numpy(), model.shape_body.numpy()
    scales, poses = model.shape_scale.numpy(), model.shape_transform.numpy()
    collides = model.shape_flags.numpy() & ShapeFlags.COLLIDE_SHAPES != 0
    shapes = []
    for shape in np.flatnonzero(collides & (bodies >= 0)):
        try:
            scene = shape_scene(
                int(kinds[shape]), scales[shape], model.shape_source[shape], _SECTIONS
            )
        except ModelError:
            continue
        if scene is not None:
            corners = np.asarray(scene.to_mesh().triangles)
            shapes.append((int(bodies[shape]), _placed(poses[shape], corners)))
    every = max(1, sum(len(corners) for _, corners in shapes) // _MAX_TRIANGLES)
    return [(body, corners[::every]) for body, corners in shapes]
