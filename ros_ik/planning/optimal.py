# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Optimal-control commands under the limits and barriers of the node."""

from __future__ import annotations

import dataclasses

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.model.conventions.checks import checked_items
from ros_ik.numbers import check_bounded
from ros_ik.numbers import real_array
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.planner import Planner
from ros_ik.planning.optimal_request import make_command
from ros_ik.planning.optimal_request import OptimalRequest
from ros_ik.planning.trajectories.spline import Point
from ros_ik.planning.trajectories.trajectory import check_trajectory
from ros_ik.solvers import OptimalControlResult
from ros_ik.solvers import StopReason


@dataclasses.dataclass(frozen=True, eq=False)
class OptimalAnswer:
    """Result of an optimal-control command.

    Attributes:
        joint_names: Joints of the motion.
        result: Result of the solver.
        times: Time of each point [s], [k].
        positions: Their positions [rad or m], [k, joints].
        velocities: Their velocities [rad/s or m/s], [k, joints].
        fault: Reason why the motion is invalid, or ''.
        unmeasured_links: Links whose collision shapes are missing in whole or in part, and ignored
            by barriers.
        unknown_joints: Joints on which barriers depend and whose state is unknown. They count as
            being at their last positions, or at neutral ones.
    """

    joint_names: tuple[str, ...]
    result: OptimalControlResult
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    fault: str
    unmeasured_links: tuple[str, ...] = ()
    unknown_joints: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True if barriers have the shapes of all links, at known positions of the joints."""
        return not self.unmeasured_links and not self.unknown_joints


def solve_optimal(
    planner: Planner, request: OptimalRequest, budget: Budget | None = None
) -> OptimalAnswer:
    """Find the motion to the least cost of a command, and check it as a trajectory.

    Args:
        planner: The robot.
        request: The command.
        budget: Time budget.

    Raises:
        RequestError: A value out of range, an unknown link or joint, joints whose state is needed
            and unknown, the time limit has passed or the budget was cancelled.
    """
    checked_instance('planner', Planner, planner)
    budget = checked_options('budget', Budget, budget)
    checked_instance('request', OptimalRequest, request)
    command = make_command(planner, request)
    names, coords, joint_q, joint_qd = _start(planner, request)
    planner.require_measured(planner.needed_dofs(), coords)
    budget.check_time()
    result = planner.optimal.solve(command, joint_q, joint_qd)
    robot = planner.robot
    answer = OptimalAnswer(
        robot.group.joint_names,
        result,
        result.times,
        result.positions[:, robot.coords],
        result.velocities[:, robot.group.variable_dof],
        '' if result.reason is not StopReason.FAILED else _failure(result),
        robot.unmeasured_links,
        planner.unknown_joints(planner.barriers.watched, coords),
    )
    if answer.fault or result.relaxed:
        # A violation at the start cannot be avoided; the answer names it.
        return answer
    # The motion is checked with the other joints where the request puts them.
    with planner.at(names, joint_q[coords].tolist()):
        fault = _violation(planner, answer, joint_q, budget)
    return dataclasses.replace(answer, fault=fault)


def _failure(result: OptimalControlResult) -> str:
    return f'{result.reason.message}: {result.status.message}'


def _violation(
    planner: Planner, answer: OptimalAnswer, joint_q: np.ndarray, budget: Budget
) -> str:
    """Return a description of what the motion violates, or ''."""
    names = [name for name in planner.robot.needed if name not in answer.joint_names]
    held = joint_q[planner.coordinates(names)]
    points = [
        Point(time, [*row, *held], [*speed, *(0.0 for _ in held)])
        for time, row, speed in zip(
            answer.times.tolist(), answer.positions, answer.velocities, strict=True
        )
    ]
    report = check_trajectory(planner, [*answer.joint_names, *names], points, budget=budget)
    violation = report.violation
    return '' if violation is None else f'{violation.what} at {violation.time:g} s'


def _start(
    planner: Planner, request: OptimalRequest
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Return joints and coordinates of the request, and the complete state at the start."""
    with argument_errors_as_request_errors():
        names = checked_items('start_names', request.start_names, 'joint names')
        positions = real_array('start_positions', request.start_positions)
        velocities = real_array('start_velocities', request.start_velocities)
    coords = planner.driving_coordinates(names)
    for name, values, sizes in (
        ('position', positions, ((len(coords),),)),
        ('velocity', velocities, ((0,), (len(coords),))),
    ):
        if values.shape not in sizes:
            raise RequestError(
                f'start.{name}: expected {len(coords)} values, one per name, got {values.size}'
            )
        with argument_errors_as_request_errors():
            check_bounded(f'start.{name}', values)
    joint_qd = np.zeros(planner.model.joint_dof_count)
    if len(velocities):
        starts = planner.model.joint_qd_start.numpy()
        dofs = [starts[planner.model.joint_index(name)] for name in names]
        joint_qd[dofs] = velocities
    return names, coords, planner.configurations(coords, positions[None])[0], joint_qd
