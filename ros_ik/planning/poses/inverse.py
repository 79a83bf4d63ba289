# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of a batch of poses, in slices that time or a new model may end."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import enum
import time

import numpy as np

from ros_ik.model.conventions import poses as pose_math
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.chain_solver_cache import ChainTask
from ros_ik.planning.context.planner import Frame
from ros_ik.planning.context.planner import Planner
from ros_ik.solvers import ChainIKResult
from ros_ik.solvers import SolveStatus

# Accepted errors where a request gives none [m, rad]: those of inverse_kinematics.
POSITION_TOLERANCE, ROTATION_TOLERANCE = 1e-3, 1e-2
# The first slice is small: a slice of unreachable poses takes milliseconds for each. The next ones
# take about this long [s], so that a request ends soon after its time is over.
_FIRST_SLICE, _SLICE_TIME = 16, 0.1

Seed = tuple[Sequence[str], Sequence[float]]


class PoseCode(enum.IntEnum):
    """Outcome of one pose; the constants of SolveIk.srv."""

    CONVERGED = 0
    UNREACHABLE = 1
    IN_COLLISION = 2
    NON_FINITE_INPUT = 3
    TIMED_OUT = 4


_CODES = {
    SolveStatus.CONVERGED: PoseCode.CONVERGED,
    SolveStatus.IN_COLLISION: PoseCode.IN_COLLISION,
    SolveStatus.NON_FINITE_INPUT: PoseCode.NON_FINITE_INPUT,
}


@dataclasses.dataclass(frozen=True, eq=False)
class IkRequest:
    """Poses that a frame is to reach.

    Attributes:
        poses: Targets in the reference frame, shape [n, 7], x y z qx qy qz qw.
        link: Link to place; '' for the controlled frame of the first frame task.
        reference_frame: Link in which the poses are given; '' for the base frame.
        seeds: Names and positions [rad or m] of joints, one per pose, one for all, or none.
        max_solutions: Distinct solutions wanted per pose; 0 counts as 1.
        check_collisions: Whether solutions in collision with the robot itself are refused.
        position_tolerance: Accepted distance [m]; 0 for the default.
        rotation_tolerance: Accepted angle [rad]; 0 for the default.
        threads: Threads that share a slice.
        joint_group: What :meth:`Model.joint_group` takes: of the node's joints only those move; ''
            for all of them.
    """

    poses: np.ndarray
    link: str = ''
    reference_frame: str = ''
    seeds: Sequence[Seed] = ()
    max_solutions: int = 1
    check_collisions: bool = False
    position_tolerance: float = 0.0
    rotation_tolerance: float = 0.0
    threads: int = 1
    joint_group: str = ''


@dataclasses.dataclass(frozen=True, eq=False)
class IkAnswer:
    """Answer to a request for configurations.

    Attributes:
        joint_names: Joints that were solved for.
        pose_index: Which pose each solution belongs to, int [m], ascending.
        positions: Positions of these joints, shape [m, len(joint_names)].
        position_errors: Distance of each solution to its pose [m], [m].
        rotation_errors: Angle of each solution to its pose [rad], [m].
        codes: :class:`PoseCode` of each pose, uint8 [n].
        complete: Whether collisions were checked, with the shapes of all links.
    """

    joint_names: tuple[str, ...]
    pose_index: np.ndarray
    positions: np.ndarray
    position_errors: np.ndarray
    rotation_errors: np.ndarray
    codes: np.ndarray
    complete: bool = False


def solve_ik(planner: Planner, request: IkRequest, budget: Budget | None = None) -> IkAnswer:
    """Find configurations for poses; every one is verified by forward kinematics.

    The joints that are solved for are those of the node's group that move the link as seen from
    the reference frame and do not move the reference frame itself; the other ones are held as
    measured. Solutions keep ``limits.position_margin`` from the limits.

    Args:
        planner: The robot.
        request: What is wanted.
        budget: Time that there is; poses not reached in it are TIMED_OUT.

    Raises:
        RequestError: An unknown link or joint, a size or tolerance out of range, joints whose
            state is needed and unknown, collision shapes that a check needs and that are missing
            (UnmeasuredError), or the budget was cancelled.
    """
    budget = budget or Budget()
    _check_options(request)
    if request.check_collisions:
        planner.require_shapes()
    frame = planner.frame(request.link)
    reference = planner.reference(request.reference_frame)
    solved = _solved_coordinates(planner, frame, reference, request.joint_group)
    targets = _targets_in_world(planner, request.poses, reference)
    seeds = _seed_rows(planner, request.seeds, len(targets), solved)
    model = planner.collision_model if request.check_collisions else planner.bounded_model
    task = ChainTask(
        model=model,
        link=planner.model.body_label[frame.link],
        offset=frame.offset,
        group=model.joint_group(_joint_names(planner, solved)),
        held=planner.held(None if request.check_collisions else frame.link),
        position_tolerance=request.position_tolerance or POSITION_TOLERANCE,
        rotation_tolerance=request.rotation_tolerance or ROTATION_TOLERANCE,
        n_solutions=max(1, request.max_solutions),
        check_collisions=request.check_collisions,
        threads=request.threads,
    )
    parts = []
    for rows in _slices(len(targets), planner.chains.most_poses(task), budget):
        some = seeds[rows] if len(seeds) > 1 else seeds
        result = planner.chains.solve(task, targets[rows], some)
        parts.append(_found(result, rows.start, solved))
    answer = _answer(_joint_names(planner, solved), parts, len(targets))
    return dataclasses.replace(answer, complete=request.check_collisions)


