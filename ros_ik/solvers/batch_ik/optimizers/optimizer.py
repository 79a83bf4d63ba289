# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Base of the batch optimizers: checks, seeds, stages of a solve, status of each row.

    seeds -> clean -> evaluate -> iterate ... -> evaluate -> classify

Each stage is a recording of kernel launches, with buffers that the constructor allocates.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import Protocol

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.kinematics.runtime.array_exchange import wait_for_warp
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model.conventions.checks import check_flags
from ros_ik.objectives.base.arguments import checked_objectives
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.solvers.batch_ik.base.arguments import check_array
from ros_ik.solvers.batch_ik.base.arguments import check_batch
from ros_ik.solvers.batch_ik.base.arguments import check_step
from ros_ik.solvers.batch_ik.base.arguments import check_tolerances
from ros_ik.solvers.batch_ik.base.arguments import copy_array
from ros_ik.solvers.batch_ik.base.arguments import problem_rows
from ros_ik.solvers.batch_ik.base.enums import enum_member
from ros_ik.solvers.batch_ik.base.recording import hold_launches
from ros_ik.solvers.batch_ik.base.recording import Recording
from ros_ik.solvers.batch_ik.base.seed_kernels import seed_kernels
from ros_ik.solvers.batch_ik.optimizers.status_kernel import status_kernel
from ros_ik.solvers.least_squares.evaluation import Evaluation
from ros_ik.solvers.least_squares.evaluation_kernels import cost_kernels
from ros_ik.solvers.least_squares.search_space import make_search_space


class IKBackend(Protocol):
    """Interface of optimizers for :class:`IKSolver`.

    Attributes:
        costs: Squared residuals of each row, float32 [n_batch], inf if it was refused.
        status: :class:`SolveStatus` of each row, int32 [n_batch].
    """

    costs: wp.array
    status: wp.array

    def step(
        self,
        joint_q_in: Any,
        joint_q_out: Any,
        iterations: int = 10,
        step_size: float = 1.0,
    ) -> None:
        """Minimise from each row of ``joint_q_in``, [n_batch, joint_coord_count]."""

    def reset(self) -> None:
        """Reset the state of earlier solves."""

    @property
    def is_replayed(self) -> bool:
        """True if solves replay graphs."""

    def renew(self) -> None:
        """Set up objectives again that another solver has set up meanwhile."""

    def compute_costs(self, joint_q: wp.array | np.ndarray) -> wp.array:
        """Return the squared residuals at ``joint_q``."""


