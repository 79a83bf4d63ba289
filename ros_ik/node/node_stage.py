# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Stages of the node: its lifecycle state together with its model.

docs/architecture.md has the picture of the table.
"""

from __future__ import annotations

import enum


class NodeStage(enum.Enum):
    """Stage between two callbacks."""

    # Unconfigured, without a model: no description received, model being built, or description
    # refused.
    WAITING = enum.auto()
    # Unconfigured, with a model.
    READY = enum.auto()
    # Configured: a servo runs, and targets are ignored.
    INACTIVE = enum.auto()
    # Active: targets are followed.
    ACTIVE = enum.auto()
    # Configured, but the servo was released because its ticks failed.
    FAILED = enum.auto()
    # The node is shut down.
    SHUT_DOWN = enum.auto()


class NodeEvent(enum.Enum):
    """Cause of a change of stage."""

    # A model was built.
    BUILT = enum.auto()
    # A model is being built; a finished one is discarded.
    BUILDING = enum.auto()
    CONFIGURE = enum.auto()
    ACTIVATE = enum.auto()
    DEACTIVATE = enum.auto()
    # A new model replaces that of a configured node.
    REPLACE = enum.auto()
    # The servo is released.
    GIVE_UP = enum.auto()
    # Model and topics are released, by a cleanup or after a failed transition.
    RELEASE = enum.auto()
    SHUT_DOWN = enum.auto()


_S, _E = NodeStage, NodeEvent
NODE_TRANSITIONS = {
    _S.WAITING: {
        _E.BUILT: _S.READY, _E.SHUT_DOWN: _S.SHUT_DOWN,
        _E.BUILDING: _S.WAITING, _E.RELEASE: _S.WAITING,
    },
    _S.READY: {
        _E.CONFIGURE: _S.INACTIVE, _E.BUILDING: _S.WAITING, _E.SHUT_DOWN: _S.SHUT_DOWN,
        _E.RELEASE: _S.READY,
    },
    _S.INACTIVE: {
        _E.ACTIVATE: _S.ACTIVE, _E.GIVE_UP: _S.FAILED, _E.RELEASE: _S.WAITING,
        _E.SHUT_DOWN: _S.SHUT_DOWN, _E.REPLACE: _S.INACTIVE,
    },
    _S.ACTIVE: {
        _E.DEACTIVATE: _S.INACTIVE, _E.GIVE_UP: _S.FAILED, _E.RELEASE: _S.WAITING,
        _E.SHUT_DOWN: _S.SHUT_DOWN, _E.REPLACE: _S.ACTIVE,
    },
    _S.FAILED: {
        _E.REPLACE: _S.INACTIVE, _E.RELEASE: _S.WAITING, _E.SHUT_DOWN: _S.SHUT_DOWN,
        _E.DEACTIVATE: _S.FAILED, _E.BUILDING: _S.FAILED,
    },
    _S.SHUT_DOWN: {_E.RELEASE: _S.SHUT_DOWN},
}  # fmt: skip
