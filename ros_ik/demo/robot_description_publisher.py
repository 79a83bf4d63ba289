# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The node ``robot_description_publisher``: a URDF or xacro on ``robot_description``.

It publishes a latched message like robot_state_publisher, without transforms.
"""

from __future__ import annotations

from collections.abc import Sequence
import sys

from rclpy.parameter import Parameter
from std_msgs.msg import String

from ros_ik.errors import ArgumentError
from ros_ik.model.readers.description import read_description
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.program import describe
from ros_ik.node.execution.program import run_node
from ros_ik.node.transport.polled_events import PolledEventsMixin
from ros_ik.node.transport.qos_profiles import LATCHED


class RobotDescriptionPublisher(GuardedNode, PolledEventsMixin):
    """Publisher of ``robot_description`` and optionally ``robot_description_semantic``.

    Parameters: ``urdf_path`` (URDF or xacro file) and ``srdf_path`` (SRDF file); '' for none.
    """

    def __init__(self) -> None:
        """Read the files and publish them.

        Raises:
            ArgumentError: A file is missing or cannot be expanded.
        """
        super().__init__('robot_description_publisher')
        string = Parameter.Type.STRING
        self.declare_parameter(
            'urdf_path', '', describe(string, "URDF or xacro file, '' for none")
        )
        self.declare_parameter('srdf_path', '', describe(string, "SRDF file, '' for none"))
        urdf_path = self.get_parameter('urdf_path').value
        srdf_path = self.get_parameter('srdf_path').value
        if not urdf_path and not srdf_path:
            raise ArgumentError('parameter urdf_path must name a URDF or xacro file')
        if urdf_path:
            self._latch('robot_description', urdf_path)
        if srdf_path:
            self._latch('robot_description_semantic', srdf_path)

    def _latch(self, topic: str, path: str) -> None:
        text = read_description(path)
        self.create_publisher(String, topic, LATCHED).publish(String(data=text))
        self.get_logger().info(f'{topic}: {len(text)} characters of {path}')


def main(args: Sequence[str] | None = None) -> int:
    """Publish until interrupted; return the exit code."""
    return run_node(lambda refuse: RobotDescriptionPublisher(), args)


if __name__ == '__main__':
    sys.exit(main())
