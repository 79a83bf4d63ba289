# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Smallest spheres: around every point, with the centre in the hull of those that they touch."""

import numpy as np
import pytest

from ros_ik.model.hulls.smallest_sphere import smallest_sphere_center

optimize = pytest.importorskip('scipy.optimize', reason='scipy, the oracle, is not installed')
RNG = np.random.default_rng(4)


def clouds():
    """Yield points of many kinds."""
    for count in (1, 2, 3, 4, 5, 20, 300):
        cloud = RNG.normal(size=(count, 3)) * RNG.uniform(0.01, 1.0, 3)
        yield cloud + RNG.normal(size=3)
        yield cloud * [1.0, 1.0, 0.0]
        yield np.outer(cloud[:, 0], [1.0, 2.0, 3.0]) + 5.0
        yield np.round(cloud, 1)
        yield cloud / np.linalg.norm(cloud, axis=1)[:, None]
        yield np.repeat(cloud, 3, axis=0)
    yield np.stack(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3), axis=-1).reshape(-1, 3)
    yield np.full((10, 3), 0.3)


@pytest.mark.oracle
def test_the_center_is_a_mean_of_the_points_on_the_surface():
    """The condition for the smallest sphere, which is necessary and sufficient."""
    for points in clouds():
        center = smallest_sphere_center(points)
        distance = np.linalg.norm(points - center, axis=1)
        size = max(distance.max(), 1e-9)
        touched = points[distance >= distance.max() - 1e-7 * size]
        rows = np.vstack([(touched - center).T / size, np.ones(len(touched))])
        _, residual = optimize.nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]))
        assert residual < 1e-6
