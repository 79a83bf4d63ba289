# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Levenberg-Marquardt for objectives with formulas, with the whole solve in one kernel.

The results are those of :class:`IKOptimizerLM` with analytic Jacobians, up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.kinematics.tree import KinematicTree
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.objectives.base.arguments import residual_count
from ros_ik.objectives.base.builtin import BuiltinObjective
from ros_ik.objectives.base.formula import formulas_of
from ros_ik.objectives.base.formula import JointFormula
from ros_ik.objectives.base.record import is_recorded
from ros_ik.objectives.base.record import Record
from ros_ik.objectives.base.record import record_struct
from ros_ik.objectives.base.record import record_structs
from ros_ik.objectives.formulas import BUILTIN_FORMULAS
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.objectives.interface.objective import IKObjective
from ros_ik.objectives.interface.ownership import Layout
from ros_ik.objectives.interface.ownership import ownership_of
from ros_ik.objectives.joint_limit import JOINT_LIMIT
from ros_ik.objectives.recording.snapshot import note_written
from ros_ik.objectives.recording.snapshot import Snapshot
from ros_ik.objectives.recording.snapshot import Snapshots
from ros_ik.solvers.batch_ik.base.arguments import check_array
from ros_ik.solvers.batch_ik.base.arguments import check_step
from ros_ik.solvers.batch_ik.base.arguments import check_tolerances
from ros_ik.solvers.batch_ik.base.arguments import copy_array
from ros_ik.solvers.batch_ik.base.recording import hold_launches
from ros_ik.solvers.batch_ik.base.recording import Recording
from ros_ik.solvers.batch_ik.base.seed_kernels import seed_kernels
from ros_ik.solvers.batch_ik.fused.fused_lm_kernel import fused_lm_kernel
from ros_ik.solvers.batch_ik.fused.fused_lm_kernel import fused_rules_struct
from ros_ik.solvers.batch_ik.fused.fused_lm_kernel import fused_state_struct
from ros_ik.solvers.batch_ik.optimizers.lm import check_damping
from ros_ik.solvers.least_squares.bounded_step import make_step_workspace
from ros_ik.solvers.least_squares.envelope import Elimination
from ros_ik.solvers.least_squares.envelope import elimination
from ros_ik.solvers.least_squares.envelope import previous_dofs
from ros_ik.solvers.least_squares.search_space import make_search_space
from ros_ik.solvers.least_squares.search_space import SearchSpace


def is_fusible(objectives: Sequence[Any]) -> bool:
    """Return True if every objective has a record, so that the fused kernel can be used."""
    return bool(objectives) and all(
        isinstance(objective, IKObjective) and is_recorded(objective) for objective in objectives
    )


