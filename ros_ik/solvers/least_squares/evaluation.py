# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Residuals and Jacobians of a list of objectives, for a batch of configurations.

No device array is read back, so all launches can be captured in a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.motion_subspace import launch_motion_subspace
from ros_ik.kinematics.newton.newton_model import moved_bodies
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.objectives.base.arguments import checked_objectives
from ros_ik.objectives.base.arguments import residual_count
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.interface.objective import IKObjective
from ros_ik.objectives.interface.ownership import Layout
from ros_ik.objectives.interface.ownership import ownership_of
from ros_ik.objectives.recording.snapshot import note_written
from ros_ik.objectives.recording.snapshot import Snapshot
from ros_ik.solvers.least_squares.chain_rule import chain_rule_kernel
from ros_ik.solvers.least_squares.evaluation_kernels import cost_kernels
from ros_ik.solvers.least_squares.evaluation_kernels import fold_kernel
from ros_ik.solvers.least_squares.search_space import SearchSpace

# Names of arrays of targets in Newton's objectives, with one entry per problem.
_NEWTON_TARGETS = ('target_positions', 'target_rotations')


class Evaluation:
    """Buffers and launches that evaluate objectives at ``n_batch`` configurations.

    Attributes:
        joint_q: Configurations of the Jacobians, shape [n_batch, joint_coord_count].
        body_q: Link poses there, shape [n_batch, body_count].
        residuals: Residuals there, shape [n_batch, total_residuals].
        jacobian: dr/dq, shape [n_batch, total_residuals, joint_dof_count]. Columns of frozen
            degrees of freedom are zero; those of mimic joints are added to their drivers and zero.
        total_residuals: Number of residuals of all objectives.
        objectives: The objectives.
    """

    def __init__(
        self,
        model: Any,
        tree: KinematicTree,
        space: SearchSpace | None,
        objectives: Sequence[Any],
        jacobian_mode: IKJacobianType,
        problem_idx: np.ndarray,
        *,
        renews: bool = False,
    ) -> None:
        """Set up the objectives and allocate.

        Args:
            model: Any object with Newton's joint arrays.
            tree: Its tree, float32.
            space: Search space with the columns of the Jacobian that are unknowns; None keeps all.
            objectives: Our own objectives or Newton's.
            jacobian_mode: Source of the Jacobians.
            problem_idx: Problem of each batch row, shape [n_batch].
            renews: True if the caller checks :attr:`is_current` before each launch.

        Raises:
            ArgumentError: No objectives, an objective of another solver, one without the required
                Jacobian, or one with a wrong number of targets.
        """
        self._model, self._tree, self._space = model, tree, space
        self.objectives = self._objectives = checked_objectives(objectives)
        self._analytic = [
            jacobian_mode == IKJacobianType.ANALYTIC
            or (jacobian_mode == IKJacobianType.MIXED and objective.supports_analytic())
            for objective in self._objectives
        ]
        self._problem_idx = problem_idx
        self.n_batch = n = len(problem_idx)
        self._snapshots: list[Snapshot] = []
        self._widths = widths = [residual_count(objective) for objective in self._objectives]
        self._check(problem_idx)
        self.total_residuals = sum(widths)
        self._offsets = [sum(widths[:k]) for k in range(len(widths))]
        device, grad = tree.device, not all(self._analytic)
        shape = (n, self.total_residuals)
        self.joint_q = wp.zeros(
            (n, tree.joint_coord_count), dtype=wp.float32, device=device, requires_grad=grad
        )
        self.body_q = self.initial_poses(n, requires_grad=grad)
        self.residuals = wp.zeros(shape, dtype=wp.float32, device=device, requires_grad=grad)
        self.jacobian = wp.zeros((*shape, tree.joint_dof_count), dtype=wp.float32, device=device)
        self._joint_S_s = wp.zeros(
            (n, tree.joint_dof_count), dtype=spatial_functions(wp.float32).twist, device=device
        )
        if grad:
            self._prepare_tape()
        self._maps = self._problem_maps(problem_idx)
        self._renews = renews
        self.set_up()

    @property
    def is_current(self) -> bool:
        """True if arrays and data of the objectives are unchanged since recording."""
        return all(layout.is_current for layout in self._layouts) and all(
            snapshot.is_current for snapshot in self._snapshots
        )

    def set_up(self) -> None:
        """Set up the objectives, again if another solver has set them up differently.

        Raises:
            ArgumentError: An objective of another solver.
        """
        widths = [residual_count(objective) for objective in self._objectives]
        if widths != self._widths:
            raise ArgumentError(
                f'objectives: residual_dim() was {self._widths} when the solver was made and is '
                f'{widths} now; make another solver'
            )
        self._check(self._problem_idx)
        self._layouts = [
            self._layout(offset, analytic)
            for offset, analytic in zip(self._offsets, self._analytic, strict=True)
        ]
        try:
            for each in zip(
                self._objectives, self._offsets, self._analytic, self._layouts, strict=True
            ):
                self._set_up(*each)
        except BaseException:
            # Incomplete set-up, to be repeated by the next solve.
            for layout in self._layouts:
                layout.is_current = False
            raise

    def keep_arrays(self) -> None:
        """Keep the current arrays of the objectives alive, because recorded graphs use them.

        Newton's solvers may set up shared objectives again without notice.
        """
        self._held = [dict(vars(objective)) for objective in self._objectives]
        self._snapshots = [Snapshot(objective) for objective in self._objectives]
        for objective, snapshot in zip(self._objectives, self._snapshots, strict=True):
            ownership_of(objective).snapshot = snapshot

    def note_changes(self) -> None:
        """Exclude data that methods of objectives have changed; it needs no new set-up."""
        for k, snapshot in enumerate(self._snapshots):
            self._snapshots[k] = snapshot.without_own_changes()

    def initial_poses(self, rows: int, *, requires_grad: bool = False) -> wp.array:
        """Return poses [rows, body_count], initialised from ``model.body_q``."""
        poses = np.tile(self._model.body_q.numpy().reshape(1, -1, 7), (rows, 1, 1))
        return wp.array(
            poses, dtype=wp.transform, device=self._tree.device, requires_grad=requires_grad
        )

    def candidate_maps(self, copies: int) -> list[wp.array]:
        """Return the problem of each row, per objective, for several copies of every row."""
        return [
            wp.array(np.repeat(rows.numpy(), copies), dtype=wp.int32, device=self._tree.device)
            for rows in self._maps
        ]

    def launch_residuals(
        self,
        joint_q: wp.array,
        body_q: wp.array,
        residuals: wp.array,
        cost: wp.array,
        maps: list[wp.array] | None = None,
    ) -> None:
        """Evaluate link poses, residuals and costs.

        Args:
            joint_q: Coordinates, shape [n, joint_coord_count].
            body_q: Output: link poses, shape [n, body_count].
            residuals: Output: residuals, shape [n, total_residuals].
            cost: Output: r^T r, shape [n].
            maps: Result of :meth:`candidate_maps` for n rows; None for n_batch rows.
        """
        launch_forward_kinematics(self._tree, joint_q, body_q)
        residuals.zero_()
        self._launch_objectives(joint_q, body_q, residuals, maps or self._maps)
        launch(
            cost_kernels().costs, dim=len(cost), inputs=[residuals], outputs=[cost],
            device=self._tree.device,
        )  # fmt: skip

    def launch_jacobian(self) -> None:
        """Evaluate the Jacobian at ``joint_q``, after ``body_q`` and ``residuals``."""
        launch_motion_subspace(self._tree, self.joint_q, self.body_q, self._joint_S_s)
        self.jacobian.zero_()
        if not all(self._analytic):
            self._launch_autodiff()
        for objective, offset, analytic in zip(
            self._objectives, self._offsets, self._analytic, strict=True
        ):
            if analytic:
                objective.compute_jacobian_analytic(
                    self.body_q, self.joint_q, self._model, self.jacobian, self._joint_S_s, offset
                )
        if self._space is not None and not self._space.all_free:
            launch(
                fold_kernel(), dim=self.residuals.shape, inputs=[self._space.arrays],
                outputs=[self.jacobian], device=self._tree.device,
            )  # fmt: skip

    def _launch_autodiff(self) -> None:
        """Record the objectives on a tape, from which each of them fills its rows."""
        tape = self._tape
        tape.reset()
        tape.gradients = {}
        self.residuals.zero_()
        with tape:
            tape.record_func(self._launch_chain_rule, [self._dq, self.body_q, self.joint_q])
            self._launch_objectives(self.joint_q, self.body_q, self.residuals, self._maps, tape)
            flat = self.residuals.flatten()
        tape.outputs = [flat]  # type: ignore[attr-defined]
        for objective, offset, analytic in zip(
            self._objectives, self._offsets, self._analytic, strict=True
        ):
            if not analytic:
                objective.compute_jacobian_autodiff(
                    tape, self._model, self.jacobian, offset, self._dq
                )
                tape.zero()

    def _launch_chain_rule(self) -> None:
        launch(
            chain_rule_kernel(),
            dim=self._dq.shape,
            inputs=[
                self._tree.arrays, self._dof_joint, self._moved_start, self._moved_body,
                self._joint_S_s, self.body_q, self.joint_q, self.body_q.grad, self.joint_q.grad,
            ],
            outputs=[self._dq.grad],
            device=self._tree.device,
            record_tape=False,
        )  # fmt: skip

    def _launch_objectives(
        self,
        joint_q: wp.array,
        body_q: wp.array,
        residuals: wp.array,
        maps: list[wp.array],
        tape: wp.Tape | None = None,
    ) -> None:
        """Evaluate the objectives; on a tape, check that it records those to differentiate."""
        for objective, offset, rows, analytic in zip(
            self._objectives, self._offsets, maps, self._analytic, strict=True
        ):
            before = 0 if tape is None else len(tape.launches)
            # A line search evaluates several rows for each row of the batch.
            times = body_q.shape[0] // self.n_batch if _has_row_data(objective) else 1
            for arrays in _interleaved(times, body_q, joint_q, residuals, rows):
                poses, coords, out, problems = arrays
                objective.compute_residuals(
                    poses, coords, self._model, out, offset, problem_idx=problems
                )
            if tape is not None and not analytic and len(tape.launches) == before:
                _check_zero(objective, residuals, offset)

    def _prepare_tape(self) -> None:
        device = self._tree.device
        self._tape = wp.Tape()
        self._dq = wp.zeros(
            (self.n_batch, self._tree.joint_dof_count),
            dtype=wp.float32, device=device, requires_grad=True,
        )  # fmt: skip
        starts = self._model.joint_qd_start.numpy()
        joints = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        first, bodies = moved_bodies(self._model, self._tree)
        self._dof_joint = wp.array(joints, dtype=wp.int32, device=device)
        self._moved_start = wp.array(first, dtype=wp.int32, device=device)
        self._moved_body = wp.array(bodies, dtype=wp.int32, device=device)

    def _check(self, problem_idx: np.ndarray) -> None:
        """Raise ArgumentError if an objective lacks its Jacobian or targets for all problems."""
        n_problems = int(problem_idx.max()) + 1
        for objective, analytic in zip(self._objectives, self._analytic, strict=True):
            name = type(objective).__name__
            if analytic and not objective.supports_analytic():
                raise ArgumentError(
                    f"jacobian_mode 'analytic': {name} has no analytic Jacobian; use 'mixed'"
                )
            if not analytic and not hasattr(objective, 'compute_jacobian_autodiff'):
                raise ArgumentError(
                    f"jacobian_mode: {name} cannot be differentiated automatically; use 'analytic'"
                )
            count = _target_count(objective, n_problems)
            if count != n_problems:
                raise ArgumentError(
                    f'objectives: {name} has {count} targets for {n_problems} problems'
                )

    def _problem_maps(self, problem_idx: np.ndarray) -> list[wp.array]:
        """Return the problem of each row per objective; 0 for one with a single target."""
        device = self._tree.device
        own = wp.array(problem_idx, dtype=wp.int32, device=device)
        same = wp.zeros(len(problem_idx), dtype=wp.int32, device=device)
        return [
            same if getattr(objective, 'n_problems', None) == 1 else own
            for objective in self._objectives
        ]

    def _layout(self, offset: int, analytic: bool) -> Layout:
        """Return the requirements on an objective whose residuals begin at ``offset``."""
        rows = self.total_residuals, offset, self.n_batch, _mode(analytic)
        return Layout(self._model, self._tree.device, rows, renews=self._renews)

    def _set_up(self, objective: Any, offset: int, analytic: bool, layout: Layout) -> None:
        """Set up an objective, in the order documented by its base class."""
        rows = self.total_residuals, offset, self.n_batch
        device = self._tree.device
        is_ours = isinstance(objective, IKObjective)
        name, any_rows = type(objective).__name__, is_ours and objective.serves_any_rows
        owners = ownership_of(objective)
        must_set_up = owners.claim(name, self, layout, any_rows=any_rows)
        if not must_set_up and owners.snapshot is not None and owners.snapshot.is_current:
            return
        before = dict(vars(objective))
        if is_ours:
            objective.bind_device(device)
            objective.set_batch_layout(*rows)
        else:
            objective.set_batch_layout(*rows)
            objective.bind_device(device)
        objective.init_buffers(model=self._model, jacobian_mode=_mode(analytic))
        note_written(objective, before)
        owners.snapshot = Snapshot(objective)


