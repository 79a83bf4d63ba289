# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Reasons to hold, in order of precedence, checked before any target."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from ros_ik.model.conventions.labels import listed
from ros_ik.servo.interface.codes import Mode
from ros_ik.servo.interface.codes import StatusCode
from ros_ik.servo.interface.command import Command
from ros_ik.servo.interface.measurement import Measurement

if TYPE_CHECKING:
    from ros_ik.servo.robot.controlled_robot import ControlledRobot
    from ros_ik.servo.state.following_error import FollowingError

# Maximum number of joint names in the status text.
_MAX_NAMES = 8


@dataclasses.dataclass(frozen=True)
class HoldReason:
    """Reason of the servo to hold.

    Attributes:
        code: Code of the status.
        text: Description for people.
        resynchronise: True if the motion must not go on from the present command: the robot comes
            to rest, and the next motion starts where the controller holds it.
        may_repeat: True if ``publish_when_idle`` may repeat the held position.
        may_return: True if ``halt_mode`` may return to the position at which the halt began.
        keeps_path: True if frames keep their paths while the joints brake.
        waiting_for: Names of the joints without a state.
    """

    code: StatusCode
    text: str
    _: dataclasses.KW_ONLY
    resynchronise: bool
    may_repeat: bool = True
    may_return: bool = True
    keeps_path: bool = False
    waiting_for: tuple[str, ...] = ()


def missing_joints(
    robot: ControlledRobot, timeout: float, now: float, measurement: Measurement
) -> tuple[list[str], list[str]]:
    """Return the joints that never had a state, and those whose state is stale."""
    received = measurement.received[robot.needed_coords]
    never = [name for name, time in zip(robot.needed, received, strict=True) if time == -math.inf]
    stale = [
        name
        for name, time in zip(robot.needed, received, strict=True)
        if timeout < abs(now - time) < math.inf
    ]
    return never, stale


def hold_reason(
    robot: ControlledRobot,
    timeout: float,
    following: FollowingError,
    now: float,
    measurement: Measurement,
    command: Command,
) -> HoldReason | None:
    """Return the first reason to hold that applies, or None.

    Args:
        robot: The robot.
        timeout: Maximum age of a joint state [s].
        following: Following error of the robot.
        now: Time of the tick [s].
        measurement: Measured state.
        command: Command.
    """
    silent = _reason_for_silence(robot, timeout, now, measurement, command)
    if command.stopped:
        return HoldReason(
            StatusCode.STOPPED, 'stopped; call ~/reset to continue', resynchronise=True,
            may_repeat=silent is None, may_return=silent is None or silent.may_return,
        )  # fmt: skip
    if silent is not None:
        return silent
    if command.paused:
        return HoldReason(StatusCode.PAUSED, 'paused', resynchronise=True)
    if following.holds:
        text = f'the robot does not follow its command: {following.stalled_joints}'
        return HoldReason(
            StatusCode.FOLLOWING_ERROR, text, resynchronise=True, may_return=False
        )
    if command.mode == Mode.HOLD:
        return HoldReason(StatusCode.OK, 'holding: mode HOLD', resynchronise=False)
    return None


def _reason_for_silence(
    robot: ControlledRobot, timeout: float, now: float, measurement: Measurement, command: Command
) -> HoldReason | None:
    """Return the reason to publish nothing at rest, or None."""
    if command.model_loading:
        return HoldReason(
            StatusCode.MODEL_CHANGED, 'a new robot description is being loaded',
            resynchronise=True, may_repeat=False, may_return=False,
        )  # fmt: skip
    reason = _reason_of_measurement(robot, timeout, now, measurement)
    if reason is None and not command.active:
        reason = HoldReason(
            StatusCode.OK, 'inactive', resynchronise=True, may_repeat=False, may_return=False
        )
    return reason


def _reason_of_measurement(
    robot: ControlledRobot, timeout: float, now: float, measurement: Measurement
) -> HoldReason | None:
    """Return the reason to hold if a needed joint has no fresh state."""
    received = measurement.received.take(robot.needed_coords).tolist()
    # A time in the future is from before a backward jump of the clock; its distance from now
    # counts as age.
    oldest, newest = min(received), max(received)
    if max(abs(now - oldest), abs(now - newest)) <= timeout:
        return None
    never, stale = missing_joints(robot, timeout, now, measurement)
    if never:
        return HoldReason(
            StatusCode.WAITING_FOR_JOINT_STATES,
            f'waiting for joint states of {listed(never, _MAX_NAMES)}',
            resynchronise=True,
            may_repeat=False,
            waiting_for=tuple(never),
        )
    return HoldReason(
        StatusCode.JOINT_STATE_STALE,
        f'joint states of {listed(stale, _MAX_NAMES)} are older than joint_state_timeout',
        resynchronise=True,
        may_repeat=False,
        waiting_for=tuple(stale),
    )
