# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances and Jacobians of pairs of primitives, against coal and finite differences."""

from barriers.collision_rig import all_pairs
from barriers.collision_rig import Bench
from barriers.collision_rig import CoalDistances
from barriers.collision_rig import robot
from barriers.collision_rig import scattered
import numpy as np
import pytest
from support.long_forms import either
import warp as wp

from ros_ik.barriers import SelfCollisionBarrier
from ros_ik.barriers.pair_sampling import sample_pair_distances
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

pytestmark = pytest.mark.oracle

ROBOTS = ('panda', 'ur5_robot', 'baxter', 'talos_full_v2')
# coal's GJK ends at a relative gap of 1e-6; sizes here are below 2 m.
COAL = 5e-6
# Central differences with a step of 1e-6 round by 1e-9; the curvature of a distance, about its
# inverse, adds h^2 / d^2, and GJK's own tolerance 1e-11 relative in the square shows as 1e-6.
DIFFERENCES = 1e-5


def every(geometry, pairs, **parameters):
    """Return a barrier with a row for each pair, all of them active."""
    return SelfCollisionBarrier(
        geometry, pairs=pairs, n_collision_pairs=None, d_min=0.0, d_max=None, **parameters
    )


def some_pairs(geometry, rng, most=120):
    """Return random pairs of a geometry that can collide."""
    pairs = geometry.self_pairs()
    return pairs[np.sort(rng.permutation(len(pairs))[:most])]


@pytest.mark.parametrize('name', ROBOTS)
def test_own_geometry(name):
    rng = np.random.default_rng(1)
    model = robot(name)
    geometry = CollisionGeometry.from_model(model)
    pairs = some_pairs(geometry, rng)
    joint_q = model.random_joint_q(4, rng)
    barrier, bench = every(geometry, pairs), Bench(model, 4)
    values, jacobian = bench.evaluate(barrier, joint_q)
    measured = barrier._measurement.pairs
    oracle = CoalDistances(name, geometry)
    exact = np.array([oracle.distances(q, measured)[0] for q in joint_q])
    values, jacobian = values[:, : len(measured)], jacobian[:, : len(measured)]
    # Inflated cores that overlap are deeper than their radii.
    cores = exact + oracle.inflation[measured].sum(axis=1)
    apart = cores > 1e-6
    assert apart.mean() > 0.8
    np.testing.assert_allclose(values[apart], exact[apart], atol=COAL)
    # Depths are never too small, and too large by at most 0.05 mm and 0.1 %.
    deeper = exact[~apart] - values[~apart]
    assert np.all(deeper > -COAL)
    assert np.all(deeper < COAL + 5e-5 - 1e-3 * cores[~apart])
    slopes = bench.finite_differences(barrier, joint_q)[:, : len(measured)]
    np.testing.assert_allclose(jacobian[apart], slopes[apart], atol=DIFFERENCES)


@pytest.mark.parametrize('name', ROBOTS)
def test_spheres_and_capsules(name):
    """They have closed forms, also where they overlap."""
    model = robot(name)
    geometry = scattered(model, seed=2)
    barrier, bench = every(geometry, all_pairs(geometry)), Bench(model, 6)
    joint_q = model.random_joint_q(6, np.random.default_rng(3))
    values, jacobian = bench.evaluate(barrier, joint_q)
    measured = barrier._measurement.pairs
    oracle = CoalDistances(name, geometry)
    exact = np.array([oracle.distances(q, measured)[0] for q in joint_q])
    assert np.any(exact < -0.01) and np.any(exact > 0.1)
    values, jacobian = values[:, : len(measured)], jacobian[:, : len(measured)]
    # Segments that nearly cross have no depth that coal would find.
    axes_apart = exact + geometry.radius[measured].sum(axis=1) > 1e-3
    np.testing.assert_allclose(values[axes_apart], exact[axes_apart], atol=COAL)
    slopes = bench.finite_differences(barrier, joint_q)[:, : len(measured)]
    np.testing.assert_allclose(jacobian[axes_apart], slopes[axes_apart], atol=DIFFERENCES)


