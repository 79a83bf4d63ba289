# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Status codes of a tick, and reasons to reject a target or an obstacle."""

from __future__ import annotations

import enum


class StatusCode(enum.IntEnum):
    """State of the servo; numbers of ros_ik_interfaces/IkStatus, 0 to 6 of MoveIt Servo.

    Code and text are chosen together: at rest in :mod:`ros_ik.servo.state.hold_reasons` and
    :mod:`ros_ik.servo.targets.target_selection`, in motion in
    :mod:`ros_ik.servo.reports.motion_report`, after a failed solve in :mod:`ros_ik.servo.servo`.
    Without a servo the node chooses them, in :mod:`ros_ik.node.node_condition`.

    The node may change them. It does so for failed ticks and missed deadlines in
    :mod:`ros_ik.node.control.control_loop`, for commands that are not finite in
    :mod:`ros_ik.node.control.publishing`, and for dropped messages in
    :mod:`ros_ik.node.transport.message_stats`. A missing clock changes the text alone, in
    :mod:`ros_ik.node.control.clock_report`.
    """

    INVALID = -1
    OK = 0
    DAMPED_NEAR_SINGULARITY = 1
    LEAVING_SINGULARITY = 3
    SLOWED_BY_BARRIER = 4
    HALTED_BY_BARRIER = 5
    JOINT_BOUND = 6
    WAITING_FOR_MODEL = 10
    WAITING_FOR_JOINT_STATES = 11
    WARMING_UP = 12
    PAUSED = 20
    STOPPED = 21
    COMMAND_STALE = 22
    JOINT_STATE_STALE = 23
    TF_UNAVAILABLE = 24
    TARGET_JUMP = 25
    CLOCK_JUMP = 26
    MODEL_CHANGED = 27
    FOLLOWING_ERROR = 28
    STATIONARY = 29
    SOLVER_FAILED = 30
    NON_FINITE_BLOCKED = 31
    DEADLINE_MISSED = 32


# Codes of a servo that does not know where the robot is.
MISSING_STATE_CODES = (StatusCode.WAITING_FOR_JOINT_STATES, StatusCode.JOINT_STATE_STALE)


class Mode(enum.IntEnum):
    """Kinds of targets that may become active, with the numbers of ros_ik_interfaces/SetMode."""

    HOLD = 0
    AUTO = 1
    POSE = 2
    TWIST = 3
    JOINT = 4


class Rejection(enum.Enum):
    """Reasons to reject a target or an obstacle; the values name the counters on ~/status."""

    NON_FINITE = 'non_finite'
    ZERO_QUATERNION = 'zero_quaternion'
    NOT_UNIT_QUATERNION = 'not_unit_quaternion'
    TOO_LARGE_NUMBER = 'too_large_number'
    UNKNOWN_FRAME = 'unknown_frame'
    UNKNOWN_JOINT = 'unknown_joint'
    REPEATED_JOINT = 'repeated_joint'
    WRONG_SIZE = 'wrong_size'
    BEYOND_SCALE = 'beyond_scale'
    TARGET_JUMP = 'target_jump'
    NOT_READY = 'not_ready'
    BAD_OBSTACLE = 'bad_obstacle'
    TOO_MANY_OBSTACLES = 'too_many_obstacles'
