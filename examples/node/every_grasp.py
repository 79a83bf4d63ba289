#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Find every collision-free configuration of 1,000 grasps, in one call of ~/solve_ik.

With ROS:    ros2 launch ros_ik demo.launch.py robot:=ur5 tour:=false
             ros2 run ros_ik every_grasp.py
Without ROS: tools/run python -m ros_ik.demo.session --robot ur5
             tools/run python examples/node/every_grasp.py
"""

import math
import sys
import time

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.wait_for_message import wait_for_message
from sensor_msgs.msg import JointState

from ros_ik_interfaces.srv import SolveIk

BOX = (0.45, 0.1, 0.2)  # m, its centre in the base frame
STANDOFF = 0.12  # m from the centre of the box to the flange, along the z of the tool
# Six joints have eight solutions at most, not counting whole turns.
MAX_SOLUTIONS = 8


def grasps() -> list[Pose]:
    """Return 1,000 poses of the flange that point at the box, from level to straight down."""
    return [
        grasp(math.pi * (0.5 + k / 18), math.pi * (-0.6 + 1.2 * j / 9), math.tau * i / 10)
        for k in range(10)
        for j in range(10)
        for i in range(10)
    ]


def grasp(tilt: float, around: float, spin: float) -> Pose:
    """Return the pose Rz(around) Ry(tilt) Rz(spin) at a distance from the box."""
    b, more, less = tilt / 2.0, (around + spin) / 2.0, (around - spin) / 2.0
    turn = Quaternion(
        x=-math.sin(b) * math.sin(less), y=math.sin(b) * math.cos(less),
        z=math.cos(b) * math.sin(more), w=math.cos(b) * math.cos(more),
    )  # fmt: skip
    level = math.sin(tilt)
    approach = (math.cos(around) * level, math.sin(around) * level, math.cos(tilt))
    x, y, z = (place - STANDOFF * way for place, way in zip(BOX, approach, strict=True))
    return Pose(position=Point(x=x, y=y, z=z), orientation=turn)


def main() -> int:
    """Request, count the free solutions, print the nearest grasp; return the exit code."""
    rclpy.init()
    node = Node('grasp_planner')
    client = node.create_client(SolveIk, 'ros_ik/solve_ik')
    heard, state = wait_for_message(
        JointState, node, 'joint_states', qos_profile=qos_profile_sensor_data, time_to_wait=10.0
    )
    if not heard or not client.wait_for_service(timeout_sec=10.0):
        node.get_logger().error('ros_ik does not answer; is it running on this ROS_DOMAIN_ID?')
        return 1
    request = SolveIk.Request(
        poses=grasps(), max_solutions=MAX_SOLUTIONS, check_collisions=True, seeds=[state]
    )
    begin = time.perf_counter()
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=60.0)
    seconds = time.perf_counter() - begin
    answer = future.result()
    if answer is None or not answer.success:
        node.get_logger().error(answer.message if answer else 'no answer within a minute')
        return 1
    print(f'{len(answer.codes)} grasps: {len(answer.solutions)} solutions are free')
    free = list(answer.codes).count(SolveIk.Response.CONVERGED)
    print(f'{free} grasps can be reached without a collision; {1000 * seconds:.0f} ms')
    if not answer.solutions:
        return 1
    now = dict(zip(state.name, state.position, strict=False))
    missing = sorted(set(answer.joint_names) - now.keys())
    if missing:
        node.get_logger().error(f'joint_states have no position of {", ".join(missing)}')
        return 1
    start = [now[name] for name in answer.joint_names]
    ways = [math.dist(solution.positions, start) for solution in answer.solutions]
    best = min(range(len(ways)), key=ways.__getitem__)
    print(f'nearest: grasp {answer.pose_index[best]}, {ways[best]:.2f} rad away')
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