class IKFusedLM:
    """Backend of :class:`IKSolver` for objectives that have records.

    Attributes:
        costs: Squared residuals of each row, float32 [n_batch]; inf if it was refused.
        status: :class:`SolveStatus` of each row, int32 [n_batch].
    """

    def __init__(
        self,
        model: Any,
        n_batch: int,
        objectives: Sequence[IKObjective],
        *,
        problem_idx: wp.array,
        joint_dof_mask: wp.array | np.ndarray | None,
        respect_limits: bool,
        cost_tolerance: float,
        gradient_tolerance: float,
        use_graph: bool,
        lambda_initial: float,
        lambda_factor: float,
        lambda_min: float,
        lambda_max: float,
        rho_min: float,
    ) -> None:
        """Set up the objectives and allocate; the arguments are those of :class:`IKOptimizerLM`.

        Raises:
            ArgumentError: An invalid argument; the error names it.
        """
        check_tolerances(cost_tolerance, gradient_tolerance)
        check_damping(lambda_initial, lambda_factor, lambda_min, lambda_max, rho_min)
        self._device = wp.get_device(model.device)
        self._model, self._respect_limits = model, respect_limits
        self._space = make_search_space(
            model, joint_dof_mask=joint_dof_mask, respect_limits=respect_limits
        )
        self._objectives = list(objectives)
        self._problem_idx = problem_idx
        self._n_problems = int(problem_idx.numpy().max()) + 1
        self._allocate(model, n_batch)
        self._take_objectives()
        self._rules = fused_rules_struct()()
        for name, value in (
            ('damping_initial', float(np.clip(lambda_initial, lambda_min, lambda_max))),
            ('damping_factor', lambda_factor), ('damping_min', lambda_min),
            ('damping_max', lambda_max), ('gain_ratio_min', rho_min),
            ('cost_tolerance', cost_tolerance), ('gradient_tolerance', gradient_tolerance),
        ):  # fmt: skip
            setattr(self._rules, name, value)
        self._rules_array = wp.array(
            [self._rules], dtype=fused_rules_struct(), device=self._device
        )
        self._use_graph = use_graph
        with LAUNCH_LOCK.alone():
            self._solve = Recording(self._launch, self._device, use_graph=use_graph)

    def step(
        self,
        joint_q_in: wp.array | np.ndarray,
        joint_q_out: wp.array | np.ndarray,
        iterations: int = 10,
        step_size: float = 1.0,
    ) -> None:
        """Minimise from each row; see :meth:`IKOptimizerLM.step`."""
        self._run(joint_q_in, iterations, step_size)
        copy_array(joint_q_out, self._joint_q)

    @property
    def is_replayed(self) -> bool:
        """True if solves replay graphs."""
        return self._use_graph

    def reset(self) -> None:
        """Do nothing, because solves keep no state."""

    def renew(self) -> None:
        """Record again if objectives have changed.

        Raises:
            ArgumentError: An unsupported change, or a change during a capture by the caller, in
                which nothing can be recorded.
        """
        if (
            self._snapshots.seen == BuiltinObjective.changes
            or self._snapshots.are_current
            or LAUNCH_LOCK.is_shared_here
        ):
            return
        if self._device.is_capturing:
            raise ArgumentError('objectives were changed; call step() once before the capture')
        with LAUNCH_LOCK.alone():
            self._take_objectives()
            self._solve = Recording(self._launch, self._device, use_graph=self._use_graph)

    def compute_costs(self, joint_q: wp.array | np.ndarray) -> wp.array:
        """Return the squared residuals at ``joint_q``; see :meth:`IKOptimizerLM.compute_costs`."""
        with hold_launches(self._device, use_graph=self._use_graph):
            wp.copy(self._last_status, self.status)
            self._run(joint_q, 0, 1.0)
            wp.copy(self.status, self._last_status)
        return self.costs

    def _run(self, joint_q: wp.array | np.ndarray, iterations: int, step_size: float) -> None:
        check_array('joint_q', joint_q, self._joint_q.shape, self._device)
        check_step(iterations, step_size)
        rules = iterations, step_size
        if rules != (self._rules.iterations, self._rules.step_size):
            self._rules.iterations, self._rules.step_size = rules
            self._rules_array.assign([self._rules])
        with hold_launches(self._device, use_graph=self._use_graph):
            copy_array(self._joint_q, joint_q)
            self._solve.run()

    def _launch(self) -> None:
        n = self._joint_q.shape[0]
        launch(
            seed_kernels().clean_seeds,
            dim=n,
            inputs=[self._space.arrays],
            outputs=[self._joint_q, self._refused],
            device=self._device,
        )
        launch(
            fused_lm_kernel(self._formulas),
            dim=n,
            inputs=[
                self._tree.arrays, self._space.arrays, self._records, self._rules_array,
                self._problem_idx, self._state, self._work,
            ],
            outputs=[self._refused, self._joint_q, self.costs, self.status],
            device=self._device,
        )  # fmt: skip

    def _take_objectives(self) -> None:
        """Read the objectives, and create the data that depend on them."""
        model, n = self._model, self._joint_q.shape[0]
        _check_targets(self._objectives, self._n_problems)
        records = _set_up(self, model, self._objectives, n)
        self._snapshots = Snapshots(self._objectives)
        self._formulas = formulas_of((record.formula for record in records), BUILTIN_FORMULAS)
        unknown, scale = _unknowns(model, self._space)
        structs = record_structs(records, self._formulas, self._device, scale)
        self._records = wp.array(structs, dtype=record_struct(), device=self._device)
        self._sources = records, structs  # keeps alive the arrays that the device reads
        order = _elimination(model, records, unknown, self._respect_limits)
        self._work = make_step_workspace(n, model.joint_dof_count, order, self._device)
        self._tree = kinematic_tree(model, wp.float64)
        _leave_out_joints(self._tree, model, records)
        state, device = self._state, self._device
        longest = max(record.chain_dof.shape[0] for record in records)
        state.block = batch_zeros((n, max(1, longest)), wp.spatial_vectord, device)
        state.dof_unknown = wp.array(unknown, dtype=wp.int32, device=device)
        state.dof_scale = wp.array(scale, dtype=wp.float64, device=device)

    def _allocate(self, model: Any, n: int) -> None:
        device, coords, dofs = self._device, model.joint_coord_count, model.joint_dof_count
        self._joint_q = wp.zeros((n, coords), dtype=wp.float32, device=device)
        self._refused = wp.zeros(n, dtype=wp.int32, device=device)
        self.status, self._last_status = (
            wp.zeros(n, dtype=wp.int32, device=device) for _ in range(2)
        )
        self.costs = wp.zeros(n, dtype=wp.float32, device=device)
        state = self._state = fused_state_struct()()
        state.joint_q = batch_zeros((n, coords), wp.float64, device)
        state.joint_q_next = batch_zeros((n, coords), wp.float64, device)
        state.joint_qd_step = batch_zeros((n, dofs), wp.float64, device)
        poses = np.tile(model.body_q.numpy().reshape(1, -1, 7), (n, 1, 1))
        state.body_q = batch_zeros((n, model.body_count), wp.transformd, device)
        state.body_q.assign(poses)
        state.joint_S_s = batch_zeros((n, dofs), wp.spatial_vectord, device)


