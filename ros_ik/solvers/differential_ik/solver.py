# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics, the best step towards targets within limits and barriers.

The interface is that of roboplan's Oink: a solver for a joint group, tasks, limits and barriers.
It writes a step in place, and checks a step against the barriers at q + dq.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import functools
import os
from typing import Any

import numpy as np
import warp as wp

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.former_names import FormerName
from ros_ik.former_names import renamed_argument
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.kinematics.runtime.array_exchange import as_warp
from ros_ik.kinematics.runtime.array_exchange import check_device
from ros_ik.kinematics.runtime.array_exchange import checked_namespace
from ros_ik.kinematics.runtime.array_exchange import in_namespace
from ros_ik.kinematics.runtime.array_exchange import wait_for_warp
from ros_ik.kinematics.runtime.batch_arrays import cast_into
from ros_ik.kinematics.runtime.batch_layout import batch_zeros
from ros_ik.kinematics.runtime.host_buffer import HostBuffer
from ros_ik.kinematics.runtime.read_once import ReadOnce
from ros_ik.kinematics.stepping.step_state import StepState
from ros_ik.kinematics.tree import kinematic_tree
from ros_ik.launch_lock import shares_launch_lock
from ros_ik.limits import Limit
from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.joint_group import checked_joint_group
from ros_ik.model.model_argument import require_model
from ros_ik.solvers.differential_ik.configurations import Configurations
from ros_ik.solvers.differential_ik.problem import StepProblem
from ros_ik.solvers.differential_ik.problem_cache import ProblemCache
from ros_ik.solvers.differential_ik.settings import DifferentialIKSettings
from ros_ik.solvers.differential_ik.shared_graphs import HelperThreads
from ros_ik.solvers.differential_ik.step_checks import StepChecks
from ros_ik.solvers.differential_ik.step_output import check_step_output
from ros_ik.solvers.differential_ik.step_output import solved_into
from ros_ik.solvers.differential_ik.step_output import STATUSES
from ros_ik.solvers.differential_ik.step_output import write_step
from ros_ik.solvers.differential_ik.step_output import wrong_step
from ros_ik.solvers.differential_ik.tasks.arguments import checked_parts
from ros_ik.solvers.differential_ik.tasks.arguments import REAL_KINDS
from ros_ik.solvers.differential_ik.tasks.arguments import REGULARIZATION
from ros_ik.solvers.differential_ik.tasks.arguments import sorted_arguments
from ros_ik.solvers.differential_ik.tasks.residuals import StepResiduals
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.status import SolveStatus


