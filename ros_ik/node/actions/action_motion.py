# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of an action's goal: preemption by others, and braking after a cancellation."""

from __future__ import annotations

import abc
from typing import Any

from ros_ik.node.actions.action_server import End
from ros_ik.node.actions.action_server import Outcome
from ros_ik.node.actions.commander import ComingToRest
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.goal_state import GOAL_TRANSITIONS
from ros_ik.node.actions.goal_state import GoalEvent
from ros_ik.node.actions.goal_state import GoalState
from ros_ik.servo import Mode
from ros_ik.state_machine import StateMachine

# How long a robot stays within the tolerances before it counts as arrived [s].
SETTLING = 0.1


class ActionMotion(abc.ABC):
    """One goal, which holds one place among the targets of a command.

    Attributes:
        modes: Modes of the servo in which it can be followed.
        place: What it takes, as in "a newer ... has taken over".
    """

    modes: tuple[Mode, ...]
    place: str
    _resting: ComingToRest

    def __init__(self, commander: Commander) -> None:
        """Note how things stand.

        Raises:
            GoalError: The node cannot follow any goal now.
        """
        commander.check_ready(*self.modes)
        self._commander = commander
        self._situation = commander.situation()
        self._target: Any = None
        self._machine = StateMachine(GoalState.READY, GOAL_TRANSITIONS)

    @property
    def state(self) -> GoalState:
        """State of the goal."""
        return self._machine.state

    def begin(self) -> None:
        """Take the place of every other target."""
        self._machine.handle(GoalEvent.BEGIN)
        self._others = self._competitors()
        self._begin(self._commander.now())

    def poll(self, now: float, canceled: bool) -> End | None:
        """Return the end of the goal once there is one; see :class:`Motion`."""
        reason = self._commander.interruption(self._situation, *self.modes) or self._replaced()
        if reason:
            return self.abort(reason)
        self._look(now)
        if not canceled:
            return self._advance(now)
        if self.state is not GoalState.CANCELING:
            self._machine.handle(GoalEvent.CANCEL)
            self._resting = ComingToRest(self._commander)
            self._withdraw()
        return self._canceled() if self._resting.done(now) else None

    @abc.abstractmethod
    def abort(self, reason: str) -> End:
        """Withdraw the target, unless another one has taken its place."""

    @abc.abstractmethod
    def _begin(self, now: float) -> None:
        """Put the first target in place."""

    @abc.abstractmethod
    def _look(self, now: float) -> None:
        """Take in where the robot is."""

    @abc.abstractmethod
    def _advance(self, now: float) -> End | None:
        """Continue towards the goal; return its end once it has ended."""

    @abc.abstractmethod
    def _canceled(self) -> End:
        """Return the end of a goal that was cancelled and has come to rest."""

    @abc.abstractmethod
    def _present(self) -> Any:
        """Return the target that the command has in the place of this goal."""

    @abc.abstractmethod
    def _put(self, target: Any) -> None:
        """Put a target, or None, in the place of this goal."""

    @abc.abstractmethod
    def _competitors(self) -> tuple[Any, ...]:
        """Return the targets in other places that would take over if they changed."""

    def _replaced(self) -> str:
        """Return the newer request that has taken over, or ''."""
        held = None if self.state is GoalState.CANCELING else self._target
        if self._present() is not held:
            return f'a newer {self.place} has taken over'
        return self._commander.newcomer(self._others, self._competitors())

    def _finish(self, outcome: Outcome, result: Any) -> End:
        """Return the end of the goal, which leaves its place without a target."""
        self._withdraw()
        self._machine.handle(GoalEvent.END)
        return End(outcome, result)

    def _withdraw(self) -> None:
        """Leave the place without a target: the servo decelerates, within its limits."""
        if self._target is not None and self._present() is self._target:
            self._put(None)
