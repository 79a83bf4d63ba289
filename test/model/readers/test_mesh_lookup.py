# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mesh files are found inside the package paths and nowhere else."""

from pathlib import Path
from urllib.parse import quote

import pytest

from ros_ik.errors import ArgumentError
from ros_ik.errors import ModelError
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.readers.description import read_description
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.model.readers.mesh_lookup import resolve_mesh
from ros_ik.model.shapes.collision_geometry import CollisionGeometry

URDF = (
    '<robot name="r"><link name="a"><collision><geometry><mesh filename="file://%s"/></geometry>'
    '</collision></link></robot>'
)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / 'share' / 'robot' / 'meshes').mkdir(parents=True)
    (tmp_path / 'share' / 'robot' / 'meshes' / 'arm.stl').write_text('')
    (tmp_path / 'secret.stl').write_text('')
    (tmp_path / 'share' / 'robot' / 'link.stl').symlink_to(tmp_path / 'secret.stl')
    return tmp_path


@pytest.mark.parametrize('folder', ['share', 'share/robot'])
def test_package_uri(tree, folder):
    source = resolve_mesh('package://robot/meshes/arm.stl', [tree / folder])
    assert source.path == tree / 'share' / 'robot' / 'meshes' / 'arm.stl'


def test_file_uri_and_plain_paths_inside(tree):
    arm = tree / 'share' / 'robot' / 'meshes' / 'arm.stl'
    assert resolve_mesh(f'file://{arm}', [tree / 'share']).path == arm
    assert resolve_mesh(str(arm), [tree / 'share']).path == arm
    assert resolve_mesh('robot/meshes/arm.stl', [tree / 'share']).path == arm


@pytest.mark.parametrize(
    'uri',
    [
        'package://robot/../../secret.stl',
        'package://robot/%2e%2e/%2e%2e/secret.stl',
        'package://../secret.stl',
        'package://robot/link.stl',
        'package://robot/meshes',
        'package://robot/meshes/gone.stl',
        '../secret.stl',
        'http://robot/meshes/arm.stl',
        'file://host/meshes/arm.stl',
        'package://robot/%00',
        'package://[robot/arm.stl',
        'package://robot/' + 5000 * 'a',
        '',
    ],
)
def test_everything_else_is_not_read(tree, uri):
    assert resolve_mesh(uri, [tree / 'share']).path is None
    assert resolve_mesh(f'file://{tree}/secret.stl', [tree / 'share']).path is None


def test_without_package_paths_nothing_is_found(tree):
    assert resolve_mesh('package://robot/meshes/arm.stl', []).path is None


def test_meshes_are_looked_up_around_a_description(tmp_path):
    mesh = tmp_path / 'src/arm_description/meshes/link.stl'
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b'')
    uri = 'package://arm_description/meshes/link.stl'
    for inside in ('urdf/arm.urdf', 'arm.urdf'):
        path = tmp_path / 'src/arm_description' / inside
        assert resolve_mesh(uri, mesh_folders(path)).path == mesh.resolve()
    # Everything lies below the root of the file system.
    assert mesh_folders(Path('/arm.urdf')) == []


@pytest.mark.parametrize('folder', ['urdf', '', 'robots/v2/deep'])
@pytest.mark.parametrize('form', [Path, str, 'file://{}'.format, 'file://localhost{}'.format])
def test_a_path_finds_the_meshes_around_its_description(tmp_path, folder, form):
    """Also below a folder whose name needs quotes in a URI."""
    package = tmp_path / 'a b' / 'share' / 'arm_description'
    (package / 'meshes').mkdir(parents=True)
    corners = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n'
    (package / 'meshes/link.obj').write_text(corners)
    mesh = '<mesh filename="package://arm_description/meshes/link.obj"/>'
    path = package / folder / 'arm.urdf'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        '<robot name="r"><link name="a"><collision><geometry>'
        f'{mesh}</geometry></collision></link></robot>'
    )
    given = form(quote(str(path))) if form not in (Path, str) else form(path)
    builder = ModelBuilder()
    builder.add_urdf(given)
    model = builder.finalize('cpu')
    assert len(CollisionGeometry.from_model(model)) == 1 and not model.warnings


@pytest.mark.parametrize(
    ('declaration', 'encoding'),
    [('', 'utf-8'), ('<?xml version="1.0" encoding="ISO-8859-1"?>', 'latin-1')],
)
def test_letters_of_a_file_are_those_of_its_encoding(tmp_path, declaration, encoding):
    path = tmp_path / 'arm.urdf'
    path.write_bytes(f'{declaration}<robot name="r"><link name="\xe9"/></robot>'.encode(encoding))
    assert Model.from_urdf(path, device='cpu').body_label == ['\xe9']
    assert Model.from_urdf(read_description(path), device='cpu').body_label == ['\xe9']
    for wrong in (declaration.replace('ISO-8859-1', 'no-such'), ''):
        path.write_bytes(f'{wrong}<robot name="r"><link name="\xe9"/></robot>'.encode('latin-1'))
        with pytest.raises(ModelError, match='cannot be read'):
            Model.from_urdf(path, device='cpu')
        with pytest.raises(ArgumentError, match='cannot be read'):
            read_description(path)


@pytest.mark.parametrize('name', ['package_paths', 'package_dirs'])
def test_one_path_is_not_a_list_of_folders(tree, name):
    # Its first letter, '/', would be a folder that holds every file.
    for paths in (str(tree / 'elsewhere'), tree / 'elsewhere', 3, [3]):
        with pytest.raises(ArgumentError, match=f'{name} must be a list of folders'):
            ModelBuilder().add_urdf(text=URDF % (tree / 'secret.stl'), **{name: paths})
    given = [str(tree / 'elsewhere')]
    model = Model.from_urdf(URDF % (tree / 'secret.stl'), package_paths=given, device='cpu')
    assert 'not found in the package paths' in model.warnings[0]
