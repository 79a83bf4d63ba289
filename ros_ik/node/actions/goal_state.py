# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States of an action goal; docs/architecture.md has the picture of the table."""

from __future__ import annotations

import enum


class GoalState(enum.Enum):
    """State of a goal."""

    # Valid, but the client does not know yet that it is accepted.
    READY = enum.auto()
    # The servo follows the target of the goal.
    PURSUING = enum.auto()
    # The robot is at rest short of the target; the planner searches for another configuration.
    SEARCHING = enum.auto()
    # The joints move to that configuration.
    RECONFIGURING = enum.auto()
    # The servo follows the target; no further configuration is searched.
    PERSISTING = enum.auto()
    # Cancelled: the target is withdrawn, and the robot comes to rest.
    CANCELING = enum.auto()
    # It has a result.
    ENDED = enum.auto()


class GoalEvent(enum.Enum):
    """Cause of a change of state."""

    # The goal is accepted.
    BEGIN = enum.auto()
    # The planner is asked for another configuration.
    SEARCH = enum.auto()
    # The planner has found another configuration.
    RECONFIGURE = enum.auto()
    # The target is active again: the robot moves, or the joint motion has ended.
    RESUME = enum.auto()
    # No further configuration is searched.
    PERSIST = enum.auto()
    # The client cancels the goal.
    CANCEL = enum.auto()
    # The goal succeeded or failed, or the robot has come to rest.
    END = enum.auto()


_S, _E = GoalState, GoalEvent
_ENDS = {_E.CANCEL: _S.CANCELING, _E.END: _S.ENDED}
GOAL_TRANSITIONS = {
    _S.READY: {_E.BEGIN: _S.PURSUING},
    _S.PURSUING: {_E.SEARCH: _S.SEARCHING, _E.PERSIST: _S.PERSISTING, **_ENDS},
    _S.SEARCHING: {
        _E.RECONFIGURE: _S.RECONFIGURING, _E.RESUME: _S.PURSUING, _E.PERSIST: _S.PERSISTING,
        **_ENDS,
    },
    _S.RECONFIGURING: {_E.RESUME: _S.PURSUING, **_ENDS},
    _S.PERSISTING: {**_ENDS},
    _S.CANCELING: {_E.END: _S.ENDED},
    _S.ENDED: {_E.END: _S.ENDED},
}  # fmt: skip
