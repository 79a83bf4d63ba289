# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Growing hulls, and distances of points from them; the oracles are Qhull and coal."""

import numpy as np
import pytest
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import convex_hull

from ros_ik.model.hulls.hull_reduction import reduced_points
from ros_ik.model.hulls.hull_reduction import unique_rows
from ros_ik.model.hulls.incremental_hull import IncrementalHull

spatial = pytest.importorskip('scipy.spatial', reason='scipy, the oracle, is not installed')
RNG = np.random.default_rng(3)


def tube(count):
    """Points of a turned part: rims of many corners, coplanar ends."""
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.concatenate(
        [np.column_stack([r * rim, np.full(count, z)]) for r in (0.3, 0.5) for z in (-1.0, 1.0)]
    )


def ball(count, scale):
    points = RNG.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * scale


GRID = np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 3), axis=-1).reshape(-1, 3)
CLOUDS = {
    'cloud': RNG.normal(size=(400, 3)),
    'box of a grid': GRID * [0.4, 0.2, 0.1],
    'ball': ball(800, 1.0),
    'needle': ball(600, [1.0, 0.02, 0.02]),
    'plate': ball(600, [1.0, 1.0, 1e-4]),
    'tube': tube(150),
    'far away': RNG.normal(size=(400, 3)) * 0.01 + 5.0,
}


def depth(points, corners):
    """Return the largest height of points above the planes of a hull, at most the distance."""
    planes = spatial.ConvexHull(corners).equations
    return (points @ planes[:, :3].T + planes[:, 3]).max(axis=1)


@pytest.mark.oracle
@pytest.mark.parametrize('name', CLOUDS)
def test_bounds_are_never_too_small(name):
    points = CLOUDS[name]
    size = float(np.ptp(points, axis=0).max())
    center = points.mean(axis=0)
    asked = np.concatenate([points, center + 1.3 * (points - center), center[None]])
    order = RNG.permutation(len(points))
    hull, taken = IncrementalHull.around(points[order[:64]]), 64
    for more in (0, 16, 100):
        hull.add(points[order[taken : taken + more]])
        taken += more
        height, bound = hull.locate(asked)
        outside = np.maximum(depth(asked, points[order[:taken]]), 0.0)
        assert np.all(bound >= outside - 1e-9 * size)
        # Each is the height over a plane of the hull.
        assert np.all(height <= outside + 1e-8 * size)
        # Points inside are known, so they need no further check.
        assert np.all(bound[outside == 0.0] <= 1e-6 * size) and bound[-1] == 0.0
    whole = IncrementalHull.around(points)
    assert whole.locate(points)[0].max() <= 1e-8 * size


@pytest.mark.oracle
@pytest.mark.parametrize('name', CLOUDS)
def test_what_is_left_out_is_within_the_error(name):
    points = CLOUDS[name]
    size = float(np.ptp(points, axis=0).max())
    kept, error = reduced_points(points)
    assert set(map(tuple, kept)) <= set(map(tuple, points)) and len(kept) <= 192
    hull, dot, fixed = convex_hull(kept), coal.Sphere(1e-9), coal.Transform3s.Identity()
    reach = 0.0
    for point in points[depth(points, kept) > 0.0]:
        place = coal.Transform3s(np.eye(3), point)
        reach = max(reach, coal_distance(dot, place, hull, fixed)[0])
    assert reach - 1e-7 <= error <= reach + 5e-6 * size


def test_flat_points_have_none():
    flat = RNG.normal(size=(300, 3)) * [1.0, 1.0, 0.0]
    assert IncrementalHull.around(flat) is None
    assert IncrementalHull.around(np.outer(RNG.normal(size=300), [1.0, 2.0, 3.0])) is None
    kept, error = reduced_points(flat)
    assert 0.0 < error < 0.1 and len(kept) <= 192


def test_rows_are_those_of_numpy():
    points = RNG.integers(-2, 3, size=(500, 3)).astype(float)
    points[::7] *= -0.0
    np.testing.assert_array_equal(unique_rows(points), np.unique(points, axis=0))
    assert unique_rows(np.zeros((0, 3))).shape == (0, 3)
