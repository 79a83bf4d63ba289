# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Our own solvers, run like those of the peers: ``python -m benchmarks.ours.inverse <folder>``.

Variants: ``chain``, the solver behind ``inverse_kinematics``, allocated once; ``dls`` and
``gauss_newton``, the chain solvers with motrixsim's interface; ``one_seed``, ``IKSolver`` with
newton's interface. A job's option ``threads`` shares a batch among so many threads, ``device``
names Warp's device, and ``resident`` keeps poses, seeds and answers of ``chain`` there.
"""

import numpy as np
import warp as wp

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
import ros_ik
from ros_ik.model import Model

_NEWTON_ITERATIONS = 24


def load_model(job: Job) -> Model:
    """Return our model of a job's chain; its coordinates are the job's columns."""
    model = Model.from_urdf(job.urdf, device=job.options.get('device', 'cpu'))
    starts = model.joint_q_start.numpy()
    columns = [int(starts[model.joint_index(name)]) for name in job.joints]
    if columns != list(range(model.joint_coord_count)):
        raise RuntimeError(f'coordinates {columns} are not the columns of the problems')
    return model


def build(job: Job) -> Solve:
    """Set a solver up for single problems or for a batch."""
    make = {
        'chain': _chain,
        'dls': _chain_solver,
        'gauss_newton': _chain_solver,
        'one_seed': _newton_interface,
    }
    return make[job.variant](job, load_model(job))


def _chain(job, model):
    n = 1 if job.mode == 'single' else job.n
    solver = ros_ik.solvers.ChainIK(
        model,
        job.tip,
        n,
        position_tolerance=job.position_tolerance,
        rotation_tolerance=job.rotation_tolerance,
        n_threads=job.options.get('threads', 1),
    )

    if job.options.get('resident'):
        return resident(solver, model)

    def solve(poses, starts):
        result = solver.solve(poses.reshape(n, 7), starts.reshape(n, -1))
        return result.joint_q.reshape(starts.shape)

    return solve


def resident(solver: ros_ik.ChainIK | ros_ik.ClosedFormIK, model: Model) -> Solve:
    """Return a solve whose arrays stay on the device of the model; it waits for the answers."""
    seeds = []

    def convert(rows):
        return wp.array(rows, dtype=wp.float64, device=model.device)

    def solve(poses, starts):
        if not seeds:
            seeds.append(convert(starts))
        result = solver.solve(poses, seeds[0], xp=wp)
        wp.synchronize_device(model.device)
        return result

    def read(result):
        return result.joint_q.numpy().reshape(seeds[0].shape)

    solve.convert, solve.read = convert, read
    return solve


def _chain_solver(job, model):
    names = {'dls': 'DlsSolver', 'gauss_newton': 'GaussNewtonSolver'}
    solver = getattr(ros_ik, names[job.variant])(tolerance=job.position_tolerance)
    chain = ros_ik.IkChain(model, job.tip)

    def solve(poses, starts):
        return solver.solve(chain, starts, poses)[..., 2:]

    return solve


def _newton_interface(job, model):
    n = 1 if job.mode == 'single' else job.n
    link, device = model.body_index(job.tip), model.device
    positions = wp.zeros(n, dtype=wp.vec3, device=device)
    rotations = wp.array(np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)), dtype=wp.vec4, device=device)
    limits = model.joint_limit_lower, model.joint_limit_upper
    objectives = [
        ros_ik.IKObjectivePosition(link, wp.vec3(), positions),
        ros_ik.IKObjectiveRotation(link, wp.quat_identity(), rotations),
        ros_ik.IKObjectiveJointLimit(*limits, weight=1.0),
    ]
    solver = ros_ik.IKSolver(model, n, objectives, jacobian_mode='analytic')
    low, high = job.bounds()
    joint_q = wp.zeros((n, model.joint_coord_count), dtype=wp.float32, device=device)

    def solve(poses, starts):
        poses = poses.reshape(n, 7).astype(np.float32)
        positions.assign(np.ascontiguousarray(poses[:, :3]))
        rotations.assign(np.ascontiguousarray(poses[:, 3:]))
        joint_q.assign(starts.reshape(n, -1).astype(np.float32))
        solver.reset()
        solver.step(joint_q, joint_q, iterations=_NEWTON_ITERATIONS)
        return np.clip(joint_q.numpy(), low, high).reshape(starts.shape)

    solve.setting = f'1 seed, {_NEWTON_ITERATIONS} iterations'
    return solve


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('numpy', 'warp-lang'), build)
