# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A planner in a process of its own: calls ~/solve_ik for many poses, prints results as JSON.

    python -m benchmarks.node.planner NUMBER

Messages of 100,000 poses hold the interpreter for a second, too long for a process that streams
targets or measures. Each line on standard input causes one request; its end ends the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import Quaternion
import numpy as np
import rclpy

from benchmarks.harness.problems import random_problems
from benchmarks.harness.process import ROOT
from benchmarks.harness.robots import load_robot
from ros_ik_interfaces.srv import SolveIk

# How many of the poses differ.
_DIFFERENT = 1000
# For the service to be found, and for an answer; for the process to end [s].
_PATIENCE, _GRACE = 300.0, 10.0


class PlannerProcess:
    """The planner's process, as a context manager.

    Attributes:
        reports: What it has said, one entry for each answer; see :func:`report`.
        ready: True if it has found the service.
    """

    def __init__(self, number: int, domain: int) -> None:
        """Start it.

        Args:
            number: Poses of each request.
            domain: ROS domain.
        """
        self.reports: list[dict] = []
        self.ready = False
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'benchmarks.node.planner', str(number)],
            cwd=ROOT,
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self) -> None:
        """Request one call."""
        pipe = self._process.stdin
        assert pipe is not None
        pipe.write('ask\n')
        pipe.flush()

    def is_alive(self) -> bool:
        """Return True if the process runs."""
        return self._process.poll() is None

    def __enter__(self) -> PlannerProcess:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    def end(self) -> None:
        """End the process, by its leave where it gives it in time."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # Warp writes to the same stream.
            if line.startswith('{'):
                said = json.loads(line)
                self.ready = True
                if 'success' in said:
                    self.reports.append(said)


def request_of(number: int) -> SolveIk.Request:
    """Return a request for that many reachable poses of the Panda's tip."""
    robot = load_robot('panda')
    problems = random_problems(robot, min(number, _DIFFERENT)).repeated(number)
    poses = [
        Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
        for x, y, z, qx, qy, qz, qw in problems.poses.tolist()
    ]
    return SolveIk.Request(link=robot.tip, poses=poses)


def report(answer: SolveIk.Response, asked: float) -> dict[str, object]:
    """Return the result of a request sent at time ``asked`` (time.time)."""
    return {
        'asked': asked,
        'answered': time.time(),
        'success': answer.success,
        'message': answer.message,
        'solved': int(np.sum(np.array(answer.codes) == SolveIk.Response.CONVERGED)),
        'solutions': len(answer.solutions),
    }


def main(number: str) -> None:
    """Send one request per line."""
    request = request_of(int(number))
    rclpy.init(args=[])
    node = rclpy.create_node('planner')
    client = node.create_client(SolveIk, 'ros_ik/solve_ik')
    if not client.wait_for_service(_PATIENCE):
        raise TimeoutError('nobody offers ros_ik/solve_ik')
    print(json.dumps({'ready': True}), flush=True)
    for _ in sys.stdin:
        asked = time.time()
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future, timeout_sec=_PATIENCE)
        if not future.done():
            raise TimeoutError(f'no answer within {_PATIENCE:g} s')
        print(json.dumps(report(future.result(), asked)), flush=True)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main(*sys.argv[1:])
