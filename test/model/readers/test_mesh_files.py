# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mesh files: the same vertices as read by coal, and errors that name the fault."""

import itertools
import struct
import sys

import numpy as np
import pytest
from support.long_forms import either
from support.robots.collision_oracle import coal
from support.robots.collision_oracle import robot_with_meshes
import trimesh

from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.model.readers.mesh_files import MeshFile
from ros_ik.model.readers.mesh_files import read_triangles
from ros_ik.model.readers.mesh_files import read_vertices

# Between them: binary STL, OBJ and COLLADA of several exporters, with nodes that place parts.
ROBOTS = ('panda', 'talos_left_arm', 'alex_nub_hands', 'tiago', 'icub', 'kinova', 'hyq_no_sensors')
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=np.float64)
LFS_POINTER = b'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n'
FACES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))


def nearest(points, others):
    """Return the distance from each point to the nearest of others."""
    return np.array([np.linalg.norm(others - point, axis=1).min() for point in points])


def mesh_sources(name):
    """Return the files of the collision meshes of a robot, by path."""
    model = robot_with_meshes(name)
    flags = model.shape_flags.numpy()
    return {s.path: s for k, s in enumerate(model.shape_source) if s is not None and flags[k] & 2}


@pytest.mark.oracle
@pytest.mark.parametrize('name', ROBOTS)
def test_vertices_are_those_that_coal_reads(name):
    files = mesh_sources(name)
    assert len(files) >= 3
    for path, source in itertools.islice(files.items(), either(4, 12)):
        ours = source.read_vertices()
        theirs = np.array(coal.MeshLoader().load(str(path), np.ones(3)).vertices())
        # Both hold float32 read from text or bytes.
        rounding = 1e-6 * max(1.0, np.abs(theirs).max())
        for bound in (np.min, np.max):
            np.testing.assert_allclose(bound(ours, 0), bound(theirs, 0), atol=rounding)
        sample = np.random.default_rng(0).permutation(len(theirs))[:200]
        assert nearest(theirs[sample], ours).max() <= rounding
        sample = np.random.default_rng(0).permutation(len(ours))[:200]
        assert nearest(ours[sample], theirs).max() <= rounding


def binary_stl(header=b''):
    """Return the tetrahedron as binary STL."""
    facets = b''.join(
        struct.pack('<12fH', 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES
    )
    return header.ljust(80, b'\0') + struct.pack('<I', len(FACES)) + facets


def text_stl():
    """Return the tetrahedron as text."""
    lines = ['solid a thing']
    for face in FACES:
        lines += ['facet normal 0 0 0', ' outer loop']
        lines += [f'  vertex {x:.3e} {y} {z}' for x, y, z in CORNERS[list(face)]]
        lines += [' endloop', 'endfacet']
    return '\n'.join([*lines, 'endsolid']).encode()


def obj():
    """Return the tetrahedron as OBJ, with normals, comments and a material that is not there."""
    lines = ['# by hand', 'mtllib ../../../etc/passwd', 'o thing']
    lines += [f'v {x} {y} {z} 1.0' for x, y, z in CORNERS] + ['v 99 99 99', 'vn 0 0 1', 'vt 0 0']
    lines += ['f 1//1 2 3/1', 'f  4/1/1 2/1/1\t3', 'f 1 2 4']
    return '\r\n'.join(lines).encode()


def collada(nodes='', scene='', unit='0.5', faces='0 1 2 2 0 3'):
    """Return the tetrahedron as COLLADA, in units of half a metre.

    A fifth position, far away, belongs to no face.
    """
    numbers = ' '.join(map(str, [*CORNERS.ravel(), 99, 99, 99]))
    return f"""<?xml version="1.0"?>
    <COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
      <asset><unit name="half" meter="{unit}"/><up_axis>Y_UP</up_axis></asset>
      <library_geometries><geometry id="tetra"><mesh>
        <source id="p"><float_array id="pa" count="15">{numbers}</float_array><technique_common>
          <accessor source="#pa" count="5" stride="3"><param name="X" type="float"/>
          <param name="Y" type="float"/><param name="Z" type="float"/></accessor>
          </technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
        <triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/>
<p>{faces}</p></triangles>
      </mesh></geometry></library_geometries>
      <library_nodes>{nodes}</library_nodes>
      <library_visual_scenes><visual_scene id="s">{scene}</visual_scene></library_visual_scenes>
      <scene><instance_visual_scene url="#s"/></scene>
    </COLLADA>""".encode()


PLAIN = '<node><instance_geometry url="#tetra"/></node>'


@pytest.mark.parametrize(
    ('suffix', 'content', 'factor'),
    [
        ('.stl', binary_stl(), 1.0),
        ('.STL', binary_stl(b'solid but binary'), 1.0),
        ('.stl', text_stl(), 1.0),
        ('.stl', text_stl().upper(), 1.0),
        ('.obj', obj(), 1.0),
        ('.obj', b'v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf -4 -3 -2\nf -1 -2 -3', 1.0),
        ('.dae', collada(scene=PLAIN), 0.5),
    ],
    ids=['binary', 'binary solid', 'text', 'upper', 'obj', 'backwards', 'dae'],
)
def test_vertices_of_every_format(tmp_path, suffix, content, factor):
    path = tmp_path / f'mesh{suffix}'
    path.write_bytes(content)
    expected = np.unique(factor * CORNERS, axis=0)
    np.testing.assert_allclose(read_vertices(path), expected, atol=1e-7)
    assert MeshFile('gone.stl', None).read_vertices() is None


def test_binary_stl_needs_no_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'trimesh', None)
    path = tmp_path / 'mesh.stl'
    path.write_bytes(binary_stl())
    assert len(read_vertices(path)) == len(CORNERS)
    path.write_bytes(text_stl())
    with pytest.raises(ModelError, match='trimesh, which is not installed'):
        read_vertices(path)


