# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Build of the ament_python package; the version lives in package.xml."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages
from setuptools import setup

HERE = Path(__file__).parent
MANIFEST = ElementTree.parse(HERE / 'package.xml').getroot()
NAME = MANIFEST.findtext('name')


def data(folder: str, pattern: str, target: str = '') -> tuple[str, list[str]]:
    """Return where the files of a folder are installed, and the files."""
    files = sorted(path.relative_to(HERE).as_posix() for path in (HERE / folder).glob(pattern))
    return target or f'share/{NAME}/{folder}', files


setup(
    name=NAME,
    version=MANIFEST.findtext('version'),
    description=' '.join(MANIFEST.findtext('description').split()),
    license=MANIFEST.findtext('license'),
    packages=find_packages(include=['ros_ik', 'ros_ik.*']),
    package_data={
        'ros_ik.demo.robots': ['*.yaml', '*.urdf', '*.srdf'],
        'ros_ik.node.execution': ['*.xml'],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        data('launch', '*.launch.py'),
        data('config', '*.yaml'),
        data('config', '*.rviz'),
        data('config/robots', '*.yaml'),
        data('config/examples', '*'),
        data('config/sros2', '*.xml'),
        # For `ros2 run`, which looks for executables there.
        data('examples/node', '*.py', target=f'lib/{NAME}'),
    ],
    # What the library needs; package.xml names the ROS packages.
    install_requires=['defusedxml', 'numpy', 'transforms3d', 'warp-lang>=1.19'],
    extras_require={
        'meshes': ['pycollada', 'trimesh'],
        'demo': ['example-robot-data', 'matplotlib', 'PyYAML', 'xacro'],
        # With pytest here, colcon test runs the tests; those whose oracle is missing are skipped.
        'test': ['pytest', 'pytest-timeout'],
        'viewer': [
            'fast-simplification', 'pycollada', 'PyYAML', 'scipy', 'trimesh', 'viser>=1.1,<1.2',
            'websockets>=15',
        ],  # fmt: skip
    },
    # Warp reads the source of kernels.
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'mock_robot = ros_ik.programs:mock_robot',
            'robot_description_publisher = ros_ik.programs:robot_description_publisher',
            'ros_ik_demo = ros_ik.programs:ros_ik_demo',
            'ros_ik_node = ros_ik.programs:ros_ik_node',
            'ros_ik_setup = ros_ik.programs:ros_ik_setup',
            'ros_ik_srdf_lines = ros_ik.programs:ros_ik_srdf_lines',
            'ros_ik_viewer = ros_ik.programs:ros_ik_viewer',
        ],
    },
)
