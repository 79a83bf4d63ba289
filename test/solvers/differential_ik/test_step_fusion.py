# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The fused kernel of a step, against the kernels of the objectives and the whole tree."""

import numpy as np
import pytest
from support.robots.random_pose import random_pose
from support.robots.robots import ALL_URDFS
from support.robots.robots import load
import warp as wp

from ros_ik.barriers import PositionBarrier
from ros_ik.limits import PositionLimit
from ros_ik.limits import VelocityLimit
from ros_ik.objectives import IKObjectiveCenterOfMass
from ros_ik.objectives import IKObjectiveJointLimit
from ros_ik.objectives import IKObjectiveJointPosition
from ros_ik.objectives import IKObjectiveLookAt
from ros_ik.objectives import IKObjectiveManipulability
from ros_ik.objectives import IKObjectivePose
from ros_ik.objectives import IKObjectivePosition
from ros_ik.objectives import IKObjectiveRotation
from ros_ik.objectives import IKObjectiveSelfDistance
from ros_ik.solvers import DifferentialIK
from ros_ik.solvers import Task


def robot(name):
    return load(next(path for path in ALL_URDFS if path.stem == name))


class AsRows:
    """A wrapper that evaluates any objective as residuals and Jacobian."""

    has_record = False


def as_rows(kind):
    return type(f'{kind.__name__}AsRows', (AsRows, kind), {})


def objectives(model, link, reference, seed, wrap):
    """One of each kind, the same for the same seed."""
    rng = np.random.default_rng(seed)
    goal = model.random_joint_q(1, rng)[0]
    low, high = (limit * 0.3 for limit in model.limits64()[:2])
    narrow = [wp.array(limit, dtype=wp.float64, device='cpu') for limit in (low, high)]
    weights = rng.uniform(0.5, 2.0, 3)
    return [
        wrap(IKObjectivePose)(
            link, random_pose(rng, 1.0), exact_jacobian=False, position_weight=weights
        ),
        wrap(IKObjectivePose)(link, random_pose(rng, 1.0), link_offset=random_pose(rng, 1.0)),
        wrap(IKObjectivePose)(
            link, random_pose(rng, 1.0), reference_link_index=reference, exact_jacobian=False,
            rotation_weight=weights,
        ),
        wrap(IKObjectivePosition)(link, weights, weights),
        wrap(IKObjectiveRotation)(link, [0, 0, 0, 1], random_pose(rng, 1.0)[3:], weight=1.3),
        wrap(IKObjectiveLookAt)(link, [0.0, 0.0, 1.0], weights, reference_link_index=reference),
        wrap(IKObjectiveCenterOfMass)(weights),
        wrap(IKObjectiveJointPosition)(model, goal, weight=0.3),
        wrap(IKObjectiveJointLimit)(*narrow, weight=0.7),
        wrap(IKObjectiveManipulability)(link, 10.0),
        wrap(IKObjectiveCenterOfMass)(weights, reference_link_index=reference),
        # Farther apart than spheres ever are: every pair counts.
        wrap(IKObjectiveSelfDistance)(
            [link, reference, -1], rng.normal(size=(3, 3)), [0.1, 0.2, 0.0],
            [[0, 1], [0, 2], [2, 1]], minimum_distance=9.0, weight=weights,
        ),
    ]  # fmt: skip


ROBOTS = {
    'panda': ('panda_hand_tcp', 'panda_link3', 'panda_link0:panda_hand_tcp'),
    'baxter': ('left_gripper', 'right_gripper', ''),
    'talos_reduced': ('arm_left_7_link', 'leg_right_6_link', ''),
}


def tasks_of(model, name, seed, wrap):
    link, reference = (model.body_index(label) for label in ROBOTS[name][:2])
    rng = np.random.default_rng(seed + 1)
    return [
        Task(
            objective,
            gain=rng.uniform(0.1, 1.0),
            weight=rng.uniform(0.0, 2.0, objective.residual_dim()),
            damping=rng.uniform(0.0, 0.2),
            max_error=rng.uniform(0.1, 0.5, len(objective.residual_blocks())),
        )
        for objective in objectives(model, link, reference, seed, wrap)
    ]


def solve(model, group, q, tasks, limits=(), barriers=()):
    diff = DifferentialIK(model, group)
    step = np.zeros(model.joint_dof_count)
    status = diff.solve_ik(q, tasks, limits, barriers, step, 1e-4)
    assert status.ok
    return step, diff._problems.last


