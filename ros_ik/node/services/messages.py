# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of planners' requests to arrays, and of answers to messages."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point as PointMessage
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import numpy as np
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.model.conventions.poses import pose_fault
from ros_ik.model.conventions.poses import pose_rows
from ros_ik.node.control.command_messages import duration
from ros_ik.node.transport.cdr_templates import seconds_of
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.planning import Budget
from ros_ik.planning import check_trajectory
from ros_ik.planning import IkRequest
from ros_ik.planning import Planner
from ros_ik.planning import Point
from ros_ik.planning import PoseCode
from ros_ik.planning import RequestError
from ros_ik.planning import solve_fk
from ros_ik.planning import solve_ik
from ros_ik.planning import UnmeasuredError
from ros_ik.planning.poses.ik_request import searched_solutions
from ros_ik.planning.poses.ik_request import Seed
from ros_ik.servo.barriers.watched_joints import unknown_sentence
from ros_ik.settings import Settings
from ros_ik_interfaces.srv import CheckTrajectory
from ros_ik_interfaces.srv import SolveFk
from ros_ik_interfaces.srv import SolveIk

_DOUBLE = 8


def answer_solve_ik(
    planner: Planner, request: Any, budget: Budget, threads: int
) -> SolveIk.Response:
    """Answer ``~/solve_ik``; raise :class:`RequestError` and similar errors with the reason."""
    wanted = IkRequest(
        poses=_pose_rows(request.poses),
        link=request.link,
        reference_frame=request.reference_frame,
        seeds=[(seed.name, seed.position) for seed in request.seeds],
        max_solutions=request.max_solutions,
        check_collisions=request.check_collisions,
        position_tolerance=request.position_tolerance,
        rotation_tolerance=request.rotation_tolerance,
        threads=threads,
        joint_group=request.joint_group,
        n_goals=request.n_goals,
        position_tolerances=request.position_tolerances,
        rotation_tolerances=request.rotation_tolerances,
        tolerance_frame=request.tolerance_frame,
        base_poses=_pose_rows(request.base_poses),
        preference=request.preference,
    )
    try:
        found = solve_ik(planner, wanted, budget)
    except UnmeasuredError as error:
        return SolveIk.Response(
            success=False, message=str(error), unmeasured_links=list(error.links)
        )
    late = int(np.count_nonzero(found.codes == PoseCode.TIMED_OUT))
    what = 'poses' if wanted.set_size == 1 else 'goal sets'
    late_text = f'{late} of {len(found.codes)} {what} were not reached in {budget.seconds:g} s'
    faults = (
        unknown_sentence(found.unknown_joints),
        _first_fault('poses', wanted.poses), _first_fault('base_poses', wanted.base_poses),
        _first_seed_fault(wanted.seeds),
    )  # fmt: skip
    return SolveIk.Response(
        success=True,
        message='; '.join(text for text in (late_text if late else '', *faults) if text),
        complete=found.complete,
        unmeasured_links=list(planner.robot.unmeasured_links),
        joint_names=list(found.joint_names),
        pose_index=array('I', found.pose_index.astype(np.uint32).tobytes()),
        solutions=_points(found.positions),
        position_errors=array('d', found.position_errors.tobytes()),
        rotation_errors=array('d', found.rotation_errors.tobytes()),
        codes=array('B', found.codes.tobytes()),
    )


def answer_solve_fk(planner: Planner, request: Any, budget: Budget) -> SolveFk.Response:
    """Answer ``~/solve_fk``."""
    positions = _position_rows(request.configurations, len(request.joint_names))
    poses = solve_fk(
        planner, request.joint_names, positions, request.links, request.reference_frame, budget
    )
    return SolveFk.Response(
        success=True, poses=[_pose(row) for row in poses.reshape(-1, 7).tolist()]
    )


