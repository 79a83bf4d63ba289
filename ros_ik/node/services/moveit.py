# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics services of MoveIt, if moveit_msgs is installed.

They replace ``/compute_ik`` and ``/compute_fk`` of move_group under the node's name; clients only
need a remapping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np
from sensor_msgs.msg import JointState

from ros_ik.errors import RosIkError
from ros_ik.model.conventions import poses as pose_math
from ros_ik.node.services.moveit_package import HAS_MOVEIT
from ros_ik.node.transport.pose_messages import fill_pose
from ros_ik.node.transport.pose_messages import pose_numbers
from ros_ik.numbers import check_bounded
from ros_ik.planning import Budget
from ros_ik.planning import IkRequest
from ros_ik.planning import Planner
from ros_ik.planning import PoseCode
from ros_ik.planning import RequestError
from ros_ik.planning import solve_ik
from ros_ik.planning import UnmeasuredError
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.planner import Frame
from ros_ik.planning.poses.multi_frame_ik import solve_frames_together
from ros_ik.servo.barriers.watched_joints import unknown_sentence

if HAS_MOVEIT:
    from moveit_msgs.msg import MoveItErrorCodes as Code
    from moveit_msgs.srv import GetPositionFK
    from moveit_msgs.srv import GetPositionIK

_SOURCE = 'ros_ik'


