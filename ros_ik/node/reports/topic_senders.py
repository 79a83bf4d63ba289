# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publishers of joint states and of commands.

If two publishers of a topic disagree, the robot seems not to follow its command, or does not.
"""

from __future__ import annotations

from collections.abc import Iterable
import math

from rclpy.node import Node

from ros_ik.model.conventions.labels import listed
from ros_ik.node.transport.mailbox import Mailbox
from ros_ik.servo import StatusCode

# Time after which publishers are counted again while the robot does not follow [s]. With two that
# disagree, the code may change in every tick.
_PERIOD = 2.0


class TopicSenders:
    """Sentence about publishers of joint states and commands, for a robot that does not follow."""

    def __init__(self, node: Node, commands: Iterable[str], sentence: Mailbox[str]) -> None:
        """Start without a count.

        Args:
            node: The node.
            commands: Topics of the commands.
            sentence: Mailbox for the sentence, '' for at most one publisher on each topic.
        """
        self._node, self._sentence = node, sentence
        self._questions = {
            node.resolve_topic_name('joint_states'): 'do they disagree about a joint?'
        }
        for topic in commands:
            name = node.resolve_topic_name(topic)
            self._questions[name] = 'does another program command the robot?'
        self._counted = -math.inf

    def count(self, code: StatusCode, now: float) -> None:
        """Count the publishers if the robot does not follow and they were not counted recently.

        A count is forgotten after this time, so that a later fault does not begin with it.

        Args:
            code: Code of the last tick.
            now: Steady clock [s].
        """
        if now - self._counted < _PERIOD:
            return
        if code == StatusCode.FOLLOWING_ERROR:
            self._counted = now
            self._sentence.put(''.join(map(self._about, self._questions)))
        elif self._counted > -math.inf:
            self._counted = -math.inf
            self._sentence.put('')

    def _about(self, topic: str) -> str:
        """Return the sentence about a topic, '' for at most one publisher."""
        found = self._node.get_publishers_info_by_topic(topic)
        if len(found) < 2:
            return ''
        names = sorted(f'{one.node_namespace.rstrip("/")}/{one.node_name}' for one in found)
        question = self._questions[topic]
        return f'; {len(names)} publishers on {topic} ({listed(names)}): {question}'
