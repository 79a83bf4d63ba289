# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Convex shapes of a model: never smaller than the originals, and little larger."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.robots.collision_oracle import add_shape
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import coal_distance
from support.robots.collision_oracle import convex_hull
from support.robots.collision_oracle import robot_with_meshes

from ros_ik.errors import ArgumentError
from ros_ik.model import GeoType
from ros_ik.model import ModelBuilder
from ros_ik.model.hulls.hull_reduction import largest_outside_distance
from ros_ik.model.hulls.hull_reduction import outside_distances
from ros_ik.model.hulls.hull_reduction import reduced_points
from ros_ik.model.shapes.collision_primitive import CollisionShape
from ros_ik.model.shapes.collision_shapes import convex_shapes

KINDS = ('sphere', 'capsule', 'cylinder', 'cone', 'box', 'ellipsoid', 'mesh', 'plane')


def builder_with_link():
    """Return a builder whose shapes weigh nothing, and a link."""
    builder = ModelBuilder()
    builder.default_shape_cfg.density = 0.0
    link = builder.add_link('link', mass=1.0, inertia=np.eye(3))
    builder.add_joint_free(link)
    return builder, link


def mesh(vertices):
    """Return a mesh in memory."""
    return SimpleNamespace(vertices=vertices, indices=np.zeros(3, dtype=int))


@pytest.mark.oracle
def test_distances_from_a_hull_equal_coals():
    rng = np.random.default_rng(0)
    kept = rng.normal(size=(40, 3))
    # Outside, inside, at corners, on edges and on faces.
    points = np.concatenate(
        [rng.normal(size=(60, 3)) * 2.0, kept, 0.5 * (kept[:20] + kept[20:]), 0.1 * kept]
    )
    ours, hull = outside_distances(points, kept), convex_hull(kept)
    dot = coal.Sphere(1e-9)
    theirs = [
        max(0.0, coal_distance(dot, coal.Transform3s(np.eye(3), point), hull,
                               coal.Transform3s.Identity())[0])
        for point in points
    ]  # fmt: skip
    # An upper bound to a millionth of the size.
    size = np.ptp(kept, axis=0).max()
    assert np.all(ours >= np.array(theirs) - 1e-7) and np.all(
        ours <= np.array(theirs) + 2e-6 * size
    )
    np.testing.assert_array_equal(outside_distances(np.zeros((0, 3)), kept), np.zeros(0))


@pytest.mark.parametrize('scale', [0.5, 1.0, 2.0])
def test_the_largest_distance_from_a_hull_is_found_without_the_others(scale):
    rng = np.random.default_rng(3)
    for _ in range(20):
        kept, points = rng.normal(size=(40, 3)), scale * rng.normal(size=(200, 3))
        largest = outside_distances(points, kept).max()
        assert largest_outside_distance(points, kept) == pytest.approx(largest, abs=1e-5)
        assert largest_outside_distance(points, kept, largest + 0.1) == largest + 0.1
    assert largest_outside_distance(0.01 * points, kept) < 1e-9
    assert largest_outside_distance(points[:0], kept) == 0.0


@pytest.mark.parametrize('flat', [False, True])
def test_many_points_are_reduced_to_few_that_almost_span_them(flat):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2500, 3)) * [1.0, 1.0, not flat]
    points /= np.linalg.norm(points, axis=1)[:, None]
    kept, error = reduced_points(points)
    assert len(kept) <= 192 and 0.0 < error < 0.05
    assert set(map(tuple, kept)) <= set(map(tuple, points))
    assert outside_distances(points, kept).max() <= error
    # A support function is enough to see it independently: no direction reaches further.
    directions = rng.normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    reach = (points @ directions.T).max(axis=0) - (kept @ directions.T).max(axis=0)
    assert -1e-12 <= reach.min() and 0.1 * error < reach.max() <= error + 1e-12


def test_few_points_are_all_kept():
    points = np.random.default_rng(2).normal(size=(30, 3))
    kept, error = reduced_points(points)
    assert kept is points and error == 0.0
    # Many points, few of them corners: the hull is exact but for the tolerance.
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 12)] * 3), axis=-1).reshape(-1, 3)
    kept, error = reduced_points(grid)
    assert error <= 3e-6 and len(kept) < 192


@pytest.mark.parametrize('kind', KINDS)
def test_bounds_hold_the_shapes(kind):
    builder, link = builder_with_link()
    builder.default_shape_cfg.margin = 0.02
    pose = np.array([0.3, -0.2, 0.1, 0.5, -0.5, 0.5, 0.5])
    shape = add_shape(builder, kind, link, xform=pose)
    found = convex_shapes(builder.finalize('cpu'))
    assert found.shapes.tolist() == [shape] and found.body.tolist() == [link]
    assert found.ignored == ()
    np.testing.assert_allclose(found.pose[0, 3:], pose[3:], atol=1e-6)
    if kind == 'plane':
        assert found.bound[0] == np.inf and found.radius[0] == pytest.approx(0.02)
        return
    inner = {'sphere': 0.15, 'capsule': 0.1}.get(kind, 0.0)
    assert found.radius[0] == pytest.approx(0.02 + inner, abs=1e-7)
    farthest = {
        'sphere': 0.15, 'capsule': 0.3, 'cylinder': np.hypot(0.1, 0.2),
        'cone': np.hypot(0.15, 0.2), 'box': np.sqrt(0.01 + 0.04 + 0.0025), 'ellipsoid': 0.3,
        'mesh': np.linalg.norm(found.points, axis=1).max(initial=0.0),
    }[kind]  # fmt: skip
    assert found.bound[0] == pytest.approx(0.02 + farthest, abs=1e-6)


