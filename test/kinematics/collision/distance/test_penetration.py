# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Depth of random convex shapes that overlap, against the convex hull of their difference."""

import functools

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
import warp as wp

from ros_ik.kinematics.collision.distance.convex_cores import collision_structs
from ros_ik.kinematics.collision.distance.penetration import penetration_functions
from ros_ik.model.conventions.joint_type import GeoType

pytestmark = pytest.mark.oracle

BOX, HULL, CYLINDER = GeoType.BOX, GeoType.MESH, GeoType.CYLINDER
N_PAIRS = 100
# The search stops within 0.05 mm and 0.1 %.
TOLERANCE, RELATIVE = 5e-5, 1e-3
# A cylinder of 0.15 m is this much wider than its 96 corners here [m].
ROUND = 1e-4


def random_shape(kind, rng):
    """Return half extents [3] and points [n, 3] of a random shape in its own frame."""
    size = rng.uniform(0.02, 0.15, 3)
    if kind == BOX:
        corners = np.indices((2, 2, 2)).reshape(3, -1).T
        return size, (2.0 * corners - 1.0) * size
    if kind == CYLINDER:
        size[1] = size[0]
        angle = np.linspace(0.0, 2.0 * np.pi, 96, endpoint=False)
        rim = size[0] * np.column_stack((np.cos(angle), np.sin(angle)))
        heights = np.repeat([size[2], -size[2]], 96)
        return size, np.column_stack((np.tile(rim, (2, 1)), heights))
    points = rng.normal(size=(rng.integers(8, 33), 3))
    points *= size / np.linalg.norm(points, axis=1, keepdims=True)
    points *= rng.uniform(0.6, 1.0, (len(points), 1))
    return size, points[ConvexHull(points).vertices]


def random_overlap(points_a, points_b, rng):
    """Return a position of the second shape where they overlap by up to 20 mm, and the depth."""
    difference = (points_a[:, None] - points_b[None]).reshape(-1, 3)
    hull = ConvexHull(difference)
    face = rng.integers(len(hull.simplices))
    on_face = rng.dirichlet(np.ones(3)) @ difference[hull.simplices[face]]
    position = on_face - rng.uniform(0.001, 0.02) * hull.equations[face, :3]
    return position, -np.max(hull.equations[:, :3] @ position + hull.equations[:, 3])


@pytest.mark.parametrize('kinds', [(BOX, BOX), (HULL, HULL), (BOX, HULL), (CYLINDER, HULL)])
def test_the_depth_is_that_of_the_shortest_translation(kinds):
    rng = np.random.default_rng(4)
    pairs = [[random_shape(kind, rng) for kind in kinds] for _ in range(N_PAIRS)]
    turns = Rotation.random(2 * N_PAIRS, random_state=rng)
    exact, poses = np.zeros(N_PAIRS), np.zeros((N_PAIRS, 2, 7))
    for k, pair in enumerate(pairs):
        points = [turns[2 * k + side].apply(pair[side][1]) for side in range(2)]
        poses[k, 1, :3], exact[k] = random_overlap(*points, rng)
        poses[k, :, 3:] = turns[2 * k : 2 * k + 2].as_quat()
    depth, normal = found_depths(kinds, pairs, poses)
    tolerance = TOLERANCE + RELATIVE * exact + (ROUND if CYLINDER in kinds else 0.0)
    assert np.all(depth >= exact - 1e-9)
    assert np.all(depth <= exact + tolerance)
    # A translation of the first shape along the normal by the depth separates them.
    for k, pair in enumerate(pairs):
        first, second = (turns[2 * k + side].apply(pair[side][1]) for side in range(2))
        moved = first + depth[k] * normal[k]
        gap = np.min(moved @ normal[k]) - np.max((second + poses[k, 1, :3]) @ normal[k])
        assert gap >= -1e-9


@functools.cache
def penetration_kernel():
    """Return a kernel that searches the depth and the normal of each pair."""
    float64 = wp.float64
    Core, search = collision_structs(float64).Core, penetration_functions(float64).penetration

    @wp.kernel(enable_backward=False, module='unique')
    def penetrations(
        points: wp.array(dtype=wp.vec3d),
        kind: wp.array(dtype=int),
        size: wp.array2d(dtype=wp.vec3d),
        first: wp.array2d(dtype=int),
        pose: wp.array2d(dtype=wp.transformd),
        depth: wp.array(dtype=float64),
        normal: wp.array(dtype=wp.vec3d),
    ):
        k = wp.tid()
        a = Core()
        a.kind = kind[0]
        a.size = size[k, 0]
        a.first = first[k, 0]
        a.count = first[k, 1] - first[k, 0]
        b = Core()
        b.kind = kind[1]
        b.size = size[k, 1]
        b.first = first[k, 1]
        b.count = first[k, 2] - first[k, 1]
        gap, n, _point = search(points, a, b, pose[k, 0], pose[k, 1], wp.vec3d())
        depth[k] = -gap
        normal[k] = n

    return penetrations


def found_depths(kinds, pairs, poses):
    """Return the depths [n] and normals [n, 3] that the search finds."""
    shapes = [shape for pair in pairs for shape in pair]
    ends = np.append(0, np.cumsum([len(points) for _, points in shapes]))
    first = np.stack((ends[:-1:2], ends[1::2], ends[2::2]), axis=1)
    depth, normal = wp.zeros(len(pairs), wp.float64), wp.zeros(len(pairs), wp.vec3d)
    inputs = [
        wp.array(np.concatenate([points for _, points in shapes]), wp.vec3d),
        wp.array([int(kind) for kind in kinds], int),
        wp.array(np.array([size for size, _ in shapes]).reshape(-1, 2, 3), wp.vec3d),
        wp.array(first, int),
        wp.array(poses, wp.transformd),
    ]
    wp.launch(penetration_kernel(), len(pairs), inputs, [depth, normal])
    return depth.numpy(), normal.numpy()
