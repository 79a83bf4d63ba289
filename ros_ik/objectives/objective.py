# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""What every objective offers: residuals r(q) and their Jacobian dr/dq, in batches.

The interface is that of ``newton.ik.IKObjective``: an objective is told its rows once
(:meth:`IKObjective.set_batch_layout`) and then launches kernels that fill them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import warp as wp

from ros_ik.errors import ArgumentError

if TYPE_CHECKING:
    from ros_ik.model import Model


class IKObjective:
    """Base class of objectives.

    Arrays are batch first: ``body_q`` [n_batch, body_count] transforms in the world,
    ``joint_q`` [n_batch, joint_coord_count], ``residuals`` [n_batch, total_residuals],
    ``jacobian`` [n_batch, total_residuals, joint_dof_count], ``joint_S_s`` [n_batch,
    joint_dof_count] motion subspaces in world axes at the world origin, linear part first. The
    built-in objectives accept them in float32 and in float64.
    """

    def __init__(self) -> None:
        """Start without rows; :meth:`set_batch_layout` gives them."""
        self._owner: object | None = None
        self.total_residuals = 0
        self.residual_offset = 0
        self.n_batch = 0

    def claim(self, owner: object) -> bool:
        """Register the solver whose graphs hold the buffers; return whether it is the first call.

        Args:
            owner: What identifies the solver.

        Raises:
            ArgumentError: Another solver has it already: setting it up again would take the
                buffers away from that one's graphs.
        """
        if self._owner is owner:
            return False
        if self._owner is not None:
            raise ArgumentError(
                f'{type(self).__name__} already belongs to another solver; make one for each'
            )
        self._owner = owner
        return True

    def residual_dim(self) -> int:
        """Return the number of residuals per problem."""
        raise NotImplementedError

    def residual_blocks(self) -> tuple[int, ...]:
        """Return the sizes of the groups of residuals that share a unit."""
        return (self.residual_dim(),)

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Allocate device buffers on ``device``. Called before the other set-up methods."""

    def init_buffers(self, model: Model, jacobian_mode: object = None) -> None:
        """Prepare what the Jacobian needs of ``model``, such as the chain of a link."""

    def set_batch_layout(self, total_residuals: int, residual_offset: int, n_batch: int) -> None:
        """Register where the rows of this objective lie among all rows.

        Args:
            total_residuals: Rows of all objectives together.
            residual_offset: First row of this objective.
            n_batch: Rows of the batch evaluated together; per-problem data is found through
                ``problem_idx``, not by assuming one target per row.
        """
        self.total_residuals = total_residuals
        self.residual_offset = residual_offset
        self.n_batch = n_batch

    def supports_analytic(self) -> bool:
        """Return whether :meth:`compute_jacobian_analytic` is implemented."""
        return False

    def compute_residuals(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Model,
        residuals: wp.array,
        start_idx: int,
        problem_idx: wp.array | None = None,
    ) -> None:
        """Write the residuals into ``residuals[:, start_idx:start_idx + residual_dim()]``.

        Args:
            body_q: Link poses, shape [n_batch, body_count].
            joint_q: Joint coordinates, shape [n_batch, joint_coord_count].
            model: The model the objective was set up with.
            residuals: Output, shape [n_batch, total_residuals].
            start_idx: First row of this objective.
            problem_idx: Problem of each batch row, shape [n_batch]; None when they are the same.
        """
        raise NotImplementedError

    def compute_jacobian_analytic(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Model,
        jacobian: wp.array,
        joint_S_s: wp.array,
        start_idx: int,
    ) -> None:
        """Write dr/dq into the rows of this objective, but for columns that are always zero.

        Args:
            body_q: Link poses, shape [n_batch, body_count].
            joint_q: Joint coordinates, shape [n_batch, joint_coord_count].
            model: The model the objective was set up with.
            jacobian: Output, shape [n_batch, total_residuals, joint_dof_count], zero beforehand.
            joint_S_s: Motion subspaces, shape [n_batch, joint_dof_count].
            start_idx: First row of this objective.
        """
        raise NotImplementedError
