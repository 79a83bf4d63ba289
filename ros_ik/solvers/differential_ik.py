# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics: the best step towards targets inside limits and barriers.

The interface is that of roboplan's Oink: a solver for a joint group, tasks, limits, barriers, a
step written in place, and a check of the step against the barriers at q + dq.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
import dataclasses

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.kinematics.chain import dof_coordinates
from ros_ik.kinematics.forward import launch_forward_kinematics
from ros_ik.kinematics.host_buffer import HostBuffer
from ros_ik.kinematics.integrate import launch_integrate
from ros_ik.kinematics.step_state import StepState
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.limits import Limit
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers.barrier_check import BarrierCheck
from ros_ik.solvers.graph import Graph
from ros_ik.solvers.status import SolveStatus
from ros_ik.solvers.step_problem import StepProblem
from ros_ik.solvers.task import Task

# Combinations of tasks, limits and barriers whose graphs are kept; the least recently used goes.
_MAX_PROBLEMS = 8


@dataclasses.dataclass(frozen=True)
class DifferentialIKSettings:
    """Settings of :class:`DifferentialIK`.

    Attributes:
        dt: Duration of a step [s].
        max_iterations: Bound on the constraints added and dropped in one solve; it bounds the
            worst tick. Twice the number of limits and barrier rows is more than is ever needed.
        feasibility_tolerance: How far a barrier row, scaled to unit length, may be missed [rad or
            m]. Limits are met exactly.
        enforce_whole_step: What :meth:`DifferentialIK.enforce_barriers` cuts: False stops the
            joints that move a violated barrier, True stops all of them.
    """

    dt: float = 0.01
    max_iterations: int = 200
    feasibility_tolerance: float = 1e-10
    enforce_whole_step: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentError: A value that is not positive.
        """
        for name in ('dt', 'max_iterations', 'feasibility_tolerance'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise ArgumentError(f'{name} must be positive, got {value}')


class DifferentialIK:
    """Steps of one robot, or of n robots of one model, towards their tasks.

    One instance belongs to one thread. Its tasks, limits and barriers belong to it.

    Attributes:
        model: The model.
        group: The joints that may move.
        settings: The settings.
        n_robots: Number of robots stepped together.
    """

    def __init__(
        self,
        model: Model,
        group: JointGroup | str | Sequence[str] = '',
        settings: DifferentialIKSettings | None = None,
        *,
        n_robots: int = 1,
    ) -> None:
        """Create the solver; graphs are made at the first solve with a combination of arguments.

        Args:
            model: The model; its device is the solver's.
            group: A joint group or what :meth:`Model.joint_group` takes.
            settings: Settings; None for the defaults.
            n_robots: Number of robots stepped together, at least 1.

        Raises:
            ArgumentError: An unknown group, a group without joints, ``n_robots`` below 1.
        """
        self.model = model
        self.group = group if isinstance(group, JointGroup) else model.joint_group(group)
        self.settings = settings or DifferentialIKSettings()
        self.n_robots = n_robots
        if n_robots < 1:
            raise ArgumentError(f'n_robots must be at least 1, got {n_robots}')
        if self.group.n_variables < 1:
            raise ArgumentError(f'joint group {self.group.name!r} holds no movable joint')
        scalar, device = wp.float64, model.device
        self._tree = kinematic_tree(model, scalar)
        self._joint_q = HostBuffer((n_robots, model.joint_coord_count), scalar, device)
        self._body_q = HostBuffer((n_robots, model.body_count), wp.transformd, device)
        self._state = StepState(
            model=model,
            group=self.group,
            scalar=scalar,
            n_robots=n_robots,
            dt=self.settings.dt,
            joint_q=self._joint_q.array,
            body_q=self._body_q.array,
            joint_S_s=wp.zeros(
                (n_robots, model.joint_dof_count), dtype=wp.spatial_vectord, device=device
            ),
            dof_variable=wp.array(self.group.dof_variable, dtype=wp.int32, device=device),
            dof_scale=wp.array(self.group.dof_scale, dtype=scalar, device=device),
            dof_coord=wp.array(dof_coordinates(model), dtype=wp.int32, device=device),
        )
        self._problems: collections.OrderedDict[tuple, StepProblem] = collections.OrderedDict()
        self._checks: collections.OrderedDict[tuple, BarrierCheck] = collections.OrderedDict()
        self._forward_graph = Graph(self._record_forward, device)
        self._step = HostBuffer((n_robots, model.joint_dof_count), scalar, device)
        self._next_q = HostBuffer((n_robots, model.joint_coord_count), scalar, device)
        self._integrate_graph = Graph(self._record_integrate, device)

    def solve_ik(
        self,
        joint_q: np.ndarray,
        tasks: Sequence[Task],
        limits: Sequence[Limit] = (),
        barriers: Sequence[Barrier] = (),
        delta_q: np.ndarray | None = None,
        regularization: float = 1e-12,
    ) -> SolveStatus | np.ndarray:
        """Find the best step at ``joint_q``.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            tasks: What to reach.
            limits: Hard limits; they hold whatever the barriers ask for.
            barriers: Barriers; relaxed to the closest feasible ones where limits forbid them.
            delta_q: Output, written in place: the step over all degrees of freedom, shape
                [joint_dof_count], or over the variables of the group, shape [n_variables], with a
                leading [n_robots] where ``joint_q`` has one. Zero where the status is not ok.
            regularization: Weight of |dq|^2 added to the cost.

        Returns:
            A status, or int32 [n_robots] where ``joint_q`` has a leading dimension.

        Raises:
            ArgumentError: A wrong shape, no task, a negative regularization.
        """
        if delta_q is None:
            raise ArgumentError('delta_q is missing: pass the array to write the step into')
        if not (np.isfinite(regularization) and regularization >= 0.0):
            raise ArgumentError(f'regularization must not be negative, got {regularization}')
        self._write_joint_q(joint_q)
        problem = self._problem(tasks, limits, barriers)
        problem.load_parameters(regularization)
        problem.solve()
        step = problem.delta_q if joint_q.ndim == 2 else problem.delta_q[0]
        if delta_q.shape == step.shape:
            delta_q[...] = step
        elif delta_q.shape == (*step.shape[:-1], self.group.n_variables):
            delta_q[...] = step[..., self.group.variable_dof]
        else:
            raise ArgumentError(
                f'delta_q must have shape {list(step.shape)} or {self.group.n_variables} in its '
                f'last dimension, got {list(delta_q.shape)}'
            )
        return _returned(problem.status, joint_q.ndim)

    def enforce_barriers(
        self,
        joint_q: np.ndarray,
        barriers: Sequence[Barrier],
        delta_q: np.ndarray,
        tolerance: float = 0.0,
    ) -> SolveStatus | np.ndarray:
        """Check a step against barriers at q + dq and cut what makes one worse.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            barriers: The barriers.
            delta_q: The step over all degrees of freedom, [joint_dof_count] or [n_robots,
                joint_dof_count]; cut in place.
            tolerance: How far below zero h may be, in units of h.

        Returns:
            CONVERGED where nothing was cut, HALTED_BY_BARRIER where something was,
            NON_FINITE_INPUT for a step with NaN or infinity, which becomes zero.

        Raises:
            ArgumentError: A wrong shape or a negative tolerance.
        """
        if not tolerance >= 0.0:
            raise ArgumentError(f'tolerance must not be negative, got {tolerance}')
        self._write_joint_q(joint_q)
        expected = (*joint_q.shape[:-1], self.model.joint_dof_count)
        if delta_q.shape != expected:
            raise ArgumentError(
                f'delta_q must have shape {list(expected)}, got {list(delta_q.shape)}'
            )
        check = self._check(barriers)
        check.delta_q[:] = delta_q
        check.run(tolerance)
        delta_q[...] = check.delta_q if joint_q.ndim == 2 else check.delta_q[0]
        return _returned(check.status, joint_q.ndim)

    def barrier_values(self, joint_q: np.ndarray, barriers: Sequence[Barrier]) -> np.ndarray:
        """Return h of every barrier row, without margins, shape [.., rows], in units of h."""
        self._write_joint_q(joint_q)
        check = self._check(barriers)
        check.delta_q[:] = 0.0
        check.run(0.0)
        return check.values.copy() if joint_q.ndim == 2 else check.values[0].copy()

    def task_errors(self, joint_q: np.ndarray, tasks: Sequence[Task]) -> list[np.ndarray]:
        """Return the residuals of each task at ``joint_q``, a list of [.., residual_dim]."""
        self._write_joint_q(joint_q)
        problem = self._problem(tasks, (), ())
        problem.solve()
        residuals = problem.residuals.numpy()
        rows = residuals if joint_q.ndim == 2 else residuals[0]
        return [rows[..., part].copy() for part in problem.task_slices()]

    def body_poses(self, joint_q: np.ndarray) -> np.ndarray:
        """Return the poses x y z qx qy qz qw of all links in the world, [.., body_count, 7]."""
        self._write_joint_q(joint_q)
        self._forward_graph.launch()
        return self._body_q.host.copy() if joint_q.ndim == 2 else self._body_q.host[0].copy()

    def integrate(self, joint_q: np.ndarray, delta_q: np.ndarray) -> np.ndarray:
        """Return q (+) dq, shape of ``joint_q``; ``delta_q`` is over all degrees of freedom."""
        self._write_joint_q(joint_q)
        self._step.host[:] = delta_q
        self._integrate_graph.launch()
        return self._next_q.host.copy() if joint_q.ndim == 2 else self._next_q.host[0].copy()

    def _write_joint_q(self, joint_q: np.ndarray) -> None:
        """Check the shape of the coordinates and put them into the buffer."""
        single = (self.model.joint_coord_count,)
        if joint_q.shape != single and joint_q.shape != (self.n_robots, *single):
            raise ArgumentError(
                f'joint_q must have shape {[*single]} or {[self.n_robots, *single]}, got '
                f'{list(joint_q.shape)}'
            )
        if joint_q.ndim == 1 and self.n_robots != 1:
            raise ArgumentError(f'joint_q must have {self.n_robots} rows, one per robot, got one')
        self._joint_q.host[:] = joint_q

    def _problem(
        self, tasks: Sequence[Task], limits: Sequence[Limit], barriers: Sequence[Barrier]
    ) -> StepProblem:
        """Return the captured problem of these tasks, limits and barriers."""
        key = (tuple(tasks), tuple(limits), tuple(barriers))
        problem = self._problems.get(key)
        if problem is None:
            problem = StepProblem(
                self._state,
                self._tree,
                self._joint_q,
                *key,
                max_iterations=self.settings.max_iterations,
                tolerance=self.settings.feasibility_tolerance,
            )
            _keep(self._problems, key, problem)
        else:
            self._problems.move_to_end(key)
        return problem

    def _check(self, barriers: Sequence[Barrier]) -> BarrierCheck:
        """Return the captured check of these barriers."""
        key = tuple(barriers)
        check = self._checks.get(key)
        if check is None:
            check = BarrierCheck(
                self._state,
                self._tree,
                self._joint_q,
                key,
                whole_step=self.settings.enforce_whole_step,
            )
            _keep(self._checks, key, check)
        else:
            self._checks.move_to_end(key)
        return check

    def _record_forward(self) -> None:
        self._joint_q.upload()
        launch_forward_kinematics(self._tree, self._joint_q.array, self._body_q.array)
        self._body_q.download()

    def _record_integrate(self) -> None:
        self._joint_q.upload()
        self._step.upload()
        launch_integrate(self._tree, self._joint_q.array, self._step.array, self._next_q.array)
        self._next_q.download()


def _keep(cache: collections.OrderedDict, key: tuple, value: object) -> None:
    """Put a captured graph into a cache of bounded size."""
    cache[key] = value
    if len(cache) > _MAX_PROBLEMS:
        cache.popitem(last=False)


def _returned(status: np.ndarray, ndim: int) -> SolveStatus | np.ndarray:
    """Return one status or a copy of all of them."""
    return SolveStatus(status[0]) if ndim == 1 else status.copy()
