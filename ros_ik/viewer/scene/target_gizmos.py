# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A gizmo for the target of each frame task, which follows its frame unless it is held."""

from __future__ import annotations

from collections.abc import Mapping
import functools

import numpy as np
import viser

from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.scene.robot_view import place
from ros_ik.viewer.scene.robot_view import pose_of

# Distance below which a gizmo is not moved to its frame [m, quaternion].
_STILL = 1e-4


class TargetGizmos:
    """Gizmos of the targets, one for each task."""

    def __init__(self, server: viser.ViserServer, requests: Requests) -> None:
        """Start without gizmos."""
        self._server, self._requests = server, requests
        self._handles: dict[str, viser.TransformControlsHandle] = {}
        self._drawn: dict[str, np.ndarray] = {}

    def update(self, poses: Mapping[str, np.ndarray], size: float) -> None:
        """Show one gizmo for each task; held gizmos are not moved.

        Args:
            poses: Measured poses of the frames in the world [7], by task.
            size: Length of an axis [m].
        """
        for task in set(self._handles) - set(poses):
            self._handles.pop(task).remove()
            del self._drawn[task]
        held = self._requests.held()
        for task, pose in poses.items():
            if task not in self._handles:
                self._handles[task] = self._add(task, pose, size)
            elif task in held:
                # After a release it must be sent back, even if it is near.
                self._drawn[task] = np.full(7, np.nan)
                continue
            elif np.abs(pose - self._drawn[task]).max() <= _STILL:
                continue
            place(self._handles[task], pose)
            self._drawn[task] = pose.copy()

    def _add(self, task: str, pose: np.ndarray, size: float) -> viser.TransformControlsHandle:
        handle = self._server.scene.add_transform_controls(
            f'/targets/{task}', scale=size, depth_test=False, opacity=0.9
        )
        self._server.scene.add_label(f'/targets/{task}/name', task, anchor='bottom-right')
        handle.on_update(functools.partial(self._on_update, task))
        return handle

    # Coroutines run in the order of events, in the thread of the browser connections.
    async def _on_update(self, task: str, event: viser.TransformControlsEvent) -> None:
        if event.phase == 'start':
            self._requests.hold(task, event.client_id, pose_of(event.target))
        elif event.phase == 'update':
            self._requests.move(task, event.client_id, pose_of(event.target))
        else:
            self._requests.release(task, event.client_id)
