# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Batched inverse kinematics from several seeds per problem.

The interface is that of ``newton.ik.IKSolver``. In addition, joint limits hold during the solve,
every problem has a status, and a non-finite problem is refused without affecting the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_model
from ros_ik.kinematics.runtime.arguments import checked_number
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.kinematics.runtime.array_exchange import wait_for_warp
from ros_ik.kinematics.runtime.kernel_launch import launch
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import LAUNCH_LOCK
from ros_ik.model.conventions.checks import check_flags
from ros_ik.objectives.base.arguments import checked_objectives
from ros_ik.objectives.base.link_objective import LinkObjective
from ros_ik.objectives.base.record import is_recorded
from ros_ik.objectives.interface.jacobian_type import IKJacobianType
from ros_ik.solvers.batch_ik.base.arguments import check_array
from ros_ik.solvers.batch_ik.base.arguments import check_batch
from ros_ik.solvers.batch_ik.base.arguments import copy_array
from ros_ik.solvers.batch_ik.base.enums import enum_member
from ros_ik.solvers.batch_ik.base.enums import IKOptimizer
from ros_ik.solvers.batch_ik.base.enums import IKSampler
from ros_ik.solvers.batch_ik.base.recording import hold_launches
from ros_ik.solvers.batch_ik.base.recording import Recording
from ros_ik.solvers.batch_ik.base.seed_kernels import seed_kernels
from ros_ik.solvers.batch_ik.fused.fused_lm import IKFusedLM
from ros_ik.solvers.batch_ik.fused.fused_lm import is_fusible
from ros_ik.solvers.batch_ik.optimizers.lbfgs import IKOptimizerLBFGS
from ros_ik.solvers.batch_ik.optimizers.lm import IKOptimizerLM
from ros_ik.solvers.batch_ik.optimizers.optimizer import IKBackend
from ros_ik.solvers.batch_ik.reach_kernel import reach_kernel
from ros_ik.solvers.batch_ik.samplers import Sampler
from ros_ik.solvers.batch_ik.select_kernel import select_kernel
from ros_ik.solvers.least_squares.search_space import make_search_space
from ros_ik.solvers.status import SolveStatus

_ITERATION_LIMIT = int(SolveStatus.ITERATION_LIMIT)


