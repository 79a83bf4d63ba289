# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of mink, daqp; the variant ``limits`` alone: it has no box for a frame."""

import mink
import numpy as np

from benchmarks.job import Job
from benchmarks.job import serve
from benchmarks.job import Solve
from benchmarks.peers.mujoco_model import chain_model


def build(job: Job) -> Solve:
    """Set mink up for steps."""
    options, model = job.options, chain_model(job)
    frame = mink.FrameTask(job.tip, 'body', 1.0, 1.0, gain=options['gain'])
    posture = mink.PostureTask(model, cost=options['posture_weight'])
    posture.set_target(np.array(options['posture']))
    speeds = dict(zip(job.joints, options['velocity_limits'], strict=True))
    limits = [mink.ConfigurationLimit(model, gain=1.0), mink.VelocityLimit(model, speeds)]
    configuration = mink.Configuration(model)
    dt = options['dt']

    def convert(pose):
        rotation = mink.SO3(pose[[6, 3, 4, 5]])
        return mink.SE3.from_rotation_and_translation(rotation, pose[:3])

    def solve(target, start):
        configuration.update(start)
        frame.set_target(target)
        velocity = mink.solve_ik(
            configuration, [frame, posture], dt, solver='daqp', damping=1e-12, limits=limits
        )
        return velocity * dt

    solve.convert = convert
    return solve


if __name__ == '__main__':
    serve(('mink', 'mujoco', 'daqp'), build)
