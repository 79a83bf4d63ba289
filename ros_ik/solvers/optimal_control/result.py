# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Result of an optimal-control command: the motion, the reason for its end, the final costs."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import math

import numpy as np

from ros_ik.former_names import FormerName
from ros_ik.model import Model
from ros_ik.solvers.optimal_control.commands.reached import TargetError
from ros_ik.solvers.optimal_control.commands.targets import OptimalControlCommand
from ros_ik.solvers.optimal_control.ends.ends import UnmetTargets
from ros_ik.solvers.optimal_control.least_cost.costs import Costs
from ros_ik.solvers.optimal_control.least_cost.search import SearchResult
from ros_ik.solvers.optimal_control.least_cost.search import StopReason
from ros_ik.solvers.optimal_control.timing.limits import GroupLimits
from ros_ik.solvers.optimal_control.timing.limits import VariableLimits
from ros_ik.solvers.optimal_control.timing.motion import Motion
from ros_ik.solvers.optimal_control.timing.motion import MotionEnd
from ros_ik.solvers.status import SolveStatus

# Rounding error of positions [rad or m], and relative one of velocities.
_ROUNDING = 1e-9
_FINISHED = (
    StopReason.STOP_COST, StopReason.PATIENCE, StopReason.LIMIT, StopReason.MINIMUM,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class OptimalControlFeedback:
    """Costs at the end of the motion, with the names of rby1's feedback.

    Attributes:
        total_cost: Sum of all costs; inf if it could not be computed.
        cartesian_costs: Cost of each Cartesian target, in the order of the command.
        center_of_mass_cost: Cost of the centre of mass, 0 without one.
        joint_position_costs: Cost of each joint target, in the order of the command.
        finished: True if the motion reaches the end of a completed search.
    """

    total_cost: float
    cartesian_costs: tuple[float, ...]
    center_of_mass_cost: float
    joint_position_costs: tuple[float, ...]
    finished: bool


@dataclasses.dataclass(frozen=True, eq=False)
class OptimalControlResult:
    """Motion with its status, the reason for its end, and its costs.

    Attributes:
        status: ``CONVERGED`` if every limit and barrier holds and no target is out of reach.
            ``UNREACHABLE`` if targets are, named in ``unreachable_targets``, and ``AT_LIMITS`` if
            limits or barriers are active at the end too. ``RELAXED`` if limits, barriers or
            targets were violated, named in ``relaxed`` and ``violated_targets``.
            ``HALTED_BY_BARRIER`` if no free motion was found. ``NON_FINITE_INPUT`` for a result
            without knots. Every motion ends at rest.
        reason: Reason for the end of the search. With ``TIME_HORIZON`` the motion stops before
            that end, so it may miss targets although the status is ``CONVERGED``: status and
            ``unreachable_targets`` describe the end that it would reach with more time.
        relaxed: Violations that the start state makes unavoidable, one sentence each.
        violated_targets: Pose and centre-of-mass targets that are met at the start and at the end,
            but not in between, with their largest errors, one sentence each.
        unreachable_targets: Pose and centre-of-mass targets that are out of reach from the end of
            the motion, with their errors there, one sentence each; from the end of the search
            with ``TIME_HORIZON``. Targets that are missed because of the weights of joint targets
            or a stopping rule are not included.
        times: Time of each knot, [k], s, from 0.
        positions: Coordinates at the knots, [k, joint_coord_count], rad and m.
        velocities: At the knots, [k, joint_dof_count], rad/s and m/s; zero in the last.
        accelerations: At the knots, linear between them, [k, joint_dof_count], rad/s^2 and m/s^2;
            zero in the first and in the last.
        control_hold_time: Duration for which the last point is held [s], up to the last knot.
        iterations: Iterations of the search.
        feedback: The costs at the end.
    """

    status: SolveStatus
    reason: StopReason
    relaxed: tuple[str, ...]
    violated_targets: tuple[str, ...]
    unreachable_targets: tuple[str, ...]
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    control_hold_time: float
    iterations: int
    feedback: OptimalControlFeedback

    left = FormerName('violated_targets')
    missed = FormerName('unreachable_targets')


def refused(model: Model, command: OptimalControlCommand) -> OptimalControlResult:
    """Return the result for a state that is not finite, without a motion."""
    has_center = command.center_of_mass_target is not None
    return OptimalControlResult(
        status=SolveStatus.NON_FINITE_INPUT,
        reason=StopReason.FAILED,
        relaxed=(),
        violated_targets=(),
        unreachable_targets=(),
        times=np.zeros(0),
        positions=np.zeros((0, model.joint_coord_count)),
        velocities=np.zeros((0, model.joint_dof_count)),
        accelerations=np.zeros((0, model.joint_dof_count)),
        control_hold_time=command.header.control_hold_time,
        iterations=0,
        feedback=OptimalControlFeedback(
            math.inf,
            (math.inf,) * len(command.cartesian_targets),
            math.inf if has_center else 0.0,
            (math.inf,) * len(command.joint_position_targets),
            finished=False,
        ),
    )


def make_result(
    model: Model,
    group_limits: GroupLimits,
    limits: VariableLimits,
    command: OptimalControlCommand,
    joint_q: np.ndarray,
    found: SearchResult,
    motion: Motion,
    costs: Costs,
    unmet: UnmetTargets,
    violated: Sequence[TargetError],
    dt: float,
) -> OptimalControlResult:
    """Return the result of a search and its motion.

    Args:
        model: The model.
        group_limits: Limits of the group, and how its variables drive joints.
        limits: Limits of the variables.
        command: The command.
        joint_q: Coordinates at the start [joint_coord_count].
        found: Result of the search.
        motion: The motion of the variables.
        costs: The costs at its end.
        unmet: The targets that are out of reach there.
        violated: The targets that are violated along the motion.
        dt: Time between knots [s].
    """
    knots, hold = len(motion.velocities), command.header.control_hold_time
    times = dt * np.arange(knots)
    rows = np.append(np.arange(knots), [knots - 1] if hold > 0.0 else []).astype(int)
    times = np.append(times, [times[-1] + hold] if hold > 0.0 else [])
    dofs = model.joint_dof_count
    relaxed = _relaxed(group_limits, limits, motion, dt)
    reason, status = found.reason, found.status
    if reason is not StopReason.FAILED and motion.end is not MotionEnd.GOAL:
        reason = StopReason.LIMIT if motion.end is MotionEnd.BARRIER else StopReason.TIME_HORIZON
    if status is SolveStatus.CONVERGED:
        if relaxed or violated:
            status = SolveStatus.RELAXED
        elif unmet.errors:
            status = SolveStatus.AT_LIMITS if unmet.at_limits else SolveStatus.UNREACHABLE
    return OptimalControlResult(
        status=status,
        reason=reason,
        relaxed=relaxed,
        violated_targets=tuple(f'violated on the way: {error}' for error in violated),
        unreachable_targets=tuple(f'out of reach: {error}' for error in unmet.errors),
        times=times,
        positions=group_limits.coordinates(joint_q, motion.positions)[rows],
        velocities=group_limits.degrees_of_freedom(motion.velocities, dofs)[rows],
        accelerations=group_limits.degrees_of_freedom(motion.accelerations, dofs)[rows],
        control_hold_time=hold,
        iterations=found.iterations,
        feedback=OptimalControlFeedback(
            costs.total,
            costs.cartesian,
            costs.center_of_mass,
            costs.joint_positions,
            finished=reason in _FINISHED,
        ),
    )


def _relaxed(
    group_limits: GroupLimits, limits: VariableLimits, motion: Motion, dt: float
) -> tuple[str, ...]:
    """Return the violations that the start state makes unavoidable."""
    least, most = motion.position_range(dt)
    outside = (least < limits.low - _ROUNDING) | (most > limits.high + _ROUNDING)
    fast = np.any(np.abs(motion.velocities) > limits.speed * (1.0 + _ROUNDING), axis=0)
    sentences = [
        f'{what}: {", ".join(np.array(group_limits.names)[joints])}'
        for what, joints in (
            ('outside the position limits on the way', outside),
            ('faster than the velocity limits at first', fast),
            ('braked harder than the acceleration limits', motion.raised),
        )
        if joints.any()
    ]
    if motion.crosses:
        sentences.append('the start lies beyond a barrier, or is too fast to stop before one')
    return tuple(sentences)
