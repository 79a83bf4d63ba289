# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Interface of every objective: residuals r(q) and their Jacobian dr/dq, in batches.

The interface is that of ``newton.ik.IKObjective``. An objective gets its rows once
(:meth:`IKObjective.set_batch_layout`), and then launches kernels that fill them. Objectives
written for one library work in the solvers of the other.
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

    Your own objective overrides :meth:`residual_dim` and :meth:`compute_residuals`, with kernels
    that have a backward pass. Its Jacobian is then computed from a tape. With
    :meth:`supports_analytic` and :meth:`compute_jacobian_analytic` it is computed by a formula.

    When a solver is created, it calls :meth:`set_batch_layout`, :meth:`bind_device` and
    :meth:`init_buffers`. The order may vary, but :meth:`init_buffers` follows :meth:`bind_device`.
    Several solvers share an objective if they need the same model, device and rows. Otherwise each
    sets it up again before it solves, which takes as long as creating the solver.

    Solvers call the methods of your class in each iteration, so whatever they read may change.
    A class with ``is_recordable = True`` declares that its methods only launch kernels and copies,
    with arguments from attributes of the objective. Solvers then replay these launches, which is
    several times faster for small batches.

    Arrays are batch first: ``body_q`` [n_batch, body_count] transforms in the world,
    ``joint_q`` [n_batch, joint_coord_count], ``residuals`` [n_batch, total_residuals],
    ``jacobian`` [n_batch, total_residuals, joint_dof_count], ``joint_S_s`` [n_batch,
    joint_dof_count] motion subspaces in world axes at the world origin, linear part first. The
    built-in objectives accept them in float32 and in float64. In control steps of several robots
    on a GPU, ``body_q`` and ``joint_S_s`` are not contiguous, see
    :mod:`ros_ik.kinematics.runtime.batch_layout`.

    Attributes:
        device: Device of the buffers, None before :meth:`bind_device`.
        total_residuals: Number of rows of all objectives of the solve.
        residual_offset: First row of this objective.
        n_batch: Number of configurations that are evaluated together.
    """

    is_recordable = False
    # True if record() returns a record after set-up.
    has_record = False
    # True if a set-up serves any layout of rows, because nothing is allocated per row.
    serves_any_rows = False

    def __init__(self) -> None:
        """Start without rows; :meth:`set_batch_layout` sets them."""
        self._tape_reader = TapeReader()
        self.device: wp.Device | None = None
        self.total_residuals = 0
        self.residual_offset = 0
        self.n_batch = 0

    def claim(self, owner: Any, layout: Layout | None = None) -> bool:
        """Register a solver whose graphs refer to the buffers; return True if it must set them up.

        Args:
            owner: Object that represents the solver, held by weak reference. Without a layout,
                its ``model`` and ``device`` are used.
            layout: Requirements of the solver; see :class:`Layout`.

        Raises:
            ArgumentError: Another solver uses the objective with other requirements. Setting it up
                again would invalidate the buffers in that solver's graphs.
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
        """Prepare the data of ``model`` that residuals and Jacobian need, such as a chain.

        Args:
            model: The model.
            jacobian_mode: The Jacobian method that will be called, a :class:`IKJacobianType`, its
                value, or Newton's. Buffers for autodiff are allocated by its first call.
        """

    def set_batch_layout(self, total_residuals: int, residual_offset: int, n_batch: int) -> None:
        """Set the position of this objective's rows among all rows.

        Args:
            total_residuals: Number of rows of all objectives.
            residual_offset: First row of this objective.
            n_batch: Number of configurations that are evaluated together. Use ``problem_idx`` to
                find the target of each; there need not be one target per configuration.
        """
        self.total_residuals = total_residuals
        self.residual_offset = residual_offset
        self.n_batch = n_batch

    def record(self) -> Any:
        """Return the data for kernels that evaluate the objective themselves, or None.

        Objectives with a formula return a record (:mod:`ros_ik.objectives.base.record`) once they
        are set up. Solvers then need not call their compute methods.
        """
        return None

    def supports_analytic(self) -> bool:
        """Return True if :meth:`compute_jacobian_analytic` is implemented."""
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
            problem_idx: Problem of each batch row, shape [n_batch]; None if row i is problem i.
        """
        raise NotImplementedError

    def compute_jacobian_autodiff(
        self, tape: wp.Tape, model: Model, jacobian: wp.array, start_idx: int, dq_dof: wp.array
    ) -> None:
        """Write dr/dq into the rows of this objective from a tape, one backward pass per row.

        The tape has recorded q (+) dq at dq = 0, forward kinematics and the residuals of all
        objectives. Its gradients are reset to zero on return.

        Args:
            tape: The tape; ``tape.outputs[0]`` are the residuals, flat, or of shape [n_batch,
                total_residuals].
            model: The model the objective was set up with.
            jacobian: Output, shape [n_batch, total_residuals, joint_dof_count].
            start_idx: First row of this objective.
            dq_dof: The step dq at the start of the tape, shape [n_batch, joint_dof_count].
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
        """Write dr/dq into the rows of this objective; columns that are always zero may be
        skipped.

        Args:
            body_q: Link poses, shape [n_batch, body_count].
            joint_q: Joint coordinates, shape [n_batch, joint_coord_count].
            model: The model the objective was set up with.
            jacobian: Output, shape [n_batch, total_residuals, joint_dof_count], zero beforehand.
            joint_S_s: Motion subspaces, shape [n_batch, joint_dof_count].
            start_idx: First row of this objective.
        """
        raise NotImplementedError
