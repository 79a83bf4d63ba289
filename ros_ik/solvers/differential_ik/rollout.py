# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Rollout of several steps ahead, each solved and checked at the configuration after the last."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np

from ros_ik.barriers import Barrier
from ros_ik.errors import ArgumentError
from ros_ik.former_names import renamed_argument
from ros_ik.kinematics.runtime.arguments import checked_count
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_numbers
from ros_ik.limits import AccelerationLimit
from ros_ik.limits import JerkLimit
from ros_ik.limits import Limit
from ros_ik.limits import MotionLimit
from ros_ik.solvers.differential_ik.solver import DifferentialIK
from ros_ik.solvers.differential_ik.tasks.arguments import checked_parts
from ros_ik.solvers.differential_ik.tasks.arguments import REGULARIZATION
from ros_ik.solvers.differential_ik.tasks.task import Task
from ros_ik.solvers.status import SolveStatus

# Largest number of steps of one call, ten seconds at 1 kHz.
MAX_STEPS = 10_000


@dataclasses.dataclass(frozen=True)
class RolloutResult:
    """Trajectory of steps, with a leading dimension [n_robots] if the start had one.

    Attributes:
        joint_q: Configurations, the start first, [.., n_steps + 1, joint_coord_count].
        delta_q: Steps between them, [.., n_steps, joint_dof_count].
        status: :class:`SolveStatus` of each step, int32 [.., n_steps]; HALTED_BY_BARRIER if the
            check cut it. Without a solution the step is zero, as that of ``solve_ik``. The robot
            then stops at once, beyond its acceleration limits: they hold up to the last step that
            is ok.
    """

    joint_q: np.ndarray
    delta_q: np.ndarray
    status: np.ndarray


def rollout(
    solver: DifferentialIK,
    joint_q: np.ndarray,
    tasks: Sequence[Task],
    limits: Sequence[Limit] = (),
    barriers: Sequence[Barrier] = (),
    *,
    n_steps: int,
    last_delta_q: np.ndarray | None = None,
    delta_q_before_last: np.ndarray | None = None,
    acceleration: np.ndarray | None = None,
    regularization: float = REGULARIZATION,
    delta_q_before: np.ndarray | None = None,
) -> RolloutResult:
    """Solve and check a number of steps ahead.

    Acceleration and jerk limits in ``limits`` get the last steps before each solve, and keep them
    afterwards.

    Args:
        solver: The solver; its first call with a combination of arguments allocates.
        joint_q: Start, shape [joint_coord_count] or [n_robots, joint_coord_count].
        tasks: The tasks; their targets are constant.
        limits: Hard limits.
        barriers: Barriers.
        n_steps: Number of steps, 1 to 10,000.
        last_delta_q: Step before the start, shape [.., joint_dof_count]; None at rest.
        delta_q_before_last: The step before ``last_delta_q``, for jerk limits; None for an equal
            step.
        acceleration: Deceleration for :meth:`DifferentialIK.limit_to_stoppable`,
            [joint_dof_count]; None for :meth:`DifferentialIK.enforce_barriers`.
        regularization: As in :meth:`DifferentialIK.solve_ik`.
        delta_q_before: Former name of ``delta_q_before_last``, for one release.

    Returns:
        Configurations, steps and statuses.

    Raises:
        ArgumentError: A wrong shape, a number out of range, or a start or step that is not finite.
    """
    checked_instance('solver', DifferentialIK, solver)
    checked_parts(tasks, limits, barriers)
    if checked_count('n_steps', n_steps, 1) > MAX_STEPS:
        raise ArgumentError(f'n_steps must be from 1 to {MAX_STEPS}, got {n_steps}')
    delta_q_before_last = renamed_argument(
        'delta_q_before_last', delta_q_before_last, 'delta_q_before', delta_q_before
    )
    start = _finite('joint_q', joint_q)
    if start.ndim not in (1, 2):
        raise ArgumentError(
            'joint_q must have shape [joint_coord_count] or [n_robots, joint_coord_count], got '
            f'{list(start.shape)}'
        )
    lead, dofs = start.shape[:-1], solver.model.joint_dof_count
    last = _step('last_delta_q', last_delta_q, (*lead, dofs), np.zeros((*lead, dofs)))
    before_last = _step('delta_q_before_last', delta_q_before_last, (*lead, dofs), last)
    result = RolloutResult(
        joint_q=np.zeros((*lead, n_steps + 1, *start.shape[-1:])),
        delta_q=np.zeros((*lead, n_steps, dofs)),
        status=np.zeros((*lead, n_steps), dtype=np.int32),
    )
    result.joint_q[..., 0, :] = start
    now, step = start, np.zeros((*lead, dofs))
    for k in range(n_steps):
        _set_last_steps(limits, last, before_last)
        status = np.asarray(solver.solve_ik(now, tasks, limits, barriers, step, regularization))
        if barriers:
            if acceleration is None:
                checked = solver.enforce_barriers(now, barriers, step)
            else:
                checked = solver.limit_to_stoppable(now, barriers, step, last, acceleration)
            cut = np.asarray(checked) == SolveStatus.HALTED_BY_BARRIER
            status = np.where(cut, SolveStatus.HALTED_BY_BARRIER, status)
        now = solver.integrate(now, step)
        result.joint_q[..., k + 1, :], result.delta_q[..., k, :] = now, step
        result.status[..., k] = status
        last, before_last = step.copy(), last
    return result


def _step(
    name: str, given: np.ndarray | None, shape: tuple[int, ...], otherwise: np.ndarray
) -> np.ndarray:
    """Return a step of the right shape, or raise ArgumentError."""
    if given is None:
        return otherwise
    step = _finite(name, given)
    if step.shape != shape:
        raise ArgumentError(f'{name} must have shape {list(shape)}, got {list(step.shape)}')
    return step


def _finite(name: str, given: np.ndarray) -> np.ndarray:
    """Return a copy in float64, or raise ArgumentError naming the rows that are not finite."""
    values = checked_numbers(name, given)
    finite = np.isfinite(values).all(axis=-1)
    if not finite.all():
        where = f' of robots {np.flatnonzero(~finite).tolist()}' if values.ndim > 1 else ''
        raise ArgumentError(f'{name}{where} must be finite, got {values[~finite].squeeze()}')
    return values


def _set_last_steps(limits: Sequence[Limit], last: np.ndarray, before_last: np.ndarray) -> None:
    """Set the last steps of acceleration and jerk limits."""
    for limit in limits:
        if isinstance(limit, AccelerationLimit):
            limit.set_last_displacement(last)
        elif isinstance(limit, JerkLimit | MotionLimit):
            limit.set_last_displacements(last, before_last)
