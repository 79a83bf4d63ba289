# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances of nearly parallel capsules are exact in float32, so that none hides a collision."""

import itertools
from typing import no_type_check

import numpy as np
import pytest
import warp as wp

from ros_ik.kinematics import CollisionChecker
from ros_ik.kinematics.collision.distance.proximity import round_functions
from ros_ik.kinematics.spatial import spatial_functions
from ros_ik.model import ModelBuilder
from ros_ik.model.conventions.rotations import matrix_from_quaternion

RADIUS = 0.0625  # a float32 number, as the half heights
# Shapes of a metre: float32 rounds their coordinates by 1e-7, and segments below 3e-7 rad are
# treated as parallel. Only zero is below it here.
TOLERANCE = {wp.float32: 1e-6, wp.float64: 1e-9}
SCALARS = pytest.mark.parametrize('scalar', [wp.float32, wp.float64], ids=['float32', 'float64'])


def point_to_segment(point, center, axis):
    """Return the distance of points from segments, centre +- axis, rows [.., 3]."""
    along = np.sum(axis * (point - center), axis=-1) / np.sum(axis * axis, axis=-1)
    nearest = center + np.clip(along, -1.0, 1.0)[..., None] * axis
    return np.linalg.norm(point - nearest, axis=-1)


def segment_distance(center_a, axis_a, center_b, axis_b):
    """Return the least of the distances of ends, and of the lines if both feet are inside."""
    ends = [
        point_to_segment(center + sign * axis, other, axis_of_other)
        for center, axis, other, axis_of_other in (
            (center_a, axis_a, center_b, axis_b), (center_b, axis_b, center_a, axis_a),
        )
        for sign in (-1.0, 1.0)
    ]  # fmt: skip
    least = np.min(ends, axis=0)
    normal = np.cross(axis_a, axis_b)
    areas = np.sum(axis_a * axis_a, axis=-1) * np.sum(axis_b * axis_b, axis=-1)
    squared = np.maximum(np.sum(normal * normal, axis=-1), 1e-20 * areas)
    r = center_b - center_a
    s = np.sum(np.cross(r, axis_b) * normal, axis=-1) / squared
    t = np.sum(np.cross(r, axis_a) * normal, axis=-1) / squared
    # A foot on lines that are parallel but for rounding is none.
    inside = (np.abs(s) <= 1.0) & (np.abs(t) <= 1.0) & (squared > 1e-20 * areas)
    lines = np.abs(np.sum(normal * r, axis=-1)) / np.sqrt(squared)
    return np.where(inside, np.minimum(lines, least), least)


def random_angles(rng, n):
    """Return n angles [rad] of every size from 1e-6 to 0.1, and a few zeros."""
    angles = 10.0 ** rng.uniform(-6.0, -1.0, n)
    angles[: n // 20] = 0.0
    return angles


def random_pairs(rng, n):
    """Return centres and axes of n pairs of segments, with axes turned by small angles."""
    first = rng.normal(size=(n, 3))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    across = np.cross(first, rng.normal(size=(n, 3)))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angle = random_angles(rng, n)[:, None]
    second = np.cos(angle) * first + np.sin(angle) * across
    axis_a = first * rng.uniform(0.02, 1.0, (n, 1))
    axis_b = second * rng.uniform(0.02, 1.0, (n, 1)) * rng.choice([-1.0, 1.0], (n, 1))
    # Beside each other, in the plane in which they turn for every third pair.
    aside = np.where(np.arange(n)[:, None] % 3 == 0, across, np.cross(first, across))
    offset = rng.uniform(-1.2, 1.2, (n, 1)) * first + rng.uniform(0.0, 0.15, (n, 1)) * aside
    center_a = rng.uniform(-0.3, 0.3, (n, 3))
    return center_a, axis_a, center_a + offset, axis_b


@no_type_check
def vectors_between(scalar, *rows):
    """Return v of each row by the function of the barriers, float64 [n, 3]."""
    vec3 = spatial_functions(scalar).vec3
    nearest = round_functions(scalar).nearest

    @wp.kernel(module='unique')
    def vectors(
        center_a: wp.array(dtype=vec3),
        axis_a: wp.array(dtype=vec3),
        center_b: wp.array(dtype=vec3),
        axis_b: wp.array(dtype=vec3),
        between: wp.array(dtype=vec3),
    ):
        k = wp.tid()
        v, _point = nearest(center_a[k], axis_a[k], center_b[k], axis_b[k])
        between[k] = v

    given = [wp.array(values, dtype=vec3, device='cpu') for values in rows]
    between = wp.zeros(len(rows[0]), dtype=vec3, device='cpu')
    wp.launch(vectors, len(between), inputs=given, outputs=[between], device='cpu')
    return between.numpy().astype(float)


@SCALARS
def test_barriers_measure_nearly_parallel_segments_exactly(scalar):
    rows = random_pairs(np.random.default_rng(0), 20_000)
    found = np.linalg.norm(vectors_between(scalar, *rows), axis=1)
    np.testing.assert_allclose(found, segment_distance(*rows), atol=TOLERANCE[scalar])


@SCALARS
def test_checks_measure_nearly_parallel_capsules_exactly(scalar):
    halves = (1.0, 0.375, 0.0625)
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    for name in ('first', 'second'):
        link = builder.add_link(name, mass=1.0, inertia=np.eye(3))
        builder.add_joint_free(link)
        for half in halves:
            builder.add_shape_capsule(link, radius=RADIUS, half_height=half)
    n, rng = 1000, np.random.default_rng(1)
    center_a, axis_a, center_b, _ = random_pairs(rng, n)
    # Both turned alike from the z axis, the second by a small angle more.
    turn = np.column_stack([rng.uniform(-1.0, 1.0, (n, 3)), np.ones(n)])
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    about = rng.uniform(0.0, 2.0 * np.pi, n)
    half_angle = 0.5 * random_angles(rng, n)
    sine = np.sin(half_angle)
    more = np.column_stack(
        [np.cos(about) * sine, np.sin(about) * sine, np.zeros(n), np.cos(half_angle)]
    )
    turned = np.concatenate([
        turn[:, 3:] * more[:, :3] + more[:, 3:] * turn[:, :3] + np.cross(turn[:, :3], more[:, :3]),
        turn[:, 3:] * more[:, 3:] - np.sum(turn[:, :3] * more[:, :3], axis=1, keepdims=True),
    ], axis=1)  # fmt: skip
    z_a = np.array([matrix_from_quaternion(q)[:, 2] for q in turn])
    z_b = np.array([matrix_from_quaternion(q)[:, 2] for q in turned])
    # The second lies beside the first, from a small overlap to a small distance.
    aside = np.cross(z_a, rng.normal(size=(n, 3)))
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    center_b = center_a + rng.uniform(-1.0, 1.0, (n, 1)) * z_a
    center_b += (2.0 * RADIUS + rng.uniform(-1e-3, 1e-3, (n, 1))) * aside
    joint_q = np.concatenate([center_a, turn, center_b, turned], axis=1)
    model = builder.finalize('cpu')
    for k, m in itertools.product(range(3), range(3)):
        checker = CollisionChecker(model, n, pairs=[(k, 3 + m)], scalar=scalar)
        found, _pair = checker.distances(joint_q)
        cores = segment_distance(center_a, halves[k] * z_a, center_b, halves[m] * z_b)
        np.testing.assert_allclose(found, cores - 2.0 * RADIUS, atol=TOLERANCE[scalar])