def test_nodes_place_the_geometries_of_a_scene(tmp_path):
    path = tmp_path / 'mesh.dae'
    turned = '<rotate>0 0 1 90</rotate>'
    scene = (
        f'<node><translate>1 2 3</translate>{turned}<node><scale>2 2 2</scale>'
        '<instance_geometry url="#tetra"/></node></node>'
    )
    nodes = '<node id="unused"><instance_geometry url="#tetra"/></node>'
    path.write_bytes(collada(nodes, scene))
    x, y, z = 2.0 * CORNERS.T
    expected = 0.5 * np.stack([1.0 - y, 2.0 + x, 3.0 + z], axis=1)
    found = read_vertices(path)
    assert len(found) == 4
    assert nearest(expected, found).max() < 1e-6
    matrix = '<node><matrix>0 -2 0 1  2 0 0 2  0 0 2 3  0 0 0 1</matrix>'
    path.write_bytes(collada(scene=f'{matrix}<instance_geometry url="#tetra"/></node>'))
    assert nearest(expected, read_vertices(path)).max() < 1e-6


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('a.stl', b'', ''),
        ('a.stl', b'\0' * 200, ''),
        ('a.stl', binary_stl()[:-1], ''),
        ('a.stl', binary_stl().replace(struct.pack('<f', 3), struct.pack('<f', np.nan)), 'finite'),
        ('a.stl', b'solid\nvertex 1 2 x\n', ''),
        ('a.obj', b'v 1 2 3\nv 1 two 3\nf 1 2 2', ''),
        ('a.obj', b'v 1 2 3\nv 2 2 3\nv 1 2 inf\nf 1 2 3\n', 'finite'),
        ('a.obj', b'v 1 2 3\nf 1 2 3\n', ''),
        ('a.obj', b'v 1 2 3\nv 2 2 3\nv 1 2 1e30\nf 1 2 3\n', 'beyond'),
        ('a.stl', LFS_POINTER, 'is a pointer of Git LFS'),
        ('a.obj', LFS_POINTER, 'is a pointer of Git LFS'),
        ('a.dae', LFS_POINTER, 'is a pointer of Git LFS'),
        ('a.ply', b'ply', "'.ply' is not one of .stl, .obj, .dae"),
        ('a.dae', b'<COLLADA', 'malformed'),
        ('a.dae', b'<COLLADA/>', 'expected the root element'),
        ('a.dae', b'<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>', 'not accepted'),
        ('a.dae', b'<mujoco/>', 'expected the root element'),
        ('a.dae', collada(scene=''), 'has no vertices'),
        ('a.dae', collada(scene=PLAIN, faces='0 7 0 1 2 3'), ''),
        ('a.dae', collada(scene=PLAIN, faces='0 x 0 1 2 3'), ''),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_broken_files_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError, match=name) as error:
        read_vertices(path)
    assert message in str(error.value)


def test_files_that_are_too_large_or_not_there_are_named(tmp_path, monkeypatch):
    path = tmp_path / 'a.stl'
    with pytest.raises(ModelError, match='cannot be read'):
        read_vertices(path)
    path.write_bytes(binary_stl())
    monkeypatch.setattr('ros_ik.model.readers.mesh_files.MAX_FILE_BYTES', 100)
    with pytest.raises(ModelError, match='more than the 100 bytes'):
        read_vertices(path)


def test_no_mesh_is_read_before_it_is_asked_for(monkeypatch):
    # A model without its files has the same kinematics; one with them loads as fast.
    def refuse(path):
        raise AssertionError(f'{path} was read')

    monkeypatch.setattr('ros_ik.model.readers.mesh_files.read_content', refuse)
    robot_with_meshes.__wrapped__('panda')


def test_a_mesh_outside_the_package_paths_is_not_read(tmp_path):
    (tmp_path / 'inside').mkdir()
    (tmp_path / 'secret.stl').write_bytes(binary_stl())
    (tmp_path / 'inside' / 'link.stl').symlink_to(tmp_path / 'secret.stl')
    for name in ('../secret.stl', 'link.stl', f'file://{tmp_path}/secret.stl'):
        text = (
            '<robot name="r"><link name="a"><collision><geometry>'
            f'<mesh filename="{name}"/></geometry></collision></link></robot>'
        )
        model = Model.from_urdf(text, package_paths=[tmp_path / 'inside'], device='cpu')
        assert model.shape_source[0].read_vertices() is None


@pytest.mark.oracle
@pytest.mark.parametrize('name', ROBOTS)
def test_triangles_have_the_area_that_trimesh_reads(name):
    files = mesh_sources(name)
    for path, source in itertools.islice(files.items(), either(3, 12)):
        ours, theirs = source.read_triangles(), trimesh.load_mesh(str(path), process=False)
        normals = np.cross(ours[:, 1] - ours[:, 0], ours[:, 2] - ours[:, 0])
        area = 0.5 * np.linalg.norm(normals, axis=1).sum()
        assert area == pytest.approx(theirs.area, rel=1e-5), path
        np.testing.assert_array_equal(
            np.unique(ours.reshape(-1, 3), axis=0), source.read_vertices()
        )


def test_a_file_without_triangles_is_refused(tmp_path):
    path = tmp_path / 'points.obj'
    path.write_text('v 0 0 0\nv 1 0 0\n')
    with pytest.raises(ModelError, match='triangles'):
        read_triangles(path)
