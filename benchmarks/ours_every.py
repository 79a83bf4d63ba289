# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Our closed forms, run like a peer: ``python -m benchmarks.ours_every <folder>``."""

import warp as wp

from benchmarks.job import every_solution
from benchmarks.job import Job
from benchmarks.job import serve
from benchmarks.job import Solve
from benchmarks.ours import load_model
import ros_ik


def build(job: Job) -> Solve:
    """Set the solver up for single poses or for a batch."""
    n = 1 if job.mode == 'single' else job.n
    solver = ros_ik.ClosedFormIK(load_model(job), job.tip, n)
    kind = solver.form.family.name + ('' if solver.form.exact else ', nearly')

    def solve(poses, starts):
        return solver.solve(poses.reshape(n, 7), starts.reshape(n, -1))

    def read(result):
        found = [q[:k] for q, k in zip(result.joint_q, result.n_found, strict=True)]
        rows = every_solution(found, result.joint_q.shape[2])
        return rows[0] if job.mode == 'single' else rows

    solve.setting, solve.read = kind, read
    return solve


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('numpy', 'warp-lang'), build)
