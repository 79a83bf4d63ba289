# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The self distance objective against distances of spheres in NumPy."""

import numpy as np
from objectives import rig
import pytest
from support.long_forms import LONG
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.objectives import IKObjectiveSelfDistance

CENTERS = np.array([[0.1, 0.0, -0.1], [0.0, 0.2, 0.1], [0.5, 0.1, 0.4], [0.0, 0.1, 0.0]])
RADII = np.array([0.1, 0.2, 0.05, 0.15])
PAIRS = np.array([[0, 1], [1, 2], [2, 0], [3, 1]])


def distances(name, joint_q):
    """Distance between the surfaces of each pair, [n, pairs]; sphere 2 stands still."""
    rows = []
    for (p, R), (p_other, R_other) in rig.link_poses(name, joint_q):
        centers = np.array([
            p + R @ CENTERS[0], p_other + R_other @ CENTERS[1], CENTERS[2], p + R @ CENTERS[3],
        ])  # fmt: skip
        apart = np.linalg.norm(centers[PAIRS[:, 0]] - centers[PAIRS[:, 1]], axis=1)
        rows.append(apart - RADII[PAIRS].sum(axis=1))
    return np.array(rows)


@pytest.mark.parametrize('name', rig.ROBOTS)
def test_residuals_and_jacobians(name):
    rng = np.random.default_rng(1)
    model, (link, other) = rig.robot(name), rig.links(name)
    joint_q = model.random_joint_q(4, rng)
    exact = distances(name, joint_q)
    # Some pairs of some rows are near enough, by a margin from the kink.
    minimum = np.abs(np.median(exact, axis=0)) + 1e-3
    weight = rng.uniform(0.5, 2.0, len(PAIRS))
    objective = IKObjectiveSelfDistance(
        [link, other, -1, link], CENTERS, RADII, PAIRS, minimum_distance=minimum, weight=weight
    )
    lack = weight * np.clip(minimum - exact, 0, None)
    assert np.any(lack > 0) and np.any(lack == 0)
    got = rig.residuals(objective, model, joint_q, [2, 0, 1, 1])
    np.testing.assert_allclose(got, lack, atol=1e-10)
    single = rig.residuals(objective, model, joint_q, None, wp.float32)
    np.testing.assert_allclose(single, lack, atol=1e-5)
    # Spheres may be near each other: derivatives grow with the inverse of the distance.
    rig.check_jacobians(objective, model, joint_q, scale=5.0, double_tape=LONG)


@pytest.mark.parametrize(('scalar', 'rounding'), [(wp.float64, 1e-12), (wp.float32, 1e-7)])
def test_spheres_about_one_point_have_no_direction_to_part(scalar, rounding):
    model, (link, _) = rig.robot('panda'), rig.links('panda')
    joint_q = np.zeros((1, model.joint_coord_count))
    batch = rig.Batch(model, joint_q, scalar)
    center = batch.body_q.numpy()[0, link, :3]  # bit for bit where the link is
    objective = IKObjectiveSelfDistance(
        [link, -1], [np.zeros(3), center], 0.1, [(0, 1)], minimum_distance=0.05
    )
    found = rig.residuals(objective, model, joint_q, None, scalar)
    np.testing.assert_allclose(found, 0.25, atol=rounding)
    assert not np.any(rig.analytic(objective, model, joint_q, None, scalar))
    # Kernels of a tape in float64, which no solver records, take 2 s to compile.
    if scalar is wp.float32 or LONG:
        assert not np.any(rig.autodiff(objective, model, joint_q, scalar=scalar))


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'link_indices': [2.5, 3, 4]}, 'link_indices'),
        ({'link_indices': [-2, 3, 4]}, 'link_indices'),
        ({'centers': np.zeros((2, 3))}, 'centers'),
        ({'centers': np.full((3, 3), np.nan)}, 'centers'),
        ({'radii': (1, 1)}, 'radii'),
        ({'radii': (1, 1, -1)}, 'radii'),
        ({'pairs': np.zeros((0, 2), dtype=int)}, 'pairs'),
        ({'pairs': [(0, 1, 2)]}, 'pairs'),
        ({'pairs': [(0, 3)]}, 'pairs'),
        ({'pairs': [(0.0, 1.0)]}, 'pairs'),
        ({'pairs': [(0, 0)]}, 'two links'),
        ({'minimum_distance': -0.1}, 'minimum_distance'),
        ({'minimum_distance': np.nan}, 'minimum_distance'),
        ({'weight': -1.0}, 'weight'),
        ({'weight': np.nan}, 'weight'),
        ({'weight': (1, 1)}, 'weight'),
    ],
)
def test_bad_arguments(change, message):
    arguments = {
        'link_indices': [2, 3, 4], 'centers': np.zeros((3, 3)), 'radii': 0.1, 'pairs': [(0, 1)],
    }  # fmt: skip
    with pytest.raises(ArgumentError, match=message):
        IKObjectiveSelfDistance(**{**arguments, **change})


def test_unknown_link():
    objective = IKObjectiveSelfDistance([2, 99], np.zeros((2, 3)), 0.1, [(0, 1)])
    with pytest.raises(ArgumentError, match='link_indices'):
        rig.set_up(objective, rig.robot('ur5'), 1)
