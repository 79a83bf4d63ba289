# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State machines: one state, events, and a table of transitions."""

from __future__ import annotations

from collections.abc import Mapping
import enum
from typing import Generic
from typing import TypeVar

State = TypeVar('State', bound=enum.Enum)
Event = TypeVar('Event', bound=enum.Enum)


class StateMachine(Generic[State, Event]):
    """A state that changes by events.

    Attributes:
        state: Current state.
    """

    def __init__(self, start: State, table: Mapping[State, Mapping[Event, State]]) -> None:
        """Start in a state.

        Args:
            start: The first state.
            table: Next state for each event, by state.
        """
        self.state = start
        self._table = table

    def handle(self, event: Event) -> State:
        """Change the state by the table; return the new one.

        Raises:
            RuntimeError: The table has no such transition, which is a bug.
        """
        before = self.state
        try:
            self.state = self._table[before][event]
        except KeyError:
            raise RuntimeError(f'no transition from {before.name} by {event.name}') from None
        return self.state
