# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Our servo in a loop: ``python -m benchmarks.ours.servo <folder>``.

Variants: ``poses``, whose targets are rows of a pose and when it was made [8], NaN in a tick in
which no message arrives; ``joints``, whose targets are positions of all joints, in each tick.
"""

import numpy as np
import warp as wp

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.motion.ticked_servo import TickedServo


def build(job: Job) -> Solve:
    """Set a servo up for the ticks of a job."""
    loop = TickedServo(job.options['robot'], **job.options['settings'])
    columns = [loop.robot.coord_of[name] for name in job.joints]
    # The node adopts the measured state in its first tick.
    loop.tick()
    give = {'poses': _give_pose, 'joints': _give_joints}[job.variant]

    def solve(target, start):
        give(loop, job.joints, target)
        loop.tick()
        return loop.q[columns] - start

    return solve


def _give_pose(loop, joints, row):
    if np.isfinite(row[0]):
        time = loop.now + loop.dt
        pose = loop.reader.pose(0, '', row[:3], row[3:7], time, stamp=row[7])
        loop.change(poses=(pose,))


def _give_joints(loop, joints, positions):
    time = loop.now + loop.dt
    loop.change(joints=loop.reader.joints(joints, positions.tolist(), time))


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('numpy', 'warp-lang'), build)
