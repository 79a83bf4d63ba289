# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The wheel that pip makes of the clone, with what it requires and nothing else."""

from importlib import metadata
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys

from packaging.requirements import Requirement
import pytest

ROOT = Path(__file__).resolve().parents[2]
# Solve a pose with only the given folders on the path.
SOLVE = """
import sys
sys.path[:0] = sys.argv[1:]
from pathlib import Path
import numpy as np
import ros_ik
from ros_ik import inverse_kinematics, Model
from ros_ik.kinematics import eval_fk
folder = Path(ros_ik.__file__).parent / 'demo' / 'robots'
assert str(folder).startswith(sys.argv[1]), folder
urdf, srdf = ((folder / f'six_axis.{kind}').read_text() for kind in ('urdf', 'srdf'))
model = Model.from_urdf(urdf, srdf=srdf, device='cpu')
q = np.array([[0.1, 0.2, 1.3, 0.4, 1.0, 0.5]])
poses = np.zeros((1, model.body_count, 7))
eval_fk(model, q, poses)
result = inverse_kinematics(model, 'tool0', poses[:, model.body_index('tool0')])
print('status', result.status[0], 'rclpy' in sys.modules)
"""

# Import demo and viewer, and read a robot as the page draws it, without the given modules.
WITHOUT = """
import importlib, pkgutil, sys, threading
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in sys.argv[1:]:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import ros_ik.demo, ros_ik.viewer
for package in (ros_ik.demo, ros_ik.viewer):
    for module in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):
        if not module.name.endswith('__main__'):
            importlib.import_module(module.name)
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.model import Model
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.viewer.robot.robot_meshes import read_meshes
robot = DemoRobot.load('panda')
folders = mesh_folders(robot.files.urdf_path)
model = Model.from_urdf(robot.text, None, package_paths=folders, device='cpu')
problems = []
meshes = read_meshes(model, robot.text, 5000, problems, threading.Event())
print('triangles', sum(len(mesh.faces) for mesh in meshes), problems)
"""

# Programs with more requirements than the library.
PROGRAMS = [
    'mock_robot', 'robot_description_publisher', 'ros_ik_demo', 'ros_ik_node', 'ros_ik_viewer',
]  # fmt: skip


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Return the folder of the installed package and its requirements."""
    source, folder = tmp_path_factory.mktemp('source'), tmp_path_factory.mktemp('installed')
    # pip builds beside the sources, and would leave that in the clone.
    for name in ('setup.py', 'setup.cfg', 'package.xml', 'README.md', 'LICENSE'):
        shutil.copy(ROOT / name, source)
    for name in ('ros_ik', 'launch', 'config', 'resource'):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns('__pycache__'))
    subprocess.run(
        [
            sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index',
            '--no-build-isolation', '--disable-pip-version-check', '--no-compile',
            '--target', folder, source,
        ],
        check=True,
    )  # fmt: skip
    (information,) = folder.glob('ros_ik-*.dist-info')
    return folder, metadata.Distribution.at(information).requires


def distributions_of(requirements):
    """Return the distributions of these requirements and of theirs."""
    left, found, seen = list(map(Requirement, requirements)), {}, set()
    while left:
        requirement = left.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        distribution = metadata.distribution(requirement.name)
        found[distribution.name] = distribution
        for extra in requirement.extras or {''}:
            for each in map(Requirement, distribution.requires or ()):
                if each.marker is None or each.marker.evaluate({'extra': extra}):
                    left.append(each)
    return list(found.values())


def top_names(distribution):
    """Return what a distribution has at the top of a folder of packages."""
    return {file.parts[0] for file in distribution.files if file.parts[0] != '..'}


def site_of(folder, requirements):
    """Make a folder with these distributions and their requirements."""
    for distribution in distributions_of(r for r in requirements if 'extra ==' not in r):
        for top in top_names(distribution):
            if not (folder / top).exists() and not top.endswith('.pth'):
                (folder / top).symlink_to(Path(distribution.locate_file(top)))
    return folder


def test_the_library_solves_a_pose_with_what_it_requires(installed, tmp_path):
    folder, requirements = installed
    site = site_of(tmp_path, requirements)
    assert not (site / 'rclpy').exists() and not (site / 'trimesh').exists()
    done = subprocess.run(
        [sys.executable, '-I', '-S', '-c', SOLVE, folder, site],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'status 0 False' in done.stdout, done.stdout


def test_every_file_of_the_package_is_installed(installed):
    folder, _ = installed
    found, wanted = (
        {
            path.relative_to(root).as_posix()
            for path in (root / 'ros_ik').rglob('*')
            if path.is_file() and '__pycache__' not in path.parts
        }
        for root in (folder, ROOT)
    )
    assert wanted == found


def test_demo_and_viewer_need_no_package_of_the_tests():
    """Those are all that tools/setup installs for them."""
    files = [ROOT / 'requirements' / f'{name}.txt' for name in ('demo', 'ros', 'runtime')]
    lines = [line for file in files for line in file.read_text().splitlines()]
    allowed = {each.name for each in distributions_of(r for r in lines if not r.startswith('#'))}
    names = {True: set(), False: set()}
    for distribution in metadata.distributions():
        names[distribution.name in allowed] |= top_names(distribution)
    modules = {name.removesuffix('.py') for name in names[False] - names[True]}
    missing = {name for name in modules if name.isidentifier()}
    assert {'mypy', 'mujoco', 'selenium'} <= missing
    done = subprocess.run(
        [sys.executable, '-c', WITHOUT, *sorted(missing - {'ros_ik_interfaces'})],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (triangles,) = re.findall(r'^triangles (\d+) \[\]$', done.stdout, re.M)
    # Without what reduces meshes, there are 250,000.
    assert int(triangles) < 10_000


def test_examples_are_there_for_ros2_run(tmp_path):
    # pip leaves the folder lib alone with --target; colcon asks for this as well.
    command = [sys.executable, 'setup.py', '--quiet', 'install_data', '--install-dir', tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    examples = {path.name for path in (ROOT / 'examples' / 'node').glob('*.py')}
    # What `ros2 run` finds: executables in lib/<package>.
    found = {path.name for path in (tmp_path / 'lib/ros_ik').iterdir() if os.access(path, os.X_OK)}
    assert 'stream_poses.py' in examples and examples <= found


@pytest.mark.parametrize('program', PROGRAMS)
def test_a_program_names_the_package_that_it_misses(installed, tmp_path, program):
    folder, requirements = installed
    site = site_of(tmp_path, requirements)
    code = f'import sys; sys.path[:0] = sys.argv[1:3]; from ros_ik.programs import {program}'
    done = subprocess.run(
        [sys.executable, '-I', '-S', '-c', f'{code}; sys.exit({program}())', folder, site],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    (sentence,) = done.stderr.splitlines()
    assert re.fullmatch(rf'{program} needs [a-z_]+: (pip install|install ROS 2) .*', sentence)


def test_extras_are_those_of_the_documents(installed):
    _, requirements = installed
    extras = {re.search(r'extra == [\'"](\w+)', r)[1] for r in requirements if 'extra ==' in r}
    assert extras == {'meshes', 'demo', 'viewer', 'test'}
    # colcon test runs pytest for packages that ask for it.
    assert any(r.startswith('pytest') and 'test' in r for r in requirements)
