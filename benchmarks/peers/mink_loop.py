# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""mink's solve_ik in a loop: a quadratic program a step with hard limits (daqp), one start."""

import mink
import numpy as np

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.peers.mujoco_model import chain_model

_ITERATIONS = 100


def build(job: Job) -> Solve:
    """Set the loop up for a job of single problems."""
    model = chain_model(job)
    configuration = mink.Configuration(model)
    task = mink.FrameTask(job.tip, 'body', position_cost=1.0, orientation_cost=1.0, lm_damping=0.1)
    limits = [mink.ConfigurationLimit(model, gain=1.0)]
    low, high = job.bounds()

    def solve(pose, start):
        rotation = mink.SO3(pose[[6, 3, 4, 5]])
        task.set_target(mink.SE3.from_rotation_and_translation(rotation, pose[:3]))
        configuration.update(start)
        for _ in range(_ITERATIONS):
            error = task.compute_error(configuration)
            if (
                np.linalg.norm(error[:3]) < 0.99 * job.position_tolerance
                and np.linalg.norm(error[3:]) < 0.99 * job.rotation_tolerance
            ):
                break
            velocity = mink.solve_ik(
                configuration, [task], 1.0, solver='daqp', damping=1e-9, limits=limits
            )
            configuration.integrate_inplace(velocity, 1.0)
        return np.clip(configuration.q, low, high)

    return solve


if __name__ == '__main__':
    serve(('mink', 'mujoco', 'daqp'), build)
