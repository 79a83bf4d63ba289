# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Actions on the node's own executor: goals that a timer looks at, no thread and no sleep.

rclpy runs a goal as a coroutine from the moment that it is accepted, and its executor of events
asks a coroutine that waits again and again whether it has ended. So a goal is handed to rclpy once
it has ended; until then a timer looks after it.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import enum
from typing import Any
from typing import Protocol

from rclpy.action import ActionServer
from rclpy.action import CancelResponse
from rclpy.action import GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from ros_ik.errors import RosIkError
from ros_ik.node.drops import Drops
from ros_ik.node.drops import Reason


class GoalError(RosIkError, ValueError):
    """A goal that is refused.

    Attributes:
        reason: What it is counted as on ``~/status``.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Outcome(enum.Enum):
    """How a goal ends, for its client."""

    SUCCEEDED = 'succeed'
    ABORTED = 'abort'
    CANCELED = 'canceled'


@dataclasses.dataclass(frozen=True, eq=False)
class End:
    """The end of a goal: how, and the result message."""

    outcome: Outcome
    result: Any


class Motion(Protocol):
    """What an accepted goal does."""

    def begin(self) -> None:
        """Give the servo the first target."""

    def poll(self, now: float, canceled: bool) -> End | None:
        """Look after the goal; return its end, None while it goes on.

        Args:
            now: Time of the servo [s].
            canceled: Whether the client wants it to end.
        """

    def feedback(self) -> Any:
        """Return a feedback message."""

    def abort(self, reason: str) -> End:
        """End at once; the servo comes to rest."""


@dataclasses.dataclass(eq=False)
class _Running:
    handle: ServerGoalHandle
    motion: Motion
    next_feedback: float


class _Server(ActionServer):
    """rclpy's server of an action, with goals that are not run but have a result some day."""

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Leave a goal that begins to its motion."""

    def send_result(self, goal_handle: ServerGoalHandle, callback: Callable[[Any], Any]) -> None:
        """Have the client of a goal that has ended get what a callback returns."""
        super().notify_execute(goal_handle, callback)


class MotionServer:
    """One action whose goals are motions; used in the thread of the executor.

    Attributes:
        running: Goals without an end.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        make: Callable[[Any], Motion],
        drops: Drops,
        begun: Callable[[], None],
    ) -> None:
        """Create the server.

        Args:
            node: The node.
            kind: Type of the action.
            name: Its name below the node.
            make: Makes a motion of a goal message, or raises :class:`GoalError`.
            drops: Counts and logs the goals that are refused.
            begun: Called when a goal begins.
        """
        self._name, self._make, self._drops, self._begun = name, make, drops, begun
        self.running: list[_Running] = []
        self._pending = 0
        self._made: tuple[Any, Motion] | None = None
        self._server = _Server(
            node,
            kind,
            f'~/{name}',
            execute_callback=_never,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    @property
    def busy(self) -> bool:
        """Whether there are goals whose client has no result."""
        return self._pending > 0

    def poll(self, now: float, feedback_period: float) -> None:
        """Look after every goal.

        Args:
            now: Time of the servo [s].
            feedback_period: Time between two feedback messages of a goal [s].
        """
        for goal in tuple(self.running):
            end = goal.motion.poll(now, goal.handle.is_cancel_requested)
            if end is not None:
                self._finish(goal, end)
            elif not 0.0 < goal.next_feedback - now <= feedback_period:
                goal.next_feedback = now + feedback_period
                goal.handle.publish_feedback(goal.motion.feedback())

    def abort(self, reason: str) -> None:
        """End every goal."""
        for goal in tuple(self.running):
            self._finish(goal, goal.motion.abort(reason))

    def destroy(self) -> None:
        """Remove the server from the node."""
        self._server.destroy()

    def _on_goal(self, request: Any) -> GoalResponse:
        try:
            self._made = request, self._make(request)
        except GoalError as error:
            text = str(error)
            self._drops.add(self._name, error.reason, lambda: text)
            return GoalResponse.REJECT
        self._drops.accepted(self._name)
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        # rclpy passes on the goal that was just looked at.
        (_, motion), self._made = self._made, None  # type: ignore[misc]
        self.running.append(_Running(handle, motion, 0.0))
        self._pending += 1
        motion.begin()
        handle.execute()
        self._begun()

    def _finish(self, goal: _Running, end: End) -> None:
        self.running.remove(goal)
        getattr(goal.handle, end.outcome.value)()

        def result(_: ServerGoalHandle) -> Any:
            self._pending -= 1
            return end.result

        self._server.send_result(goal.handle, result)


def _never(_: ServerGoalHandle) -> None:
    """Stand for what each goal brings itself when it has ended."""
    raise AssertionError('a goal was run before its end')
