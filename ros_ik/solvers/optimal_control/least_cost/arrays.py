# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Shared arrays of the optimal-control problems of one robot: state, barriers, poses.

Configurations are displacements u of the group's variables from the start, q = q_start + S u.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.objectives.recording.snapshot import Snapshots
from ros_ik.solvers.differential_ik.tasks.arguments import checked_parts
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.optimal_control.least_cost.kernels import search_kernels

_SCALAR = wp.float64
# Tolerance for rounding of h, below zero or below a negative value [units of h].
TOLERANCE = 1e-9


def never_worsens(
    before: np.ndarray, after: np.ndarray, floor: float | np.ndarray, slack: float = TOLERANCE
) -> bool:
    """Return True if no h falls below ``floor``, or further if it is below already.

    Args:
        before: Values of h, [.., rows].
        after: Values of h after a motion, [.., rows].
        floor: Value above which each may fall, one or [rows].
        slack: Tolerance for rounding [units of h].
    """
    return bool(np.all(after >= np.minimum(before, floor) - slack))


class SearchArrays:
    """State of one robot for the search and the checks, in float64.

    Attributes:
        state: State of the robot at u, for objectives and barriers.
        barriers: The barriers.
        start_q: Coordinates of the start, a buffer of shape [1, joint_coord_count].
        u: Displacement of the variables, a buffer of shape [1, n_variables].
        row_start: First row of each barrier, [barriers + 1].
        margins: Margin of the barrier of each row, [total_rows].
        version: Number of changes of data of users' barriers.
    """

    @shares_launch_lock
    def __init__(
        self, model: Model, group: JointGroup, barriers: Sequence[Barrier], dt: float
    ) -> None:
        """Allocate the arrays and bind the barriers.

        Raises:
            ArgumentError: A barrier for another model, or of another solver.
        """
        device = model.device
        self._tree = kinematic_tree(model, _SCALAR)
        self.start_q = HostBuffer((1, model.joint_coord_count), _SCALAR, device)
        self.u = HostBuffer((1, group.n_variables), _SCALAR, device)
        joint_q = wp.zeros((1, model.joint_coord_count), dtype=_SCALAR, device=device)
        self.state = StepState.make(model, group, joint_q, self.body_poses(model), dt)
        checked_parts((), (), barriers)
        self.barriers = tuple(barriers)
        for barrier in self.barriers:
            barrier.bind(self.state)
        counts = [barrier.row_count for barrier in self.barriers]
        self.row_start = np.concatenate(([0], np.cumsum(counts))).astype(int)
        self.margins = np.repeat([barrier.margin for barrier in self.barriers], counts)
        self._values = HostBuffer((1, self.n_rows), _SCALAR, device)
        self._sample_body_q = self.body_poses(model)
        self._sample_q = wp.zeros_like(self.state.joint_q)
        checked = [barrier.check_row_count for barrier in self.barriers]
        self._check_start = np.concatenate(([0], np.cumsum(checked))).astype(int)
        self._check_values = HostBuffer((1, int(self._check_start[-1])), _SCALAR, device)
        self._sampling: Graph | None = None
        self._checking: Graph | None = None
        self._snapshots = Snapshots((), self.barriers)
        self.version = 0

    @property
    def n_rows(self) -> int:
        """Number of barrier rows."""
        return int(self.row_start[-1])

    @staticmethod
    @shares_launch_lock
    def body_poses(model: Model) -> wp.array:
        """Return a new array of link poses, [1, body_count]."""
        return wp.zeros((1, model.body_count), dtype=wp.transformd, device=model.device)

    def renew(self) -> None:
        """Detect changes of users' barriers since their launches were recorded."""
        if self._snapshots.are_current:
            return
        for barrier in self.barriers:
            barrier.bind(self.state)
        self._snapshots = Snapshots((), self.barriers)
        self._sampling = self._checking = None
        self.version += 1

    def sample(self, u: np.ndarray) -> np.ndarray:
        """Return a copy of h of every barrier row at a displacement [n_variables]."""
        self.renew()
        if self._sampling is None:
            self._sampling = Graph(self._record_sampling, self.state.device, self.barriers)
        self.u.host[0] = u
        self._sampling.launch()
        return self._values.host[0].copy()

    def is_violated(self, u: np.ndarray) -> bool:
        """Return True if a displacement [n_variables] lies beyond a barrier."""
        return bool(np.any(self.sample(u) < -TOLERANCE))

    def check(self, u: np.ndarray) -> np.ndarray:
        """Return a copy of every h at a displacement [n_variables], each in a row of its own.

        :meth:`sample` has only the closest pairs of shapes, in the order of their distances.
        """
        self.renew()
        if self._checking is None:
            self._checking = Graph(self._record_checking, self.state.device, self.barriers)
        self.u.host[0] = u
        self._checking.launch()
        return self._check_values.host[0].copy()

    def launch_place(self, u: wp.array, joint_q: wp.array, body_q: wp.array) -> None:
        """Compute the coordinates and the link poses at a displacement [1, n_variables]."""
        state = self.state
        launch(
            search_kernels(_SCALAR).place_robot,
            dim=1,
            inputs=[
                self.start_q.array, u, state.dof_variable, state.dof_scale, state.dof_coord,
            ],
            outputs=[joint_q],
            device=state.device,
        )  # fmt: skip
        launch_forward_kinematics(self._tree, joint_q, body_q)

    def launch_motion_subspace(self) -> None:
        """Compute the motion subspaces at the state."""
        state = self.state
        launch_motion_subspace(self._tree, state.joint_q, state.body_q, state.joint_S_s)

    def launch_values(self, body_q: wp.array, values: wp.array) -> None:
        """Compute h of every row, [1, total_rows]."""
        for barrier, start in zip(self.barriers, self.row_start, strict=False):
            barrier.launch_values(body_q, values, int(start))

    def launch_slopes(self, slopes: wp.array) -> None:
        """Compute dh/du of every row at the state, [1, total_rows, n_variables]."""
        for barrier, start in zip(self.barriers, self.row_start, strict=False):
            barrier.launch_jacobian(slopes, int(start))

    def _record_sampling(self) -> None:
        self.start_q.upload()
        self.u.upload()
        self.launch_place(self.u.array, self._sample_q, self._sample_body_q)
        self.launch_values(self._sample_body_q, self._values.array)
        self._values.download()

    def _record_checking(self) -> None:
        self.start_q.upload()
        self.u.upload()
        self.launch_place(self.u.array, self._sample_q, self._sample_body_q)
        for barrier, start in zip(self.barriers, self._check_start, strict=False):
            barrier.launch_check_values(self._sample_body_q, self._check_values.array, int(start))
        self._check_values.download()