class _MoveItError(RosIkError):
    """A failure with an error code of MoveIt."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def service_types() -> dict[str, Any]:
    """Return the service types by name; empty if moveit_msgs is not installed."""
    return {'compute_ik': GetPositionIK, 'compute_fk': GetPositionFK} if HAS_MOVEIT else {}


def refusal(kind: Any, reason: str) -> Any:
    """Return the response of a refused request."""
    return kind.Response(error_code=_code(Code.FAILURE, reason))


def answer_compute_ik(planner: Planner, request: Any, budget: Budget, threads: int) -> Any:
    """Answer ``~/compute_ik``; the response always has an error code."""
    wanted, response = request.ik_request, GetPositionIK.Response()
    try:
        with _state(planner, wanted.robot_state):
            joint_q = _solve(planner, wanted, budget, threads)
        response.solution.joint_state = _joint_state(planner, joint_q)
        response.error_code = _code(Code.SUCCESS, '')
    except _MoveItError as error:
        response.error_code = _code(error.code, str(error))
    return response


def answer_compute_fk(planner: Planner, request: Any, budget: Budget) -> Any:
    """Answer ``~/compute_fk``; the response always has an error code."""
    response = GetPositionFK.Response()
    try:
        links = [_link(planner, name) for name in request.fk_link_names]
        if not links:
            raise _MoveItError(Code.INVALID_LINK_NAME, 'fk_link_names: expected one, got none')
        reference = _frame(planner, request.header.frame_id)
        with _state(planner, request.robot_state):
            _require(planner, [(link, reference) for link in links])
            body_q = planner.body_poses(planner.joint_q[None])[0]
        poses = pose_math.multiply(pose_math.inverse(body_q[[reference]]), body_q[links])
        response.pose_stamped = [_stamped(planner, reference, row) for row in poses.tolist()]
        response.fk_link_names = list(request.fk_link_names)
        response.error_code = _code(Code.SUCCESS, '')
    except _MoveItError as error:
        response.error_code = _code(error.code, str(error))
    return response


def _solve(planner: Planner, wanted: Any, budget: Budget, threads: int) -> np.ndarray:
    """Return the solution, or raise :class:`_MoveItError`."""
    constraints = wanted.constraints
    if any(
        len(getattr(constraints, f'{kind}_constraints'))
        for kind in ('joint', 'position', 'orientation', 'visibility')
    ):
        raise _MoveItError(Code.INVALID_GOAL_CONSTRAINTS, 'constraints are not supported')
    try:
        planner.variables_of(wanted.group_name)
    except RequestError as error:
        raise _MoveItError(Code.INVALID_GROUP_NAME, f'group_name: {error}') from error
    frames, targets = _targets(planner, wanted)
    try:
        if len(frames) > 1:
            return _solve_several(planner, wanted, frames, targets, budget)
        return _solve_one(planner, wanted, frames[0], targets[0], budget, threads)
    except UnmeasuredError as error:
        raise _MoveItError(Code.COLLISION_CHECKING_UNAVAILABLE, str(error)) from error
    except RequestError as error:
        budget.check()
        raise _MoveItError(Code.FAILURE, str(error)) from error


def _solve_one(
    planner: Planner, wanted: Any, frame: Frame, target: np.ndarray, budget: Budget, threads: int
) -> np.ndarray:
    """Return a configuration that brings one frame to its pose in the world."""
    # Convert the target of the frame to one of its link.
    pose = pose_math.multiply(target, pose_math.inverse(frame.offset))
    labels = planner.model.body_label
    found = solve_ik(
        planner,
        IkRequest(
            poses=_seen_from_base(planner, pose)[None],
            link=labels[frame.link],
            check_collisions=wanted.avoid_collisions,
            threads=threads,
            joint_group=wanted.group_name,
        ),
        budget,
    )
    _refuse_unknown(found.unknown_joints)
    code = PoseCode(found.codes[0])
    if code is PoseCode.TIMED_OUT:
        raise _MoveItError(Code.TIMED_OUT, f'no solution within {budget.seconds:g} s')
    if code is not PoseCode.CONVERGED:
        raise _MoveItError(Code.NO_IK_SOLUTION, code.name.lower().replace('_', ' '))
    coords = planner.coordinates(found.joint_names)
    return planner.configurations(coords, found.positions[:1])[0]


def _solve_several(
    planner: Planner, wanted: Any, frames: list[Frame], targets: np.ndarray, budget: Budget
) -> np.ndarray:
    """Return a configuration that brings several frames to their poses in the world."""
    _require(planner, [(frame.link, planner.robot.base_link) for frame in frames], wanted)
    if wanted.avoid_collisions:
        solved = planner.robot.coords[planner.variables_of(wanted.group_name)]
        _refuse_unknown(planner.unknown_joints(planner.barriers.watched, solved))
    joint_q = solve_frames_together(
        planner,
        frames,
        targets,
        joint_group=wanted.group_name,
        check_collisions=wanted.avoid_collisions,
        budget=budget,
    )
    if joint_q is None:
        code = Code.TIMED_OUT if budget.expired else Code.NO_IK_SOLUTION
        raise _MoveItError(code, 'no configuration was found in which all links have their poses')
    return joint_q


def _targets(planner: Planner, wanted: Any) -> tuple[list[Frame], np.ndarray]:
    """Return frames and their poses in the world."""
    poses = list(wanted.pose_stamped_vector) or [wanted.pose_stamped]
    names = list(wanted.ik_link_names)
    if not wanted.pose_stamped_vector:
        names = [wanted.ik_link_name] if wanted.ik_link_name else names[:1]
    frames = (
        [Frame(_link(planner, name), np.array(pose_math.IDENTITY_POSE)) for name in names]
        if names
        else planner.task_frames()[: len(poses)]
    )
    if len(frames) != len(poses):
        raise _MoveItError(
            Code.INVALID_LINK_NAME,
            f'ik_link_names: expected one per pose ({len(poses)}), got {len(frames)}',
        )
    body_q = planner.body_poses(planner.joint_q[None])[0]
    rows = [
        pose_math.multiply(body_q[_frame(planner, pose.header.frame_id)], _row(pose.pose))
        for pose in poses
    ]
    return frames, np.array(rows)


def _row(pose: Any) -> np.ndarray:
    numbers = pose_numbers(pose)
    row = pose_math.unit_pose(numbers)
    if row is None:
        raise _MoveItError(
            Code.INVALID_GOAL_CONSTRAINTS,
            f'pose: {pose_math.pose_fault(numbers)}',
        )
    return row


def _seen_from_base(planner: Planner, pose: np.ndarray) -> np.ndarray:
    base = planner.body_poses(planner.joint_q[None])[0, planner.robot.base_link]
    return pose_math.multiply(pose_math.inverse(base), pose)


def _state(planner: Planner, state: Any) -> Any:
    """Return the planning context with the state of the request instead of the measured one."""
    if len(state.attached_collision_objects):
        raise _MoveItError(
            Code.COLLISION_CHECKING_UNAVAILABLE, 'robot_state: attached objects are not supported'
        )
    names, positions = state.joint_state.name, state.joint_state.position
    try:
        planner.coordinates(names)
        if len(names) != len(positions):
            raise RequestError(f'expected {len(names)} positions, got {len(positions)}')
        with argument_errors_as_request_errors():
            check_bounded('joint_state.position', np.asarray(positions))
    except RequestError as error:
        raise _MoveItError(Code.INVALID_ROBOT_STATE, f'robot_state: {error}') from error
    return planner.at(names, positions)


def _require(planner: Planner, pairs: list[tuple[int, int]], wanted: Any = None) -> None:
    """Check that all joints between links are known, except those to solve for."""
    solved = planner.robot.coords[planner.variables_of(wanted.group_name)] if wanted else []
    try:
        for link, reference in pairs:
            planner.require_measured(planner.moving_dofs(link, reference), np.array(solved))
    except RequestError as error:
        raise _MoveItError(Code.ROBOT_STATE_STALE, str(error)) from error


def _refuse_unknown(names: Sequence[str]) -> None:
    """Refuse a check of collisions that depends on joints without a state; names may be none.

    The response has no field for it, and a request may contain the state of these joints.
    """
    if names:
        raise _MoveItError(Code.ROBOT_STATE_STALE, unknown_sentence(names))


def _link(planner: Planner, name: str) -> int:
    try:
        return planner.link(name)
    except RequestError as error:
        raise _MoveItError(Code.INVALID_LINK_NAME, str(error)) from error


def _frame(planner: Planner, name: str) -> int:
    """Return the link of a frame id, of the base frame for ''."""
    try:
        return planner.reference(name.removeprefix('/'))
    except RequestError as error:
        raise _MoveItError(Code.FRAME_TRANSFORM_FAILURE, f'frame_id: {error}') from error


def _joint_state(planner: Planner, joint_q: np.ndarray) -> JointState:
    """Return the complete state, as move_group does."""
    state = JointState(name=list(planner.robot.coord_of))
    state.position = joint_q[list(planner.robot.coord_of.values())].tolist()
    state.header.frame_id = planner.model.body_label[planner.robot.base_link]
    return state


def _stamped(planner: Planner, reference: int, row: list[float]) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = planner.model.body_label[reference]
    fill_pose(message.pose, row)
    return message


def _code(value: int, text: str) -> Any:
    """Return an error code; releases before Jazzy have no room for the text."""
    code = Code(val=value)
    if hasattr(code, 'message'):
        code.message, code.source = text, _SOURCE
    return code
