# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""One control step of DifferentialIK on a group of joints of the whole robot.

Variants ``limits`` and ``box``, with a box barrier; see
``benchmarks/control_steps/control_step.py``.
"""

import numpy as np
import warp as wp

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from ros_ik.barriers import PositionBarrier
from ros_ik.demo.robots import robot_data_path
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task


def _block(indices):
    """Return a slice where the indices are one block: it is a view and costs nothing."""
    first, last = int(indices[0]), int(indices[-1]) + 1
    return slice(first, last) if np.array_equal(indices, np.arange(first, last)) else indices


def build(job: Job) -> Solve:
    """Set the solver up for steps."""
    options = job.options
    model = Model.from_urdf((robot_data_path() / options['path']).read_text(), device='cpu')
    several = len(options['tips']) > 1
    solver = DifferentialIK(model, '' if several else f'{options["base"]}:{job.tip}')
    joints = [model.joint_index(name) for name in job.joints]
    coordinates = _block(model.joint_q_start.numpy()[joints])
    dofs = _block(model.joint_qd_start.numpy()[joints])
    joint_q = model.neutral_joint_q()
    joint_q[coordinates] = options['posture']
    joint_q = model.apply_mimic(joint_q)
    # Objectives read their targets where they are; on a CPU that is memory that NumPy sees too.
    tips = [model.body_index(tip) for tip in options['tips']]
    targets = [
        wp.array(pose[None], dtype=wp.transformd, device='cpu')
        for pose in solver.body_poses(joint_q)[tips]
    ]
    views = [target.numpy()[0] for target in targets]
    objectives = [
        IKObjectivePose(tip, target, exact_jacobian=False)
        for tip, target in zip(tips, targets, strict=True)
    ]
    posture = IKObjectiveJointPosition(model, joint_q)
    tasks = [Task(objective, gain=options['gain']) for objective in objectives]
    tasks.append(Task(posture, weight=options['posture_weight']))
    limits, barriers = [PositionLimit(), VelocityLimit()], []
    if job.variant == 'box':
        low, high = np.array(options['box_low']), np.array(options['box_high'])
        barriers.append(PositionBarrier(tips[0], low, high, safe_displacement_gain=0.0))
    step = np.zeros(model.joint_dof_count)

    def solve(pose, start):
        joint_q[coordinates] = start
        if several:
            for view, wanted in zip(views, pose, strict=True):
                view[...] = wanted
        else:
            views[0][...] = pose
        status = solver.solve_ik(joint_q, tasks, limits, barriers, step)
        if not status.ok:
            raise RuntimeError(f'a step came to {status.name}')
        return step[dofs]

    return solve


if __name__ == '__main__':
    serve(('warp-lang',), build)
