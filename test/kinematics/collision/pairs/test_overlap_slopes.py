# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Slopes of the depths of overlapping shapes of every kind, against finite differences.

Two free links carry a shape of each kind. All positions of the links are within a shape's size, so
most shapes overlap.
"""

import functools
from types import SimpleNamespace

from barriers.collision_rig import Bench
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import warp as wp

from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.model import ModelBuilder
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

pytestmark = pytest.mark.oracle

KINDS = ('sphere', 'capsule', 'box', 'plate', 'cylinder', 'disc', 'cone', 'ellipsoid', 'hull')
HULL = np.random.default_rng(1).normal(size=(30, 3)) * (0.1, 0.05, 0.08)
# Pose of the shapes in their links.
PLACE, TURN = np.array([0.03, -0.02, 0.05]), Rotation.from_euler('xyz', (0.4, 1.1, -0.3))
BOX, RADIUS = np.array([0.1, 0.15, 0.07]), 0.1
N, STEP, DEPTH = 40, 1e-4, 1e-4
# One-sided differences that differ by more are those of two translations of equal length.
KINK = 0.02
# A depth in float64 is exact to 1e-8 m, and the difference of two along a curve adds its slope.
TOLERANCE = {wp.float64: 1e-2, wp.float32: 2e-2}


@functools.cache
def shapes():
    """Return the geometry of both links: a shape of each kind, in the order of ``KINDS``."""
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    place = (*PLACE, *TURN.as_quat())
    for name in 'ab':
        link = builder.add_link(name, mass=1.0, inertia=np.eye(3))
        builder.add_joint_free(link)
        mesh = SimpleNamespace(vertices=HULL, indices=np.zeros(3, int))
        builder.add_shape_sphere(link, radius=RADIUS, xform=place)
        builder.add_shape_capsule(link, radius=0.06, half_height=0.1, xform=place)
        builder.add_shape_box(link, hx=BOX[0], hy=BOX[1], hz=BOX[2], xform=place)
        builder.add_shape_box(link, hx=0.2, hy=0.2, hz=0.002, xform=place)
        builder.add_shape_cylinder(link, radius=0.09, half_height=0.15, xform=place)
        builder.add_shape_cylinder(link, radius=0.2, half_height=0.005, xform=place)
        builder.add_shape_cone(link, radius=0.12, half_height=0.12, xform=place)
        builder.add_shape_ellipsoid(link, rx=0.08, ry=0.12, rz=0.16, xform=place)
        builder.add_shape_convex_hull(link, mesh=mesh, xform=place)
    return CollisionGeometry.from_model(builder.finalize('cpu'))


def every(kinds=KINDS):
    """Return a barrier with a row for each pair of kinds, in both orders."""
    index = [KINDS.index(kind) for kind in kinds]
    pairs = [(i, len(KINDS) + j) for i in index for j in index]
    return SelfCollisionBarrier(
        shapes(), pairs=np.array(pairs), n_collision_pairs=None, d_min=0.0, d_max=None
    )


def random_configurations(seed, n=N, spread=0.08):
    """Return configurations of the two links, [n, 14]."""
    rng = np.random.default_rng(seed)
    joint_q = np.zeros((n, 14))
    joint_q[:, :3] = rng.normal(size=(n, 3)) * spread
    for start in (3, 10):
        joint_q[:, start : start + 4] = Rotation.random(n, random_state=rng).as_quat()
    return joint_q


@functools.cache
def differences():
    """Return configurations, names of pairs, slopes, and masks of overlaps and smooth ones."""
    barrier, joint_q = every(), random_configurations(2)
    bench = Bench(shapes().model, N)
    values, _ = bench.evaluate(barrier, joint_q)
    ways = STEP * np.eye(12)
    moved = np.array([
        [bench.evaluate(barrier, bench.step(joint_q, np.tile(sign * way, (N, 1))))[0] - values
         for way in ways]
        for sign in (1.0, -1.0)
    ]) / STEP  # fmt: skip
    ahead, behind = moved[0], -moved[1]
    smooth = (values < -DEPTH) & (np.abs(ahead - behind).max(axis=0) < KINK)
    pairs = barrier._measurement.pairs % len(KINDS)
    names = ['/'.join(KINDS[k] for k in pair) for pair in pairs]
    return joint_q, names, np.moveaxis(0.5 * (ahead + behind), 0, -1), values < -DEPTH, smooth


@pytest.mark.parametrize('scalar', [wp.float64, wp.float32])
def test_slopes_of_depths(scalar):
    joint_q, names, slopes, overlaps, smooth = differences()
    _, jacobian = Bench(shapes().model, N, scalar=scalar).evaluate(every(), joint_q)
    error = np.where(smooth, np.abs(jacobian - slopes).max(axis=-1), 0.0)
    wrong = {
        name: f'{np.sum(of_pair > TOLERANCE[scalar])} wrong, by up to {of_pair.max():.1e}'
        for name, of_pair in zip(names, error.T, strict=True)
        if np.any(of_pair > TOLERANCE[scalar])
    }
    assert not wrong
    assert overlaps.sum() > 2000 and smooth.sum() > 0.95 * overlaps.sum()
    assert np.all(smooth.sum(axis=0) > 0.5 * N)
    flat = [not set(name.split('/')) & {'cylinder', 'disc', 'cone', 'ellipsoid'} for name in names]
    assert np.quantile(error[:, flat][smooth[:, flat]], 0.99) < 1e-5


@pytest.mark.parametrize(('scalar', 'tolerance'), [(wp.float64, 1e-6), (wp.float32, 1e-5)])
def test_a_sphere_with_its_centre_in_a_box(scalar, tolerance):
    """It leaves through the nearest face, pushed through its centre; models store float32."""
    n = 300
    joint_q = random_configurations(3, n, 0.04)
    barrier = every(('sphere', 'box'))
    values, jacobian = Bench(shapes().model, n, scalar=scalar).evaluate(barrier, joint_q)
    kinds = [[KINDS[k % len(KINDS)] for k in pair] for pair in barrier._measurement.pairs]
    row = kinds.index(['box', 'sphere'])
    first, second = (Rotation.from_quat(joint_q[:, k : k + 4]) for k in (3, 10))
    turn, centre = first * TURN, joint_q[:, 7:10] + second.apply(PLACE)
    local = turn.inv().apply(centre - joint_q[:, :3] - first.apply(PLACE))
    room = BOX - np.abs(local)
    nearest, other, _ = np.sort(room, axis=1).T
    inside = (nearest > 1e-3) & (other - nearest > 1e-3)
    assert inside.sum() > 100
    normal = -turn.apply(np.sign(local) * (room == nearest[:, None]))
    # Free joints turn about the origin of the world.
    slopes = np.hstack([normal, np.cross(centre, normal)])
    slopes = np.hstack([slopes, -slopes])
    np.testing.assert_allclose(values[inside, row], -(nearest + RADIUS)[inside], atol=tolerance)
    np.testing.assert_allclose(jacobian[inside, row], slopes[inside], atol=tolerance)
