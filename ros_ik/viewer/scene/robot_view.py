# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The robot on the page: measured, and commanded as a ghost."""

from __future__ import annotations

import numpy as np
import viser

from ros_ik.viewer.robot.palette import GHOST
from ros_ik.viewer.robot.robot_state import COMMANDED
from ros_ik.viewer.robot.robot_state import MEASURED
from ros_ik.viewer.robot.robot_state import RobotState

# Smallest motion of a link that is sent [m, and the same number for quaternions].
_STILL = 2e-5
# Distance below which a ghost link is hidden, because both would flicker [m, quaternion].
_APART = 2e-3


class RobotView:
    """Drawing of one robot."""

    def __init__(self, server: viser.ViserServer, robot: RobotState) -> None:
        """Draw it."""
        self._robot = robot
        self._links = np.array([mesh.link for mesh in robot.meshes], dtype=int)
        count = len(self._links)
        self._drawn = np.full((2, count, 7), np.nan)
        self._is_shown = np.zeros(count, dtype=bool)
        self._root = server.scene.add_frame('/robot', show_axes=False)
        server.scene.add_frame('/robot/ghost', show_axes=False)
        # Numbers, because a name with a slash would be a pose relative to another link.
        self._measured = [
            server.scene.add_glb(f'/robot/measured/{row}', mesh.glb)
            for row, mesh in enumerate(robot.meshes)
        ]
        self._commanded = [
            server.scene.add_mesh_simple(
                f'/robot/ghost/{row}',
                mesh.vertices,
                mesh.faces,
                color=GHOST.color,
                opacity=GHOST.opacity,
                cast_shadow=False,
                receive_shadow=False,
                visible=False,
            )
            for row, mesh in enumerate(robot.meshes)
        ]

    def update(self, with_ghost: bool) -> None:
        """Move the links to their current poses."""
        poses = self._robot.body_q[:, self._links]
        away = np.abs(poses[COMMANDED] - poses[MEASURED]).max(axis=1, initial=0.0)
        shown = (away > _APART) & (with_ghost and self._robot.is_known(COMMANDED))
        for row in np.flatnonzero(shown != self._is_shown).tolist():
            self._commanded[row].visible = bool(shown[row])
        self._is_shown = shown
        for which, handles in ((MEASURED, self._measured), (COMMANDED, self._commanded)):
            moved = np.abs(poses[which] - self._drawn[which]).max(axis=1, initial=0.0)
            # NaN before the first update.
            is_due = ~(moved <= _STILL)
            if which == COMMANDED:
                is_due &= shown
            for row in np.flatnonzero(is_due).tolist():
                place(handles[row], poses[which, row])
                self._drawn[which, row] = poses[which, row]

    @property
    def visible(self) -> bool:
        """True if the robot is shown."""
        return bool(self._root.visible)

    @visible.setter
    def visible(self, shown: bool) -> None:
        self._root.visible = shown

    def remove(self) -> None:
        """Remove the robot."""
        self._root.remove()


def place(handle: viser.SceneNodeHandle, pose: np.ndarray) -> None:
    """Move a scene node to a pose x y z qx qy qz qw."""
    handle.position = pose[:3]
    handle.wxyz = pose[[6, 3, 4, 5]]


def pose_of(handle: viser.SceneNodeHandle) -> np.ndarray:
    """Return the pose x y z qx qy qz qw of a scene node."""
    w, x, y, z = np.asarray(handle.wxyz, dtype=float)
    return np.array([*np.asarray(handle.position, dtype=float), x, y, z, w])
