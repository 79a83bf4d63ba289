# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A user of the node's actions who knows public messages only."""

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from support.rigs.ros_rig import LONG

SUCCEEDED, ABORTED, CANCELED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_ABORTED,
    GoalStatus.STATUS_CANCELED,
)


def at_rest(client):
    """Return the client with the robot at rest; its poses are those from now on."""
    client.wait_for_rest()
    client.forget_targets()
    return client


class Goal:
    """One goal that was sent.

    Attributes:
        accepted: True if the node has accepted it.
        feedback: Feedback messages so far.
    """

    def __init__(self, client, handle, feedback):
        self._client, self._handle, self.feedback = client, handle, feedback
        self.accepted = handle.accepted
        self._result = handle.get_result_async() if handle.accepted else None

    @property
    def done(self):
        """True if the goal has ended."""
        return self._result.done()

    def result(self, timeout=LONG):
        """Wait for the end; return status and result."""
        self._client.wait_for(self._result.done, 'a result', timeout)
        answer = self._result.result()
        return answer.status, answer.result

    def refusal(self):
        """Return the reason of a goal that is refused: it is aborted at once, with the reason."""
        assert self.accepted
        status, result = self.result()
        assert status == ABORTED
        return result.message if hasattr(result, 'message') else result.error_string

    def cancel(self):
        """Request the cancellation; return True if the node accepts it."""
        future = self._handle.cancel_goal_async()
        self._client.wait_for(future.done, 'an answer to the cancel', LONG)
        return bool(future.result().goals_canceling)


class ActionUser:
    """Sends goals to one action, as long as the client lives.

    The events executor of rclpy 9 may crash if an action client is destroyed before it.
    """

    def __init__(self, client, kind, name):
        self._client = client
        self._server = ActionClient(client.node, kind, f'ros_ik/{name}')
        client.wait_for(self._server.server_is_ready, f'action {name}', LONG)

    def send(self, goal):
        """Send a goal and wait until the node has accepted or refused it."""
        feedback = []
        future = self._server.send_goal_async(
            goal, feedback_callback=lambda message: feedback.append(message.feedback)
        )
        self._client.wait_for(future.done, 'an answer to the goal', LONG)
        return Goal(self._client, future.result(), feedback)
