# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""mink-warp's Levenberg-Marquardt backend on a batch: one start, soft limits, clamped answers."""

import mink_warp
import numpy as np
import warp as wp

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.peers.mujoco_model import chain_model

_ITERATIONS = 24
# Weight of its soft limits, which also act inside the limits; this value reached the most poses.
_LIMIT_COST = 0.03


def build(job: Job) -> Solve:
    """Set a solver up for single problems or for a batch."""
    n = 1 if job.mode == 'single' else job.n
    model = chain_model(job)
    device = job.options.get('device', 'cpu')
    configuration = mink_warp.Configuration(model, nworld=n, device=device)
    frame = mink_warp.FrameTask(job.tip, 'body', position_cost=1.0, orientation_cost=1.0)
    tasks = [frame, mink_warp.JointLimitTask(model, cost=_LIMIT_COST)]
    solver = mink_warp.LMSolver(configuration)
    low, high = job.bounds()

    def solve(poses, starts):
        poses = poses.reshape(n, 7)[:, [6, 3, 4, 5, 0, 1, 2]]
        target = wp.array(np.ascontiguousarray(poses, dtype=np.float32), device=device)
        frame.set_target(target, configuration=configuration)
        configuration.update(starts.reshape(n, -1).astype(np.float32))
        solver.solve_and_integrate(tasks, 1.0, iterations=_ITERATIONS, use_graph=True)
        return np.clip(configuration.q.numpy(), low, high).reshape(starts.shape)

    solve.setting = f'1 seed, {_ITERATIONS} iterations'
    return solve


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('mink-warp', 'mujoco-warp', 'warp-lang'), build)
