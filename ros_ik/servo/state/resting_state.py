# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States of the last command while no target is tracked.

docs/architecture.md has the picture of the table.
"""

from __future__ import annotations

import enum


class RestingState(enum.Enum):
    """Knowledge about the last command."""

    # There is none that may be used.
    NONE = enum.auto()
    # Targets are tracked.
    MOVING = enum.auto()
    # The command is at rest, the robot may still settle.
    RESTING = enum.auto()
    # The robot has settled.
    SETTLED = enum.auto()


class RestingEvent(enum.Enum):
    """Cause of a change of state."""

    # Targets are tracked.
    TRACK = enum.auto()
    # The last target is gone, and the command has come to rest.
    REST = enum.auto()
    # The time in which the robot settles has passed.
    SETTLE = enum.auto()
    # Another controller may be active, or something has moved the settled robot.
    FORGET = enum.auto()


_S, _E = RestingState, RestingEvent
RESTING_TRANSITIONS = {
    _S.NONE: {_E.TRACK: _S.MOVING, _E.FORGET: _S.NONE},
    _S.MOVING: {_E.TRACK: _S.MOVING, _E.REST: _S.RESTING, _E.FORGET: _S.NONE},
    _S.RESTING: {_E.TRACK: _S.MOVING, _E.SETTLE: _S.SETTLED, _E.FORGET: _S.NONE},
    _S.SETTLED: {_E.TRACK: _S.MOVING, _E.FORGET: _S.NONE},
}
