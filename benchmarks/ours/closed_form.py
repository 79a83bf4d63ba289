# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Our closed forms, run like a peer: ``python -m benchmarks.ours.closed_form <folder>``.

A job's options ``device`` and ``resident`` are those of ``benchmarks.ours.inverse``.
"""

import numpy as np
import warp as wp

from benchmarks.harness.job import every_solution
from benchmarks.harness.job import Job
from benchmarks.harness.job import JUDGED
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.ours.inverse import load_model
from benchmarks.ours.inverse import resident
import ros_ik


def build(job: Job) -> Solve:
    """Set the solver up for single poses or for a batch."""
    n = 1 if job.mode == 'single' else job.n
    model = load_model(job)
    solver = ros_ik.ClosedFormIK(model, job.tip, n)
    kind = solver.form.family.name + ('' if solver.form.exact else ', nearly')

    def convert(poses):
        return np.copy(poses).reshape(n, 7)

    def solve(poses, starts):
        return solver.solve(poses, starts.reshape(n, -1))

    def read(result):
        judged = slice(0, min(n, JUDGED))
        rows, counts = (
            values[judged].numpy() if isinstance(values, wp.array) else values[judged]
            for values in (result.joint_q, result.n_found)
        )
        rows = every_solution([q[:k] for q, k in zip(rows, counts, strict=True)], rows.shape[2])
        return rows[0] if job.mode == 'single' else rows

    solve.convert = convert
    if job.options.get('resident'):
        solve = resident(solver, model)
    solve.setting, solve.read = kind, read
    return solve


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('numpy', 'warp-lang'), build)
