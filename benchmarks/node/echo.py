# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A node that computes nothing: a pose in, a trajectory of the usual size out, at once.

Its latency is the share of rclpy and DDS in the latency of any Python node on this machine.
"""

from __future__ import annotations

import sys

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.execution.program import run_node

_JOINTS = 7


class EchoNode(Node):
    """Answers each pose; the stamp of the answer is that of the pose."""

    def __init__(self) -> None:
        """Subscribe with the quality of service of ros_ik_node."""
        super().__init__('echo')
        stream = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._publisher = self.create_publisher(JointTrajectory, '~/joint_trajectory', 1)
        self._message = JointTrajectory(
            joint_names=[f'panda_joint{k + 1}' for k in range(_JOINTS)],
            points=[JointTrajectoryPoint(positions=[0.0] * _JOINTS) for _ in range(2)],
        )
        self.create_subscription(PoseStamped, '~/target_pose', self._on_pose, stream)

    def _on_pose(self, pose: PoseStamped) -> None:
        self._message.header.stamp = pose.header.stamp
        self._publisher.publish(self._message)


if __name__ == '__main__':
    sys.exit(run_node(lambda refuse: EchoNode(), None))
