# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""EAIK: every solution of six revolute joints by decomposition into subproblems, C++.

Its inputs are the axes of the chain, read from the URDF by Pinocchio, and poses as matrices. The
time excludes their conversion, and that of the answers.
"""

from eaik.pybindings import EAIK
import numpy as np
import pinocchio as pin

from benchmarks.harness.job import every_solution
from benchmarks.harness.job import Job
from benchmarks.harness.job import serve
from benchmarks.harness.job import Solve


def build(job: Job) -> Solve:
    """Set EAIK up for single poses or for a batch.

    Raises:
        RuntimeError: It has no decomposition for the arm.
    """
    directions, points, tool = _axes(job)
    senses = _senses(directions)
    directions = directions * senses[:, None]
    steps = np.vstack([points[0], np.diff(points, axis=0), tool.translation - points[-1]])
    robot = EAIK.Robot(directions.T, steps.T, tool.rotation, [], True)
    if not robot.has_known_decomposition():
        raise RuntimeError('no decomposition for this arm')
    single = job.mode == 'single'

    def solve(poses, starts):
        return robot.calculate_IK(poses) if single else robot.calculate_IK_batched(poses, 1)

    def read(answer):
        answers = [answer] if single else answer
        rows = every_solution([np.reshape(one.Q, (-1, 6)) * senses for one in answers], 6)
        return rows[0] if single else rows

    def convert(poses):
        matrices = [pin.XYZQUATToSE3(pose).homogeneous for pose in np.atleast_2d(poses)]
        return matrices[0] if poses.ndim == 1 else matrices

    solve.convert, solve.read = convert, read
    return solve


def _axes(job):
    """Return directions [6, 3] and points [6, 3] of the axes and the tool, all joints at zero."""
    model = pin.buildModelFromXML(job.urdf)
    data = model.createData()
    q = pin.neutral(model)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    frame = model.getFrameId(job.tip, pin.FrameType.BODY)
    jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.WORLD)
    columns = [model.joints[model.getJointId(name)].idx_v for name in job.joints]
    moments, directions = jacobian[:3, columns].T, jacobian[3:, columns].T
    return directions, np.cross(directions, moments), data.oMf[frame]


def _senses(directions):
    """Return signs that let parallel neighbours point alike; it solves no others."""
    senses = np.ones(len(directions))
    for k in range(1, len(directions)):
        cosine = directions[k] @ directions[k - 1]
        if abs(cosine) > 1.0 - 1e-9:
            senses[k] = senses[k - 1] * np.sign(cosine)
    return senses


if __name__ == '__main__':
    serve(('EAIK', 'numpy', 'pin'), build)
