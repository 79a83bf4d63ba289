# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publishers of joint states. If two disagree, the robot seems not to follow its command."""

from __future__ import annotations

import math

from rclpy.node import Node

from ros_ik.model.conventions.labels import listed
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.servo import StatusCode

# Time after which publishers are counted again while the robot does not follow [s]. With two that
# disagree, the code may change in every tick.
_PERIOD = 2.0


class StateSenders:
    """Sentence about the publishers of joint states, for a robot that does not follow."""

    def __init__(self, node: Node, sentence: Mailbox[str]) -> None:
        """Start without a count.

        Args:
            node: The node.
            sentence: Mailbox for the sentence, '' for at most one publisher.
        """
        self._node, self._sentence = node, sentence
        self._counted = -math.inf

    def count(self, code: StatusCode, now: float) -> None:
        """Count the publishers if the robot does not follow and they were not counted recently.

        Args:
            code: Code of the last tick.
            now: Steady clock [s].
        """
        if code != StatusCode.FOLLOWING_ERROR or now - self._counted < _PERIOD:
            return
        self._counted = now
        topic = self._node.resolve_topic_name('joint_states')
        found = self._node.get_publishers_info_by_topic(topic)
        names = [f'{one.node_namespace.rstrip("/")}/{one.node_name}' for one in found]
        self._sentence.put(
            f'; {len(names)} publishers on {topic} ({listed(sorted(names))}): do they disagree '
            'about a joint?'
            if len(names) > 1
            else ''
        )
