# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Distances of shapes equal coal's, for every pair of kinds and on robots; so do collisions."""

import itertools
import json
import subprocess
import sys
from types import SimpleNamespace

from kinematics.collision.checks import large_floor
import numpy as np
import pytest
from support.robots.collision_oracle import add_shape
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import coal_shape
from support.robots.collision_oracle import collision_oracle
from support.robots.collision_oracle import robot_with_meshes
from support.solvers.piston import piston
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.collision.checks.collisions import always_colliding_pairs
from ros_ik.kinematics.collision.checks.collisions import CollisionChecker
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.conventions.rotations import matrix_from_quaternion
from ros_ik.solvers.graph import Graph

KINDS = ('sphere', 'capsule', 'cylinder', 'cone', 'box', 'ellipsoid', 'mesh', 'plane')
PAIRS = [p for p in itertools.combinations_with_replacement(KINDS, 2) if p != ('plane', 'plane')]
# coal stops at 1e-9 of its own; float32 rounds the coordinates, of size 1, by 1e-7.
BELOW = {wp.float64: 1e-7, wp.float32: 1e-6}
# Two curved surfaces: GJK ends where the distance cannot be told to fall, in float32 early.
ABOVE = {wp.float64: 1e-7, wp.float32: 1e-4}


def two_free_bodies(*kinds, xforms=(None, None)):
    """Return the model of bodies that float, one shape on each."""
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    for k, kind in enumerate(kinds):
        link = builder.add_link(f'link_{k}', mass=1.0, inertia=np.eye(3))
        builder.add_joint_free(link)
        given = {} if xforms[k] is None else {'xform': xforms[k]}
        add_shape(builder, kind, link, **given)
    return builder.finalize('cpu')


def poses_of(joint_q):
    """Return coal's transforms of the two bodies of a row of coordinates."""
    return [
        coal.Transform3s(matrix_from_quaternion(pose[3:]), pose[:3])
        for pose in (joint_q[:7], joint_q[7:])
    ]


def near_each_other(model, n, seed=0):
    """Return random configurations of two bodies, many of which touch."""
    joint_q = model.random_joint_q(n, np.random.default_rng(seed))
    joint_q[:, :3] *= 0.5
    joint_q[:, 7:10] *= 0.5
    return joint_q


def at(*positions):
    """Return a row of coordinates with the bodies at these positions, unturned."""
    return np.concatenate([[*position, 0.0, 0.0, 0.0, 1.0] for position in positions])[None]


@pytest.mark.oracle
@pytest.mark.parametrize('kinds', PAIRS, ids='-'.join)
def test_distances_and_nearest_points_equal_coals(kinds):
    model = two_free_bodies(*kinds)
    joint_q = near_each_other(model, 60)
    shapes = [coal_shape(kind) for kind in kinds]
    theirs = []
    for row in joint_q:
        poses = poses_of(row)
        theirs.append(coal_distance(shapes[0], poses[0], shapes[1], poses[1]))
    expected = np.array([distance for distance, _ in theirs])
    apart = expected > 1e-5
    assert 10 <= np.sum(apart)
    for scalar in (wp.float64, wp.float32):
        checker = CollisionChecker(model, 60, pairs=[(0, 1)], scalar=scalar)
        distance, points = (found[:, 0] for found in checker.pair_distances(joint_q))
        error = (distance - expected)[apart]
        assert -BELOW[scalar] <= error.min() and error.max() <= ABOVE[scalar]
        assert np.all(distance[~apart] <= 1e-5)
        # The points are on the surfaces and as far apart as they say.
        between = np.linalg.norm(points[:, 0] - points[:, 1], axis=1)
        np.testing.assert_allclose(between[apart], distance[apart], atol=2e-6)
        assert np.all(check_points(kinds, joint_q[apart], points[apart]) <= 1e-5)
        # No pair is within rounding of contact.
        assert np.all((expected <= 0.0) | apart)
        np.testing.assert_array_equal(checker.check(joint_q), expected <= 0.0)
        least, pair = checker.distances(joint_q)
        np.testing.assert_array_equal(pair, 0)
        np.testing.assert_allclose(least[apart], distance[apart], atol=ABOVE[scalar])


def check_points(kinds, joint_q, points):
    """Return distances by coal of points from their shapes, positive outside, [n, 2]."""
    dot = coal.Sphere(1e-9)
    found = np.zeros((len(points), 2))
    for row, k in itertools.product(range(len(points)), range(2)):
        pose = coal.Transform3s(np.eye(3), points[row, k].astype(np.float64))
        shape = poses_of(joint_q[row])[k]
        found[row, k] = coal_distance(dot, pose, coal_shape(kinds[k]), shape)[0]
    return found


