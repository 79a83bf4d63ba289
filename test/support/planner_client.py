# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A planner in a process of its own: asks ~/solve_ik for many poses, prints what came as JSON.

    python test/support/planner_client.py NUMBER LINK

Messages of 100,000 poses hold the interpreter for seconds, which no test that streams targets can
afford. A line on the standard input asks; the end of it ends.
"""

import json
import sys
import time

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import numpy as np
import rclpy
from support.planning_rig import make_planner
from support.planning_rig import random_configurations

from ros_ik_interfaces.srv import SolveIk

PATIENCE = 120.0


def reachable_poses(number, link):
    """Return that many poses of a link of the Panda, a thousand different ones."""
    planner = make_planner('panda')
    rows = planner.body_poses(random_configurations(planner, min(number, 1000), seed=3))
    poses = [
        Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
        for x, y, z, qx, qy, qz, qw in rows[:, planner.link(link)].tolist()
    ]
    return (poses * (number // len(poses) + 1))[:number]


def main(number, link):
    """Ask as often as there are lines."""
    poses = reachable_poses(int(number), link)
    rclpy.init(args=[])
    node = rclpy.create_node('planner')
    client = node.create_client(SolveIk, '/ros_ik/solve_ik')
    assert client.wait_for_service(PATIENCE)
    print(json.dumps({'ready': True}), flush=True)
    for _ in sys.stdin:
        started = time.monotonic()
        future = client.call_async(SolveIk.Request(link=link, poses=poses))
        rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE)
        answer = future.result()
        report = {
            'seconds': time.monotonic() - started,
            'success': answer.success,
            'message': answer.message,
            'solved': int(np.sum(np.array(answer.codes) == SolveIk.Response.CONVERGED)),
            'solutions': len(answer.solutions),
        }
        print(json.dumps(report), flush=True)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main(*sys.argv[1:])
