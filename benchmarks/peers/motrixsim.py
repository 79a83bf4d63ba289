# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""motrixsim's chain solvers, one start: variants ``dls`` and ``gauss_newton`` at their defaults.

The chain is passed as MJCF, because motrixsim adds a free joint to the root of a URDF. Its
tolerance is for the norm of all six errors; it is set to the position tolerance of the problem.
"""

from pathlib import Path
import tempfile

import motrixsim
from motrixsim.ik import DlsSolver
from motrixsim.ik import GaussNewtonSolver
from motrixsim.ik import IkChain
import numpy as np

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.peers.mujoco_model import chain_xml

_SOLVERS = {'dls': DlsSolver, 'gauss_newton': GaussNewtonSolver}


def build(job: Job) -> Solve:
    """Set a solver up for single problems or for a batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'chain.xml'
        path.write_text(chain_xml(job))
        model = motrixsim.load_model(str(path))
    chain = IkChain(model, job.tip)
    solver = _SOLVERS[job.variant](tolerance=job.position_tolerance)
    single = job.mode == 'single'
    data = motrixsim.SceneData(model) if single else motrixsim.SceneData(model, batch=(job.n,))

    def solve(poses, starts):
        data.set_dof_pos(starts.astype(np.float32), model)
        model.forward_kinematic(data)
        return solver.solve(chain, data, poses.astype(np.float32))[..., 2:]

    return solve


if __name__ == '__main__':
    serve(('motrixsim',), build)
