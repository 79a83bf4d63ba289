# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Action servers on the node's executor; a timer advances goals.

rclpy runs an accepted goal as a coroutine, and its events executor polls a waiting coroutine
continuously. A goal is therefore passed to rclpy only when it has ended; until then a timer
advances it.
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
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.guard import internal_error
from ros_ik.node.transport.message_stats import Drop
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.node.transport.message_stats import Reason

# Maximum number of goals per action, including those that ended less than ten seconds ago, whose
# results rclpy keeps.
_MAX_GOALS = 200


class GoalError(RosIkError, ValueError):
    """A refused goal.

    Attributes:
        reason: Reason by which ``~/status`` counts it.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Outcome(enum.Enum):
    """Kind of end of a goal."""

    SUCCEEDED = 'succeed'
    ABORTED = 'abort'
    CANCELED = 'canceled'


@dataclasses.dataclass(frozen=True, eq=False)
class GoalEnd:
    """End of a goal: outcome and result message."""

    outcome: Outcome
    result: Any


class Motion(Protocol):
    """Execution of an accepted goal."""

    def begin(self) -> None:
        """Set the first target of the servo."""

    def poll(self, now: float, canceled: bool) -> GoalEnd | None:
        """Advance the goal; return its end, or None while it is running.

        Args:
            now: Time of the servo [s].
            canceled: True if the client has cancelled the goal.
        """

    def feedback(self) -> Any:
        """Return a feedback message."""

    def abort(self, reason: str) -> GoalEnd:
        """Abort at once; the servo comes to rest."""


@dataclasses.dataclass(eq=False)
class _Running:
    handle: ServerGoalHandle
    motion: Motion
    next_feedback: float


class _Server(ActionServer):
    """Action server of rclpy whose goals end later, without a coroutine."""

    @property
    def goal_count(self) -> int:
        """Number of goals without a result, or whose result is kept."""
        return len(self._goal_handles)

    def take_data(self) -> Any:
        """Return received requests; none if they cannot be read."""
        node = self._node
        assert isinstance(node, GuardedNode)  # MotionServer takes no other
        return node.guarded(self._action_type.__name__, super().take_data, lambda _: {})()

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Do nothing: the motion of the goal executes it."""

    def send_result(self, goal_handle: ServerGoalHandle, callback: Callable[[Any], Any]) -> None:
        """Send the client of an ended goal the result that a callback returns."""
        super().notify_execute(goal_handle, callback)


class MotionServer:
    """Action server whose goals are motions; used in the executor's thread.

    ROS sends no result for a goal that it rejects, and so no reason. A goal that cannot be
    followed is therefore accepted and aborted at once, with the reason in its result; it never
    reaches the servo.

    Attributes:
        running: Goals that have not ended.
    """

    def __init__(
        self,
        node: GuardedNode,
        kind: Any,
        name: str,
        make: Callable[[Any], Motion],
        refuse: Callable[[GoalError], Any],
        message_stats: MessageStats,
        begun: Callable[[], None],
    ) -> None:
        """Create the server.

        Args:
            node: The node.
            kind: Type of the action.
            name: Name relative to the node.
            make: Creates a motion from a goal message, or raises :class:`GoalError`.
            refuse: Creates the result message of an invalid goal.
            message_stats: Counter and log of invalid goals.
            begun: Function called when a goal starts.
        """
        self._node, self._name, self._message_stats = node, name, message_stats
        self._make, self._refuse, self._begun = make, refuse, begun
        self.running: list[_Running] = []
        self._pending = 0
        self._made: Motion | GoalError
        self._server = _Server(
            node,
            kind,
            f'~/{name}',
            execute_callback=_unused_execute_callback,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    @property
    def busy(self) -> bool:
        """True if any client has not received its result yet."""
        return self._pending > 0

    def poll(self, now: float, feedback_period: float) -> None:
        """Advance all goals.

        Args:
            now: Time of the servo [s].
            feedback_period: Time between two feedback messages of a goal [s].
        """
        for goal in tuple(self.running):
            try:
                self._poll_goal(goal, now, feedback_period)
            except Exception as error:  # noqa: BLE001 it costs this goal alone
                self._fail(goal, error)

    def abort(self, reason: str) -> None:
        """Abort all goals."""
        for goal in tuple(self.running):
            try:
                self._finish(goal, goal.motion.abort(reason))
            except Exception as error:  # noqa: BLE001 it costs this goal alone
                self._fail(goal, error)

    def destroy(self) -> None:
        """Destroy the server."""
        self._server.destroy()

    def _poll_goal(self, goal: _Running, now: float, feedback_period: float) -> None:
        end = goal.motion.poll(now, goal.handle.is_cancel_requested)
        if end is not None:
            self._finish(goal, end)
        elif not 0.0 < goal.next_feedback - now <= feedback_period:
            goal.next_feedback = now + feedback_period
            goal.handle.publish_feedback(goal.motion.feedback())

    def _on_goal(self, request: Any) -> GoalResponse:
        if self._server.goal_count >= _MAX_GOALS:
            error = GoalError(
                Drop.TOO_MANY_GOALS, f'{_MAX_GOALS} goals came within ten seconds; wait a moment'
            )
            self._count(error)
            return GoalResponse.REJECT
        try:
            self._made = self._make(request)
        except GoalError as error:
            self._made = error
        except Exception as error:  # noqa: BLE001 no goal may end the node
            self._node.on_fault(self._name, error)
            self._made = GoalError(Drop.INTERNAL_ERROR, internal_error(error))
        return GoalResponse.ACCEPT

    def _count(self, error: GoalError) -> None:
        text = str(error)
        self._message_stats.add(self._name, error.reason, lambda: text, event='refused a goal of')

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        """Begin the goal that was just checked, or answer with its fault."""
        # rclpy passes the goal that was just checked.
        made = self._made
        self._pending += 1
        handle.execute()
        if isinstance(made, GoalError):
            self._count(made)
            self._answer(handle, GoalEnd(Outcome.ABORTED, self._refuse(made)))
            return
        self._message_stats.accepted(self._name)
        goal = _Running(handle, made, 0.0)
        self.running.append(goal)
        try:
            made.begin()
        except Exception as error:  # noqa: BLE001 it costs this goal alone
            self._fail(goal, error)
        self._begun()

    def _finish(self, goal: _Running, end: GoalEnd) -> None:
        self.running.remove(goal)
        self._answer(goal.handle, end)

    def _fail(self, goal: _Running, error: Exception) -> None:
        """End a goal that raised an error."""
        self._node.on_fault(self._name, error)
        text = internal_error(error)
        try:
            end = goal.motion.abort(text)
        except Exception:  # noqa: BLE001 the first error says more
            end = GoalEnd(Outcome.ABORTED, self._refuse(GoalError(Drop.INTERNAL_ERROR, text)))
        if goal in self.running:
            self._finish(goal, end)

    def _answer(self, handle: ServerGoalHandle, end: GoalEnd) -> None:
        getattr(handle, end.outcome.value)()

        def result(_: ServerGoalHandle) -> Any:
            self._pending -= 1
            return end.result

        self._server.send_result(handle, result)


def _unused_execute_callback(_: ServerGoalHandle) -> None:
    """Raise an error: rclpy requires a callback, but each goal has its own."""
    raise AssertionError('rclpy executed a goal that has not ended')