def _check_targets(objectives: Sequence[Any], n_problems: int) -> None:
    for objective in objectives:
        if objective.n_problems not in (1, n_problems):
            raise ArgumentError(
                f'objectives: {type(objective).__name__} has {objective.n_problems} targets for '
                f'{n_problems} problems'
            )


def _set_up(owner: object, model: Any, objectives: Sequence[IKObjective], n: int) -> list[Record]:
    """Set up the objectives and return their records."""
    total, offset, records = sum(residual_count(o) for o in objectives), 0, []
    for objective in objectives:
        layout = Layout(model, wp.get_device(model.device), renews=True)
        owners = ownership_of(objective)
        must_set_up = objective.claim(owner, layout)
        if must_set_up or owners.snapshot is None or not owners.snapshot.is_current:
            before = dict(vars(objective))
            objective.bind_device(model.device)
            objective.set_batch_layout(total, offset, n)
            objective.init_buffers(model=model, jacobian_mode=IKJacobianType.ANALYTIC)
            note_written(objective, before)
            owners.snapshot = Snapshot(objective)
        records.append(objective.record())
        offset += objective.residual_dim()
    return records


def _unknowns(model: Any, space: SearchSpace) -> tuple[np.ndarray, np.ndarray]:
    """Return the unknown that drives each degree of freedom, -1 for none, and the factor."""
    unknown = np.where(space.dof_free, np.arange(model.joint_dof_count), -1)
    scale = np.ones(model.joint_dof_count)
    followers, drivers = space.arrays.follower_dof.numpy(), space.arrays.driver_dof.numpy()
    unknown[followers] = unknown[drivers]
    scale[followers] = space.arrays.coef1.numpy()
    return unknown.astype(np.int32), scale


def _leave_out_joints(tree: KinematicTree, model: Any, records: list[Record]) -> None:
    """Remove joints from the tree's order that move no link used by an objective."""
    bodies: set[int] = set()
    for record in records:
        if record.links is None:
            return
        bodies |= record.links
    order = tree.arrays.joint_order.numpy()
    parent, child = model.joint_parent.numpy(), model.joint_child.numpy()
    needed = []
    for joint in order[::-1].tolist():
        if int(child[joint]) in bodies:
            bodies.add(int(parent[joint]))
            needed.append(joint)
    kept = np.array(needed[::-1], dtype=np.int32)
    tree.arrays.joint_order = wp.array(kept, dtype=wp.int32, device=tree.device)


def _is_of_limits(model: Any, record: Record) -> bool:
    """Return True if a record is a penalty on the limits in the model's own arrays."""
    if record.formula is not JOINT_LIMIT:
        return False
    read = record.source.lower.in32, record.source.upper.in32
    kept = model.joint_limit_lower, model.joint_limit_upper
    return all(a.ptr == b.ptr for a, b in zip(read, kept, strict=True))


def _elimination(
    model: Any, records: list[Record], unknown: np.ndarray, respect_limits: bool
) -> Elimination:
    """Return an elimination order of the unknowns that keeps limbs apart.

    A penalty on limits that hold anyway couples nothing.
    """
    n = model.joint_dof_count
    coupled = np.zeros((n, n), dtype=bool)
    for record in records:
        of_record = unknown[record.chain_dof.numpy()]
        of_record = np.unique(of_record[of_record >= 0])
        if respect_limits and _is_of_limits(model, record):
            continue
        if isinstance(record.formula, JointFormula):
            coupled[of_record, of_record] = True
        else:
            coupled[np.ix_(of_record, of_record)] = True
    return elimination(coupled, previous_dofs(model))
