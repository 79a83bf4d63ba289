# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Meshes of a workspace built by colcon with --symlink-install, and the targets of its links."""

import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

from ros_ik.model.readers.mesh_lookup import resolve_mesh
from ros_ik.node.model_loading.package_paths import package_paths

COLCON = shutil.which('colcon') or shutil.which('colcon', path=str(Path(sys.executable).parent))

MANIFEST = """<?xml version="1.0"?>
<package format="3"><name>{name}</name><version>1.0.0</version><description>An arm</description>
<maintainer email="nobody@example.com">nobody</maintainer><license>Apache-2.0</license>
{depend}<export><build_type>{kind}</build_type></export></package>
"""
CMAKE = """cmake_minimum_required(VERSION 3.10)
project(arm_cmake NONE)
find_package(ament_cmake REQUIRED)
install(DIRECTORY meshes DESTINATION share/${PROJECT_NAME})
ament_package()
"""
SETUP = """from setuptools import setup
setup(name='arm_python', version='1.0.0', packages=[], data_files=[
    ('share/ament_index/resource_index/packages', ['resource/arm_python']),
    ('share/arm_python', ['package.xml']), ('share/arm_python/meshes', ['meshes/link.stl'])])
"""


def write_packages(source):
    """Write a package of each of ament's kinds with a mesh; one links to a file outside."""
    for name, kind, depend in (
        ('arm_cmake', 'ament_cmake', '<buildtool_depend>ament_cmake</buildtool_depend>\n'),
        ('arm_python', 'ament_python', ''),
    ):
        folder = source / name
        (folder / 'meshes').mkdir(parents=True)
        (folder / 'meshes' / 'link.stl').write_text(name)
        (folder / 'package.xml').write_text(MANIFEST.format(name=name, kind=kind, depend=depend))
    (source / 'arm_cmake' / 'CMakeLists.txt').write_text(CMAKE)
    (source / 'arm_cmake' / 'meshes' / 'secret.stl').symlink_to(source.parents[1] / 'secret.stl')
    (source / 'arm_python' / 'setup.py').write_text(SETUP)
    (source / 'arm_python' / 'resource').mkdir()
    (source / 'arm_python' / 'resource' / 'arm_python').touch()


@pytest.mark.skipif(COLCON is None, reason='colcon is not installed')
def test_meshes_that_colcon_links_are_found(tmp_path, monkeypatch):
    workspace = tmp_path / 'workspace'
    (tmp_path / 'secret.stl').write_text('secret')
    write_packages(workspace / 'src')
    done = subprocess.run(
        [COLCON, '--log-base', str(tmp_path / 'log'), 'build', '--symlink-install'],
        cwd=workspace,
        env={**os.environ, 'PYTHONWARNINGS': 'ignore'},
        capture_output=True,
        text=True,
        timeout=300.0,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = 'arm_cmake', 'arm_python'
    prefixes = os.pathsep.join(str(workspace / 'install' / name) for name in names)
    monkeypatch.setenv('AMENT_PREFIX_PATH', prefixes)
    for name in names:
        link = workspace / 'install' / name / 'share' / name / 'meshes' / 'link.stl'
        assert link.is_symlink()  # otherwise the test is void
        for uri in (f'package://{name}/meshes/link.stl', f'file://{link}'):
            found = resolve_mesh(uri, package_paths())
            assert found.path == workspace / 'src' / name / 'meshes' / 'link.stl'
            assert found.path.read_text() == name
    secret = workspace / 'install' / 'arm_cmake' / 'share' / 'arm_cmake' / 'meshes' / 'secret.stl'
    assert secret.read_text() == 'secret'
    assert resolve_mesh('package://arm_cmake/meshes/secret.stl', package_paths()).path is None


@pytest.fixture(params=['isolated', 'merged'])
def share(request, tmp_path):
    """Return share/ of an install space with links, as colcon lays both layouts out."""
    workspace = tmp_path / 'workspace'
    prefix = workspace / 'install' / ('' if request.param == 'merged' else 'robot')
    meshes = prefix / 'share' / 'robot' / 'meshes'
    meshes.mkdir(parents=True)
    (workspace / 'install' / '.colcon_install_layout').write_text(request.param)
    for folder in ('src/robot', 'build/robot', 'log', 'other'):
        (workspace / folder).mkdir(parents=True)
        (workspace / folder / 'link.stl').write_text(folder)
        (meshes / f'{folder.partition("/")[0]}.stl').symlink_to(workspace / folder / 'link.stl')
    (tmp_path / 'secret.stl').write_text('secret')
    (meshes / 'secret.stl').symlink_to(tmp_path / 'secret.stl')
    (workspace / 'src' / 'robot' / 'secret.stl').symlink_to(tmp_path / 'secret.stl')
    (meshes / 'relayed.stl').symlink_to(workspace / 'src' / 'robot' / 'secret.stl')
    return prefix / 'share'


@pytest.mark.parametrize('space', ['src', 'build'])
def test_links_into_the_source_and_build_space_are_followed(share, space):
    source = resolve_mesh(f'package://robot/meshes/{space}.stl', [share])
    assert source.path is not None and source.path.read_text() == f'{space}/robot'


def test_nothing_else_outside_the_install_space_is_read(share):
    workspace = next(parent for parent in share.parents if parent.name == 'workspace')
    up = '/'.join(['..'] * (len(share.relative_to(workspace).parts) + 1))
    for uri in (
        *(f'package://robot/meshes/{name}.stl' for name in ('log', 'other', 'secret', 'relayed')),
        # The space itself, without a link of the install space.
        f'file://{workspace}/src/robot/link.stl',
        f'package://robot/{up}/src/robot/link.stl',
        f'package://robot/meshes/../{up}/build/robot/link.stl',
        str(workspace / 'src' / 'robot' / 'link.stl'),
    ):
        assert resolve_mesh(uri, [share]).path is None, uri


def test_without_the_mark_of_colcon_no_link_leads_out(share):
    install = share.parent if share.parent.name == 'install' else share.parents[1]
    (install / '.colcon_install_layout').unlink()
    for space in ('src', 'build'):
        assert resolve_mesh(f'package://robot/meshes/{space}.stl', [share]).path is None
