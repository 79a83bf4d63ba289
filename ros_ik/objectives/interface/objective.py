# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Interface of every objective: residuals r(q) and their Jacobian dr/dq, in batches.

The interface is that of ``newton.ik.IKObjective``: an objective is told its rows once
(:meth:`IKObjective.set_batch_layout`) and then launches kernels that fill them. Objectives written
for one library run in the solvers of the other.
"""

from __future__ import annotations

from typing import Any
from typing import TYPE_CHECKING

import warp as wp

from ros_ik.objectives.interface.autodiff import TapeReader
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.interface.ownership import Layout
from ros_ik.objectives.interface.ownership import ownership_of

if TYPE_CHECKING:
    from ros_ik.model import Model


class IKObjective:
    """Base class of objectives.

    An objective of one's own overrides :meth:`residual_dim` and :meth:`compute_residuals`, with
    kernels that have a backward pass; the Jacobian then comes from a tape. With
    :meth:`supports_analytic` and :meth:`compute_jacobian_analytic` it comes from a formula.

    A solver calls :meth:`set_batch_layout`, :meth:`bind_device` and :meth:`init_buffers` when it
    is made, in any order but the last one after :meth:`bind_device`, and the compute methods every
    iteration. Solvers that need the same of an objective share it; where they do not, the one that
    solves sets it up again, which takes it as long as being made.

    Arrays are batch first: ``body_q`` [n_batch, body_count] transforms in the world,
    ``joint_q`` [n_batch, joint_coord_count], ``residuals`` [n_batch, total_residuals],
    ``jacobian`` [n_batch, total_residuals, joint_dof_count], ``joint_S_s`` [n_batch,
    joint_dof_count] motion subspaces in world axes at the world origin, linear part first. The
    built-in objectives accept them in float32 and in float64.

    Attributes:
        device: Device of the buffers, None before :meth:`bind_device`.
        total_residuals: Rows of all objectives of the solve together.
        residual_offset: First row of this objective.
        n_batch: Rows of the batch evaluated together.
    """

    # Whether record() returns one: a property of the class, known before the set-up.
    has_record = False
    # Whether one set-up serves every layout of rows: nothing is allocated per row of the batch.
    serves_any_rows = False

    def __init__(self) -> None:
        """Start without rows; :meth:`set_batch_layout` gives them."""
        self._tape_reader = TapeReader()
        self.device: wp.Device | None = None
        self.total_residuals = 0
        self.residual_offset = 0
        self.n_batch = 0

    def claim(self, owner: Any, layout: Layout | None = None) -> bool:
        """Register a solver whose graphs hold the buffers; return whether it must set them up.

        Args:
            owner: What identifies the solver, referred to weakly: once it is gone it holds
                nothing. Its ``model`` and ``device`` count where there is no layout.
            layout: What the solver needs; see :class:`Layout`.

        Raises:
            ArgumentError: A living solver has it set up for something else: setting it up again
                would take the buffers away from that one's graphs.
        """
        if layout is None:
            layout = Layout(getattr(owner, 'model', None), getattr(owner, 'device', None))
        return ownership_of(self).claim(
            type(self).__name__, owner, layout, any_rows=self.serves_any_rows
        )

    def residual_dim(self) -> int:
        """Return the number of residuals per problem."""
        raise NotImplementedError

    def residual_blocks(self) -> tuple[int, ...]:
        """Return the sizes of the groups of residuals that share a unit."""
        return (self.residual_dim(),)

    def bind_device(self, device: wp.DeviceLike) -> None:
        """Allocate device buffers on ``device``."""
        self.device = wp.get_device(device)

    def init_buffers(self, model: Model, jacobian_mode: object = IKJacobianType.ANALYTIC) -> None:
        """Prepare what residuals and Jacobian need of ``model``, such as the chain of a link.

        Args:
            model: The model.
            jacobian_mode: :class:`IKJacobianType`, its value, or Newton's: which of the two
                Jacobian methods will be called. What autodiff alone needs is allocated by its
                first call.
        """

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

    def record(self) -> Any:
        """Return what a kernel that evaluates the objective itself reads of it, None without one.

        Objectives with a formula return a record (:mod:`ros_ik.objectives.base.record`) once they
        are set up; solvers then need not call their methods.
        """
        return None

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

    def compute_jacobian_autodiff(
        self, tape: wp.Tape, model: Model, jacobian: wp.array, start_idx: int, dq_dof: wp.array
    ) -> None:
        """Write dr/dq into the rows of this objective from a tape, one backward pass per row.

        The tape recorded q (+) dq at dq = 0, forward kinematics and the residuals of all
        objectives. Its gradients are zero again on return.

        Args:
            tape: The tape; ``tape.outputs[0]`` are the residuals, flat, or of shape [n_batch,
                total_residuals].
            model: The model the objective was set up with.
            jacobian: Output, shape [n_batch, total_residuals, joint_dof_count].
            start_idx: First row of this objective.
            dq_dof: The step dq that the tape starts from, shape [n_batch, joint_dof_count].
        """
        self._tape_reader.rows(tape, jacobian, start_idx, self.residual_dim(), dq_dof)

    def compute_jacobian_analytic(
        self,
        body_q: wp.array,
        joint_q: wp.array,
        model: Model,
        jacobian: wp.array,
        joint_S_s: wp.array,
        start_idx: int,
    ) -> None:
        """Write dr/dq into the rows of this objective, all but columns that are always zero.

        Args:
            body_q: Link poses, shape [n_batch, body_count].
            joint_q: Joint coordinates, shape [n_batch, joint_coord_count].
            model: The model the objective was set up with.
            jacobian: Output, shape [n_batch, total_residuals, joint_dof_count], zero beforehand.
            joint_S_s: Motion subspaces, shape [n_batch, joint_dof_count].
            start_idx: First row of this objective.
        """
        raise NotImplementedError