@pytest.mark.parametrize('margin', [0.0, 0.02, 0.1])
def test_a_pair_collides_up_to_its_margin(margin):
    model = two_free_bodies('box', 'cylinder')
    joint_q = near_each_other(model, 400, seed=1)
    exact = CollisionChecker(model, 400, pairs=[(0, 1)], scalar=wp.float64)
    distance = exact.distances(joint_q)[0]
    for given in (margin, [margin]):
        checker = CollisionChecker(model, 400, pairs=[(0, 1)], margin=given)
        found = checker.check(joint_q)
        # float32 rounds to the side of a collision.
        assert np.all(found[distance <= margin]) and not np.any(found[distance > margin + 1e-4])
        assert 20 < np.sum(found) < 380


@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
@pytest.mark.parametrize(
    ('kinds', 'second', 'distance'),
    [
        # Boxes have half extents 0.1, 0.2, 0.05: face to face, edge to edge, corner to corner.
        (('box', 'box'), (0.2, 0.0, 0.0), 0.0),
        (('box', 'box'), (0.2, 0.4, 0.0), 0.0),
        (('box', 'box'), (0.2, 0.4, 0.1), 0.0),
        (('box', 'box'), (0.5, 0.0, 0.0), 0.3),
        # One inside the other, with one centre and without.
        (('box', 'mesh'), (0.0, 0.0, 0.0), 0.0),
        (('ellipsoid', 'box'), (0.0, 0.0, 0.1), 0.0),
        (('sphere', 'sphere'), (0.0, 0.0, 0.0), -0.3),
        (('sphere', 'capsule'), (0.0, 0.0, 0.1), -0.25),
        (('capsule', 'capsule'), (0.3, 0.0, 0.0), 0.1),
        # Parallel capsules and cylinders one above the other.
        (('capsule', 'capsule'), (0.0, 0.0, 0.7), 0.1),
        (('cylinder', 'cylinder'), (0.0, 0.0, 0.4), 0.0),
        # A plane is all below its z = 0.
        (('plane', 'sphere'), (3.0, 0.0, 0.2), 0.05),
        (('plane', 'box'), (3.0, 0.0, -5.0), -5.05),
        (('plane', 'cone'), (0.0, 9.0, 0.2), 0.0),
    ],
)
def test_touching_and_containment(kinds, second, distance, scalar):
    model = two_free_bodies(*kinds)
    checker = CollisionChecker(model, 1, pairs=[(0, 1)], scalar=scalar)
    joint_q = at((0.0, 0.0, 0.0), second)
    found, points = checker.pair_distances(joint_q)
    np.testing.assert_allclose(found[0, 0], distance, atol=1e-6)
    assert np.all(np.isfinite(points))
    # Rounding decides about shapes that touch exactly, but not about a margin above that.
    close = CollisionChecker(
        model, 1, pairs=[(0, 1)], scalar=scalar, margin=max(distance, 0) + 1e-6
    )
    assert close.check(joint_q)[0]
    if abs(distance) > 1e-6:
        assert checker.check(joint_q)[0] == (distance < 0.0)
    # Both orders of the pair give the same result.
    swapped = CollisionChecker(model, 1, pairs=[(1, 0)], scalar=scalar)
    back, back_points = swapped.pair_distances(joint_q)
    np.testing.assert_allclose(back, found, atol=1e-6)
    if distance > 0.0:
        between = np.linalg.norm(back_points[0, 0, 0] - back_points[0, 0, 1])
        np.testing.assert_allclose(between, distance, atol=1e-6)


