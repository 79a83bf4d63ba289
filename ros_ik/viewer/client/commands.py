# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Publishers of the targets, velocities and obstacles of the page."""

from __future__ import annotations

from collections.abc import Mapping

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from ros_ik.model.conventions import poses
from ros_ik.node.transport.pose_messages import fill_pose
from ros_ik.node.transport.qos_profiles import LATCHED
from ros_ik.viewer.obstacles.obstacles import Obstacles
from ros_ik.viewer.robot.robot_state import RobotState
from ros_ik_interfaces.msg import ObstacleArray

# Messages of zero velocity at the end of a motion, of which some may be lost. Without them the
# robot would move on for the command timeout of the node.
_HALT_MESSAGES = 4


class Commands:
    """Publishers for the requests of users; for the ROS thread."""

    def __init__(self, node: Node, name: str) -> None:
        """Create publishers to the node with a given name."""
        self._node, self._name = node, name
        self._targets: dict[str, Publisher] = {}
        self._twists: dict[str, Publisher] = {}
        # Messages of zero velocity that are still to be sent, by task.
        self._halts: dict[str, int] = {}
        self._joints = node.create_publisher(JointState, f'{name}/target_joints', 1)
        self._obstacles = node.create_publisher(ObstacleArray, f'{name}/obstacles', LATCHED)

    def follow_task(self, task: str) -> None:
        """Advertise the targets of a task.

        Raises:
            NameValidationException: The name is not valid in a topic.
        """
        self._targets[task] = self._node.create_publisher(
            PoseStamped, f'{self._name}/{task}/target_pose', 1
        )
        self._twists[task] = self._node.create_publisher(
            TwistStamped, f'{self._name}/{task}/target_twist', 1
        )

    def send_poses(self, robot: RobotState, held: Mapping[str, np.ndarray]) -> None:
        """Publish targets: poses in the world [7] by task."""
        for task, pose in held.items():
            self._halts.pop(task, None)
            message = PoseStamped()
            message.header.frame_id, message.header.stamp = robot.root_link, self._now()
            fill_pose(message.pose, poses.multiply(poses.inverse(robot.root_pose), pose).tolist())
            self._targets[task].publish(message)

    def send_joints(self, goal: Mapping[str, float]) -> None:
        """Publish target positions [rad or m] of joints, by name, if there are any."""
        if goal:
            self._halts.clear()
            message = JointState(name=list(goal), position=list(goal.values()))
            message.header.stamp = self._now()
            self._joints.publish(message)

    def send_twist(self, robot: RobotState, task: str, twist: np.ndarray | None) -> None:
        """Publish a velocity in the axes of the root link [6], m/s and rad/s, or end earlier ones.

        Args:
            robot: The robot.
            task: Task of the velocity.
            twist: The velocity; None for no motion.
        """
        for other in [name for name in self._halts if twist is None or name != task]:
            self._publish_twist(robot, other, np.zeros(6))
            self._halts[other] -= 1
            if not self._halts[other]:
                del self._halts[other]
        if twist is not None and task in self._twists:
            self._publish_twist(robot, task, twist)
            self._halts[task] = _HALT_MESSAGES

    def _publish_twist(self, robot: RobotState, task: str, twist: np.ndarray) -> None:
        message = TwistStamped()
        message.header.frame_id, message.header.stamp = robot.root_link, self._now()
        linear, angular = message.twist.linear, message.twist.angular
        linear.x, linear.y, linear.z = twist[:3].tolist()
        angular.x, angular.y, angular.z = twist[3:].tolist()
        self._twists[task].publish(message)

    def send_obstacles(self, robot: RobotState, obstacles: Obstacles) -> None:
        """Publish the obstacles of the page that have changed."""
        message = obstacles.take_message(poses.inverse(robot.root_pose), robot.root_link)
        if message is not None:
            self._obstacles.publish(message)

    def _now(self) -> object:
        return self._node.get_clock().now().to_msg()
