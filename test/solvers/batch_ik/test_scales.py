# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""IKSolver tells targets out of reach from too few iterations, for robots of every size."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import warp as wp

from ros_ik import eval_fk
from ros_ik import IKObjectivePosition
from ros_ik import IKSolver
from ros_ik import ModelBuilder
from ros_ik import SolveStatus

N = 80
SETTLED = (SolveStatus.UNREACHABLE, SolveStatus.AT_LIMITS)
REACH = 1.3  # of the tool from the axis of the slide, in lengths of the arm


def slide_and_turns(size):
    """Return a vertical slide with three turns about it; ``size`` scales all its lengths."""
    builder = ModelBuilder()
    links = [builder.add_link(f'link{k}') for k in range(4)]
    builder.add_joint_prismatic(-1, links[0], axis=(0, 0, 1), limit_lower=-size, limit_upper=size)
    places = ([0.0, 0.0, 0.1 * size], [0.5 * size, 0.0, 0.0], [0.5 * size, 0.0, 0.0])
    for k, place in enumerate(places):
        builder.add_joint_revolute(
            links[k], links[k + 1], axis=(0, 0, 1), limit_lower=-2.5, limit_upper=2.5,
            parent_xform=[*place, 0.0, 0.0, 0.0, 1.0],
        )  # fmt: skip
    builder.add_articulation(list(range(4)))
    return builder.finalize('cpu')


def solve(size, targets, starts, iterations, **options):
    """Return status and configurations of positions of the tool, all in units of the size."""
    model = slide_and_turns(size)
    offset = wp.vec3(REACH * size - size, 0.0, 0.0)
    objective = IKObjectivePosition(3, offset, (size * targets).astype(np.float32))
    solver = IKSolver(model, N, [objective], cost_tolerance=1e-6 * size * size, **options)
    given = starts * [size, 1.0, 1.0, 1.0]
    joint_q = wp.array(given.astype(np.float32), dtype=wp.float32, device='cpu')
    solver.step(joint_q, joint_q, iterations=iterations)
    return solver.status.numpy(), joint_q.numpy() / [size, 1.0, 1.0, 1.0]


def problems():
    """Return targets in reach of an arm of size 1 m [N, 3], and distant starts [N, 4]."""
    rng = np.random.default_rng(0)
    joint_q = rng.uniform([-0.9, -2.4, -2.4, -2.4], [0.9, 2.4, 2.4, 2.4], (2, N, 4))
    body_q = np.zeros((N, 4, 7))
    eval_fk(slide_and_turns(1.0), joint_q[0], body_q)
    end = Rotation.from_quat(body_q[:, 3, 3:]).apply([REACH - 1.0, 0.0, 0.0])
    return body_q[:, 3, :3] + end, joint_q[1]


@pytest.mark.parametrize('use_fused', [True, False])
@pytest.mark.parametrize('optimizer', ['lm', 'lbfgs'])
def test_too_few_iterations_for_a_small_robot_are_not_out_of_reach(optimizer, use_fused):
    targets, starts = problems()
    for size in (1.0, 0.02, 0.005):
        options = {'optimizer': optimizer, 'use_fused': use_fused}
        status, found = solve(size, targets, starts, 24, **options)
        settled = np.isin(status, SETTLED)
        later, _ = solve(size, targets, found, 1500, **options)
        assert not np.any(settled & (later == SolveStatus.CONVERGED)), size


@pytest.mark.parametrize('use_fused', [True, False])
@pytest.mark.parametrize('size', [1.0, 0.1, 10.0])
def test_a_robot_of_any_size_settles_at_targets_beside_its_reach(size, use_fused):
    rng = np.random.default_rng(1)
    angle = rng.uniform(-2.0, 2.0, N)
    far = REACH + rng.uniform(0.05, 0.3, N)
    height = rng.uniform(-0.5, 0.5, N)
    targets = np.stack([far * np.cos(angle), far * np.sin(angle), height], axis=1)
    starts = np.stack([height, angle, *rng.uniform(-0.5, 0.5, (2, N))], axis=1)
    status, _ = solve(size, targets, starts, 300, use_fused=use_fused)
    assert np.mean(np.isin(status, SETTLED)) > 0.95