def test_meshes_are_scaled_and_placed_about_their_middle():
    builder, link = builder_with_link()
    corners = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 4]], dtype=float)
    pose = np.array([1.0, 0, 0, 0, 0, np.sqrt(0.5), np.sqrt(0.5)])  # a quarter turn about z
    builder.add_shape_mesh(link, mesh=mesh(corners), scale=(1.0, -0.5, 2.0), xform=pose)
    found = convex_shapes(builder.finalize('cpu'))
    assert found.kind.tolist() == [GeoType.MESH] and found.count.tolist() == [4]
    # In the mesh the middle is (1, -0.5, 4); the link sees it turned and moved.
    np.testing.assert_allclose(found.pose[0, :3], [1.5, 1.0, 4.0], atol=1e-6)
    np.testing.assert_allclose(found.size[0], [1.0, 0.5, 4.0])
    back = np.unique(found.points + [1.0, -0.5, 4.0], axis=0)
    np.testing.assert_allclose(back, np.unique(corners * [1.0, -0.5, 2.0], axis=0), atol=1e-12)


def test_shapes_come_in_order_and_without_what_has_no_size():
    builder, link = builder_with_link()
    add_shape(builder, 'box', link)
    builder.add_shape_mesh(link, mesh=SimpleNamespace(uri='gone'))
    add_shape(builder, 'mesh', link)
    add_shape(builder, 'sphere', -1)
    add_shape(builder, 'mesh', link)
    model = builder.finalize('cpu')
    found = convex_shapes(model)
    assert found.shapes.tolist() == [0, 2, 3, 4] and found.ignored == (1,)
    assert found.body.tolist() == [link, link, -1, link]
    assert found.first.tolist() == [0, 0, 30, 30] and found.count.tolist() == [0, 30, 0, 30]
    assert len(found.points) == 60
    some = convex_shapes(model, [3, 0, 3])
    assert some.shapes.tolist() == [0, 3]
    none = convex_shapes(model, [])
    assert len(none.shapes) == 0 and none.points.shape == (0, 3) and none.size.shape == (0, 3)


def test_meshes_of_robots_are_parsed_once(monkeypatch):
    model = robot_with_meshes.__wrapped__('ur5_robot')
    first = convex_shapes(model, np.unique(model.shape_contact_pairs.numpy()))
    assert np.all(first.hull_error <= 0.0025) and np.max(first.count) <= 192

    def refuse(content):
        raise AssertionError(f'{content.path} was parsed again')

    monkeypatch.setattr('ros_ik.model.readers.mesh_files.MeshContent.vertices', refuse)
    again = convex_shapes(model, np.unique(model.shape_contact_pairs.numpy()))
    np.testing.assert_array_equal(again.points, first.points)


@pytest.mark.parametrize(
    ('vertices', 'message'),
    [
        (np.zeros((0, 3)), r'vertices must have shape \[n, 3\], got \[0, 3\]'),
        (np.zeros((4, 2)), r'got \[4, 2\]'),
        ([[0.0, np.nan, 0.0]], 'vertices must be finite'),
    ],
)
def test_bad_vertices_are_named(vertices, message):
    builder, link = builder_with_link()
    builder.add_shape_sphere(link, radius=0.1)
    source = SimpleNamespace()
    builder.add_shape_mesh(link, mesh=source, label='bracket')
    source.vertices = vertices
    model = builder.finalize('cpu')
    with pytest.raises(ArgumentError, match=f'bracket.*{message}'):
        convex_shapes(model)
    with pytest.raises(ArgumentError, match='shapes: expected an index'):
        convex_shapes(model, [7])


@pytest.mark.parametrize(
    'shape',
    [
        CollisionShape.sphere(0.1),
        CollisionShape.capsule(0.1, 0.3),
        CollisionShape.cylinder(0.1, 0.3),
        CollisionShape.box([0.1, 0.2, 0.3]),
        CollisionShape.half_space(),
    ],
    ids=lambda shape: shape.kind.name.lower(),
)
def test_a_builder_makes_the_same_core_of_a_given_shape(shape):
    builder = ModelBuilder()
    builder.add_shape(-1, shape.kind, scale=shape.scale)
    made = convex_shapes(builder.finalize('cpu'))
    assert made.kind.tolist() == [shape.kind]
    np.testing.assert_array_equal(made.size, [np.float32(shape.size)])
    np.testing.assert_array_equal(made.radius, [np.float32(shape.radius)])


def test_a_hull_has_no_scale():
    with pytest.raises(ArgumentError, match='hull'):
        _ = CollisionShape.convex(np.eye(3)).scale
