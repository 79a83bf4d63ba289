# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Actions on the node's own executor: a timer advances goals, without a thread or a sleep.

rclpy runs an accepted goal as a coroutine, and its executor of events polls a waiting coroutine
again and again. So a goal is handed to rclpy when it has ended; until then a timer advances it.
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

from ros_ik.errors import RosIkError
from ros_ik.node.execution.guard import fault_text
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.message_stats import Reason

# Goals that one action keeps: rclpy has the result of each for ten seconds after its end.
_MOST_GOALS = 200


class GoalError(RosIkError, ValueError):
    """A goal that is refused.

    Attributes:
        reason: What it is counted as on ``~/status``.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Outcome(enum.Enum):
    """End of a goal, as its client sees it."""

    SUCCEEDED = 'succeed'
    ABORTED = 'abort'
    CANCELED = 'canceled'


@dataclasses.dataclass(frozen=True, eq=False)
class End:
    """The end of a goal: how, and the result message."""

    outcome: Outcome
    result: Any


class Motion(Protocol):
    """Work of an accepted goal."""

    def begin(self) -> None:
        """Give the servo the first target."""

    def poll(self, now: float, canceled: bool) -> End | None:
        """Advance the goal; return its end, None while it runs.

        Args:
            now: Time of the servo [s].
            canceled: True if the client wants it to end.
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

    @property
    def goal_count(self) -> int:
        """Number of goals without a result, or whose result is kept."""
        return len(self._goal_handles)

    def take_data(self) -> Any:
        """Return the requests that have come; none where they cannot be taken."""
        node: GuardedNode = self._node  # type: ignore[assignment]
        return node.guarded(self._action_type.__name__, super().take_data, lambda _: {})()

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Leave a goal that begins to its motion."""

    def send_result(self, goal_handle: ServerGoalHandle, callback: Callable[[Any], Any]) -> None:
        """Have the client of a goal that has ended get what a callback returns."""
        super().notify_execute(goal_handle, callback)


class MotionServer:
    """One action whose goals are motions; used in the thread of the executor.

    A rejected goal has no result in ROS, and so no reason. A goal that cannot be followed is
    accepted and aborted at once, with the reason in its result; it never reaches the servo.

    Attributes:
        running: Goals without an end.
    """

    def __init__(
        self,
        node: GuardedNode,
        kind: Any,
        name: str,
        make: Callable[[Any], Motion],
        refuse: Callable[[GoalError], Any],
        drops: MessageStats,
        begun: Callable[[], None],
    ) -> None:
        """Create the server.

        Args:
            node: The node.
            kind: Type of the action.
            name: Its name below the node.
            make: Makes a motion of a goal message, or raises :class:`GoalError`.
            refuse: Makes the result message of a goal that is refused.
            drops: Counts and logs the goals that are refused.
            begun: Called when a goal begins.
        """
        self._node, self._name, self._drops = node, name, drops
        self._make, self._refuse, self._begun = make, refuse, begun
        self.running: list[_Running] = []
        self._pending = 0
        self._made: Motion | GoalError
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
        """True if there are goals whose client has no result."""
        return self._pending > 0

    def poll(self, now: float, feedback_period: float) -> None:
        """Look after every goal.

        Args:
            now: Time of the servo [s].
            feedback_period: Time between two feedback messages of a goal [s].
        """
        for goal in tuple(self.running):
            try:
                self._look_after(goal, now, feedback_period)
            except Exception as error:  # noqa: BLE001 it costs this goal alone
                self._fail(goal, error)

    def abort(self, reason: str) -> None:
        """End every goal."""
        for goal in tuple(self.running):
            try:
                self._finish(goal, goal.motion.abort(reason))
            except Exception as error:  # noqa: BLE001 it costs this goal alone
                self._fail(goal, error)

    def destroy(self) -> None:
        """Remove the server from the node."""
        self._server.destroy()

    def _look_after(self, goal: _Running, now: float, feedback_period: float) -> None:
        end = goal.motion.poll(now, goal.handle.is_cancel_requested)
        if end is not None:
            self._finish(goal, end)
        elif not 0.0 < goal.next_feedback - now <= feedback_period:
            goal.next_feedback = now + feedback_period
            goal.handle.publish_feedback(goal.motion.feedback())

    def _on_goal(self, request: Any) -> GoalResponse:
        if self._server.goal_count >= _MOST_GOALS:
            error = GoalError(
                Drop.TOO_MANY_GOALS, f'{_MOST_GOALS} goals came within ten seconds; wait a moment'
            )
            self._count(error)
            return GoalResponse.REJECT
        try:
            self._made = self._make(request)
        except GoalError as error:
            self._made = error
        except Exception as error:  # noqa: BLE001 no goal may end the node
            self._node.on_fault(self._name, error)
            self._made = GoalError(Drop.INTERNAL_ERROR, f'internal error: {fault_text(error)}')
        return GoalResponse.ACCEPT

    def _count(self, error: GoalError) -> None:
        text = str(error)
        self._drops.add(self._name, error.reason, lambda: text, event='refused a goal of')

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        # rclpy passes on the goal that was just looked at.
        made = self._made
        self._pending += 1
        handle.execute()
        if isinstance(made, GoalError):
            self._count(made)
            self._answer(handle, End(Outcome.ABORTED, self._refuse(made)))
            return
        self._drops.accepted(self._name)
        goal = _Running(handle, made, 0.0)
        self.running.append(goal)
        try:
            made.begin()
        except Exception as error:  # noqa: BLE001 it costs this goal alone
            self._fail(goal, error)
        self._begun()

    def _finish(self, goal: _Running, end: End) -> None:
        self.running.remove(goal)
        self._answer(goal.handle, end)

    def _fail(self, goal: _Running, error: Exception) -> None:
        """End a goal that raised an error."""
        self._node.on_fault(self._name, error)
        text = f'internal error, see the log: {fault_text(error)}'
        try:
            end = goal.motion.abort(text)
        except Exception:  # noqa: BLE001 the first error says more
            end = End(Outcome.ABORTED, self._refuse(GoalError(Drop.INTERNAL_ERROR, text)))
        if goal in self.running:
            self._finish(goal, end)

    def _answer(self, handle: ServerGoalHandle, end: End) -> None:
        getattr(handle, end.outcome.value)()

        def result(_: ServerGoalHandle) -> Any:
            self._pending -= 1
            return end.result

        self._server.send_result(handle, result)


def _never(_: ServerGoalHandle) -> None:
    """Stand for what each goal brings itself when it has ended."""
    raise AssertionError('a goal was run before its end')
