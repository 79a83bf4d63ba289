# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Data flows one way: a package imports only from those above it, and few know ROS."""

import ast
import functools
from pathlib import Path
import re
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = [
    'lazy_names', 'former_names', 'errors', 'numbers', 'state_machine', 'cache_files',
    'launch_lock', 'settings', 'model', 'kinematics', 'objectives', 'limits', 'barriers',
    'solvers', 'servo', 'planning', 'node', 'setup_assistant', 'viewer', 'demo', 'make_view',
    'programs',
]  # fmt: skip
# The one module with a layer of its own: it shows the robot of the demo in the viewer.
MAKE_VIEW = ROOT / 'ros_ik' / 'viewer' / 'demo.py'
# Folders inside a folder, in the same order; '.' stands for the files at the top.
ROOMS = {
    'model': ['conventions', 'hulls', 'readers', 'building', 'urdf', '.', 'shapes'],
    'model/building': ['tables', 'joints', 'links', 'worlds', '.'],
    'kinematics': ['runtime', '.', 'newton', 'dynamics', 'stepping', 'collision'],
    'node': [
        'transport', 'execution', 'model_loading', 'control', 'services', 'subscribers', 'reports',
        'markers', 'actions', '.',
    ],
    'objectives': ['interface', 'base', 'recording', 'jacobian', '.'],
    'solvers': [
        '.', 'qp', 'least_squares', 'pose_ik', 'analytic', 'pose_batches', 'path', 'batch_ik',
        'chain', 'differential_ik', 'optimal_control',
    ],
    'kinematics/collision': ['distance', 'pairs', 'checks', '.'],
    'solvers/pose_ik': ['interface', 'kernels', 'search', '.'],
    'solvers/optimal_control': ['commands', 'least_cost', 'timing', 'ends', '.'],
    'planning': ['context', 'trajectories', 'poses', '.'],
    'solvers/differential_ik': ['tasks', 'quadratic_program', 'checks', '.'],
    'solvers/batch_ik': ['base', 'optimizers', 'fused', '.'],
    'solvers/analytic': [
        'structure', 'subproblems', 'candidates', 'refinement', 'redundancy', '.',
    ],
    'solvers/analytic/candidates': ['general_axes', '.'],
    'demo': ['robots', 'controller', 'processes', 'scenario', 'report', '.'],
    'viewer': ['robot', 'gui', 'scene', 'obstacles', 'client', '.'],
    'servo': [
        'interface', 'robot', 'barriers', 'motion', 'state', 'step', 'targets', 'reports', '.',
    ],
}  # fmt: skip
ROS_PACKAGES = ('node', 'demo', 'viewer', 'make_view')
ROS_MODULES = {
    'rclpy', 'ros_ik_interfaces', 'ament_index_python', 'builtin_interfaces', 'diagnostic_msgs',
    'geometry_msgs', 'lifecycle_msgs', 'rcl_interfaces', 'sensor_msgs', 'std_msgs', 'std_srvs',
    'trajectory_msgs', 'visualization_msgs',
}  # fmt: skip
ORACLES = {'pinocchio', 'newton', 'roboplan', 'pink', 'mink', 'qpsolvers', 'motrixsim', 'coal'}
FILES = sorted((ROOT / 'ros_ik').rglob('*.py'))
# Folders of tests whose subject is no folder of ros_ik.
TEST_ROOMS = (
    'benchmarks', 'config', 'examples', 'gpu', 'launch', 'node/behaviour', 'repository', 'safety',
    'support',
)  # fmt: skip


def layer(path):
    """Return the name of the package or module below ros_ik."""
    if path == MAKE_VIEW:
        return 'make_view'
    return path.relative_to(ROOT / 'ros_ik').parts[0].removesuffix('.py')


def layer_of_module(module):
    """Return the layer of a module of ros_ik."""
    name, *rest = module.split('.')[1:] or ['__init__']
    return 'make_view' if (name, rest) == ('viewer', ['demo']) else name


def room_index(package, room):
    """Return the place of a folder, or of a file at the top, in the order of a package."""
    rooms = ROOMS[package]
    return rooms.index(room if room in rooms else '.')


def inside(parts, package):
    """Return the parts of a module below a package, none for one that lies elsewhere."""
    home = ['ros_ik', *package.split('/')]
    return list(parts[len(home) :]) if list(parts[: len(home)]) == home else []


@functools.cache
def imported_modules(path):
    """Every module that a file imports, inside functions too."""
    modules = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: relative import'
            modules.append(node.module)
    return modules


def violations(path):
    """Return the imports that a file must not have."""
    own = layer(path)
    for module in imported_modules(path):
        parts = module.split('.')
        if parts[0] in ORACLES:
            yield f'{module} is an oracle for tests'
        if parts[0] in ROS_MODULES and own not in ROS_PACKAGES:
            yield f'{module} belongs to ROS'
        if parts[0] == 'ros_ik' and own != '__init__':
            target = layer_of_module(module)
            if target not in LAYERS or LAYERS.index(target) > LAYERS.index(own):
                yield f'{module} lies below {own}'
    for package in ROOMS:
        place = inside(path.relative_to(ROOT).with_suffix('').parts, package)
        for module in imported_modules(path):
            other = inside(module.split('.'), package)
            if place and other and place[0] != '__init__':
                if room_index(package, other[0]) > room_index(package, place[0]):
                    yield f'{module} lies below {place[0]}'


