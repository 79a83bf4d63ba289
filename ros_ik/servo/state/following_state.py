# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States of the command relative to a robot that may not follow it.

docs/architecture.md has the picture of the table.
"""

from __future__ import annotations

import enum


class FollowingState(enum.Enum):
    """State of the command."""

    # There is no command, or no recent measurement.
    UNKNOWN = enum.auto()
    # The robot follows; targets may be tracked.
    TRACKS = enum.auto()
    # A joint does not follow; the command brakes to rest.
    HALTS = enum.auto()
    # The command returns to the position of the robot.
    RETURNS = enum.auto()


class FollowingEvent(enum.Enum):
    """Cause of a change of state."""

    # A motion starts at the state that the controller holds.
    RESTART = enum.auto()
    # The command is dropped.
    FORGET = enum.auto()
    # A joint does not follow.
    STALL = enum.auto()
    # Command and robot are at rest.
    REST = enum.auto()
    # The command has returned to the robot, or is blocked on its way.
    ARRIVE = enum.auto()


_S, _E = FollowingState, FollowingEvent
FOLLOWING_TRANSITIONS = {
    _S.UNKNOWN: {_E.RESTART: _S.TRACKS, _E.FORGET: _S.UNKNOWN},
    _S.TRACKS: {_E.STALL: _S.HALTS, _E.FORGET: _S.UNKNOWN, _E.RESTART: _S.TRACKS},
    _S.HALTS: {_E.REST: _S.RETURNS, _E.FORGET: _S.UNKNOWN, _E.RESTART: _S.HALTS},
    _S.RETURNS: {_E.ARRIVE: _S.TRACKS, _E.FORGET: _S.UNKNOWN, _E.RESTART: _S.RETURNS},
}
