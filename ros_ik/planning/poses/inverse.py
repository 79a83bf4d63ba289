# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of a batch of poses, in slices between which it may end."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import time

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.chain_solver_cache import ChainTask
from ros_ik.planning.context.planner import Frame
from ros_ik.planning.context.planner import Planner
from ros_ik.planning.poses.ik_request import IkAnswer
from ros_ik.planning.poses.ik_request import IkRequest
from ros_ik.planning.poses.ik_request import PoseCode
from ros_ik.planning.poses.ik_request import Seed
from ros_ik.solvers import SolveStatus
from ros_ik.solvers.pose_ik.interface.result import GoalSetResult

# Size of the first slice, small because unreachable poses take milliseconds each. Duration of the
# following slices [s], so that a request ends soon after its time limit.
_FIRST_SLICE, _SLICE_TIME = 16, 0.1

_CODES = {
    SolveStatus.CONVERGED: PoseCode.CONVERGED,
    SolveStatus.IN_COLLISION: PoseCode.IN_COLLISION,
    SolveStatus.NON_FINITE_INPUT: PoseCode.NON_FINITE_INPUT,
}


def solve_ik(planner: Planner, request: IkRequest, budget: Budget | None = None) -> IkAnswer:
    """Solve poses or goal sets; each solution is verified by forward kinematics.

    The solution contains the joints of the node's group that move the link relative to the
    reference frame and do not move the reference frame itself. All others keep their measured
    positions, as do joints with a velocity limit of 0. Solutions keep ``limits.position_margin``
    from the limits.

    Args:
        planner: The robot.
        request: The request.
        budget: Time budget; problems not solved within it are TIMED_OUT.

    Raises:
        RequestError: An unknown link or joint, a size or tolerance out of range, joints whose
            state is needed and unknown, collision shapes that a check needs and that are missing
            (UnmeasuredError), or the budget was cancelled.
    """
    checked_instance('planner', Planner, planner)
    budget = checked_options('budget', Budget, budget)
    checked_instance('request', IkRequest, request).check()
    tolerance, preference = request.checked_tolerance(), request.checked_preference()
    if request.check_collisions:
        planner.require_shapes()
    frame = planner.frame(request.link)
    reference = planner.reference(request.reference_frame)
    solved = _solved_coordinates(planner, frame, reference, request.joint_group)
    targets = request.targets_in_world(planner, reference)
    n, n_goals = request.n_problems, request.set_size
    seeds = _seed_rows(planner, request.seeds, n, solved)
    model = planner.collision_model if request.check_collisions else planner.bounded_model
    task = ChainTask(
        model=model,
        link=planner.model.body_label[frame.link],
        offset=frame.offset,
        group=model.joint_group(_joint_names(planner, solved)),
        locked_joint_q=planner.locked_joint_q(None if request.check_collisions else frame.link),
        position_tolerance=tolerance.position,
        rotation_tolerance=tolerance.rotation,
        tolerance_frame=tolerance.frame,
        n_solutions=request.n_solutions,
        check_collisions=request.check_collisions,
        threads=int(request.threads),
    )
    wanted, parts = max(1, request.max_solutions), []
    for rows in _slices(n, planner.chains.most_poses(task), n_goals, budget):
        some = seeds[rows] if len(seeds) > 1 else seeds
        poses = targets[n_goals * rows.start : n_goals * rows.stop]
        found = planner.chains.solve_goal_sets(task, poses, some, n_goals, wanted, preference)
        parts.append(_found(found, rows.start, n_goals, solved))
    names = _joint_names(planner, solved)
    answer = _answer(names, parts, n)
    if not request.check_collisions:
        return answer
    unknown = planner.unknown_joints(planner.contacts_of(names), solved)
    return dataclasses.replace(answer, complete=not unknown, unknown_joints=unknown)