def test_imports_go_up():
    found = {str(path.relative_to(ROOT)): list(violations(path)) for path in FILES}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_every_package_has_a_layer():
    assert {layer(path) for path in FILES} - {'__init__'} <= set(LAYERS)


def folder(path, package):
    """Return the folder of a package that a file lies in, or the package for a file at its top."""
    if path == MAKE_VIEW and not package:
        return 'make_view'
    folders = path.relative_to(ROOT / 'ros_ik' / package).parts[:-1]
    return folders[0] if folders else package.split('/')[-1]


def folder_imports(package):
    """Return the pairs of folders of which one imports from the other, without what follows."""
    home = ROOT / 'ros_ik' / package
    paths = [path for path in home.rglob('*.py') if path.name != '__init__.py']
    places = {
        '.'.join(path.relative_to(ROOT).with_suffix('').parts): folder(path, package)
        for path in [*paths, *home.glob('*/__init__.py')]
    }
    places = {module.removesuffix('.__init__'): place for module, place in places.items()}
    below = {place: set() for place in places.values()}
    for path in paths:
        for module in imported_modules(path):
            if module in places and places[module] != folder(path, package):
                below[folder(path, package)].add(places[module])

    def reached(place):
        return below[place].union(*(reached(other) for other in below[place]))

    return {
        (place, other)
        for place, others in below.items()
        for other in others - set().union(*(reached(one) for one in others))
    }


def drawn_arrows(heading):
    """Return the arrows of the first picture under a heading of docs/architecture.md."""
    text = (ROOT / 'docs' / 'architecture.md').read_text()
    (block,) = re.findall(
        rf'## {heading}\n.*?```mermaid\nflowchart TD\n(.*?)```', text, re.DOTALL
    )
    drawn = set()
    for line in block.splitlines():
        place, others = line.strip().split(' --> ')
        drawn |= {(place.partition('[')[0], other) for other in others.split(' & ')}
    return drawn


@pytest.mark.parametrize(
    'package',
    [
        'model',
        'model/building',
        'kinematics',
        'kinematics/collision',
        'objectives',
        'solvers',
        'solvers/pose_ik',
        'solvers/optimal_control',
        'planning',
        'solvers/differential_ik',
        'solvers/batch_ik',
        'solvers/analytic',
        'node',
        'servo',
        'demo',
        'viewer',
    ],
)
def test_the_picture_of_the_folders_is_that_of_their_imports(package):
    assert drawn_arrows(f'Folders in ros_ik/{package}') == folder_imports(package)


def test_the_picture_of_the_packages_is_that_of_their_imports():
    files_at_the_top = ''
    arrows = {arrow for arrow in folder_imports('') if files_at_the_top not in arrow}
    assert drawn_arrows('Layers') == arrows


def test_the_table_of_the_packages_has_their_order():
    text = (ROOT / 'docs' / 'architecture.md').read_text()
    table = text.partition('\n## Layers\n')[2].partition('\n## ')[0]
    cells = re.findall(r'^\| ([^|]*ros_ik/[^|]*) \|', table, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r'`ros_ik/([\w/]+)(?:\.py)?`', cell)]
    assert names == ['viewer/demo' if name == 'make_view' else name for name in LAYERS]


@pytest.mark.parametrize('package', ROOMS)
def test_every_folder_of_a_package_has_a_place(package):
    folders = {path.parent.name for path in (ROOT / 'ros_ik' / package).glob('*/*.py')}
    assert folders == set(ROOMS[package]) - {'.'}


def module_folders(home):
    """Return the number of Python files of each folder below a path, and of itself."""
    folders = [home, *(path for path in home.rglob('*') if path.is_dir())]
    counts = {path: len([*path.glob('*.py')]) for path in folders}
    return {path: count for path, count in counts.items() if count}


def file_counts(package):
    """Return the number of Python files in each folder of a package."""
    return list(module_folders(ROOT / 'ros_ik' / package).values())


def test_no_folder_has_more_than_fifteen_modules():
    assert max(file_counts('')) <= 15 + 1  # and __init__.py
    assert max(module_folders(ROOT / 'test').values()) <= 15
    # A solver each in benchmarks/peers, and what two of them share.
    assert max(module_folders(ROOT / 'benchmarks').values()) <= 16 + 1


def test_tests_lie_in_folders_of_the_package_or_in_rooms_of_their_own():
    for path in module_folders(ROOT / 'test'):
        name = path.relative_to(ROOT / 'test')
        has_own_room = any(name.is_relative_to(room) for room in TEST_ROOMS)
        assert has_own_room or (ROOT / 'ros_ik' / name).is_dir(), name


def test_the_table_of_the_folders_counts_them():
    text = (ROOT / 'docs' / 'decisions' / 'folders.md').read_text()
    rows = re.findall(r'^\| `ros_ik/(\S+)` \| \d+ \| (\d+) \| (\d+) \|$', text, re.MULTILINE)
    assert len(rows) == 11
    for package, folders, most in rows:
        counts = file_counts(package)
        assert (len(counts), max(counts)) == (int(folders), int(most)), package


def test_importing_the_library_does_not_import_ros():
    code = (
        'import ros_ik, sys; sys.exit(any(name in sys.modules for name in ("rclpy", "pinocchio")))'
    )
    assert subprocess.run([sys.executable, '-c', code], cwd=ROOT, timeout=60).returncode == 0