def test_shapes_move_with_their_links_and_have_margins():
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    builder.default_shape_cfg.margin = 0.01
    link = builder.add_link('slider', mass=1.0, inertia=np.eye(3))
    builder.add_joint_prismatic(-1, link, axis=(1.0, 0.0, 0.0), limit_lower=-2, limit_upper=2)
    builder.add_shape_sphere(link, radius=0.1, xform=(0.5, 0, 0, 0, 0, 0, 1))
    builder.add_shape_sphere(-1, radius=0.2)
    model = builder.finalize('cpu')
    checker = CollisionChecker(model, 3)
    distance, pair = checker.distances(np.array([[0.0], [1.0], [-0.25]]))
    np.testing.assert_allclose(distance, [0.18, 1.18, -0.07], atol=1e-6)
    np.testing.assert_array_equal(pair, 0)
    assert checker.check(np.array([[0.0], [1.0], [-0.25]])).tolist() == [False, False, True]
    assert checker.pair_names(0) == (
        ('slider', model.shape_label[0]),
        ('world', model.shape_label[1]),
    )


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_collides(value):
    model = two_free_bodies('sphere', 'box')
    joint_q = np.repeat(at((0, 0, 0), (5, 0, 0)), 3, axis=0)
    joint_q[1, 8] = value
    checker = CollisionChecker(model, 3, pairs=[(0, 1)])
    assert checker.check(joint_q).tolist() == [False, True, False]
    distance, pair = checker.distances(joint_q)
    assert distance[1] == -np.inf and pair.tolist() == [0, -1, 0]
    assert np.all(np.isfinite(distance[[0, 2]]))
    with pytest.raises(ArgumentError, match='joint_q must be finite'):
        checker.pair_distances(joint_q)


@pytest.mark.oracle
@pytest.mark.parametrize('scalar', [wp.float32, wp.float64])
@pytest.mark.parametrize(
    ('points', 'half'),
    [
        # A corner alone, an edge, a face and a thin plate, over a small box and a large floor.
        ([[0.0, 0.0, 0.0]], (0.1, 0.2, 0.05)),
        ([[0.0, 0.0, -0.3], [0.0, 0.0, 0.3]], (0.1, 0.2, 0.05)),
        ([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.0, 0.3, 0.0]], (0.1, 0.2, 0.05)),
        ([[x, y, z] for x in (0, 0.4) for y in (0, 0.3) for z in (0, 1e-6)], (0.1, 0.2, 0.05)),
        ([[0.01, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.01], [0.0, 0.0, 0.0]], (50, 50, 0.05)),
    ],
)
def test_thin_small_and_large_shapes(points, half, scalar):
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    for kind in ('mesh', 'box'):
        link = builder.add_link(kind, mass=1.0, inertia=np.eye(3))
        builder.add_joint_free(link)
    vertices = np.array(points, dtype=float)
    builder.add_shape_mesh(0, mesh=SimpleNamespace(vertices=vertices, indices=np.zeros(3, int)))
    builder.add_shape_box(1, hx=half[0], hy=half[1], hz=half[2])
    model = builder.finalize('cpu')
    joint_q = near_each_other(model, 60, seed=4)
    joint_q[30:, 2] += 0.4
    joint_q[30:, 10:13] = 0.0
    joint_q[30:, 13] = 1.0
    checker = CollisionChecker(model, 60, pairs=[(0, 1)], scalar=scalar)
    distance = checker.pair_distances(joint_q)[0][:, 0]
    # coal knows no flat hulls: the convex function distance(point, box) is least at a vertex or
    # inside; many points of the hull come near it.
    weights = np.random.default_rng(5).dirichlet(np.full(len(points), 0.2), size=3000)
    cloud = np.concatenate([vertices, weights @ vertices])
    size = np.ptp(vertices, axis=0).max()
    for row, found in zip(joint_q, distance, strict=True):
        first, second = poses_of(row)
        world = cloud @ first.getRotation().T + first.getTranslation()
        local = (world - second.getTranslation()) @ second.getRotation()
        gap = np.linalg.norm(np.maximum(np.abs(local) - np.float32(half), 0.0), axis=1).min()
        # float32 rounds by the size of the floor.
        rounding = {wp.float64: 1e-9, wp.float32: 1e-6}[scalar] * (1.0 + max(half))
        assert found <= gap + rounding and found >= gap - 0.1 * size - rounding
        assert gap > 0.0 or found <= rounding


def fused_errors(scalar):
    """Return the errors over a large floor of kernels whose products are fused."""
    command = [sys.executable, large_floor.__file__, scalar.__name__]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    return json.loads(said.splitlines()[-1])


@pytest.mark.parametrize(
    ('scalar', 'errors'),
    [
        (wp.float64, large_floor.distance_errors),
        (wp.float32, large_floor.distance_errors),
        (wp.float32, fused_errors),
    ],
    ids=['float64', 'float32', 'float32 with fused products'],
)
def test_a_small_shape_over_a_large_floor(scalar, errors):
    """Rounding along the floor must not choose the corner towards which the walk goes."""
    # float32 knows coordinates of 90 m to 8e-6 m; several of them are added.
    assert max(errors(scalar)) < (1e-12 if scalar is wp.float64 else 5e-5)


