# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A new model uses the present content of mesh files, though an older model lives."""

import itertools
import os
import struct

import numpy as np
import pytest

from ros_ik import CollisionChecker
from ros_ik import CollisionGeometry
from ros_ik import fit_capsules
from ros_ik import fit_spheres
from ros_ik import inverse_kinematics
from ros_ik import Model
from ros_ik import ModelBuilder
from ros_ik import SolveStatus
from ros_ik.errors import ModelError
from ros_ik.model.hulls.fit_cache import FitCache
from ros_ik.servo.robot.shape_fits import ShapeFits
from ros_ik.servo.robot.touching_pairs import touching_pairs

MESH = '<collision><geometry><mesh filename="{0}.stl"/></geometry></collision>'
# Two cubes, of which the second slides from the first along x.
TEXT = f"""<robot name="r"><link name="base"/>
  <link name="a">{MESH.format('a')}</link><link name="between"/>
  <link name="b">{MESH.format('b')}</link>
  <joint name="f" type="fixed"><parent link="base"/><child link="a"/></joint>
  <joint name="y" type="prismatic"><parent link="base"/><child link="between"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="x" type="prismatic"><parent link="between"/><child link="b"/>
    <axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


def write_cube(path, half):
    """Write a cube of two triangles per axis, with all eight corners, as binary STL."""
    corners = half * np.array(list(itertools.product((-1, 1), repeat=3)), dtype='<f4')
    facets = corners[[[0, 1, 2], [3, 4, 5], [6, 7, 0]]].reshape(3, 9)
    body = b''.join(struct.pack('<12fH', 0, 0, 0, *facet, 0) for facet in facets.tolist())
    path.write_bytes(bytes(80) + struct.pack('<I', 3) + body)


def load(folder):
    """Return a model of the two cubes."""
    return Model.from_urdf(TEXT, package_paths=[folder], device='cpu')


def distance(model, x=2.0):
    """Return the distance of the cubes with the second one at x."""
    joint_q = model.neutral_joint_q()[None]
    joint_q[0, model.joint_q_start.numpy()[model.joint_index('x')]] = x
    return CollisionChecker(model, 1).distances(joint_q)[0]


def solve(model):
    """Return the status of a pose that is free of collisions if both cubes are small."""
    pose = [[0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    found = inverse_kinematics(
        model, 'b', pose, rotation_tolerance=np.inf, check_collisions=True
    )
    return found.status[0]


@pytest.fixture
def old(tmp_path):
    """Return a model whose hulls were made, of cubes with edges of 0.2 m."""
    write_cube(tmp_path / 'a.stl', 0.1)
    write_cube(tmp_path / 'b.stl', 0.1)
    model = load(tmp_path)
    assert distance(model) == pytest.approx(1.8) and solve(model) == SolveStatus.CONVERGED
    return model


def test_a_new_model_has_the_new_hulls_and_fits(old, tmp_path):
    write_cube(tmp_path / 'a.stl', 0.5)
    new = load(tmp_path)
    small, large = 0.1 * np.sqrt(3.0), 0.5 * np.sqrt(3.0)
    np.testing.assert_allclose(CollisionGeometry.from_model(new).bound, [large, small])
    assert fit_spheres(new, max_spheres=1).radius == pytest.approx([large, small], rel=1e-3)
    # A capsule about a cube is at least as thick as its edges are far from its axis.
    assert fit_capsules(new).radius[0] > 0.5
    assert distance(new) == pytest.approx(1.4) and solve(new) == SolveStatus.IN_COLLISION
    assert [distance(load(tmp_path)), distance(new)] == pytest.approx([1.4, 1.4])
    assert old.shape_count == new.shape_count


def test_size_and_times_of_a_file_do_not_hide_that_it_changed(old, tmp_path):
    path = tmp_path / 'a.stl'
    before = path.stat()
    write_cube(path, 0.5)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert distance(load(tmp_path)) == pytest.approx(1.4)
    write_cube(path, 0.1)
    assert distance(load(tmp_path)) == pytest.approx(1.8) and old.shape_count == 2


def test_models_of_one_builder_have_the_files_of_their_time(tmp_path):
    write_cube(tmp_path / 'a.stl', 0.1)
    write_cube(tmp_path / 'b.stl', 0.1)
    builder = ModelBuilder()
    builder.add_urdf(TEXT, package_paths=[tmp_path])
    first = builder.finalize('cpu')
    assert distance(first) == pytest.approx(1.8)
    write_cube(tmp_path / 'b.stl', 0.2)
    assert distance(builder.finalize('cpu')) == pytest.approx(1.7) and first.shape_count == 2


def test_a_file_that_was_removed_is_named(old, tmp_path):
    new = load(tmp_path)
    (tmp_path / 'b.stl').unlink()
    for use in (distance, lambda model: ShapeFits(model).primitives(1)):
        with pytest.raises(ModelError, match='b.stl.*cannot be read'):
            use(new)
    assert old.shape_count == new.shape_count


def test_shapes_of_the_servo_change_with_the_file(old, tmp_path):
    fits, before = ShapeFits(old), ShapeFits(old).hull(0)
    write_cube(tmp_path / 'a.stl', 0.5)
    new = ShapeFits(load(tmp_path))
    assert before.bound[0] < 0.2 and new.hull(0).bound[0] > 0.8
    assert new.primitives(0).radius[0] > 0.3 and fits.primitives(1).radius[0] < 0.2


def test_masks_of_touching_pairs_depend_on_the_content_of_meshes(old, tmp_path):
    # The primitives stay the same, and their shapes change.
    capsules, pairs = fit_capsules(old), np.array([[0, 1]])
    cache = FitCache(tmp_path / 'fits')
    for half in (0.1, 0.15, 0.1):
        write_cube(tmp_path / 'a.stl', half)
        touching_pairs(capsules, pairs, 0.01, 0.0, ShapeFits(old), cache)
    assert len(list((tmp_path / 'fits').glob('pairs-*'))) == 2
