# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Counter of targets that a servo rejects as jumps."""

from __future__ import annotations

from ros_ik.node.transport.message_stats import MessageStats
from ros_ik.servo import Command
from ros_ik.servo import Rejection
from ros_ik.servo import Servo

_CENTER_TOPIC = 'target_com'
_ACTION = 'move_to_pose'


class JumpCounter:
    """Counter of rejected targets, updated at the end of a tick by the control thread.

    Only the servo knows the commanded pose when it reads a target, so the topics cannot detect
    jumps.
    """

    def __init__(self, servo: Servo, message_stats: MessageStats) -> None:
        """Start at the current counters of the servo.

        Args:
            servo: The servo.
            message_stats: Counter of dropped messages.
        """
        self._message_stats = message_stats
        self._names = tuple(servo.targets.streams)
        self._sources = tuple(servo.targets.streams.values())
        self._counted = [source.jumps for source in self._sources]

    def update(self, command: Command) -> None:
        """Count the targets of a command that the tick rejected."""
        for index, source in enumerate(self._sources):
            new = source.jumps - self._counted[index]
            if new:
                self._counted[index] = source.jumps
                self._message_stats.add_in_tick(
                    self._topic(index, command), Rejection.TARGET_JUMP, _explanation, new
                )

    def _topic(self, index: int, command: Command) -> str:
        """Return the name of the topic or action of a target."""
        if index == len(self._sources) - 1:
            return _CENTER_TOPIC
        target = command.poses[index]
        if target is None:
            # The tick that rejected it failed, and the target has been withdrawn since.
            return f'{self._names[index]}/target_pose'
        return _ACTION if target.lasting else target.topic


def _explanation() -> str:
    return 'it is farther away than max_target_step_* permit while target_jump_policy is reject'
