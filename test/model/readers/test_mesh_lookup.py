# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Mesh files are found inside the package paths and nowhere else."""

from pathlib import Path

import pytest

from ros_ik.errors import ArgumentError
from ros_ik.model import Model
from ros_ik.model import ModelBuilder
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.model.readers.mesh_lookup import resolve_mesh

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


@pytest.mark.parametrize('name', ['package_paths', 'package_dirs'])
def test_one_path_is_not_a_list_of_folders(tree, name):
    # Its first letter, '/', would be a folder that holds every file.
    for paths in (str(tree / 'elsewhere'), tree / 'elsewhere', 3, [3]):
        with pytest.raises(ArgumentError, match=f'{name} must be a list of folders'):
            ModelBuilder().add_urdf(text=URDF % (tree / 'secret.stl'), **{name: paths})
    given = [str(tree / 'elsewhere')]
    model = Model.from_urdf(URDF % (tree / 'secret.stl'), package_paths=given, device='cpu')
    assert 'not found in the package paths' in model.warnings[0]