def test_far_away_shapes_do_not_lose_their_distance():
    # Distances are taken in the frame of the first shape: far from the world's origin as well.
    model = two_free_bodies('box', 'cone')
    joint_q = near_each_other(model, 50)
    far = joint_q.copy()
    far[:, [0, 7]] += 1000.0
    checker = CollisionChecker(model, 50, pairs=[(0, 1)], scalar=wp.float64)
    here, there = (checker.pair_distances(q)[0] for q in (joint_q, far))
    np.testing.assert_allclose(there, here, atol=1e-9)


def test_without_pairs_nothing_collides():
    model = two_free_bodies('sphere', 'box')
    checker = CollisionChecker(model, 2, pairs=[])
    joint_q = np.repeat(at((0, 0, 0), (0, 0, 0)), 2, axis=0)
    assert not np.any(checker.check(joint_q))
    distance, pair = checker.distances(joint_q)
    assert np.all(distance == np.inf) and np.all(pair == -1)
    assert checker.pair_distances(joint_q)[0].shape == (2, 0)


def test_pairs_that_cannot_be_checked_are_told():
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    first, second = (builder.add_link(n, mass=1.0, inertia=np.eye(3)) for n in 'ab')
    builder.add_joint_free(first)
    builder.add_joint_free(second)
    builder.add_shape_mesh(first, mesh=SimpleNamespace(uri='gone.stl'), label='gone')
    builder.add_shape_sphere(second, radius=0.1)
    add_shape(builder, 'plane', -1)
    add_shape(builder, 'plane', first)
    checker = CollisionChecker(builder.finalize('cpu'), 1, pairs=[(0, 1), (1, 2), (2, 3)])
    assert checker.ignored_shapes == ('gone',)
    assert checker.pairs.tolist() == [[1, 2]]
    assert checker.ignored_pairs.tolist() == [[0, 1], [2, 3]]


def test_one_launch_is_captured_in_a_graph():
    model = two_free_bodies('box', 'mesh')
    joint_q = near_each_other(model, 64)
    checker = CollisionChecker(model, 80, pairs=[(0, 1)], scalar=wp.float64)
    expected = checker.check(joint_q)
    rows = wp.array(joint_q[::-1].copy(), dtype=wp.float64, device='cpu')
    out = wp.zeros(64, dtype=wp.int32, device='cpu')
    graph = Graph(lambda: checker.launch(rows, out, first=16), 'cpu')
    rows.assign(joint_q)
    out.fill_(-1)
    graph.launch()
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.oracle
@pytest.mark.filterwarnings('ignore:You passed package dir')
@pytest.mark.parametrize('name', ['panda', 'ur5_robot', 'talos_full_v2', 'tiago'])
def test_distances_of_robots_equal_coals_within_what_meshes_are_reduced_by(name):
    model, oracle = robot_with_meshes(name), collision_oracle(name)
    rng = np.random.default_rng(0)
    checker = CollisionChecker(model, 3, scalar=wp.float64)
    assert not checker.ignored_shapes and len(checker.pairs) == model.shape_contact_pair_count
    chosen = np.sort(rng.choice(len(checker.pairs), min(60, len(checker.pairs)), replace=False))
    checker = CollisionChecker(model, 3, pairs=checker.pairs[chosen], scalar=wp.float64)
    joint_q = model.random_joint_q(3, rng)
    distance, _ = checker.pair_distances(joint_q)
    slack = np.zeros(model.shape_count)
    slack[checker.shapes.shapes] = checker.shapes.hull_error
    slack = slack[checker.pairs].sum(axis=1)
    for q, ours in zip(joint_q, distance, strict=True):
        theirs = oracle.distances(q, checker.pairs)
        apart = theirs > 1e-6
        # Files hold float32. Distances are never overestimated, and smaller by the inflation of
        # hulls.
        assert np.all(ours[apart] <= theirs[apart] + 1e-6)
        assert np.all(ours[apart] >= (theirs - slack)[apart] - 1e-6)
        assert np.all(ours[~apart] <= 1e-6)
    assert np.all(slack <= 0.005)


@pytest.mark.parametrize('name', ['panda', 'ur5_robot', 'talos_full_v2'])
def test_robots_that_were_described_well_have_no_pair_that_always_collides(name):
    # Their SRDFs disable those.
    assert len(always_colliding_pairs(robot_with_meshes(name))) == 0


