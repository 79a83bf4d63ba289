# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Contact of surfaces of triangles, judged by coal."""

import numpy as np
import pytest
from support.long_forms import either
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import pin

from ros_ik.model.hulls.mesh_contact import surfaces_meet

RNG = np.random.default_rng(3)


def ring(count, inner, outer, height):
    """Return the triangles of a tube about z, [n, 3, 3]."""
    angles = np.linspace(0.0, 2.0 * np.pi, count + 1)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    edges = [
        np.column_stack([radius * circle, np.full(count + 1, z)])
        for radius, z in ((inner, 0.0), (outer, 0.0), (outer, height), (inner, height))
    ]
    found = []
    for k in range(4):
        one, other = edges[k], edges[(k + 1) % 4]
        found += [np.stack([one[:-1], one[1:], other[1:]], axis=1)]
        found += [np.stack([one[:-1], other[1:], other[:-1]], axis=1)]
    return np.concatenate(found)


def coal_mesh(triangles):
    """Return a surface in coal."""
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(triangles), 3 * len(triangles))
    mesh.addVertices(triangles.reshape(-1, 3))
    mesh.addTriangles(np.arange(3 * len(triangles)).reshape(-1, 3))
    mesh.endModel()
    return mesh


@pytest.mark.oracle
@pytest.mark.parametrize(('count', 'poses'), [(3, 150), (16, 150), (90, either(50, 150))])
def test_surfaces_meet_where_coal_finds_a_contact(count, poses):
    first, second = ring(count, 0.2, 0.3, 0.2), ring(2 * count, 0.03, 0.08, 0.5)
    one, other = coal_mesh(first), coal_mesh(second)
    met = []
    for _ in range(poses):
        pose = pin.SE3(pin.Quaternion(*RNG.normal(size=4)).normalized(), RNG.normal(size=3) * 0.2)
        moved = second @ pose.rotation.T + pose.translation
        at = coal.Transform3s(pose.rotation, pose.translation)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        found = coal.collide(one, coal.Transform3s.Identity(), other, at, request, result) > 0
        assert surfaces_meet(first, moved) == surfaces_meet(moved, first) == found
        met.append(found)
    assert 20 / 150 < np.mean(met) < 140 / 150


def test_a_rod_in_the_hollow_of_a_ring_is_apart_from_it():
    tube, rod = ring(16, 0.2, 0.3, 0.2), ring(8, 0.01, 0.05, 0.2)
    assert not surfaces_meet(tube, rod)
    assert surfaces_meet(tube, rod + [0.17, 0.0, 0.0])
    assert not surfaces_meet(tube, rod + [0.0, 0.0, 5.0])
    assert not surfaces_meet(tube, rod[:0])
