# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of an action's goal: preemption by others, and braking after a cancellation."""

from __future__ import annotations

import abc
from typing import Any

from ros_ik.node.actions.action_server import End
from ros_ik.node.actions.commander import ComingToRest
from ros_ik.node.actions.commander import Commander
from ros_ik.servo import Mode

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

    def __init__(self, commander: Commander) -> None:
        """Note how things stand.

        Raises:
            GoalError: The node cannot follow any goal now.
        """
        commander.check_ready(*self.modes)
        self._commander = commander
        self._situation = commander.situation()
        self._target: Any = None
        self._resting: ComingToRest | None = None

    def begin(self) -> None:
        """Take the place of every other target."""
        self._others = self._competitors()
        self._begin(self._commander.now())

    def poll(self, now: float, canceled: bool) -> End | None:
        """Return the end of the goal once there is one; see :class:`Motion`."""
        reason = self._commander.interruption(self._situation, *self.modes) or self._replaced()
        if reason:
            return self.abort(reason)
        self._look(now)
        return self._come_to_rest(now) if canceled else self._advance(now)

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
        """Go on towards the goal; return its end once there is one."""

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
        """Return who has taken over, '' for nobody."""
        held = None if self._resting is not None else self._target
        if self._present() is not held:
            return f'a newer {self.place} has taken over'
        return self._commander.newcomer(self._others, self._competitors())

    def _come_to_rest(self, now: float) -> End | None:
        if self._resting is None:
            self._resting = ComingToRest(self._commander)
            self._withdraw()
        return self._canceled() if self._resting.done(now) else None

    def _withdraw(self) -> None:
        """Leave the place without a target: the servo decelerates, within its limits."""
        if self._target is not None and self._present() is self._target:
            self._put(None)
