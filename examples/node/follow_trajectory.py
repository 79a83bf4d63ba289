#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Execute a planner's trajectory with ~/follow_joint_trajectory, inside limits and barriers.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik follow_trajectory.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/follow_trajectory.py

It needs control_msgs, for the node too; the package is part of ROS and is not available as a wheel
yet. The planner is ~/solve_optimal; a trajectory of MoveIt is sent in the same way.
"""

import sys

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    sys.exit('follow_trajectory: control_msgs is not installed')
import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from ros_ik_interfaces.msg import JointCost
from ros_ik_interfaces.srv import SolveOptimal

GOAL = {'panda_joint1': 0.5, 'panda_joint4': -2.0}  # rad


def plan(node: Node) -> JointTrajectory | None:
    """Return a motion from the current state to the goal, or None."""
    client = node.create_client(SolveOptimal, 'ros_ik/solve_optimal')
    if not client.wait_for_service(timeout_sec=10.0):
        node.get_logger().error('ros_ik does not answer; is it running on this ROS_DOMAIN_ID?')
        return None
    costs = [JointCost(joint=name, target=target, weight=1.0) for name, target in GOAL.items()]
    request = SolveOptimal.Request(joint_costs=costs, velocity_limit_scaling=0.5)
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
    answer = future.result()
    if answer is None or not answer.success:
        node.get_logger().error(answer.message if answer else 'no answer within a minute')
        return None
    return answer.trajectory


def follow(node: Node, trajectory: JointTrajectory) -> int:
    """Send the trajectory, wait for the end of the motion and return the exit code."""
    client = ActionClient(node, FollowJointTrajectory, 'ros_ik/follow_joint_trajectory')
    if not client.wait_for_server(timeout_sec=10.0):
        node.get_logger().error('no follow_joint_trajectory; has the node control_msgs?')
        return 1
    accepted = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory))
    rclpy.spin_until_future_complete(node, accepted)
    if not accepted.result().accepted:
        # Its result would be that of an empty message, whose error code is that of success.
        node.get_logger().error('rejected: too many goals at a time')
        return 1
    ended = accepted.result().get_result_async()
    rclpy.spin_until_future_complete(node, ended)
    result = ended.result().result
    arrived = result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
    print('arrived' if arrived else f'not arrived: {result.error_string}')
    return 0 if arrived else 1


def main() -> int:
    """Plan and follow; return the exit code."""
    rclpy.init()
    node = Node('planner')
    trajectory = plan(node)
    if trajectory is None:
        return 1
    last = trajectory.points[-1].time_from_start
    print(f'{len(trajectory.points)} points in {last.sec + 1e-9 * last.nanosec:.1f} s')
    code = follow(node, trajectory)
    rclpy.try_shutdown()
    return code


if __name__ == '__main__':
    sys.exit(main())
