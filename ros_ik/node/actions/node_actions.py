# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The actions of the node, and the timer that advances their goals."""

from __future__ import annotations

import time

from rclpy.clock import Clock
from rclpy.clock import ClockType

from ros_ik.node.actions.action_server import MotionServer
from ros_ik.node.actions.commander import Commander
from ros_ik.node.actions.follow_trajectory import FollowJointTrajectory
from ros_ik.node.actions.follow_trajectory import FollowTrajectoryMotion
from ros_ik.node.actions.move_to_pose import MoveToPoseMotion
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.settings import Settings
from ros_ik_interfaces.action import MoveToPose

# Minimum period of the timer, otherwise the control period [s].
_SHORTEST_PERIOD = 0.005
# Time limit for goals to end at shutdown [s]; the whole shutdown takes at most a second.
_ABORT_TIMEOUT = 0.15


class Actions:
    """Action servers; they exist as long as the node, and abort goals while it cannot move."""

    def __init__(
        self,
        node: GuardedNode,
        commander: Commander,
        settings: Settings,
        message_stats: MessageStats,
    ) -> None:
        """Create the servers.

        Args:
            node: The node.
            commander: Interface to the servo.
            settings: Settings in force.
            message_stats: Counter and log of invalid goals.
        """
        self._ending = ''
        self._now = commander.now
        self._feedback_period = 1.0 / settings.actions_feedback_rate
        self._timer = node.create_timer(
            max(settings.period, _SHORTEST_PERIOD),
            self._poll,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        self._timer.cancel()
        self._servers = [
            MotionServer(
                node,
                MoveToPose,
                'move_to_pose',
                lambda goal: MoveToPoseMotion(commander, goal),
                MoveToPoseMotion.refusal,
                message_stats,
                self._timer.reset,
            ),
        ]
        if FollowJointTrajectory is not None:
            self._servers.append(
                MotionServer(
                    node,
                    FollowJointTrajectory,
                    'follow_joint_trajectory',
                    lambda goal: FollowTrajectoryMotion(commander, goal),
                    FollowTrajectoryMotion.refusal,
                    message_stats,
                    self._timer.reset,
                )
            )

    @property
    def busy(self) -> bool:
        """True if any client has not received its result yet."""
        return any(server.busy for server in self._servers)

    def abort(self, reason: str) -> None:
        """Abort all goals."""
        for server in self._servers:
            server.abort(reason)

    def end(self, reason: str) -> None:
        """Abort all goals in the executor's thread, and wait briefly until they have ended."""
        self._ending = reason
        give_up = time.monotonic() + _ABORT_TIMEOUT
        while self.busy and time.monotonic() < give_up:
            time.sleep(_SHORTEST_PERIOD)

    def destroy(self) -> None:
        """Destroy the servers."""
        for server in self._servers:
            server.destroy()

    def _poll(self) -> None:
        if self._ending:
            self.abort(self._ending)
        now = self._now()
        for server in self._servers:
            server.poll(now, self._feedback_period)
        if not self.busy:
            self._timer.cancel()