def answer_check_trajectory(
    planner: Planner, request: Any, budget: Budget, most_checks: int
) -> CheckTrajectory.Response:
    """Answer ``~/check_trajectory``."""
    points = [
        Point(seconds_of(p.time_from_start), p.positions, p.velocities, p.accelerations)
        for p in request.trajectory.points
    ]
    report = check_trajectory(
        planner,
        request.trajectory.joint_names,
        points,
        request.max_step,
        most_checks=most_checks,
        budget=budget,
    )
    violation = report.violation
    return CheckTrajectory.Response(
        success=True,
        message=unknown_sentence(report.unknown_joints),
        safe=report.safe,
        complete=report.complete,
        unmeasured_links=list(report.unmeasured_links),
        first_violation=duration(violation.time) if violation else Duration(),
        violated=violation.what if violation else '',
        worst_pair_a=report.closest_pair[0],
        worst_pair_b=report.closest_pair[1],
        barriers=list(report.barriers),
        minimum_values=array('d', report.minimum_values.tobytes()),
    )


def check_size(request: Any, settings: Settings, n_tasks: int) -> None:
    """Check the size of a request before it waits in the queue.

    Args:
        request: Request of any of the services.
        settings: Settings in force.
        n_tasks: Number of frame tasks.

    Raises:
        RequestError: The request is larger than ``services.max_poses`` permits.
    """
    if isinstance(request, SolveIk.Request):
        solutions = searched_solutions(request.max_solutions, request.preference)
        what, size = 'poses times max_solutions', len(request.poses) * solutions
        if solutions > max(1, request.max_solutions):
            what = f'poses times the {solutions} solutions that preference chooses from'
    elif isinstance(request, SolveFk.Request):
        what = 'configurations times links'
        size = len(request.configurations) * (len(request.links) or n_tasks)
    elif isinstance(request, CheckTrajectory.Request):
        what, size = 'points', len(request.trajectory.points)
    else:
        return  # bounded where it is answered
    most = settings.services_max_poses
    if size > most:
        raise RequestError(
            f'{what}: at most {most} are permitted (services.max_poses), got {size}'
        )


def time_of(request: Any, settings: Settings) -> float:
    """Return the time limit of a request [s].

    Raises:
        RequestError: The requested time is negative or NaN.
    """
    wanted = getattr(request, 'timeout', 0.0)
    if hasattr(request, 'ik_request'):
        wanted = seconds_of(request.ik_request.timeout)
    if not wanted >= 0.0:
        raise RequestError(f'timeout must not be negative, got {wanted}')
    return min(wanted or math.inf, settings.services_timeout)


def _pose_rows(poses: Iterable[Pose]) -> np.ndarray:
    """Return poses as [n, 7]."""
    numbers = (number for pose in poses for number in pose_numbers(pose))
    return np.fromiter(numbers, np.float64).reshape(-1, 7)


def _position_rows(points: Iterable[JointTrajectoryPoint], n_joints: int) -> np.ndarray:
    """Return the positions of points as [n, n_joints]."""
    rows = [point.positions for point in points]
    for index, row in enumerate(rows):
        if len(row) != n_joints:
            raise RequestError(
                f'configuration {index}: expected {n_joints} positions, one per joint name, '
                f'got {len(row)}'
            )
    return np.frombuffer(b''.join(row.tobytes() for row in rows)).reshape(len(rows), n_joints)


def _first_fault(name: str, poses: np.ndarray) -> str:
    """Return the fault of the first row that is not a pose, or ''."""
    wrong = np.flatnonzero(np.isnan(pose_rows(poses)[:, 0]))
    if not len(wrong):
        return ''
    first = int(wrong[0])
    fault = pose_fault(poses[first].tolist())
    return f'{name}[{first}]: {fault}' + f' (and {len(wrong) - 1} more)' * (len(wrong) > 1)


def _first_seed_fault(seeds: Sequence[Seed]) -> str:
    """Return the fault of the first position that is not finite or too large, or ''."""
    for index, (names, positions) in enumerate(seeds):
        for name, value in zip(names, positions, strict=True):
            if not abs(value) <= MAX_MAGNITUDE:
                return (
                    f'seeds[{index}]: the position of {name!r} must be finite and at most '
                    f'{MAX_MAGNITUDE:g} in size, got {value!r}'
                )
    return ''


def _points(positions: np.ndarray) -> list[JointTrajectoryPoint]:
    """Return one point per row."""
    data, size = positions.tobytes(), _DOUBLE * positions.shape[1]
    return [
        JointTrajectoryPoint(positions=array('d', data[first : first + size]))
        for first in range(0, len(data), size)
    ]


def _pose(row: list[float]) -> Pose:
    x, y, z, qx, qy, qz, qw = row
    return Pose(
        position=PointMessage(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw)
    )
