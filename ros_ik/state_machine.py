# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State machines: one state at a time, changed by events, by a table of transitions."""

from __future__ import annotations

from collections.abc import Mapping
import enum
from typing import Generic
from typing import TypeVar

State = TypeVar('State', bound=enum.Enum)
Event = TypeVar('Event', bound=enum.Enum)


class StateMachine(Generic[State, Event]):
    """A state that events change.

    Attributes:
        state: The present state.
    """

    def __init__(self, start: State, table: Mapping[State, Mapping[Event, State]]) -> None:
        """Start in a state.

        Args:
            start: The first state.
            table: Next state of each event that each state may meet.
        """
        self.state = start
        self._table = table

    def handle(self, event: Event) -> State:
        """Change the state as the table says; return the new one.

        Raises:
            RuntimeError: The table has no such transition: a fault of the program.
        """
        before = self.state
        try:
            self.state = self._table[before][event]
        except KeyError:
            raise RuntimeError(f'no transition from {before.name} by {event.name}') from None
        return self.state
