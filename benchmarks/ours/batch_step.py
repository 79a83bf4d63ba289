# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of many robots, see ``benchmarks/control_steps/batch_step.py``."""

import numpy as np
import warp as wp

from benchmarks.harness.job import as_slice
from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import DifferentialIKSettings
from ros_ik.solvers import Task


def build(job: Job) -> Solve:
    """Set the solver up for the batch of a job."""
    options, device = job.options, job.options.get('device', 'cpu')
    model = Model.from_urdf(job.urdf, device=device)
    solver = DifferentialIK(model, '', DifferentialIKSettings(dt=options['dt']), n_robots=job.n)
    columns = as_slice(model.joint_q_start.numpy()[[model.joint_index(j) for j in job.joints]])
    with np.load(options['postures']) as file:
        postures = np.empty((job.n, model.joint_coord_count))
        postures[:, columns] = file['postures'][: job.n]
    target = np.tile([0.0, 0, 0, 0, 0, 0, 1], (job.n, 1))
    frames = [
        IKObjectivePose(model.body_index(tip), target, exact_jacobian=False)
        for tip in options['tips']
    ]
    tasks = [Task(frame, gain=options['gain']) for frame in frames]
    posture = IKObjectiveJointPosition(model, postures)
    tasks.append(Task(posture, weight=options['posture_weight'], gain=1.0))
    speed = np.full(model.joint_dof_count, options['speed'])
    limits = [PositionLimit(), VelocityLimit(speed)]
    if options.get('resident'):
        return _resident(solver, frames, tasks, limits, columns)
    joint_q = np.empty((job.n, model.joint_coord_count))
    step = np.empty((job.n, model.joint_dof_count))

    def solve(poses, starts):
        joint_q[:, columns] = starts
        for k, frame in enumerate(frames):
            frame.set_target_poses(poses[:, k])
        solver.solve_ik(joint_q, tasks, limits, (), step)
        return starts + step[:, columns]

    return solve


def _resident(solver, frames, tasks, limits, columns):
    """Return a solve whose arrays stay on the device; it waits for the steps."""
    model, device = solver.model, solver.model.device
    arrays = []

    def convert(poses):
        return [
            wp.array(poses[:, k].copy(), dtype=wp.transformd, device=device)
            for k in range(len(frames))
        ]

    def solve(poses, starts):
        if not arrays:
            joint_q = np.empty((len(starts), model.joint_coord_count))
            joint_q[:, columns] = starts
            arrays.append(wp.array(joint_q, dtype=wp.float64, device=device))
            arrays.append(
                wp.zeros((len(starts), model.joint_dof_count), dtype=wp.float64, device=device)
            )
        for frame, targets in zip(frames, poses, strict=True):
            frame.set_target_poses(targets)
        solver.solve_ik(arrays[0], tasks, limits, (), arrays[1], xp=wp)
        wp.synchronize_device(device)
        return starts

    def read(starts):
        return starts + arrays[1].numpy()[:, columns]

    solve.convert, solve.read = convert, read
    return solve


if __name__ == '__main__':
    wp.config.quiet = True
    serve(('warp-lang',), build)
