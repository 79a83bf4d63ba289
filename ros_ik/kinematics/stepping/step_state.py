# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State of a control step for limits and barriers: configurations, link poses, moved joints."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.launch_lock import shares_launch_lock

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model


@dataclasses.dataclass(frozen=True, eq=False)
class StepState:
    """Arrays of one control step on one device, batch first.

    A step of many robots may be recorded in parts; the state of a part has only its rows.

    Attributes:
        model: The model.
        group: The joints that may move. Its variables are the unknowns of the step.
        scalar: Floating-point type of the arrays.
        n_robots: Size n of the batch.
        dt: Duration of the step [s].
        joint_q: Joint coordinates, shape [n, joint_coord_count].
        body_q: Link poses in the world, shape [n, body_count].
        joint_S_s: Motion subspaces in world axes at the world origin, shape [n, joint_dof_count].
        dof_variable: Variable that drives each degree of freedom, -1 = locked, shape
            [joint_dof_count].
        dof_scale: Factor from the variable to the degree of freedom, shape [joint_dof_count].
        dof_coord: Coordinate of each degree of freedom, -1 = none, shape [joint_dof_count].
        moving_dof: Degrees of freedom that a variable drives, ascending, shape [n_moving].
        is_relaxed: Flag, shape [n], set to 1 by a limit that the state of a robot violates, or for
            a violated barrier that cannot change. The solve reports it and resets it to 0.
        first_robot: Index of the first row among all robots.
        scratch: Owner of the link poses of a part. Work spaces for these poses are dropped with
            it. None for the poses of a solver.
    """

    model: Model
    group: JointGroup
    scalar: type
    n_robots: int
    dt: float
    joint_q: wp.array
    body_q: wp.array
    joint_S_s: wp.array
    dof_variable: wp.array
    dof_scale: wp.array
    dof_coord: wp.array
    moving_dof: wp.array
    is_relaxed: wp.array
    first_robot: int = 0
    scratch: object | None = None

    @classmethod
    @shares_launch_lock
    def make(
        cls,
        model: Model,
        group: JointGroup,
        joint_q: wp.array,
        body_q: wp.array,
        dt: float,
    ) -> StepState:
        """Create the state of a group from the arrays of its robots.

        Args:
            model: The model.
            group: The joints that may move.
            joint_q: Joint coordinates, shape [n, joint_coord_count], float32 or float64.
            body_q: Link poses, shape [n, body_count], in the same precision.
            dt: Duration of the step [s].
        """
        scalar, device = joint_q.dtype, joint_q.device
        n, moving = joint_q.shape[0], np.flatnonzero(group.dof_variable >= 0)
        return cls(
            model=model,
            group=group,
            scalar=scalar,
            n_robots=n,
            dt=dt,
            joint_q=joint_q,
            body_q=body_q,
            joint_S_s=batch_zeros(
                (n, model.joint_dof_count), spatial_functions(scalar).twist, device
            ),
            dof_variable=wp.array(group.dof_variable, dtype=wp.int32, device=device),
            dof_scale=wp.array(group.dof_scale, dtype=scalar, device=device),
            dof_coord=wp.array(dof_coordinates(model), dtype=wp.int32, device=device),
            moving_dof=wp.array(moving, dtype=wp.int32, device=device),
            is_relaxed=wp.zeros(n, dtype=wp.int32, device=device),
        )

    @property
    def device(self) -> wp.Device | None:
        """Device of the arrays."""
        return self.joint_q.device

    def part(
        self, first: int, body_q: wp.array, joint_S_s: wp.array, scratch: object
    ) -> StepState:
        """Return the state of some rows.

        Args:
            first: First row of this state.
            body_q: Link poses of the rows, shape [rows, body_count].
            joint_S_s: Motion subspaces of the rows, shape [rows, joint_dof_count].
            scratch: Owner of these arrays.
        """
        rows = body_q.shape[0]
        return dataclasses.replace(
            self,
            n_robots=rows,
            joint_q=self.joint_q[first : first + rows],
            body_q=body_q,
            joint_S_s=joint_S_s,
            is_relaxed=self.is_relaxed[first : first + rows],
            first_robot=self.first_robot + first,
            scratch=scratch,
        )

    def rows(self, array: wp.array) -> wp.array:
        """Return this state's rows of an array with a row per robot."""
        whole = self.first_robot == 0 and array.shape[0] == self.n_robots
        if whole or not array.size:  # Warp has no slices of arrays without elements
            return array
        return array[self.first_robot : self.first_robot + self.n_robots]
