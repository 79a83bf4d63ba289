# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""States of a stop that is asked for; docs/architecture.md has the picture of the table."""

from __future__ import annotations

import enum


class StopState(enum.Enum):
    """State of the stop of a command."""

    # The robot may move.
    CLEAR = enum.auto()
    # Stopped until a reset.
    LATCHED = enum.auto()
    # Stopped, and no reset ends it, because the stop request lasts.
    REQUESTED = enum.auto()


class StopEvent(enum.Enum):
    """Cause of a change of state."""

    # A call of ~/stop.
    STOP = enum.auto()
    # ~/stop_request becomes true.
    REQUEST = enum.auto()
    # ~/stop_request becomes false.
    WITHDRAW = enum.auto()
    # A call of ~/reset.
    RESET = enum.auto()


_S, _E = StopState, StopEvent
STOP_TRANSITIONS = {
    _S.CLEAR: {
        _E.STOP: _S.LATCHED, _E.REQUEST: _S.REQUESTED, _E.WITHDRAW: _S.CLEAR, _E.RESET: _S.CLEAR,
    },
    _S.LATCHED: {
        _E.STOP: _S.LATCHED, _E.REQUEST: _S.REQUESTED, _E.WITHDRAW: _S.LATCHED,
        _E.RESET: _S.CLEAR,
    },
    _S.REQUESTED: {
        _E.STOP: _S.REQUESTED, _E.REQUEST: _S.REQUESTED, _E.WITHDRAW: _S.LATCHED,
        _E.RESET: _S.REQUESTED,
    },
}  # fmt: skip
