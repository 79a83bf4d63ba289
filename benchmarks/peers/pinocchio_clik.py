# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Closed-loop inverse kinematics with Pinocchio's functions in a Python loop, as it documents.

One start, steps by the damped pseudo-inverse of the logarithm's Jacobian, clamped to the limits.
"""

import numpy as np
import pinocchio as pin

from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve
from benchmarks.harness.verify import Arm

_ITERATIONS = 200
_STEP = 0.5
_DAMPING = 1e-3


def build(job: Job) -> Solve:
    """Set the loop up for a job of single problems."""
    arm = Arm(job.urdf, job.tip, job.joints)
    model, data, frame = arm.model, arm.data, arm.frame
    low, high = job.bounds()
    damping = _DAMPING * np.eye(6)

    def solve(pose, start):
        target, angles = pin.XYZQUATToSE3(pose), start.copy()
        for _ in range(_ITERATIONS):
            pin.computeJointJacobians(model, data, arm.configuration(angles))
            pin.updateFramePlacement(model, data, frame)
            jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
            error_pose = data.oMf[frame].actInv(target)
            error = pin.log6(error_pose).vector
            if (
                np.linalg.norm(error_pose.translation) < job.position_tolerance
                and np.linalg.norm(error[3:]) < job.rotation_tolerance
            ):
                break
            task = pin.Jlog6(error_pose.inverse()) @ jacobian
            step = task.T @ np.linalg.solve(task @ task.T + damping, error)
            angles = np.clip(angles + _STEP * step, low, high)
        return angles

    return solve


if __name__ == '__main__':
    serve(('pin',), build)