class IKSolver(ReadOnce):
    """Solver for ``n_problems`` problems of one model, each from ``n_seeds`` seeds.

    The status of a problem, a :class:`SolveStatus` code, is that of its best seed:

    - CONVERGED: the squared residual is at most ``cost_tolerance``.
    - AT_LIMITS, UNREACHABLE: the residual is larger, but no free column of the Jacobian reduces it
      any more (``gradient_tolerance``), with or without joints at their limits. Soft terms leave a
      residual even at the optimum, for which ``cost_tolerance`` must allow.
    - ITERATION_LIMIT: none of these within the iterations. A position or pose in the world that is
      farther away than the links together are long is UNREACHABLE instead.
    - NON_FINITE_INPUT: the input or the target is not finite. The output is the input clamped to
      the limits, or the neutral configuration if the input is not finite; the cost is inf.
    - NUMERICAL_FAILURE: a Jacobian is not finite at a finite residual.

    Use an instance in one thread only; several instances may run in several threads. The
    constructor captures graphs. As with any capture of Warp, no other thread may create or copy
    arrays meanwhile, except in solvers.

    Attributes:
        model: The model.
        n_problems: Number of problems.
        n_seeds: Number of seeds of each problem.
        status: :class:`SolveStatus` of each problem, a Warp array of int32 [n_problems]; compare
            ``status.numpy()``.
        best_indices: Index of the best seed, int32 [n_problems].
    """

    read_once = frozenset(('model', 'n_problems', 'n_seeds', 'device'))

    def __init__(
        self,
        model: Any,
        n_problems: int,
        objectives: Sequence[Any],
        *,
        optimizer: IKOptimizer | str = IKOptimizer.LM,
        jacobian_mode: IKJacobianType | str = IKJacobianType.AUTODIFF,
        sampler: IKSampler | str = IKSampler.NONE,
        n_seeds: int = 1,
        noise_std: float = 0.1,
        rng_seed: int = 12345,
        lambda_initial: float = 0.1,
        lambda_factor: float = 2.0,
        lambda_min: float = 1e-5,
        lambda_max: float = 1e10,
        rho_min: float = 1e-3,
        joint_dof_mask: wp.array | np.ndarray | None = None,
        history_len: int = 10,
        h0_scale: float = 1.0,
        line_search_alphas: Sequence[float] | None = None,
        wolfe_c1: float = 1e-4,
        wolfe_c2: float = 0.9,
        respect_limits: bool = True,
        cost_tolerance: float = 1e-6,
        gradient_tolerance: float = 3e-3,
        use_graph: bool = True,
        use_fused: bool = True,
    ) -> None:
        """Create the solver, allocate its buffers and record its launches.

        Args:
            model: A :class:`Model`, a finalized ``newton.Model``, or any object with those of its
                arrays that describe joints.
            n_problems: Number of problems, at least 1.
            objectives: Objectives, ours or Newton's, which other solvers may share. Their numbers
                and arrays on the host, such as Newton's weights, may be replaced; the next solve
                then records again. Your own methods run in every solve, with a warning, if they
                read arrays or clocks, draw random numbers, or change their own data.
            optimizer: 'lm' or 'lbfgs'.
            jacobian_mode: 'autodiff', 'analytic' or 'mixed' (analytic if available).
            sampler: 'none', 'gauss', 'uniform' or 'roberts'; see :class:`IKSampler`.
            n_seeds: Number of seeds of each problem; 1 with sampler 'none'.
            noise_std: Standard deviation of 'gauss' [rad or m]; its first seed is the input.
            rng_seed: Seed of the random numbers.
            lambda_initial: See :class:`IKOptimizerLM`, also for the next four.
            lambda_factor: Factor on the damping.
            lambda_min: Least damping.
            lambda_max: Largest damping.
            rho_min: Least gain ratio of an accepted step.
            joint_dof_mask: Degrees of freedom that may move, bool [joint_dof_count], Warp or
                NumPy. The coordinates of the others do not change.
            history_len: See :class:`IKOptimizerLBFGS`, also for the next four.
            h0_scale: Factor on the initial inverse Hessian.
            line_search_alphas: Step lengths tried together; None for the default.
            wolfe_c1: Constant of sufficient decrease.
            wolfe_c2: Constant of the curvature condition.
            respect_limits: True to keep coordinates within their limits; False leaves limits
                to the objectives, as Newton does.
            cost_tolerance: Squared residual up to which a problem has converged. The default is
                1 mm, or 1 mrad, at weight 1.
            gradient_tolerance: Largest |J_i^T r| / (|J_i| |r|) of a free column of the Jacobian
                up to which a problem is stationary. In float32, smaller values than 1e-3 are
                within rounding.
            use_graph: True to replay launches as graphs. False repeats them one by one, as is
                always done for objectives with code on the host.
            use_fused: True to use the fused Levenberg-Marquardt kernel if every objective has a
                formula. It uses analytic Jacobians in every mode. The results are the same within
                float32 precision.

        Raises:
            ArgumentError: An invalid argument; the error names it.
        """
        self._sampler_kind = enum_member(IKSampler, 'sampler', sampler)
        n_problems = checked_count('n_problems', n_problems, 1)
        n_seeds = checked_count('n_seeds', n_seeds, 1)
        rng_seed = checked_count('rng_seed', rng_seed)
        check_flags(respect_limits=respect_limits, use_graph=use_graph, use_fused=use_fused)
        _check_sampling(n_seeds, self._sampler_kind, noise_std)
        self.model = checked_model(model)
        objectives = checked_objectives(objectives)
        check_batch('n_problems * n_seeds', n_problems * n_seeds, model, objectives)
        self.n_problems, self.n_seeds = n_problems, n_seeds
        self._use_graph = use_graph
        self.device = wp.get_device(model.device)
        with LAUNCH_LOCK.alone():
            self._allocate()
            self._space = make_search_space(
                model, joint_dof_mask=joint_dof_mask, respect_limits=respect_limits
            )
            common = {
                'model': model,
                'n_batch': n_problems * n_seeds,
                'objectives': objectives,
                'jacobian_mode': jacobian_mode,
                'problem_idx': self._problem_idx,
                'joint_dof_mask': joint_dof_mask,
                'respect_limits': respect_limits,
                'cost_tolerance': cost_tolerance,
                'gradient_tolerance': gradient_tolerance,
                'use_graph': use_graph,
            }
            of_lm = (lambda_initial, lambda_factor, lambda_min, lambda_max, rho_min)
            of_lbfgs = (history_len, h0_scale, line_search_alphas, wolfe_c1, wolfe_c2)
            self._backend = _make_backend(
                enum_member(IKOptimizer, 'optimizer', optimizer),
                common,
                of_lm,
                of_lbfgs,
                use_fused,
            )
            self._tree, self._objectives = kinematic_tree(model, wp.float32), objectives
            self._cost_tolerance = cost_tolerance
            self._sampler = Sampler(
                model,
                self._tree,
                self._sampler_kind,
                n_seeds,
                noise_std=noise_std,
                rng_seed=rng_seed,
                joint_dof_mask=joint_dof_mask,
            )
            self._prepare = Recording(self._launch_prepare, self.device, use_graph=use_graph)
            self._select = Recording(self._launch_select, self.device, use_graph=use_graph)
            self.reset()

    def step(
        self,
        joint_q_in: Any,
        joint_q_out: Any,
        iterations: int = 50,
        step_size: float = 1.0,
    ) -> None:
        """Solve every problem.

        Args:
            joint_q_in: Inputs of the sampler, [n_problems, joint_coord_count]; of any library,
                float32 or float64.
            joint_q_out: Output: the best result of each problem, likewise; may be ``joint_q_in``.
            iterations: Number of iterations from each seed.
            step_size: Factor on each step of Levenberg-Marquardt.

        Raises:
            ArgumentError: A wrong shape, type or device, a read-only output, or an invalid number.
        """
        joint_q_in = as_warp('joint_q_in', joint_q_in)
        joint_q_out = as_warp('joint_q_out', joint_q_out, is_output=True)
        shape = self._input.shape
        check_array('joint_q_in', joint_q_in, shape, self.device)
        check_array('joint_q_out', joint_q_out, shape, self.device)
        self._backend.renew()
        with hold_launches(self.device, use_graph=self._backend.is_replayed):
            copy_array(self._input, joint_q_in)
            self._prepare.run()
            self._backend.step(
                self._seeds, self._seeds, iterations=iterations, step_size=step_size
            )
            self._select.run()
            self._mark_beyond_reach()
            copy_array(joint_q_out, self._best)
            if self.device.is_cuda:
                wait_for_warp(joint_q_out)

    def reset(self) -> None:
        """Restart the sampler, and reset the state of the last solve."""
        with hold_launches(self.device, use_graph=self._backend.is_replayed):
            self._backend.reset()
            self._sampler.reset()
            self.best_indices.zero_()

    @property
    def joint_q(self) -> wp.array:
        """Final configuration of every seed, float32 [n_problems * n_seeds, joint_coord_count]."""
        return self._seeds

    @property
    def costs(self) -> wp.array:
        """Squared residual of every seed, float32 [n_problems * n_seeds]."""
        return self._backend.costs

    @property
    def seed_status(self) -> wp.array:
        """:class:`SolveStatus` of every seed, int32 [n_problems * n_seeds]."""
        return self._backend.status

    def compute_costs(self, joint_q: Any) -> wp.array:
        """Return the squared residuals at ``joint_q``, [n_problems * n_seeds, coordinates]."""
        joint_q = as_warp('joint_q', joint_q)
        self._backend.renew()
        with hold_launches(self.device, use_graph=self._backend.is_replayed):
            return self._backend.compute_costs(joint_q)

    def _allocate(self) -> None:
        n, coords, device = self.n_problems, self.model.joint_coord_count, self.device
        rows = n * self.n_seeds
        self._input, self._best = (
            wp.zeros((n, coords), dtype=wp.float32, device=device) for _ in range(2)
        )
        self._seeds = wp.zeros((rows, coords), dtype=wp.float32, device=device)
        self._refused, self.status, self.best_indices = (
            wp.zeros(n, dtype=wp.int32, device=device) for _ in range(3)
        )
        problem_of_row = np.arange(rows, dtype=np.int32) // self.n_seeds
        self._problem_idx = wp.array(problem_of_row, dtype=wp.int32, device=device)

    def _launch_prepare(self) -> None:
        launch(
            seed_kernels().clean_seeds, dim=self.n_problems, inputs=[self._space.arrays],
            outputs=[self._input, self._refused], device=self.device,
        )  # fmt: skip
        self._sampler.launch(self._input, self._refused, self._seeds)

    def _mark_beyond_reach(self) -> None:
        """Write UNREACHABLE for targets that no configuration reaches."""
        if not self.device.is_cuda and _ITERATION_LIMIT not in self.status.numpy():
            return
        for objective in self._objectives:
            if not isinstance(objective, LinkObjective) or not is_recorded(objective):
                continue
            point = objective.world_point()
            if point is not None:
                launch(
                    reach_kernel(), dim=self.n_problems,
                    inputs=[self._tree.arrays, self._space.arrays, *point, self._cost_tolerance],
                    outputs=[self.status], device=self.device,
                )  # fmt: skip

    def _launch_select(self) -> None:
        launch(
            select_kernel(),
            dim=self.n_problems,
            inputs=[
                self._seeds, self._backend.costs, self._backend.status, self._input, self.n_seeds,
            ],
            outputs=[self.best_indices, self.status, self._best],
            device=self.device,
        )  # fmt: skip


def _make_backend(
    optimizer: IKOptimizer,
    common: dict[str, Any],
    of_lm: tuple,
    of_lbfgs: tuple,
    use_fused: bool,
) -> IKBackend:
    """Create the optimizer for the arguments of the constructor."""
    if optimizer is IKOptimizer.LM:
        names = ('lambda_initial', 'lambda_factor', 'lambda_min', 'lambda_max', 'rho_min')
        rules = dict(zip(names, of_lm, strict=True))
        if use_fused and is_fusible(common['objectives']):
            enum_member(IKJacobianType, 'jacobian_mode', common.pop('jacobian_mode'))
            return IKFusedLM(**common, **rules)
        return IKOptimizerLM(**common, **rules)
    names = ('history_len', 'h0_scale', 'line_search_alphas', 'wolfe_c1', 'wolfe_c2')
    return IKOptimizerLBFGS(**common, **dict(zip(names, of_lbfgs, strict=True)))


def _check_sampling(n_seeds: int, sampler: IKSampler, noise_std: float) -> None:
    if sampler is IKSampler.NONE and n_seeds != 1:
        raise ArgumentError(f"n_seeds must be 1 with sampler 'none', got {n_seeds}")
    checked_number('noise_std', noise_std)
