#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Check trajectories before they run: limits and collisions, at and between the points.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik check_trajectory.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/check_trajectory.py
"""

import sys

from builtin_interfaces.msg import Duration
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.wait_for_message import wait_for_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik_interfaces.srv import CheckTrajectory

# Plans for a Panda, as a planner might make them: final positions of two joints [rad], in 3 s.
PLANS = {
    'reach to the front': {'panda_joint2': 0.2, 'panda_joint4': -1.8},
    'fold onto the shoulder': {'panda_joint2': 0.3, 'panda_joint4': -3.0, 'panda_joint6': 0.1},
    'straighten beyond the limit': {'panda_joint4': 0.1},
}


def trajectory(now: dict[str, float], ends: dict[str, float]) -> JointTrajectory:
    """Return a straight joint-space motion from the current positions to the given ones."""
    result = JointTrajectory(joint_names=list(ends))
    for second in (0, 3):
        part = second / 3.0
        positions = [now[name] + part * (end - now[name]) for name, end in ends.items()]
        time = Duration(sec=second)
        result.points.append(JointTrajectoryPoint(positions=positions, time_from_start=time))
    return result


def verdict(answer: CheckTrajectory.Response) -> str:
    """Return an answer as text."""
    if not answer.success:
        return f'not checked: {answer.message}'
    if answer.safe:
        return 'safe'
    if not answer.violated:
        shapes = ', '.join(answer.unmeasured_links)
        faults = (f'without the shapes of {shapes}' if shapes else '', answer.message)
        return ', '.join(filter(None, ('nothing found', *faults)))
    time = answer.first_violation.sec + 1e-9 * answer.first_violation.nanosec
    pair = f'{answer.worst_pair_a} and {answer.worst_pair_b}' if answer.worst_pair_a else 'none'
    return f'violates {answer.violated} after {time:.2f} s (closest pair: {pair})'


def main() -> int:
    """Check each plan; return the exit code."""
    rclpy.init()
    node = Node('trajectory_checker')
    client = node.create_client(CheckTrajectory, 'ros_ik/check_trajectory')
    heard, state = wait_for_message(
        JointState, node, 'joint_states', qos_profile=qos_profile_sensor_data, time_to_wait=10.0
    )
    if not heard or not client.wait_for_service(timeout_sec=10.0):
        node.get_logger().error('ros_ik does not answer; is it running on this ROS_DOMAIN_ID?')
        return 1
    now = dict(zip(state.name, state.position, strict=False))
    missing = sorted({joint for ends in PLANS.values() for joint in ends} - now.keys())
    if missing:
        node.get_logger().error(f'joint_states have no position of {", ".join(missing)}')
        return 1
    for name, ends in PLANS.items():
        future = client.call_async(CheckTrajectory.Request(trajectory=trajectory(now, ends)))
        rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
        print(f'{name}: {verdict(future.result()) if future.done() else "no answer"}', flush=True)
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
