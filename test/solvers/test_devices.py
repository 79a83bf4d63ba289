# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The same steps on the CPU and on a GPU."""

import numpy as np
import pytest
from support.robots import urdf_text
import warp as wp

from ros_ik.barriers import PositionBarrier
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.model import Model
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectivePose
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import SolveStatus
from ros_ik.solvers import Task

pytestmark = pytest.mark.gpu
N_ROBOTS = 1000


def steps_on(device):
    """Solve a batch of random steps, check them against a barrier, and return everything."""
    model = Model.from_urdf(urdf_text('panda'), device=device)
    rng = np.random.default_rng(0)
    joint_q = model.random_joint_q(N_ROBOTS, rng)
    targets = np.concatenate(
        [rng.uniform(-0.5, 0.5, (N_ROBOTS, 3)), np.tile([0, 0, 0, 1.0], (N_ROBOTS, 1))], axis=1
    )
    tip = model.body_index('panda_hand_tcp')
    solver = DifferentialIK(model, n_robots=N_ROBOTS)
    tasks = [
        Task(IKObjectivePose(tip, targets, exact_jacobian=False), gain=0.3),
        Task(IKObjectiveJointPosition(model, model.neutral_joint_q()), weight=0.1),
    ]
    barriers = [PositionBarrier(tip, [-0.6, -0.6, -0.2], [0.6, 0.6, 0.9])]
    step = np.zeros((N_ROBOTS, model.joint_dof_count))
    status = solver.solve_ik(joint_q, tasks, [PositionLimit(), VelocityLimit()], barriers, step)
    solved = step.copy()
    checked = solver.enforce_barriers(joint_q, barriers, step)
    return (
        status,
        solved,
        checked,
        step,
        solver.integrate(joint_q, step),
        solver.body_poses(joint_q),
    )


@pytest.mark.skipif(not wp.is_cuda_available(), reason='no CUDA device on this machine')
def test_gpu_equals_cpu():
    here, there = steps_on('cpu'), steps_on('cuda:0')
    np.testing.assert_array_equal(there[0], here[0])
    assert np.mean(here[0] == SolveStatus.CONVERGED) > 0.5
    for on_cpu, on_gpu in zip(here[1:], there[1:], strict=True):
        # float64 throughout; the order of operations differs, the conditioning is 1e4.
        np.testing.assert_allclose(on_gpu, on_cpu, rtol=1e-6, atol=1e-8)