class BatchOptimizer(ReadOnce, abc.ABC):
    """Base of the optimizers; see :class:`IKOptimizerLM` and :class:`IKOptimizerLBFGS`.

    Attributes:
        model: The model.
        n_batch: Number of rows solved together.
        costs: Squared residuals r^T r of the last solve, float32 [n_batch]; inf for refused rows.
        status: :class:`SolveStatus` codes of the last solve, int32 [n_batch].
    """

    read_once = frozenset(('model', 'n_batch'))

    def __init__(
        self,
        model: Any,
        n_batch: int,
        objectives: Sequence[Any],
        jacobian_mode: IKJacobianType | str,
        *,
        problem_idx: wp.array | np.ndarray | None,
        joint_dof_mask: wp.array | np.ndarray | None,
        respect_limits: bool,
        cost_tolerance: float,
        gradient_tolerance: float,
        use_graph: bool,
    ) -> None:
        """Check the arguments and allocate; a subclass then calls :meth:`_record`.

        The caller must hold ``LAUNCH_LOCK`` exclusively.

        Raises:
            ArgumentError: An invalid argument; the error names it.
        """
        n_batch = checked_count('n_batch', n_batch, 1)
        check_flags(respect_limits=respect_limits, use_graph=use_graph)
        check_tolerances(cost_tolerance, gradient_tolerance)
        check_batch('n_batch', n_batch, checked_model(model), checked_objectives(objectives))
        mode = enum_member(IKJacobianType, 'jacobian_mode', jacobian_mode)
        self.model, self.n_batch = model, n_batch
        self._device = wp.get_device(model.device)
        self._tolerances = float(cost_tolerance), float(gradient_tolerance)
        self._use_graph = use_graph
        self._tree = kinematic_tree(model, wp.float32)
        self._space = make_search_space(
            model, joint_dof_mask=joint_dof_mask, respect_limits=respect_limits
        )
        rows = problem_rows(problem_idx, n_batch)
        self._evaluation = Evaluation(
            model, self._tree, self._space, objectives, mode, rows, renews=True
        )
        self.costs = wp.zeros(n_batch, dtype=wp.float32, device=self._device)
        self.status = wp.zeros(n_batch, dtype=wp.int32, device=self._device)
        self._refused = wp.zeros(n_batch, dtype=wp.int32, device=self._device)
        self._recordings: dict[Callable[[], None], Recording] = {}
        self._is_replayed = use_graph

    @property
    def is_replayed(self) -> bool:
        """True if solves replay graphs; False if an objective runs code on the host."""
        return self._is_replayed

    @property
    def joint_q(self) -> wp.array:
        """Configuration of each row, float32 [n_batch, joint_coord_count]."""
        return self._evaluation.joint_q

    def step(
        self,
        joint_q_in: Any,
        joint_q_out: Any,
        iterations: int = 10,
        step_size: float = 1.0,
    ) -> None:
        """Minimise the squared residuals from each row.

        Args:
            joint_q_in: Seeds, [n_batch, joint_coord_count], float32 or float64; an array of any
                library.
            joint_q_out: Output, likewise; may be ``joint_q_in``. A refused row gets its seed, or
                the neutral configuration if the seed is not finite.
            iterations: Number of iterations.
            step_size: Factor on each step.

        Raises:
            ArgumentError: A wrong shape, type or device, a read-only output, or an invalid number.
        """
        joint_q_in = as_warp('joint_q_in', joint_q_in)
        joint_q_out = as_warp('joint_q_out', joint_q_out, is_output=True)
        shape = self._evaluation.joint_q.shape
        check_array('joint_q_in', joint_q_in, shape, self._device)
        check_array('joint_q_out', joint_q_out, shape, self._device)
        check_step(iterations, step_size)
        self.renew()
        with hold_launches(self._device, use_graph=self._is_replayed):
            copy_array(self._evaluation.joint_q, joint_q_in)
            self._set_step_size(step_size)
            self._recordings[self._launch_begin].run()
            for _ in range(iterations):
                self._recordings[self._launch_iteration].run()
            self._recordings[self._launch_end].run()
            copy_array(joint_q_out, self._evaluation.joint_q)
            self._note_changes()
            if self._device.is_cuda:
                wait_for_warp(joint_q_out)

    def compute_costs(self, joint_q: Any) -> wp.array:
        """Evaluate the squared residuals.

        Args:
            joint_q: Coordinates, [n_batch, joint_coord_count], float32 or float64; an array of any
                library.

        Returns:
            The array ``costs``, [n_batch]; inf for rows that are not finite. ``status`` stays.

        Raises:
            ArgumentError: A wrong shape, type or device.
        """
        joint_q = as_warp('joint_q', joint_q)
        check_array('joint_q', joint_q, self._evaluation.joint_q.shape, self._device)
        self.renew()
        with hold_launches(self._device, use_graph=self._is_replayed):
            copy_array(self._evaluation.joint_q, joint_q)
            self._recordings[self._launch_costs].run()
            self._note_changes()
        return self.costs

    def reset(self) -> None:
        """Reset the state of earlier solves; every :meth:`step` does this too."""
        with hold_launches(self._device, use_graph=self._is_replayed):
            self._clear()

    def renew(self) -> None:
        """Set up objectives again that another solver has set up, and record again.

        Raises:
            ArgumentError: The other solver cannot give up the objectives, or the caller is
                capturing a graph, in which nothing can be recorded.
        """
        if self._evaluation.is_current or LAUNCH_LOCK.is_shared_here:
            return
        if self._device.is_capturing:
            raise ArgumentError(
                'objectives were set up by another solver; call step() once before the capture'
            )
        with LAUNCH_LOCK.alone():
            self._evaluation.set_up()
            self._record()

    @abc.abstractmethod
    def _clear(self) -> None:
        """Initialise the state of the method for a new solve."""

    @abc.abstractmethod
    def _set_step_size(self, step_size: float) -> None:
        """Set the factor on each step, for the kernels."""

    @abc.abstractmethod
    def _launch_start(self) -> None:
        """Prepare the state of the method, after evaluation of the seeds."""

    @abc.abstractmethod
    def _launch_iteration(self) -> None:
        """Take one step from ``joint_q``, and update residuals, poses and costs."""

    def _launch_evaluation(self) -> None:
        evaluation = self._evaluation
        evaluation.launch_residuals(
            evaluation.joint_q, evaluation.body_q, evaluation.residuals, self.costs
        )

    def _launch_costs(self) -> None:
        self._rows(
            seed_kernels().clean_seeds, [self._space.arrays],
            [self._evaluation.joint_q, self._refused],
        )  # fmt: skip
        self._launch_evaluation()
        self._rows(cost_kernels().refuse, [], [self.costs, self._refused])

    def _launch_begin(self) -> None:
        self._launch_costs()
        self._launch_start()

    def _launch_end(self) -> None:
        evaluation = self._evaluation
        self._launch_evaluation()
        evaluation.launch_jacobian()
        self._rows(
            status_kernel(),
            [
                self._space.arrays, evaluation.joint_q, evaluation.residuals,
                evaluation.jacobian, self._refused, *self._tolerances,
            ],
            [self.costs, self.status],
        )  # fmt: skip

    def _rows(self, kernel: wp.Kernel, inputs: list, outputs: list) -> None:
        """Launch a kernel with a thread per row."""
        launch(kernel, dim=self.n_batch, inputs=inputs, outputs=outputs, device=self._device)

    def _record(self) -> None:
        for part in (
            self._launch_begin,
            self._launch_iteration,
            self._launch_end,
            self._launch_costs,
        ):
            self._recordings[part] = Recording(
                part, self._device, use_graph=self._use_graph, parts=self._evaluation.objectives
            )
        self._is_replayed = all(known.is_replayed for known in self._recordings.values())
        self._evaluation.keep_arrays()

    def _note_changes(self) -> None:
        """Exclude data that objectives have changed themselves from later comparisons."""
        if not self._is_replayed:
            self._evaluation.note_changes()
