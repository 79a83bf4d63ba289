# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Steps with self-collision against roboplan's Oink, in its own process, and quadprog."""

import numpy as np
import pytest

pin = pytest.importorskip('pinocchio', reason='the benchmarks need pinocchio')
pytest.importorskip('roboplan', reason='roboplan, the oracle, is not installed')

from benchmarks.control_steps import self_collision  # noqa: E402
from benchmarks.harness.job import bound_values  # noqa: E402
from benchmarks.harness.job import Job  # noqa: E402
from benchmarks.harness.process import run_jobs  # noqa: E402
from benchmarks.ours.step_collision import build  # noqa: E402

pytestmark = pytest.mark.oracle

N = 60
# ProxQP ends at 1e-6 in the constraints of a program whose rows are divided by dt = 0.01.
TOLERANCE = 1e-5


def job(variant):
    """Return steps from random configurations towards a pose, with spheres of the benchmark."""
    robot = self_collision._chain()
    options = {
        'base': self_collision.BASE,
        'dt': 0.01,
        'gain': 0.2,
        'posture': self_collision._start().tolist(),
        'posture_weight': 0.3,
        'velocity_limits': pin.buildModelFromXML(robot.urdf).velocityLimit.tolist(),
        'box_low': [-5.0] * 3,
        'box_high': [5.0] * 3,
        'd_min': 0.02,
        'pairs': self_collision.link_pairs(),
        'meshes': '',
        'cache': None,
    }
    return Job(
        key=variant, mode='single', variant=variant, urdf=self_collision.described(False),
        tip=self_collision.TIP, joints=robot.joints, lower=bound_values(robot.lower),
        upper=bound_values(robot.upper), problems='random.npz', n=N, position_tolerance=0.0,
        rotation_tolerance=0.0, options=options,
    )  # fmt: skip


@pytest.fixture(scope='module')
def problems():
    """Return starts in the range of the barrier, and one pose for all of them."""
    robot, rng = self_collision._chain(), np.random.default_rng(1)
    starts = rng.uniform(robot.lower, robot.upper, (20 * N, 7))
    gap = self_collision._least_distances(starts)
    starts = starts[(gap > 0.015) & (gap < 0.1)][:N]
    assert len(starts) == N
    return np.tile([0.3, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0], (N, 1)), starts


def our_steps(variant, problems):
    solve = build(job(variant))
    return np.array([solve(*pair).copy() for pair in zip(*problems, strict=True)])


def test_steps_of_oink(tmp_path, problems):
    """Beside a wide box, which limits the speed of the tip.

    Without one, Oink's warm start leaves a third of these steps, which jump from start to start,
    above the least cost; the next test has the optimum.
    """
    poses, starts = problems
    np.savez(tmp_path / 'random.npz', poses=poses, starts=starts)
    asked = job('box_spheres')
    module = 'benchmarks.peers.step_oink_collision'
    answer = run_jobs(module, [asked], tmp_path, 100.0)[asked.key]
    assert not answer.error, answer.error
    ours = our_steps('box_spheres', problems)
    np.testing.assert_allclose(ours, answer.joint_q, atol=TOLERANCE)


def test_steps_are_optimal(problems):
    """Programs from Pinocchio's Jacobians of the spheres' centres, solved by quadprog."""
    qpsolvers = pytest.importorskip('qpsolvers', reason='qpsolvers is not installed')
    robot = self_collision._chain()
    model = pin.buildModelFromXML(robot.urdf)
    data, tip = model.createData(), model.getFrameId(self_collision.TIP)
    ours, free = our_steps('spheres', problems), our_steps('limits', problems)
    assert np.sum(np.abs(free - ours).max(axis=1) > 1e-4) > N // 2, 'the barrier was idle'
    for pose, q, step in zip(*problems, ours, strict=True):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        target, now = pin.XYZQUATToSE3(pose), data.oMf[tip]
        error = np.r_[
            target.translation - now.translation, pin.log3(target.rotation @ now.rotation.T)
        ]
        J = pin.getFrameJacobian(model, data, tip, pin.LOCAL_WORLD_ALIGNED)
        H = J.T @ J + 0.09 * np.eye(7)
        c = -0.2 * J.T @ error - 0.09 * (self_collision._start() - q)
        rows = sorted(
            (sphere_row(model, data, *pair) for pair in self_collision.link_pairs()),
            key=lambda row: row[0],
        )[:4]
        h = np.array([min(row[0], 0.25) - 0.02 for row in rows])
        slopes = np.array([row[1] if row[0] < 0.25 else 0.0 * row[1] for row in rows])
        speed = 0.01 * model.velocityLimit
        expected = qpsolvers.solve_qp(
            H, c, -slopes / 0.01, h / (1.0 + np.abs(h)),
            lb=np.maximum(robot.lower - q, -speed), ub=np.minimum(robot.upper - q, speed),
            solver='quadprog',
        )  # fmt: skip
        # Spheres of a model are float32: 1e-8 m, over lever arms of 0.1 m.
        np.testing.assert_allclose(step, expected, atol=1e-6)


def sphere_row(model, data, a, b):
    """Return the distance of the spheres of two links and its Jacobian."""
    centers, jacobians, radii = [], [], 0.0
    for link in (a, b):
        center, radius = self_collision.SPHERES[link]
        frame = model.getFrameId(link)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        arm = data.oMf[frame].rotation @ np.array(center)
        centers.append(data.oMf[frame].translation + arm)
        jacobians.append(J[:3] - pin.skew(arm) @ J[3:])
        radii += radius
    apart = centers[0] - centers[1]
    length = np.linalg.norm(apart)
    return length - radii, apart / length @ (jacobians[0] - jacobians[1])
