# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Hulls in the cache of fits: read as they were stored, and not at all if the file is damaged."""

import numpy as np
import pytest

from ros_ik.model.hulls.fit_cache import FitCache

POINTS = np.random.default_rng(2).normal(size=(30, 3))


def test_a_hull_is_read_as_it_was_stored(tmp_path):
    cache = FitCache(tmp_path)
    assert cache.load_hull('key') is None
    cache.store_hull('key', POINTS, 0.002)
    points, radius = cache.load_hull('key')
    np.testing.assert_array_equal(points, POINTS)
    assert radius == 0.002
    assert FitCache(None).load_hull('key') is None


@pytest.mark.parametrize(
    ('points', 'radius'),
    [
        (POINTS[:0], 0.0),
        (POINTS[:, :2], 0.0),
        (np.full((4, 3), np.nan), 0.0),
        (POINTS.astype(str), 0.0),
        (POINTS, -1.0),
        (POINTS, np.nan),
        (POINTS, np.inf),
    ],
)
def test_a_damaged_hull_is_missing(tmp_path, points, radius):
    cache = FitCache(tmp_path)
    cache.store_hull('key', points, radius)
    assert cache.load_hull('key') is None
