# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of many robots by mink-warp: hard limits by box ADMM."""

import mink_warp
from mink_warp.limits import configuration_limit
from mink_warp.limits import velocity_limit
from mink_warp.solvers import ConstrainedSolver
import mujoco
import numpy as np
import warp as wp

from benchmarks.harness.job import as_slice
from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.peers.step_model import step_model

# With MuJoCo 4, mink-warp compares a joint's type, a number, with enumerators and ignores every
# joint, so that there are no limits. With numbers the comparison works.
_SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
configuration_limit._SCALAR_JOINTS = velocity_limit._SCALAR_JOINTS = _SCALAR_JOINTS


def build(job: Job) -> Solve:
    """Set the solver up for the batch of a job."""
    options, model = job.options, step_model(job)
    device = options.get('device', 'cpu')
    columns = as_slice([int(model.joint(name).qposadr[0]) for name in job.joints])
    configuration = mink_warp.Configuration(model, nworld=job.n, device=device)
    frames = [
        mink_warp.FrameTask(tip, 'body', 1.0, 1.0, gain=options['gain']) for tip in options['tips']
    ]
    posture = mink_warp.PostureTask(model, cost=options['posture_weight'])
    with np.load(options['postures']) as file:
        home = np.zeros((job.n, model.nq), dtype=np.float32)
        home[:, columns] = file['postures'][: job.n]
    posture.set_target(wp.array(home, device=device))
    limits = [
        mink_warp.ConfigurationLimit(model, gain=1.0),
        mink_warp.VelocityLimit(model, dict.fromkeys(job.joints, options['speed'])),
    ]
    solver = ConstrainedSolver(configuration, limits=limits)
    q = np.zeros((job.n, model.nq), dtype=np.float32)
    tasks = [*frames, posture]
    if options.get('resident'):
        return _resident(solver, configuration, tasks, options['dt'], columns)

    def solve(poses, starts):
        q[:, columns] = starts
        for k, frame in enumerate(frames):
            frame.set_target(_target(poses[:, k], device), configuration=configuration)
        configuration.update(q)
        velocity = solver.solve(tasks, options['dt'])
        return starts + options['dt'] * velocity.numpy()[:, columns]

    return solve


def _target(poses, device):
    """Return poses as mink-warp takes them, quaternion first."""
    rows = np.ascontiguousarray(poses[:, [6, 3, 4, 5, 0, 1, 2]], np.float32)
    return wp.array(rows, device=device)


def _resident(solver, configuration, tasks, dt, columns):
    """Return a solve whose arrays stay on the device; it waits for the steps."""
    device, arrays, frames = configuration.device, [], tasks[:-1]

    def convert(poses):
        return [_target(poses[:, k], device) for k in range(len(frames))]

    def solve(poses, starts):
        if not arrays:
            q = np.zeros((len(starts), configuration.nq), dtype=np.float32)
            q[:, columns] = starts
            arrays.append(wp.array(q, device=device))
        for frame, target in zip(frames, poses, strict=True):
            frame.set_target(target, configuration=configuration)
        configuration.update(arrays[0])
        arrays[1:] = [solver.solve(tasks, dt)]
        wp.synchronize_device(device)
        return starts

    def read(starts):
        return starts + dt * arrays[1].numpy()[:, columns]

    solve.convert, solve.read = convert, read
    return solve


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('mink-warp', 'mujoco-warp', 'warp-lang'), build)
