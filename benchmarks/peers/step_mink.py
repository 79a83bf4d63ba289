# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of mink with daqp; only the variant ``limits``, as mink has no box barrier."""

import mink
import numpy as np

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.peers.step_model import step_model


def build(job: Job) -> Solve:
    """Set mink up for steps."""
    options, model = job.options, step_model(job)
    columns = [model.joint(name).qposadr[0] for name in job.joints]
    frames = [
        mink.FrameTask(tip, 'body', 1.0, 1.0, gain=options['gain']) for tip in options['tips']
    ]
    posture = mink.PostureTask(model, cost=options['posture_weight'])
    home = np.zeros(model.nq)
    home[columns] = options['posture']
    posture.set_target(home)
    speeds = dict(zip(job.joints, options['velocity_limits'], strict=True))
    limits = [mink.ConfigurationLimit(model, gain=1.0), mink.VelocityLimit(model, speeds)]
    configuration = mink.Configuration(model)
    q, dt = home.copy(), options['dt']

    def convert(poses):
        return [
            mink.SE3.from_rotation_and_translation(mink.SO3(pose[[6, 3, 4, 5]]), pose[:3])
            for pose in np.atleast_2d(poses)
        ]

    def solve(targets, start):
        q[columns] = start
        configuration.update(q)
        for frame, target in zip(frames, targets, strict=True):
            frame.set_target(target)
        velocity = mink.solve_ik(
            configuration, [*frames, posture], dt, solver='daqp', damping=1e-12, limits=limits
        )
        return velocity[columns] * dt

    solve.convert = convert
    return solve


if __name__ == '__main__':
    serve(('mink', 'mujoco', 'daqp'), build)
