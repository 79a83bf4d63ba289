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


def test_a_file_with_one_changed_byte_is_missing_or_whole(tmp_path):
    cache = FitCache(tmp_path)
    cache.store_hull('key', POINTS[:4], 0.002)
    (file,) = tmp_path.iterdir()
    content, missing = file.read_bytes(), 0
    for index in range(len(content)):
        for change in (0x01, 0xFF):
            damaged = bytearray(content)
            damaged[index] ^= change
            file.write_bytes(damaged)
            found = cache.load_hull('key')
            missing += found is None
            if found is not None:
                np.testing.assert_array_equal(found[0], POINTS[:4])
                assert found[1] == 0.002
    assert missing > 0.5 * len(content)


def test_a_failed_write_leaves_no_file(tmp_path, monkeypatch):
    def fail(*args, **named):
        raise OSError('No space left on device')

    monkeypatch.setattr(np, 'savez', fail)
    FitCache(tmp_path).store_hull('key', POINTS, 0.002)
    assert not list(tmp_path.iterdir())


def test_an_unfinished_file_of_a_killed_process_is_deleted(tmp_path, monkeypatch):
    part = tmp_path / 'fit.part'
    part.write_bytes(b'1')
    changed = part.stat().st_ctime
    for age, is_kept in ((60.0, True), (7200.0, False)):
        monkeypatch.setattr('time.time', lambda age=age: changed + age)
        FitCache(tmp_path).store_hull('key', POINTS, 0.002)
        assert part.exists() == is_kept
    assert FitCache(tmp_path).load_hull('key') is not None