def _slices(n: int, most: int, budget: Budget) -> Iterator[slice]:
    """Yield slices of ``n`` problems, ``most`` at a time, until all are done or time is over."""
    first, size = 0, min(_FIRST_SLICE, most)
    while first < n and not budget.expired:
        budget.check()
        started = time.perf_counter()
        rows = slice(first, min(n, first + size))
        yield rows
        elapsed = max(time.perf_counter() - started, 1e-6)
        rate = (rows.stop - rows.start) / elapsed
        # The first slice of a robot may have compiled for seconds: it says little about the next.
        size = min(most, int(np.clip(rate * _SLICE_TIME, _FIRST_SLICE, 16 * size)))
        first = rows.stop
    budget.check()


def _solved_coordinates(
    planner: Planner, frame: Frame, reference: int, joint_group: str
) -> np.ndarray:
    """Return the coordinates that are solved for, or raise RequestError."""
    group, labels = planner.robot.group, planner.model.body_label
    dofs = planner.moving_dofs(frame.link, reference)
    of_frame = set(planner.moving_dofs(frame.link, -1).tolist())
    driven = [int(d) for d in dofs if group.dof_variable[d] >= 0]
    moving_reference = {int(group.dof_variable[d]) for d in driven if d not in of_frame}
    variables = {int(group.dof_variable[d]) for d in driven} - moving_reference
    if joint_group:
        variables &= set(planner.variables_of(joint_group).tolist())
    if not variables:
        raise RequestError(
            f'no joint of the group moves link {labels[frame.link]!r} as seen from '
            f'{labels[reference]!r}; the group has {", ".join(group.joint_names)}'
        )
    held = [d for d in dofs if int(group.dof_variable[d]) not in variables]
    planner.require_measured(held, np.array([], dtype=int))
    return planner.robot.coords[sorted(variables)]


def _check_options(request: IkRequest) -> None:
    for name in ('position_tolerance', 'rotation_tolerance'):
        value = getattr(request, name)
        if not value >= 0.0:
            raise RequestError(f'{name} must not be negative, got {value}')
    if np.isinf(request.position_tolerance) and np.isinf(request.rotation_tolerance):
        raise RequestError('position_tolerance and rotation_tolerance cannot both be infinite')


def _joint_names(planner: Planner, solved: np.ndarray) -> tuple[str, ...]:
    robot = planner.robot
    names = dict(zip(robot.coords.tolist(), robot.group.joint_names, strict=True))
    return tuple(names[coord] for coord in solved.tolist())


def _targets_in_world(planner: Planner, poses: np.ndarray, reference: int) -> np.ndarray:
    """Return poses given in a link in the world, at the measured configuration."""
    if not len(poses):
        raise RequestError('poses must have at least one entry, got none')
    frame = planner.body_poses(planner.joint_q[None])[0, reference]
    return pose_math.multiply(frame, pose_math.pose_rows(poses))


def _seed_rows(
    planner: Planner, seeds: Sequence[Seed], n_poses: int, solved: np.ndarray
) -> np.ndarray:
    """Return seeds as configurations, one row for all poses or one per pose.

    Joints that a seed leaves out are as measured, or in the middle of their limits.
    """
    if len(seeds) not in (0, 1, n_poses):
        raise RequestError(f'seeds must be none, one, or one per pose ({n_poses}): {len(seeds)}')
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
    lower, upper = planner.robot.lower, planner.robot.upper
    dofs = planner.robot.group.variable_dof
    for coord, dof in zip(planner.robot.coords, dofs, strict=True):
        if coord in solved and not planner.known[coord]:
            middle = 0.5 * (lower[dof] + upper[dof])
            seed[coord] = middle if np.isfinite(middle) else seed[coord]
    return seed


def _found(result: ChainIKResult, first: int, solved: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return pose indices, positions, both errors, and the codes of all poses of a slice."""
    n = len(result.status)
    joint_q = result.joint_q.reshape(n, -1, result.joint_q.shape[-1])
    code_of = np.full(max(SolveStatus) + 1, PoseCode.UNREACHABLE, dtype=np.uint8)
    for status, code in _CODES.items():
        code_of[status] = code
    codes = code_of[result.status]
    # A pose without a solution gives the best that was found, one that is no pose gives nothing.
    count = np.where(codes == PoseCode.CONVERGED, result.n_found, 1)
    count[codes == PoseCode.NON_FINITE_INPUT] = 0
    wanted = np.arange(joint_q.shape[1]) < count[:, None]
    return (
        first + np.nonzero(wanted)[0],
        joint_q[wanted][:, solved],
        result.position_error.reshape(n, -1)[wanted],
        result.rotation_error.reshape(n, -1)[wanted],
        codes,
    )


def _answer(
    joint_names: tuple[str, ...], parts: list[tuple[np.ndarray, ...]], n_poses: int
) -> IkAnswer:
    """Put the slices together; poses that no slice has reached are TIMED_OUT."""
    none = np.zeros(0)
    nothing = (none.astype(int), np.zeros((0, len(joint_names))), none, none, none)
    index, positions, position_errors, rotation_errors, done = (
        np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True)
    )
    codes = np.full(n_poses, PoseCode.TIMED_OUT, dtype=np.uint8)
    codes[: len(done)] = done
    return IkAnswer(joint_names, index, positions, position_errors, rotation_errors, codes)
