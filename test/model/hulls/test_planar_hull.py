# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Hulls of points in a plane: the oracle is Qhull, by scipy."""

import numpy as np
import pytest

from ros_ik.model.hulls.planar_hull import planar_hull

spatial = pytest.importorskip('scipy.spatial', reason='scipy, the oracle, is not installed')
RNG = np.random.default_rng(5)


def ring(count):
    """Return points on a circle."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.oracle
@pytest.mark.parametrize(
    'points',
    [
        RNG.normal(size=(5000, 2)),
        RNG.uniform(-1.0, 1.0, (9000, 2)) * [1.0, 1e-3] + 5.0,
        ring(500),
        np.concatenate([ring(50), 0.99 * RNG.uniform(-0.7, 0.7, (3000, 2))]),
        RNG.normal(size=(4, 2)),
    ],
    ids=['cloud', 'strip', 'ring', 'filled', 'few'],
)
def test_corners_are_those_of_qhull(points):
    assert planar_hull(points).tolist() == sorted(spatial.ConvexHull(points).vertices.tolist())


def test_points_on_an_edge_and_copies_are_left_out():
    side = np.linspace(-1.0, 1.0, 41)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    for points in (grid, grid @ turn, np.repeat(grid, 2, axis=0)):
        corners = points[planar_hull(points)]
        assert len(corners) == 4
        assert np.allclose(np.linalg.norm(corners, axis=1), np.sqrt(2.0))


@pytest.mark.parametrize('count', [1, 2, 300])
def test_points_of_a_line_have_two_ends(count):
    points = np.outer(RNG.permutation(count), [3.0, 1.0])
    found = points[planar_hull(points)]
    assert set(found[:, 0]) == {0.0, 3.0 * (count - 1)}
