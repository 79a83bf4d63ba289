# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Transitions that state machines make while code runs, and those of their tables."""

from ros_ik.state_machine import StateMachine


def transitions(table):
    """Return every transition of a table as (state, event, state)."""
    return {
        (state, event, after) for state, row in table.items() for event, after in row.items()
    }


def record_transitions(monkeypatch):
    """Return a set that gets every transition made from now on."""
    made, handle = set(), StateMachine.handle

    def record(machine, event):
        before = machine.state
        made.add((before, event, handle(machine, event)))
        return machine.state

    monkeypatch.setattr(StateMachine, 'handle', record)
    return made
