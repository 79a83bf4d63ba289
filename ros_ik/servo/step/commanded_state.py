# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State after a step: coordinates, link poses and singular values, in one launch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.servo.robot.controlled_robot import ControlledRobot
from ros_ik.servo.step.singularity import SingularityMonitor
from ros_ik.settings import Settings
from ros_ik.solvers.graph import Graph


class CommandedState:
    """The commanded configuration; owned by the control thread.

    Attributes:
        singularity: Mobility of the frames at this configuration.
        poses: Link poses [body_count, 7]; a new read-only array for each configuration.
    """

    def __init__(self, robot: ControlledRobot, settings: Settings) -> None:
        """Compile and capture the kernels, and start at the neutral configuration."""
        model, device = robot.model, robot.model.device
        self._tree = kinematic_tree(model, wp.float64)
        self._joint_q = HostBuffer((1, model.joint_coord_count), wp.float64, device)
        self._step = HostBuffer((1, model.joint_dof_count), wp.float64, device)
        self._next_q = HostBuffer((1, model.joint_coord_count), wp.float64, device)
        self._body_q = HostBuffer((1, model.body_count), wp.transformd, device)
        # Views of the rows of one robot, made once.
        self._row, self._step_row = self._joint_q.host[0], self._step.host[0]
        self._next_row, self._body_row = self._next_q.host[0], self._body_q.host[0]
        self.singularity = SingularityMonitor(robot, settings)
        self._next_row[:] = model.neutral_joint_q()
        self._pose_graph = Graph(self._record_pose_graph, device)
        self._row[:] = self._next_row
        self._step_graph = Graph(self._record_step, device)
        self._key = self._next_row.tobytes()
        self._keep_poses()

    def advance(self, joint_q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Add a step; return the coordinates after it [joint_coord_count].

        Args:
            joint_q: Coordinates before it [joint_coord_count].
            step: The step [joint_dof_count].
        """
        self._row[:] = joint_q
        self._step_row[:] = step
        self._step_graph.launch()
        after = self._next_row.copy()
        self._key = after.tobytes()
        self._keep_poses()
        return after

    def at(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the link poses at a configuration, which may differ from the commanded one.

        Args:
            joint_q: Coordinates [joint_coord_count].

        Returns:
            Poses in the world [body_count, 7], read-only. ``singularity`` then belongs to this
            configuration.
        """
        key = joint_q.tobytes()
        if key != self._key:
            self._key, self._next_row[:] = key, joint_q
            self._update_poses()
        return self.poses

    def choose(self, active: Sequence[bool], center: bool) -> None:
        """Set the active tasks; see :meth:`SingularityMonitor.choose`."""
        self.singularity.choose(active, center)
        self._update_poses()

    def apply(self, settings: Settings) -> None:
        """Apply settings."""
        self.singularity.apply(settings)
        self._update_poses()

    def _update_poses(self) -> None:
        self._pose_graph.launch()
        self._keep_poses()

    def _keep_poses(self) -> None:
        # Read-only, because other parts identify a configuration by this array object.
        self.poses = self._body_row.copy()
        self.poses.flags.writeable = False

    def _record_step(self) -> None:
        self._joint_q.upload()
        self._step.upload()
        launch_integrate(self._tree, self._joint_q.array, self._step.array, self._next_q.array)
        self._record_poses()
        self._next_q.download()

    def _record_pose_graph(self) -> None:
        self._next_q.upload()
        self._record_poses()

    def _record_poses(self) -> None:
        launch_forward_kinematics(self._tree, self._next_q.array, self._body_q.array)
        self.singularity.record(self._next_q.array, self._body_q.array)
        self._body_q.download()