def _mode(analytic: bool) -> IKJacobianType:
    """Return the Jacobian mode of an objective at its set-up."""
    return IKJacobianType.ANALYTIC if analytic else IKJacobianType.AUTODIFF


def _has_row_data(objective: Any) -> bool:
    """Return True if an objective may have data for each row of its batch."""
    return isinstance(objective, IKObjective) and not objective.serves_any_rows


def _interleaved(times: int, *arrays: wp.array) -> list[tuple[wp.array, ...]]:
    """Return views of arrays in ``times`` parts, each with every ``times``-th row."""
    if times == 1:
        return [arrays]
    return [tuple(array[first::times] for array in arrays) for first in range(times)]


def _check_zero(objective: Any, residuals: wp.array, offset: int) -> None:
    """Check that residuals without any launch are zero; otherwise the host has computed them.

    Raises:
        ArgumentError: A residual is not zero.
    """
    if residuals.numpy()[:, offset : offset + objective.residual_dim()].any():
        name = type(objective).__name__
        raise ArgumentError(
            f'{name}.compute_residuals launches no kernel, so that its Jacobian cannot be '
            'found automatically; give it compute_jacobian_analytic'
        )


def _target_count(objective: Any, n_problems: int) -> int:
    """Return the number of targets of an objective, as far as it is known."""
    if isinstance(objective, IKObjective):
        count = int(getattr(objective, 'n_problems', n_problems))
        return n_problems if count == 1 else count
    for field in _NEWTON_TARGETS:
        targets = getattr(objective, field, None)
        if isinstance(targets, wp.array) and targets.shape[0] != n_problems:
            return int(targets.shape[0])
    return n_problems
