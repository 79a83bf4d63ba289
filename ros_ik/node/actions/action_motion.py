# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of an action goal: preemption, and braking after a cancellation."""

from __future__ import annotations

import abc
from typing import Any

from ros_ik.node.actions.action_server import GoalEnd
from ros_ik.node.actions.action_server import Outcome
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.commander import RestWait
from ros_ik.node.actions.goal_state import GOAL_TRANSITIONS
from ros_ik.node.actions.goal_state import GoalEvent
from ros_ik.node.actions.goal_state import GoalState
from ros_ik.servo import Mode
from ros_ik.state_machine import StateMachine

# Time within the tolerances after which the robot has arrived [s].
SETTLING = 0.1


class ActionMotion(abc.ABC):
    """A goal, whose target has one slot among the targets of a command.

    Attributes:
        modes: Modes of the servo in which it can be followed.
        slot: Description of this slot, for the message to a goal that it preempts.
    """

    modes: tuple[Mode, ...]
    slot: str
    _resting: RestWait

    def __init__(self, commander: Commander) -> None:
        """Record the state of the node at the start.

        Raises:
            GoalError: The node cannot follow a goal now.
        """
        commander.check_ready(*self.modes)
        self._commander = commander
        self._conditions = commander.conditions()
        self._target: Any = None
        self._machine = StateMachine(GoalState.READY, GOAL_TRANSITIONS)

    @property
    def state(self) -> GoalState:
        """State of the goal."""
        return self._machine.state

    def begin(self) -> None:
        """Set the first target instead of all others."""
        self._machine.handle(GoalEvent.BEGIN)
        self._others = self._other_targets()
        self._begin(self._commander.now())

    def poll(self, now: float, canceled: bool) -> GoalEnd | None:
        """Advance the goal; return its end, or None. See :class:`Motion`."""
        reason = (
            self._commander.interruption(self._conditions, *self.modes)
            or self._preempting_request()
        )
        if reason:
            return self.abort(reason)
        self._read_state(now)
        if not canceled:
            return self._advance(now)
        if self.state is not GoalState.CANCELING:
            self._machine.handle(GoalEvent.CANCEL)
            self._resting = RestWait(self._commander)
            self._withdraw()
        return self._canceled() if self._resting.done(now) else None

    @abc.abstractmethod
    def abort(self, reason: str) -> GoalEnd:
        """Withdraw the target, unless a newer one has replaced it."""

    @abc.abstractmethod
    def _begin(self, now: float) -> None:
        """Set the first target."""

    @abc.abstractmethod
    def _read_state(self, now: float) -> None:
        """Read the state of the robot."""

    @abc.abstractmethod
    def _advance(self, now: float) -> GoalEnd | None:
        """Continue towards the goal; return its end, or None."""

    @abc.abstractmethod
    def _canceled(self) -> GoalEnd:
        """Return the end of a cancelled goal once the robot is at rest."""

    @abc.abstractmethod
    def _current_target(self) -> Any:
        """Return the current target in the slot of this goal."""

    @abc.abstractmethod
    def _replace_target(self, before: Any, target: Any) -> None:
        """Replace what the slot of this goal holds, unless that is no longer ``before``."""

    @abc.abstractmethod
    def _other_targets(self) -> tuple[Any, ...]:
        """Return the targets in other slots that would preempt this goal if they changed."""

    def _preempting_request(self) -> str:
        """Return a description of the request that preempted this goal, or ''."""
        held = None if self.state is GoalState.CANCELING else self._target
        if self._current_target() is not held:
            return f'preempted by a newer {self.slot}'
        return self._commander.preempting_target(self._others, self._other_targets())

    def _finish(self, outcome: Outcome, result: Any) -> GoalEnd:
        """Return the end of the goal, and remove its target."""
        self._withdraw()
        self._machine.handle(GoalEvent.END)
        return GoalEnd(outcome, result)

    def _withdraw(self) -> None:
        """Remove the target; the servo decelerates within its limits."""
        if self._target is not None:
            self._replace_target(self._target, None)
