# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States of the command beside a robot that may not follow it.

docs/architecture.md has the picture of the table.
"""

from __future__ import annotations

import enum


class Following(enum.Enum):
    """State of the command."""

    # There is no command, or the robot was not seen for a while.
    UNKNOWN = enum.auto()
    # The robot follows; targets may be tracked.
    TRACKS = enum.auto()
    # A joint does not follow: the command comes to rest.
    HALTS = enum.auto()
    # The command goes back to where the robot stands.
    RETURNS = enum.auto()


class FollowingEvent(enum.Enum):
    """Cause of a change of state."""

    # A motion begins, at the state that the controller holds.
    RESTART = enum.auto()
    # Everything that is known of the command is forgotten.
    FORGET = enum.auto()
    # A joint does not follow.
    STALL = enum.auto()
    # Command and robot stand.
    REST = enum.auto()
    # The command is back at the robot, or is held up on its way.
    ARRIVE = enum.auto()


_S, _E = Following, FollowingEvent
FOLLOWING_TRANSITIONS = {
    _S.UNKNOWN: {_E.RESTART: _S.TRACKS, _E.FORGET: _S.UNKNOWN},
    _S.TRACKS: {_E.STALL: _S.HALTS, _E.FORGET: _S.UNKNOWN, _E.RESTART: _S.TRACKS},
    _S.HALTS: {_E.REST: _S.RETURNS, _E.FORGET: _S.UNKNOWN, _E.RESTART: _S.HALTS},
    _S.RETURNS: {_E.ARRIVE: _S.TRACKS, _E.FORGET: _S.UNKNOWN},
}