def _slices(n: int, most: int, n_goals: int, budget: Budget) -> Iterator[slice]:
    """Yield slices of ``n`` problems until all are done or the time limit has passed.

    Args:
        n: Number of problems.
        most: Maximum number of poses per slice; a single problem may have more.
        n_goals: Number of poses per problem.
        budget: Time budget.
    """
    first, size = 0, max(1, min(_FIRST_SLICE, most) // n_goals)
    while first < n and not budget.expired:
        budget.check()
        started = time.perf_counter()
        rows = slice(first, min(n, first + size))
        yield rows
        elapsed = max(time.perf_counter() - started, 1e-6)
        rate = n_goals * (rows.stop - rows.start) / elapsed
        # The duration of the first slice may include compilation, so it does not predict the next.
        poses = min(most, int(np.clip(rate * _SLICE_TIME, _FIRST_SLICE, 16 * n_goals * size)))
        size = max(1, poses // n_goals)
        first = rows.stop
    budget.check()


def _solved_coordinates(
    planner: Planner, frame: Frame, reference: int, joint_group: str
) -> np.ndarray:
    """Return the coordinates to solve for, or raise RequestError."""
    group, labels = planner.robot.group, planner.model.body_label
    dofs = planner.moving_dofs(frame.link, reference)
    of_frame = set(planner.moving_dofs(frame.link, -1).tolist())
    driven = [int(d) for d in dofs if group.dof_variable[d] >= 0]
    moving_reference = {int(group.dof_variable[d]) for d in driven if d not in of_frame}
    variables = {int(group.dof_variable[d]) for d in driven} - moving_reference
    variables &= set(planner.variables_of(joint_group).tolist())
    if not variables:
        raise RequestError(
            f'no joint of the group can move link {labels[frame.link]!r} as seen from '
            f'{labels[reference]!r}; the group has {", ".join(group.joint_names)}'
            + ''.join(
                f'; {name} cannot move: its velocity limit is 0'
                for name, can_move in zip(group.joint_names, planner.robot.can_move, strict=True)
                if not can_move
            )
        )
    held = [d for d in dofs if int(group.dof_variable[d]) not in variables]
    planner.require_measured(held, np.array([], dtype=int))
    return planner.robot.coords[sorted(variables)]


def _joint_names(planner: Planner, solved: np.ndarray) -> tuple[str, ...]:
    robot = planner.robot
    names = dict(zip(robot.coords.tolist(), robot.group.joint_names, strict=True))
    return tuple(names[coord] for coord in solved.tolist())


def _seed_rows(
    planner: Planner, seeds: Sequence[Seed], n_problems: int, solved: np.ndarray
) -> np.ndarray:
    """Return seeds as configurations, one row for all problems or one per problem.

    Joints missing in a seed are as measured, or in the middle of their limits.
    """
    if len(seeds) not in (0, 1, n_problems):
        raise RequestError(
            f'seeds must be none, one, or one per pose or goal set ({n_problems}), got '
            f'{len(seeds)}'
        )
    rows = np.tile(_default_seed(planner, solved), (max(1, len(seeds)), 1))
    coords_of: dict[tuple[str, ...], np.ndarray] = {}
    for row, (names, positions) in zip(rows, seeds, strict=False):
        if len(names) != len(positions):
            raise RequestError(
                f'a seed has {len(names)} names and {len(positions)} positions; they must agree'
            )
        key = tuple(names)
        if key not in coords_of:
            coords_of[key] = planner.coordinates(key)
        row[coords_of[key]] = positions
    return rows


def _default_seed(planner: Planner, solved: np.ndarray) -> np.ndarray:
    seed = planner.joint_q.copy()
    lower, upper = planner.robot.driver_limits
    dofs = planner.robot.group.variable_dof
    for coord, dof in zip(planner.robot.coords, dofs, strict=True):
        # A joint with one limit or none has no middle.
        ranged = np.isfinite(lower[dof]) and np.isfinite(upper[dof])
        if coord in solved and not planner.known[coord] and ranged:
            seed[coord] = 0.5 * (lower[dof] + upper[dof])
    return seed


def _found(
    result: GoalSetResult, first: int, n_goals: int, solved: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return pose indices, positions, both errors, and the codes of all problems of a slice."""
    n, goal = len(result.status), result.goal.reshape(len(result.status), -1)
    found = result.with_solution_axis()
    code_of = np.full(max(SolveStatus) + 1, PoseCode.UNREACHABLE, dtype=np.uint8)
    for status, code in _CODES.items():
        code_of[status] = code
    codes = code_of[result.status]
    # An unsolved problem has the best configuration found; one with an invalid pose has none.
    count = np.where(codes == PoseCode.CONVERGED, result.n_found, 1)
    count[codes == PoseCode.NON_FINITE_INPUT] = 0
    wanted = np.arange(found.joint_q.shape[1]) < count[:, None]
    poses = n_goals * (first + np.arange(n))[:, None] + goal
    return (
        poses[wanted],
        found.joint_q[wanted][:, solved],
        found.position_error[wanted],
        found.rotation_error[wanted],
        codes,
    )


def _answer(
    joint_names: tuple[str, ...], parts: list[tuple[np.ndarray, ...]], n_problems: int
) -> IkAnswer:
    """Combine the slices; problems of no slice are TIMED_OUT."""
    none = np.zeros(0)
    nothing = (none.astype(int), np.zeros((0, len(joint_names))), none, none, none)
    index, positions, position_errors, rotation_errors, done = (
        np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True)
    )
    codes = np.full(n_problems, PoseCode.TIMED_OUT, dtype=np.uint8)
    codes[: len(done)] = done
    return IkAnswer(joint_names, index, positions, position_errors, rotation_errors, codes)
