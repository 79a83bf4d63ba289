# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A user of the node's actions who knows public messages only."""

import collections

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
    """

    def __init__(self, client, handle, received):
        self._client, self._handle, self._received = client, handle, received
        self.accepted = handle.accepted
        self._result = handle.get_result_async() if handle.accepted else None

    @property
    def feedback(self):
        """Feedback messages so far."""
        return [message for message, _ in self._received]

    @property
    def feedback_times(self):
        """Times of their publication [s]."""
        return [seconds for _, seconds in self._received]

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
        # Action clients of rclpy keep ten messages, and lose others while a busy machine suspends
        # their process.
        self._feedback = collections.defaultdict(list)
        client.listen(
            kind.Impl.FeedbackMessage, f'ros_ik/{name}/_action/feedback', self._on_feedback, 1000
        )
        client.wait_for(self._server.server_is_ready, f'action {name}', LONG)

    def send(self, goal):
        """Send a goal and wait until the node has accepted or refused it."""
        future = self._server.send_goal_async(goal)
        self._client.wait_for(future.done, 'an answer to the goal', LONG)
        handle = future.result()
        return Goal(self._client, handle, self._feedback[bytes(handle.goal_id.uuid)])

    def _on_feedback(self, message, info):
        received = self._feedback[bytes(message.goal_id.uuid)]
        received.append((message.feedback, 1e-9 * info['source_timestamp']))
