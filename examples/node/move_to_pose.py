#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Move the tool to one pose with the action ~/move_to_pose: 10 cm to the side and back down.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik move_to_pose.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/move_to_pose.py
"""

import sys

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.wait_for_message import wait_for_message

from ros_ik_interfaces.action import MoveToPose


def move(node: Node, client: ActionClient, target: PoseStamped) -> bool:
    """Send one goal, print its progress, and return True if the pose was reached."""

    def on_feedback(message: MoveToPose.Impl.FeedbackMessage) -> None:
        error = 1000.0 * message.feedback.linear_error
        node.get_logger().info(f'{error:.0f} mm to go', throttle_duration_sec=0.5)

    goal = MoveToPose.Goal(target=target, timeout=10.0)
    accepted = client.send_goal_async(goal, feedback_callback=on_feedback)
    rclpy.spin_until_future_complete(node, accepted)
    if not accepted.result().accepted:
        node.get_logger().error('rejected: too many goals at a time')
        return False
    ended = accepted.result().get_result_async()
    rclpy.spin_until_future_complete(node, ended)
    result = ended.result().result
    if result.reached:
        node.get_logger().info(f'reached to {1000.0 * result.linear_error:.2f} mm')
    else:
        node.get_logger().error(f'not reached: {result.message}')
    return result.reached


def main() -> int:
    """Move there and back; return the exit code."""
    rclpy.init()
    node = Node('mover')
    client = ActionClient(node, MoveToPose, 'ros_ik/move_to_pose')
    heard, pose = wait_for_message(PoseStamped, node, 'ros_ik/ee/current_pose', time_to_wait=10.0)
    if not heard or not client.wait_for_server(timeout_sec=10.0):
        node.get_logger().error('ros_ik does not answer; is it running on this ROS_DOMAIN_ID?')
        return 1
    reached = True
    for sideways, up in ((0.1, 0.05), (0.0, 0.0)):
        pose.pose.position.y += sideways
        pose.pose.position.z += up
        reached = move(node, client, pose) and reached
        pose.pose.position.y -= sideways
        pose.pose.position.z -= up
    rclpy.try_shutdown()
    return 0 if reached else 1


if __name__ == '__main__':
    sys.exit(main())
