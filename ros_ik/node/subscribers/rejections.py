# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Explanations for rejected targets and obstacles, with the element at fault."""

from __future__ import annotations

from collections.abc import Sequence

from ros_ik.model.conventions.poses import pose_fault
from ros_ik.node.transport.cdr_readers import JointSample
from ros_ik.numbers import is_bounded
from ros_ik.numbers import MAX_MAGNITUDE
from ros_ik.servo import Rejection
from ros_ik.servo.barriers.obstacle_registry import FARTHEST
from ros_ik.servo.barriers.obstacle_registry import ObstacleKind
from ros_ik.servo.barriers.obstacle_registry import ObstacleOperation
from ros_ik.servo.barriers.obstacle_registry import ObstacleRequest
from ros_ik.servo.interface.velocity_units import FULL_DEFLECTION

_NUMBERS = (Rejection.NON_FINITE, Rejection.TOO_LARGE_NUMBER)
_NAMES = {
    3: ('point.x', 'point.y', 'point.z'),
    6: ('linear.x', 'linear.y', 'linear.z', 'angular.x', 'angular.y', 'angular.z'),
}

# Fault of a frame that only the links of the model could resolve.
NOT_A_LINK = 'it is not a link of the model'


def explain_frame(frame_id: str, text: str) -> str:
    """Explain why a frame cannot be resolved.

    Args:
        frame_id: Name of the frame.
        text: Available information.
    """
    return f'frame {frame_id!r}: {text}'


def explain_numbers(reason: Rejection, numbers: Sequence[float], frame_id: str) -> str:
    """Explain why the numbers of a pose (7), velocity (6) or point (3) are rejected."""
    if reason is Rejection.BEYOND_SCALE:
        return _beyond_scale(_NAMES[len(numbers)], numbers)
    if len(numbers) == 7:
        fault = pose_fault(numbers)
    else:
        fault = number_fault(_NAMES[len(numbers)], numbers)
    return fault or explain_frame(frame_id, NOT_A_LINK)


def explain_joints(reason: Rejection, sample: JointSample, known: Sequence[str]) -> str:
    """Explain why positions or velocities of joints are rejected.

    Args:
        reason: Reason of the reader of targets.
        sample: Content of the message.
        known: Names of the joints that may be commanded.
    """
    names = sample.names
    if reason in _NUMBERS or reason is Rejection.BEYOND_SCALE:
        fault = _beyond_scale if reason is Rejection.BEYOND_SCALE else number_fault
        return fault([f'joint {name!r}' for name in names], sample.velocities or sample.positions)
    if reason is Rejection.REPEATED_JOINT:
        name = next(name for k, name in enumerate(names) if name in names[:k])
        return f'joint {name!r} is named twice'
    if reason is Rejection.UNKNOWN_JOINT:
        name = next(name for name in names if name not in known)
        return f'{name!r} is not a controlled joint: {", ".join(known)}'
    positions, velocities = len(sample.positions), len(sample.velocities) or sample.unused
    return f'it has {len(names)} names, {positions} positions and {velocities} velocities'


def _beyond_scale(names: Sequence[str], values: Sequence[float]) -> str:
    """Return which number of a unitless velocity is outside [-1, 1]."""
    for name, value in zip(names, values, strict=False):
        if abs(value) > FULL_DEFLECTION:
            return f"{name} must lie within -1 and 1 (command_in_type 'unitless'), got {value:g}"
    return f'it has {len(names)} names and {len(values)} velocities'


def explain_obstacle(reason: Rejection, request: ObstacleRequest) -> str:
    """Explain why a change to the obstacles is rejected."""
    if request.operation not in set(ObstacleOperation):
        return f'there is no operation {request.operation}'
    if not request.name:
        return 'it has no id'
    if request.kind not in set(ObstacleKind):
        return f'there is no type {request.kind}'
    kind = ObstacleKind(request.kind)
    if reason is Rejection.WRONG_SIZE:
        return f'a {kind.name} has {kind.size} dimensions, got {len(request.dimensions)}'
    names = [f'dimensions[{k}]' for k in range(len(request.dimensions))]
    return (
        number_fault(names, request.dimensions)
        or pose_fault((*request.position, *request.quaternion))
        or f'dimensions must be positive and at most {FARTHEST:g} m'
    )


def number_fault(names: Sequence[str], values: Sequence[float]) -> str:
    """Return which number is invalid, and why, or ''."""
    for name, value in zip(names, values, strict=True):
        if not is_bounded((value,)):
            return f'{name} must be finite and at most {MAX_MAGNITUDE:g} in size, got {value:g}'
    return ''
