# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of roboplan's Oink; variants ``limits`` and ``box``, with a box barrier.

Its weights are the squares of ours.
"""

import numpy as np
import pinocchio as pin
from roboplan.core import CartesianConfiguration
from roboplan.optimal_ik import ConfigurationTask
from roboplan.optimal_ik import FrameTask
from roboplan.optimal_ik import FrameTaskOptions
from roboplan.optimal_ik import Oink
from roboplan.optimal_ik import PositionBarrier
from roboplan.optimal_ik import PositionLimit
from roboplan.optimal_ik import VelocityLimit

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.peers.roboplan import scene


def build(job: Job) -> Solve:
    """Set Oink up for steps."""
    options, loaded = job.options, scene(job)
    oink = Oink(loaded, 'arm')
    posture = np.array(options['posture'])
    frames = []
    for tip in options['tips']:
        goal = CartesianConfiguration(options['base'], tip, np.asfortranarray(np.eye(4)))
        frames.append(FrameTask(oink, loaded, goal, FrameTaskOptions(task_gain=options['gain'])))
    weights = np.full(len(posture), options['posture_weight'] ** 2)
    tasks = [*frames, ConfigurationTask(oink, posture, weights)]
    speeds, dt = np.array(options['velocity_limits']), options['dt']
    limits = [PositionLimit(oink), VelocityLimit(oink, dt, speeds)]
    barriers = []
    if job.variant == 'box':
        low, high = np.array(options['box_low']), np.array(options['box_high'])
        barriers.append(
            PositionBarrier(oink, loaded, job.tip, low, high, dt, safe_displacement_gain=0.0)
        )
    step = np.zeros(len(posture))

    def solve(matrices, start):
        for frame, matrix in zip(frames, matrices, strict=True):
            frame.setTargetFrameTransform(matrix)
        oink.solveIk(start, tasks, limits, barriers, step)
        return step

    solve.convert = lambda poses: [
        np.asfortranarray(pin.XYZQUATToSE3(pose).homogeneous) for pose in np.atleast_2d(poses)
    ]
    return solve


if __name__ == '__main__':
    serve(('roboplan',), build)
