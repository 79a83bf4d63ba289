# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""pink's solve_ik in a loop: a quadratic program a step with hard limits (daqp), one start."""

import numpy as np
import pink
from pink.limits import ConfigurationLimit
import pinocchio as pin

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.harness.verify import Arm

_ITERATIONS = 100


def build(job: Job) -> Solve:
    """Set the loop up for a job of single problems."""
    arm = Arm(job.urdf, job.tip, job.joints)
    task = pink.FrameTask(job.tip, position_cost=1.0, orientation_cost=1.0, lm_damping=0.1)
    limits = [ConfigurationLimit(arm.model, config_limit_gain=1.0)]
    low, high = job.bounds()

    def solve(pose, start):
        target = pin.XYZQUATToSE3(pose)
        task.set_target(target)
        now = pink.Configuration(arm.model, arm.data, arm.configuration(start))
        for _ in range(_ITERATIONS):
            error = task.compute_error(now)
            if (
                np.linalg.norm(error[:3]) < 0.99 * job.position_tolerance
                and np.linalg.norm(error[3:]) < 0.99 * job.rotation_tolerance
            ):
                break
            velocity = pink.solve_ik(
                now, [task], 1.0, solver='daqp', limits=limits, safety_break=False
            )
            now.integrate_inplace(velocity, 1.0)
        return np.clip(now.q, low, high)

    return solve


if __name__ == '__main__':
    serve(('pin-pink', 'pin', 'daqp'), build)