@pytest.mark.parametrize('name', list(ROBOTS))
def test_each_objective_in_the_kernel_equals_its_own_kernels(name):
    model, rng = robot(name), np.random.default_rng(2)
    fused, rows = (tasks_of(model, name, 7, wrap) for wrap in (lambda kind: kind, as_rows))
    for ours, theirs in zip(fused, rows, strict=True):
        q = model.random_joint_q(1, rng)[0]
        group = ROBOTS[name][2]
        step, problem = solve(model, group, q, [ours])
        expected, other = solve(model, group, q, [theirs])
        np.testing.assert_allclose(step, expected, rtol=1e-7, atol=1e-10)
        kind = type(ours.objective)
        assert problem._rows is None
        assert other._fused.tasks == ()
        assert np.abs(step).max() > 1e-6 or kind is IKObjectiveManipulability


@pytest.mark.parametrize('name', list(ROBOTS))
def test_all_objectives_together_in_either_way_and_mixed(name):
    model, rng = robot(name), np.random.default_rng(3)
    wraps = [
        lambda kind: kind,
        as_rows,
        # The smaller part as records: a kernel of all but a few takes seven seconds to compile.
        lambda kind: kind if 'Joint' in kind.__name__ else as_rows(kind),
    ]
    q = model.random_joint_q(1, rng)[0]
    link = model.body_index(ROBOTS[name][0])
    steps = []
    for wrap in wraps:
        limits = [PositionLimit(), VelocityLimit()]
        barrier = PositionBarrier(link, [-9, -9, -9], [9, 9, 9], gain=0.01)
        tasks = tasks_of(model, name, 11, wrap)
        steps.append(solve(model, ROBOTS[name][2], q, tasks, limits, [barrier])[0])
    np.testing.assert_allclose(steps[1], steps[0], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(steps[2], steps[0], rtol=1e-7, atol=1e-10)


def test_a_task_without_weight_is_not_looked_at():
    model = robot('panda')
    q = model.neutral_joint_q()
    for wrap in (lambda kind: kind, as_rows):
        posture = Task(IKObjectiveJointPosition(model, q + 0.1))
        broken = Task(wrap(IKObjectivePose)(9, [0, 0, 0, 0, 0, 0, 1]), weight=0.0)
        broken.objective.set_target_pose(0, np.full(7, np.nan))
        step, _ = solve(model, '', q, [posture, broken])
        assert step.max() == pytest.approx(0.1, abs=1e-4)


def test_a_parameter_set_between_solves_counts_at_once():
    model, rng = robot('panda'), np.random.default_rng(5)
    diff, q = DifferentialIK(model), model.random_joint_q(1, rng)[0]
    first, second = np.zeros(9), np.zeros(9)
    for wrap in (lambda kind: kind, as_rows):
        tasks = [Task(wrap(IKObjectiveJointPosition)(model, q + 0.1), gain=0.5)]
        diff.solve_ik(q, tasks, first)
        tasks[0].gain = 0.25
        diff.solve_ik(q, tasks, second)
        np.testing.assert_allclose(second, 0.5 * first, rtol=1e-9)
        other = Task(IKObjectiveJointPosition(model, q), gain=0.1)
        other.gain = 0.3  # a change of another task does not disturb
        tasks[0].weight = np.zeros(9)
        diff.solve_ik(q, tasks, second)
        np.testing.assert_allclose(second, 0.0, atol=1e-12)


@wp.kernel
def lift(height: wp.float64, start: int, residuals: wp.array2d(dtype=wp.float64)):
    residuals[wp.tid(), start + 2] += height


class Above(IKObjectivePosition):
    """A built-in objective that a caller derives from: it aims above its target."""

    def compute_residuals(self, body_q, joint_q, model, residuals, start_idx, problem_idx=None):
        super().compute_residuals(body_q, joint_q, model, residuals, start_idx, problem_idx)
        wp.launch(
            lift, dim=len(body_q), inputs=[0.2, start_idx], outputs=[residuals], device='cpu'
        )


def test_what_a_derived_objective_overrides_counts():
    model = load(ALL_URDFS[0])
    q, link = model.random_joint_q(1, 0)[0], model.body_count - 1
    steps = np.zeros((2, model.joint_dof_count))
    target = np.array([0.3, 0.2, 0.4])
    for objective, step in zip(
        (
            Above(link, (0.0, 0.0, 0.0), target),
            IKObjectivePosition(link, (0.0, 0.0, 0.0), target + [0.0, 0.0, 0.2]),
        ),
        steps,
        strict=True,
    ):
        DifferentialIK(model).solve_ik(q, [Task(objective)], (), (), step, 1e-3)
    np.testing.assert_allclose(steps[0], steps[1], rtol=0.0, atol=1e-9)
    assert np.max(np.abs(steps[0])) > 1e-2
