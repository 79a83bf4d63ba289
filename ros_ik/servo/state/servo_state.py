# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States of the servo: motion towards targets or to rest, and the use of its last command.

docs/architecture.md has the picture of the table.
"""

from __future__ import annotations

import enum


class ServoState(enum.Enum):
    """State between two ticks.

    The state is that of the last tick; ask ``Servo.moving`` for motion. They
    disagree in two cases:

    - in a resting state, a command may have a braking step left;
    - in a braking state, the command may be at rest already.
    """

    # At rest and silent; the next motion starts at the state that the controller holds.
    IDLE = enum.auto()
    # The command follows targets; each step starts from the last command.
    TRACKING = enum.auto()
    # Braking; tracking may continue from the command at any time.
    BRAKING = enum.auto()
    # Braking; the command may be repeated at rest, and tracking must restart.
    STOPPING = enum.auto()
    # Braking; the command is not used at rest.
    ENDING = enum.auto()
    # At rest, and the command is repeated; tracking may continue from it.
    HOLDING = enum.auto()
    # At rest, and the command is repeated; tracking must restart.
    PARKED = enum.auto()

    @property
    def resumes(self) -> bool:
        """True if tracking may continue from the last command."""
        return self in _RESUMES

    @property
    def repeats(self) -> bool:
        """True if the command may be repeated at rest."""
        return self not in _FORGETS


# Tuples, because a set computes the hash of a member in each tick, which is slow for enumerations.
_RESUMES = (ServoState.TRACKING, ServoState.BRAKING, ServoState.HOLDING)
_FORGETS = (ServoState.IDLE, ServoState.ENDING)


class ServoEvent(enum.Enum):
    """Cause of a change of state."""

    # A motion starts at the state that the controller holds.
    BEGIN = enum.auto()
    # A step towards targets is made.
    TRACK = enum.auto()
    # Tracking must not continue from the command: targets were dropped, or the reason to hold does
    # not permit it.
    DETACH = enum.auto()
    # The servo was activated: another controller may hold the robot since.
    ACTIVATE = enum.auto()
    # A step towards rest is made.
    BRAKE = enum.auto()
    # The command at rest is repeated.
    REPEAT = enum.auto()
    # Nothing is sent at rest.
    SILENCE = enum.auto()
    # A tick failed, and the commanded position is unknown.
    FAIL = enum.auto()


_S, _E = ServoState, ServoEvent
SERVO_TRANSITIONS = {
    _S.IDLE: {
        _E.BEGIN: _S.TRACKING, _E.BRAKE: _S.ENDING,
        _E.DETACH: _S.IDLE, _E.ACTIVATE: _S.IDLE, _E.SILENCE: _S.IDLE, _E.FAIL: _S.IDLE,
    },
    _S.TRACKING: {
        _E.DETACH: _S.STOPPING, _E.BRAKE: _S.BRAKING, _E.REPEAT: _S.HOLDING,
        _E.SILENCE: _S.IDLE, _E.FAIL: _S.IDLE, _E.TRACK: _S.TRACKING, _E.ACTIVATE: _S.ENDING,
    },
    _S.BRAKING: {
        _E.TRACK: _S.TRACKING, _E.DETACH: _S.STOPPING, _E.REPEAT: _S.HOLDING,
        _E.SILENCE: _S.IDLE, _E.FAIL: _S.IDLE, _E.BRAKE: _S.BRAKING, _E.ACTIVATE: _S.ENDING,
    },
    _S.STOPPING: {
        _E.BEGIN: _S.TRACKING, _E.ACTIVATE: _S.ENDING, _E.REPEAT: _S.PARKED,
        _E.SILENCE: _S.IDLE, _E.FAIL: _S.IDLE, _E.BRAKE: _S.STOPPING, _E.DETACH: _S.STOPPING,
    },
    _S.ENDING: {
        _E.BEGIN: _S.TRACKING, _E.SILENCE: _S.IDLE, _E.FAIL: _S.IDLE,
        _E.BRAKE: _S.ENDING, _E.DETACH: _S.ENDING, _E.ACTIVATE: _S.ENDING,
    },
    _S.HOLDING: {
        _E.TRACK: _S.TRACKING, _E.DETACH: _S.PARKED, _E.SILENCE: _S.IDLE, _E.FAIL: _S.IDLE,
        _E.REPEAT: _S.HOLDING, _E.ACTIVATE: _S.IDLE,
    },
    _S.PARKED: {
        _E.BEGIN: _S.TRACKING, _E.BRAKE: _S.STOPPING, _E.ACTIVATE: _S.IDLE, _E.SILENCE: _S.IDLE,
        _E.FAIL: _S.IDLE, _E.REPEAT: _S.PARKED, _E.DETACH: _S.PARKED,
    },
}  # fmt: skip
