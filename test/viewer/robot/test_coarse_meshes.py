# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Meshes with fewer triangles: as many as asked for, in the same places and colours."""

import importlib.util
import threading

import numpy as np
import pytest

pytest.importorskip('fast_simplification', reason='fast-simplification is not installed')

from scipy.spatial import cKDTree
from support.long_forms import either
import trimesh

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.model import Model
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.viewer.robot.coarse_meshes import coarsen
from ros_ik.viewer.robot.robot_meshes import read_meshes

# Least part of the triangles that stays, and largest distance of 95 % of the points of a surface
# from samples of another one [m], which lie up to 3 mm apart. Thin details may go. Every fifth
# of the points, whose order is random, is judged.
MIN_FACES, APART, JUDGED = 100, 4e-3, slice(None, None, 5)


def meshes(name, triangles):
    """Return the drawn meshes of a robot of the demo, by link."""
    robot = DemoRobot.load(name)
    model = Model.from_urdf(
        robot.text, None, package_paths=mesh_folders(robot.files.urdf_path), device='cpu'
    )
    found = read_meshes(model, robot.text, triangles, [], threading.Event())
    return {mesh.link: mesh for mesh in found}


def samples(mesh):
    """Return points that lie evenly on a mesh."""
    surface = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    return trimesh.sample.sample_surface(surface, int(surface.area / 4e-6), seed=0)[0]


@pytest.mark.parametrize('name', either(['panda'], ['panda', 'tiago']))
def test_a_robot_has_about_as_many_triangles_as_asked_for_in_the_same_places(name):
    whole, coarse = meshes(name, 0), meshes(name, 40000)
    assert list(whole) == list(coarse)
    assert sum(len(mesh.faces) for mesh in whole.values()) > 100000
    # A part whose outline may not move keeps more than its share.
    assert sum(len(mesh.faces) for mesh in coarse.values()) < 50000
    for link, mesh in whole.items():
        here, there = samples(mesh), samples(coarse[link])
        for points, others in ((here, there), (there, here)):
            assert np.quantile(cKDTree(others).query(points[JUDGED])[0], 0.95) < APART


def ball(color):
    """Return a part of 1,280 triangles with one colour."""
    part = trimesh.creation.icosphere(3, radius=0.1)
    material = trimesh.visual.material.PBRMaterial(baseColorFactor=color)
    part.visual = trimesh.visual.TextureVisuals(material=material)
    return part


def test_parts_keep_their_colours_and_few_triangles_stay():
    parts = [ball([200, 0, 0, 255]), ball([0, 0, 200, 128])]
    coarse = coarsen(parts, 1000)
    for part, given in zip(coarse, parts, strict=True):
        assert MIN_FACES <= len(part.faces) <= 500
        np.testing.assert_array_equal(
            part.visual.material.baseColorFactor, given.visual.material.baseColorFactor
        )
    assert all(a is b for a, b in zip(coarsen(parts, 0), parts, strict=True))
    assert all(a is b for a, b in zip(coarsen(parts, 2560), parts, strict=True))
    assert all(len(part.faces) >= MIN_FACES for part in coarsen(parts, 1))


def test_parts_with_a_colour_for_each_vertex_stay():
    painted = trimesh.creation.icosphere(3)
    painted.visual.vertex_colors = np.tile([10, 200, 30, 255], (len(painted.vertices), 1))
    (part,) = coarsen([painted], 200)
    assert part is painted


@pytest.mark.parametrize('missing', ['fast_simplification', 'scipy'])
def test_without_a_package_that_reduces_them_they_stay_as_they_are(missing, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, 'find_spec', lambda name: None if name == missing else find(name)
    )
    ball = trimesh.creation.icosphere(4)
    ball.visual = trimesh.visual.TextureVisuals()
    assert coarsen([ball], 500) == [ball]
