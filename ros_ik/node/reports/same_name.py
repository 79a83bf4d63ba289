# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Other nodes on the graph with the name of this one.

They receive the same targets, and requests and parameters reach only one of them. ROS reports
nothing.
"""

from __future__ import annotations

import math

from rclpy.node import Node

# Time for which the graph must list another node of this name [s]. A killed process stays listed
# until the lease of its participant ends, 20 s by default in Fast DDS, so a restart is no reason.
_LISTED = 30.0


class SameName:
    """Sentence about other nodes of the same name and namespace."""

    def __init__(self, node: Node) -> None:
        """Start without a sentence."""
        self._node, self._since, self._is_logged = node, math.inf, False

    def sentence(self, now: float) -> str:
        """Return the sentence, '' for no other node; it is logged once.

        Args:
            now: Steady clock [s].
        """
        own = self._node.get_name(), self._node.get_namespace()
        count = self._node.get_node_names_and_namespaces().count(own)
        if count < 2:
            self._since = math.inf
            return ''
        self._since = min(self._since, now)
        if now - self._since < _LISTED:
            return ''
        text = (
            f'{count} nodes are called {self._node.get_fully_qualified_name()}: end the others, '
            'or give each its own name or namespace'
        )
        if not self._is_logged:
            self._is_logged = True
            self._node.get_logger().warning(text)
        return text