class DifferentialIK(ReadOnce):
    """Solver for steps of one robot, or of n robots of one model, towards their tasks.

    Use an instance in one thread only, and its tasks, limits and barriers in no other solver.
    Arrays may be of any library, in float32 or float64. On a GPU, batches of coordinates and steps
    in arrays of Warp, PyTorch, JAX or CuPy are not copied to the host.

    Attributes:
        model: The model.
        group: The joints that may move.
        n_robots: Number of robots in a batch.
    """

    read_once = frozenset(('model', 'group', 'n_robots'))

    @shares_launch_lock
    def __init__(
        self,
        model: Model,
        group: JointGroup | str | Sequence[str] = '',
        settings: DifferentialIKSettings | None = None,
        *,
        n_robots: int = 1,
        n_threads: int | None = None,
    ) -> None:
        """Create the solver; the first solve of each combination of arguments captures a graph.

        Args:
            model: The model; the solver uses its device.
            group: A joint group or an argument of :meth:`Model.joint_group`.
            settings: Settings; None for the defaults.
            n_robots: Number of robots in a batch, at least 1.
            n_threads: CPU threads that share a large batch; None for one per core.

        Raises:
            ArgumentError: An unknown group, a group without joints, ``n_robots`` or ``n_threads``
                below 1.
        """
        self.model = require_model(model)
        self.group = checked_joint_group(model, group, 'group')
        self._settings = checked_options('settings', DifferentialIKSettings, settings)
        self.n_robots = n_robots = checked_count('n_robots', n_robots, 1)
        threads = os.cpu_count() or 1 if n_threads is None else n_threads
        threads = checked_count('n_threads', threads, 1)
        if self.group.n_variables < 1:
            raise ArgumentError(f'group: {self.group.title} has no movable joint')
        scalar, device = wp.float64, model.device
        self._device = wp.get_device(device)
        self._tree = kinematic_tree(model, scalar)
        self._configurations = Configurations(model, self._tree, n_robots)
        self._joint_q = self._configurations.joint_q
        self._state = StepState.make(
            model,
            self.group,
            self._joint_q.array,
            batch_zeros((n_robots, model.body_count), wp.transformd, device),
            self.settings.dt,
        )
        self._checks = StepChecks(
            self._state, self._tree, self._configurations, self.settings.enforce_mode
        )
        self._q_row = self._joint_q.host[0] if n_robots == 1 else None
        self._residuals: GraphCache[StepResiduals] = GraphCache()
        self._max_iterations = HostBuffer((1,), wp.int32, device)
        self.set_max_iterations(self.settings.max_iterations)
        make_problem = functools.partial(
            StepProblem,
            self._state,
            self._tree,
            self._joint_q,
            self._max_iterations.array,
            rules=self.settings,
            helpers=HelperThreads(threads) if n_robots > 1 else None,
            n_threads=threads,
        )
        self._problems = ProblemCache(make_problem, self._checks)

    def solve_ik(
        self,
        joint_q: np.ndarray | wp.array,
        tasks: Sequence[Task],
        limits: Any = (),
        barriers: Any = (),
        delta_q: Any = None,
        regularization: float = REGULARIZATION,
        *,
        xp: Any = None,
    ) -> Any:
        """Find the best step at ``joint_q``.

        Limits and barriers may be omitted, as in roboplan's overloads: ``solve_ik(joint_q, tasks,
        delta_q)``, ``solve_ik(joint_q, tasks, limits, delta_q)``, ``solve_ik(joint_q, tasks,
        barriers, delta_q)``, each with a regularization after ``delta_q``.

        Keep the objects of tasks, limits and barriers from call to call, and change targets,
        weights and priorities on them. The graphs of the last eight combinations are kept. Any
        other combination, such as one with a new :class:`Task` of equal values, or the first one
        with different priorities, records its graphs, which takes 12 to 20 ms instead of 0.01 ms
        for a Panda.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            tasks: The tasks.
            limits: Hard limits, which take precedence over barriers.
            barriers: Barriers, relaxed as little as possible if limits conflict with them.
            delta_q: Output, written in place: the step of all degrees of freedom, shape
                [joint_dof_count], or of the variables of the group, shape [n_variables], with a
                leading [n_robots] if ``joint_q`` has one. Zero if the status is not ok.
            regularization: Weight of |dq|^2 in the cost.
            xp: Module of the array of statuses, such as torch or warp. None for the module of
                ``joint_q``, or NumPy for Warp arrays.

        Returns:
            A status, or int32 [n_robots] if ``joint_q`` has a leading dimension.

        Raises:
            ArgumentError: A wrong shape, coordinates that are not real numbers, a read-only
                ``delta_q``, no task, a negative regularization, arguments of the wrong type, or
                two of one type.
        """
        if not isinstance(delta_q, np.ndarray):
            limits, barriers, delta_q, regularization = sorted_arguments(
                limits, barriers, delta_q, regularization
            )
            if not isinstance(delta_q, np.ndarray):
                arguments = joint_q, tasks, limits, barriers, delta_q, regularization
                return self._solve_into(*arguments, checked_namespace(xp, joint_q))
        check_step_output(delta_q)
        given = joint_q
        if (
            self._q_row is not None
            and isinstance(joint_q, np.ndarray)
            and joint_q.shape == self._q_row.shape
            and joint_q.dtype.kind in REAL_KINDS
        ):
            self._q_row[...] = joint_q
        else:
            joint_q = as_warp('joint_q', joint_q)
            self._configurations.load_checked(joint_q)
        problem = self._problems.solved(tasks, limits, barriers, regularization, on_device=False)
        if joint_q.ndim == 2:
            write_step(delta_q, problem.delta_q, problem.x)
            return self._statuses(problem, checked_namespace(xp, given))
        if delta_q.shape == problem.first_step.shape:
            delta_q[...] = problem.first_step
        else:
            write_step(delta_q, problem.first_step, problem.x[0])
        return STATUSES[problem.status.item(0)]

    @shares_launch_lock
    def _solve_into(
        self,
        joint_q: Any,
        tasks: Sequence[Task],
        limits: Sequence[Limit],
        barriers: Sequence[Barrier],
        delta_q: Any,
        regularization: float,
        xp: Any,
    ) -> Any:
        """Find steps and write them to an array of Warp or another library."""
        step = as_warp('delta_q', delta_q, is_output=True)
        joint_q = as_warp('joint_q', joint_q)
        stays = self._configurations.stay_on_device(joint_q)
        if not stays or step.dtype not in (wp.float32, wp.float64):
            return solved_into(
                step,
                lambda rows: self.solve_ik(
                    joint_q, tasks, limits, barriers, rows, regularization, xp=xp
                ),
            )
        check_device('delta_q', step, self._device)
        self._configurations.load_on_device(joint_q)
        problem = self._problems.solved(tasks, limits, barriers, regularization, on_device=True)
        found = {rows.shape: rows for rows in reversed(problem.on_device()[:2])}
        if step.shape not in found:
            raise wrong_step(step.shape, problem.delta_q, problem.x)
        cast_into(step, found[step.shape])
        if self._device.is_cuda:
            wait_for_warp(step)
        return self._statuses(problem, xp, on_device=True)

    def _statuses(self, problem: StepProblem, xp: Any, *, on_device: bool = False) -> Any:
        """Return a copy of the statuses of a batch as an array of a module."""
        if xp is np and not on_device:
            return problem.status.copy()
        status = wp.clone(problem.on_device()[2])
        return in_namespace(status, xp)

    @property
    def settings(self) -> DifferentialIKSettings:
        """Settings; only :meth:`set_max_iterations` can change one later."""
        return self._settings

    @property
    def checks(self) -> StepChecks:
        """Checks of steps; they may be used in place of the methods of the solver."""
        return self._checks

    def set_max_iterations(self, max_iterations: int) -> None:
        """Set ``max_iterations`` from the next solve on, without recording graphs again.

        Raises:
            ArgumentError: Below 1, or more than the device can count.
        """
        self._settings = dataclasses.replace(self._settings, max_iterations=max_iterations)
        self._max_iterations.write(max_iterations)

    def enforce_barriers(
        self,
        joint_q: Any,
        barriers: Sequence[Barrier],
        delta_q: Any,
        tolerance: float = 0.0,
    ) -> SolveStatus | np.ndarray:
        """Check a step against barriers at q + dq, and cut it if a barrier gets worse.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            barriers: The barriers.
            delta_q: The step of all degrees of freedom, [joint_dof_count] or [n_robots,
                joint_dof_count]; cut in place.
            tolerance: Tolerated violation of h, in units of h.

        Returns:
            CONVERGED if nothing was cut, HALTED_BY_BARRIER if something was, NON_FINITE_INPUT for
            a step with NaN or infinity, which becomes zero.

        Raises:
            ArgumentError: A wrong shape, a read-only step or a negative tolerance.
        """
        return self._checks.enforce_barriers(joint_q, barriers, delta_q, tolerance)

    def limit_to_stoppable(
        self,
        joint_q: Any,
        barriers: Sequence[Barrier],
        delta_q: Any,
        last_delta_q: Any,
        acceleration: Any,
        tolerance: float | None = None,
        *,
        jerk: Any = None,
        delta_q_before_last: Any = None,
        delta_q_before: Any = None,
    ) -> SolveStatus | np.ndarray:
        """Check that the robot can still stop after a step, and cut the step if it cannot.

        Unlike :meth:`enforce_barriers`, this respects the acceleration and jerk limits. An unsafe
        step is blended with the stop that was checked together with the previous step; see
        :mod:`ros_ik.solvers.differential_ik.checks.stopping_check`. Call one of the two methods at
        every step.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            barriers: The barriers.
            delta_q: The step over all degrees of freedom, [joint_dof_count] or [n_robots,
                joint_dof_count]; cut in place.
            last_delta_q: The previous step, same shape; zero at rest.
            acceleration: Largest deceleration of each degree of freedom [rad/s^2 or m/s^2], shape
                [joint_dof_count]; inf if it may stop at once.
            tolerance: Tolerated violation of h, in units of h. None for 1e-4 minus the smallest
                margin, at least 0. Without any tolerance, every step along a curved barrier would
                end behind it, so a robot that touches a barrier could not move any more.
            jerk: Largest jerk of each degree of freedom in a stop [rad/s^3 or m/s^3], shape
                [joint_dof_count]; inf for no limit, None for no limits.
            delta_q_before_last: The step before ``last_delta_q``, same shape, read only if jerks
                are limited. None for ``last_delta_q``, a constant speed.
            delta_q_before: Former name of ``delta_q_before_last``, for one release.

        Returns:
            CONVERGED if nothing was cut, HALTED_BY_BARRIER if something was, NON_FINITE_INPUT for
            NaN or infinity; the step is then the stop.

        Raises:
            ArgumentError: A wrong shape, a read-only step, a negative tolerance, an acceleration
                or a jerk not above zero.
        """
        delta_q_before_last = renamed_argument(
            'delta_q_before_last', delta_q_before_last, 'delta_q_before', delta_q_before
        )
        return self._checks.limit_to_stoppable(
            joint_q, barriers, delta_q, last_delta_q, acceleration, tolerance, jerk,
            delta_q_before_last,
        )  # fmt: skip

    enforce_stopping = FormerName('limit_to_stoppable')

    def barrier_values(
        self, joint_q: np.ndarray | wp.array, barriers: Sequence[Barrier]
    ) -> np.ndarray:
        """Return h of every barrier row, without margins, shape [.., rows], in units of h."""
        return self._checks.barrier_values(joint_q, barriers)

    def task_errors(
        self, joint_q: np.ndarray | wp.array, tasks: Sequence[Task]
    ) -> list[np.ndarray]:
        """Return the residuals of each task at ``joint_q``, a list of [.., residual_dim]."""
        joint_q = as_warp('joint_q', joint_q)
        self._configurations.load_checked(joint_q)
        key = checked_items('tasks', tasks, 'tasks')
        checked_parts(key, (), ())
        errors = self._residuals.get(
            key, lambda: StepResiduals(self._state, self._tree, self._joint_q, key)
        ).evaluate()
        return errors if joint_q.ndim == 2 else [rows[0] for rows in errors]

    def forget_steps(self) -> None:
        """Let the next step be as that of a new solver, for instance after a simulation is reset.

        The warm start is forgotten, and the slower motion after a violated barrier. The last steps
        of limits and the weights of tasks stay.
        """
        self._checks.may_reach = True
        self._problems.forget_steps()

    def continue_from(self, other: DifferentialIK) -> None:
        """Copy the state of another solver of the same robots after its last step and check.

        Its tasks, limits and barriers may be others. What they do not need is left out.

        Raises:
            ArgumentError: Not a solver, or one of another number of robots.
        """
        checked_instance('other', DifferentialIK, other)
        if other.n_robots != self.n_robots:
            raise ArgumentError(
                f'other must have n_robots={self.n_robots} as this solver, got {other.n_robots}'
            )
        self._checks.may_reach = other._checks.may_reach
        self._problems.continue_from(other._problems)

    def body_poses(self, joint_q: Any, *, xp: Any = None) -> Any:
        """Return the poses x y z qx qy qz qw of all links in the world, [.., body_count, 7].

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            xp: Module of the array that is returned for a batch, see :meth:`solve_ik`.
        """
        return self._configurations.body_poses(joint_q, xp)

    def integrate(self, joint_q: Any, delta_q: Any, *, xp: Any = None) -> Any:
        """Return q (+) dq, shape of ``joint_q``.

        Args:
            joint_q: Coordinates, shape [joint_coord_count] or [n_robots, joint_coord_count].
            delta_q: The step over all degrees of freedom, [joint_dof_count] or [n_robots,
                joint_dof_count].
            xp: Module of the array that is returned for a batch, see :meth:`solve_ik`.

        Raises:
            ArgumentError: A wrong shape, or a number that is not finite. Numbers of a batch that
                stays on the device are not checked.
        """
        return self._configurations.integrate(joint_q, delta_q, xp)