def test_witness_points():
    model = robot('baxter')
    geometry = CollisionGeometry.from_model(model)
    rng = np.random.default_rng(5)
    pairs = some_pairs(geometry, rng, 60)
    barrier, bench = every(geometry, pairs), Bench(model, 1)
    joint_q = model.random_joint_q(1, rng)
    values, _ = bench.evaluate(barrier, joint_q)
    work = barrier._work(bench.state.body_q)
    first = int(barrier._measurement.arrays.counts.numpy()[2])
    measured = barrier._measurement.pairs[first:]
    assert len(measured) > 20
    oracle = CoalDistances('baxter', geometry)
    _, points = oracle.distances(joint_q[0], measured)
    normal = work.normal.numpy()[0, : len(measured)]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-9)
    apart = values[0, first : first + len(measured)] > 0.02
    # Ours are points of the cores; coal has no radius around boxes and hulls.
    radius = (geometry.radius - oracle.inflation)[measured[:, 0]]
    # The nearest points of faces that are parallel are not unique; along the normal they are.
    ours = np.sum(work.point.numpy()[0, : len(measured)] * normal, axis=1) - radius
    theirs = np.sum(points[:, 0] * normal, axis=1)
    np.testing.assert_allclose(ours[apart], theirs[apart], atol=1e-5)


# The kernel for hulls takes 15 s to compile.
@pytest.mark.parametrize('name', either(['baxter'], ['panda', 'baxter']))
def test_single_precision(name):
    """float32 rounds positions of about 1 m to 1e-7 m, and normals by that over the distance."""
    rng = np.random.default_rng(7)
    model = robot(name)
    geometry = CollisionGeometry.from_model(model)
    pairs = some_pairs(geometry, rng, 60)
    joint_q = model.random_joint_q(3, rng)
    exact, slopes = Bench(model, 3).evaluate(every(geometry, pairs), joint_q)
    values, jacobian = Bench(model, 3, scalar=wp.float32).evaluate(every(geometry, pairs), joint_q)
    apart = exact > 0.05
    np.testing.assert_allclose(values[apart], exact[apart], atol=1e-4)
    # Parallel faces have many nearest points: a slope may belong to another one.
    error = np.abs(jacobian - slopes).max(axis=-1)[apart]
    assert np.quantile(error, 0.95) < 1e-3
    assert np.all(np.isfinite(values)) and np.all(np.isfinite(jacobian))


def half_space_pairs(geometry):
    """Pairs of each primitive with the last one."""
    last = len(geometry) - 1
    return np.array([(k, last) for k in range(last) if geometry.body[k] >= 0])


def test_half_space_has_no_end():
    """Heights of every kind of shape above and below a tilted plane."""
    model = robot('baxter')
    own = CollisionGeometry.from_model(model)
    plane = CollisionGeometry.from_spheres(model, [-1], [(0.0, 0.0, 0.3)], 0.0)
    plane.kind[0], plane.bound[0] = int(GeoType.PLANE), np.inf
    tilt = np.array([0.2, -0.1, 0.05, 1.0])
    plane.pose[0, 3:] = tilt / np.linalg.norm(tilt)
    geometry = own + scattered(model, 3) + plane
    barrier, bench = every(geometry, half_space_pairs(geometry)), Bench(model, 2)
    joint_q = model.random_joint_q(2, np.random.default_rng(0))
    values, jacobian = bench.evaluate(barrier, joint_q)
    measured = barrier._measurement.pairs
    oracle = CoalDistances('baxter', geometry)
    exact = np.array([oracle.distances(q, measured)[0] for q in joint_q])
    assert np.any(exact < -0.05)
    rows = slice(0, len(measured))
    np.testing.assert_allclose(values[:, rows], exact, atol=1e-9)
    slopes = bench.finite_differences(barrier, joint_q)[:, rows]
    # A box that stands on a face has many lowest points; random ones lean.
    np.testing.assert_allclose(jacobian[:, rows], slopes, atol=DIFFERENCES)


def test_samples_keep_the_order_of_the_pairs():
    model = robot('baxter')
    geometry = CollisionGeometry.from_model(model)
    rng = np.random.default_rng(2)
    pairs = some_pairs(geometry, rng, 40)
    joint_q = model.random_joint_q(2, rng)
    found = sample_pair_distances(geometry, pairs, joint_q)
    oracle = CoalDistances('baxter', geometry)
    exact = np.array([oracle.distances(q, pairs)[0] for q in joint_q])
    apart = exact > 0.0
    np.testing.assert_allclose(found[apart], exact[apart], atol=COAL)
