#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Choose among grasps: 144 candidates around a bottle, in two calls of ~/solve_ik.

The first one tells which can be reached without a collision. The second one asks for any of them,
the nearest to where the robot is, with the hand free to turn about the axis of its approach.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik grasp_candidates.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/grasp_candidates.py
"""

import math
import sys

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import rclpy
from rclpy.client import Client
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.wait_for_message import wait_for_message
from sensor_msgs.msg import JointState

from ros_ik_interfaces.srv import SolveIk

BOTTLE = (0.45, 0.2, 0.15)  # m, in the base frame


def candidates() -> list[Pose]:
    """Return poses of the tool that point at the bottle from all around, level to down."""
    poses = []
    for k in range(24):
        around = 2.0 * math.pi * k / 24
        for tilt in (0.25, 0.3, 0.35, 0.4, 0.45, 0.5):  # parts of pi: from level to down
            # Rz(around) Ry(2 b); the tool stands 10 cm before the bottle along its own z.
            a, b = around / 2.0, tilt * math.pi
            turn = Quaternion(
                x=-math.sin(a) * math.sin(b), y=math.cos(a) * math.sin(b),
                z=math.sin(a) * math.cos(b), w=math.cos(a) * math.cos(b),
            )  # fmt: skip
            level, down = math.sin(2.0 * b), math.cos(2.0 * b)
            approach = (math.cos(around) * level, math.sin(around) * level, down)
            x, y, z = (place - 0.1 * way for place, way in zip(BOTTLE, approach, strict=True))
            poses.append(Pose(position=Point(x=x, y=y, z=z), orientation=turn))
    return poses


def solve(node: Node, client: Client, request: SolveIk.Request) -> SolveIk.Response | None:
    """Return the answer, or None."""
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
    answer = future.result()
    if answer is None or not answer.success:
        node.get_logger().error(answer.message if answer else 'no answer within a minute')
        return None
    return answer


def main() -> int:
    """Ask for each grasp, then for the nearest of all; return the exit code."""
    rclpy.init()
    node = Node('grasp_planner')
    client = node.create_client(SolveIk, 'ros_ik/solve_ik')
    heard, state = wait_for_message(
        JointState, node, 'joint_states', qos_profile=qos_profile_sensor_data, time_to_wait=10.0
    )
    if not heard or not client.wait_for_service(timeout_sec=10.0):
        node.get_logger().error('ros_ik does not answer; is it running on this ROS_DOMAIN_ID?')
        return 1
    request = SolveIk.Request(poses=candidates(), check_collisions=True, seeds=[state])
    answer = solve(node, client, request)
    if answer is None:
        return 1
    free = list(answer.codes).count(SolveIk.Response.CONVERGED)
    print(f'{free} of {len(answer.codes)} grasps can be reached without a collision')
    request.n_goals = len(request.poses)
    request.rotation_tolerances, request.tolerance_frame = [0.01, 0.01, math.inf], 'tool'
    answer = solve(node, client, request)
    if answer is None or answer.codes[0] != SolveIk.Response.CONVERGED:
        return 1
    now = dict(zip(state.name, state.position, strict=False))
    missing = sorted(set(answer.joint_names) - now.keys())
    if missing:
        node.get_logger().error(f'joint_states have no position of {", ".join(missing)}')
        return 1
    moves = zip(answer.joint_names, answer.solutions[0].positions, strict=True)
    ways = [abs(position - now[name]) for name, position in moves]
    print(f'nearest: grasp {answer.pose_index[0]}, joints move at most {max(ways):.2f} rad')
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