def test_pairs_that_always_collide_do_so_by_design():
    model = robot_with_meshes('tiago')
    always = always_colliding_pairs(model)
    links = {tuple(model.body_label[model.shape_body.numpy()[k]] for k in pair) for pair in always}
    # A box around the hand holds its fingers' bones.
    assert ('hand_thumb_virtual_1_link', 'hand_safety_box') in links
    checker = CollisionChecker(model, 20, pairs=always, scalar=wp.float64)
    distance, _ = checker.pair_distances(model.random_joint_q(20, np.random.default_rng(9)))
    assert np.all(distance <= 0.0)
    assert len(always_colliding_pairs(model, pairs=always[:2])) == 2
    assert len(always_colliding_pairs(model, margin=0.1)) > len(always)
    with pytest.raises(ArgumentError, match='fraction'):
        always_colliding_pairs(model, fraction=1.5)


@pytest.mark.parametrize('radius', (0.5, 0.51))
def test_a_pair_that_is_free_at_a_few_configurations_does_not_always_collide(radius):
    model = piston(radius)
    free = (model.random_joint_q(5000, 1)[:, 1] > radius + 0.1).mean()
    assert 0.01 < free < 0.05
    assert len(always_colliding_pairs(model)) == 0
    assert len(always_colliding_pairs(model, fraction=0.9)) == 1
    assert len(always_colliding_pairs(piston(0.6))) == 1


PENDULUM = """<robot name="pendulum">
  <link name="base"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <link name="arm"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="hand"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="shoulder" type="continuous">
    <parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="1 0 0"/>
  </joint>
  <joint name="wrist" type="continuous">
    <parent link="arm"/><child link="hand"/><origin xyz="0 0 1"/><axis xyz="1 0 0"/>
  </joint>
</robot>"""


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'n': 0}, 'n: expected'),
        ({'n': 2.5}, 'n: expected'),
        ({'margin': -0.1}, 'margin must be finite numbers >= 0, got -0.1'),
        ({'margin': np.nan}, 'margin'),
        ({'margin': 'wide'}, 'margin'),
        ({'margin': [0.0, 0.1]}, r'margin must be one number or one per pair \(1\)'),
        ({'scalar': wp.float16}, 'scalar'),
        ({'pairs': [(0, 7)]}, 'pairs must name shapes'),
        ({'pairs': [(0, -1)]}, 'pairs must name shapes'),
        ({'pairs': [(0.0, 1.0)]}, 'pairs must be integers'),
        ({'pairs': [0, 1]}, 'pairs must be integers'),
        ({'pairs': [(0, 0)]}, 'pairs must join shapes of two bodies'),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    model = Model.from_urdf(PENDULUM, device='cpu')
    with pytest.raises(ArgumentError, match=message):
        CollisionChecker(model, **({'n': 3} | arguments))


@pytest.mark.parametrize(
    ('joint_q', 'message'),
    [
        (np.zeros((4, 2)), r'1 <= k <= 3, got \[4, 2\]'),
        (np.zeros((0, 2)), 'got'),
        (np.zeros(2), 'shape'),
        (np.zeros((1, 3)), r'shape \[k, 2\]'),
        ([['a', 'b']], 'must be numbers'),
    ],
)
def test_bad_coordinates_are_named(joint_q, message):
    checker = CollisionChecker(Model.from_urdf(PENDULUM, device='cpu'), 3)
    for method in (checker.check, checker.distances, checker.pair_distances):
        with pytest.raises(ArgumentError, match=message):
            method(joint_q)


def test_bad_device_arrays_are_named():
    checker = CollisionChecker(Model.from_urdf(PENDULUM, device='cpu'), 3)
    joint_q = wp.zeros((2, 2), dtype=wp.float32, device='cpu')
    out = wp.zeros(2, dtype=wp.int32, device='cpu')
    checker.launch(joint_q, out)
    for wrong, arguments in (
        ('joint_q must be float32', (wp.zeros((2, 2), dtype=wp.float64, device='cpu'), out)),
        ('joint_q must have shape', (wp.zeros((2, 3), dtype=wp.float32, device='cpu'), out)),
        ('out must have shape', (joint_q, wp.zeros(3, dtype=wp.int32, device='cpu'))),
        ('out must have shape', (joint_q, wp.zeros(2, dtype=wp.float32, device='cpu'))),
    ):
        with pytest.raises(ArgumentError, match=wrong):
            checker.launch(*arguments)
    with pytest.raises(ArgumentError, match='1 <= k <= 1'):
        checker.launch(joint_q, out, first=2)
    with pytest.raises(ArgumentError, match='first'):
        checker.launch(joint_q, out, first=3)
    with pytest.raises(ArgumentError, match='k: expected'):
        checker.pair_names(1)
