# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Paths through poses at which the solutions form a curve."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.axis_arms import arm
from support.robots.axis_arms import random_axes
from support.robots.axis_arms import tool_poses

from ros_ik import solve_path

# Fifth joint along a path; the wrist is straight at zero.
WRISTS = {
    'one pose': np.linspace(-0.3, 0.3, 21),
    'the first pose': np.linspace(0.0, 0.6, 21),
    'a part': np.r_[np.linspace(-0.3, -0.05, 6), np.zeros(8), np.linspace(0.05, 0.4, 7)],
    'every pose': np.zeros(21),
}


def planted_path(rng, wrist):
    """Return joint positions [21, 6] that change by at most 0.08 rad a step."""
    first = rng.uniform(-2.5, 2.5, 6)
    path = first + np.linspace(0.0, 1.0, 21)[:, None] * rng.uniform(-0.6, 0.6, 6)
    path[:, 4] = wrist
    return path


def motion(path):
    return float(np.sum(np.linalg.norm(np.diff(path, axis=0), axis=1)))


@pytest.mark.parametrize('wrist', WRISTS.values(), ids=WRISTS)
@pytest.mark.parametrize(
    'structure', ['2, 3, 4 parallel, 5 meets 6', either('wrist, 2 parallel 3', 'wrist')]
)
def test_a_path_through_singular_poses_is_no_longer_than_the_planted_one(structure, wrist):
    rng = np.random.default_rng(11)
    axes = random_axes(structure, rng, right_angles=True)
    model = arm(*axes)
    for _ in range(either(1, 2)):
        planted = planted_path(rng, wrist)
        poses = tool_poses(*axes, planted)
        for start in (None, planted[0]):
            path = solve_path(model, 'tool', poses, start, max_joint_step=0.1)
            assert path.fraction == 1.0 and path.breaks == ()
            assert np.max(np.abs(np.diff(path.joint_q, axis=0))) <= 0.1
            # At the start a path is within the tolerance of the pose, not at the planted solution.
            assert motion(path.joint_q) <= motion(planted) + 0.003
            there = tool_poses(*axes, path.joint_q)
            np.testing.assert_allclose(there[:, :3], poses[:, :3], atol=1e-6)
            turned = np.abs(np.sum(there[:, 3:] * poses[:, 3:], axis=1))
            assert np.min(turned) > 1.0 - 1e-6
