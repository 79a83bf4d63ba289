# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Console scripts, which name a missing package and its remedy."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import importlib
import os
import signal
import sys

_ROS = 'install ROS 2 and source its setup.bash'
# Packages that `pip install .` leaves out. Messages of ROS (*_msgs) share the remedy of rclpy.
_REMEDIES = {
    'ament_index_python': _ROS,
    'builtin_interfaces': _ROS,
    'collada': 'pip install pycollada',
    'matplotlib': 'pip install matplotlib',
    'rcl_interfaces': _ROS,
    'rclpy': _ROS,
    'ros_ik_interfaces': 'build it with colcon; its sources are beside those of ros_ik',
    'std_srvs': _ROS,
    'trimesh': 'pip install trimesh',
    'viser': "pip install 'viser>=1.1,<1.2' trimesh",
    'websockets': "pip install 'websockets>=15'",
    'xacro': 'pip install xacro',
    'yaml': 'pip install PyYAML',
}


def mock_robot() -> int:
    """Run the mock robot of the demo."""
    return _run('mock_robot', 'ros_ik.demo.mock_robot', is_node=True)


def robot_description_publisher() -> int:
    """Run the publisher of ``robot_description``."""
    module = 'ros_ik.demo.robot_description_publisher'
    return _run('robot_description_publisher', module, is_node=True)


def ros_ik_demo() -> int:
    """Run the demonstration."""
    return _run('ros_ik_demo', 'ros_ik.demo.__main__')


def ros_ik_node() -> int:
    """Run the node."""
    return _run('ros_ik_node', 'ros_ik.node.ros_ik_node', is_node=True)


def ros_ik_setup() -> int:
    """Propose or check a parameter file."""
    return _run('ros_ik_setup', 'ros_ik.setup_assistant.__main__')


def ros_ik_srdf_lines() -> int:
    """Print the lines of an SRDF for links that always touch."""
    return _run('ros_ik_srdf_lines', 'ros_ik.node.model_loading.srdf_tool')


def ros_ik_viewer() -> int:
    """Run the page in the browser."""
    return _run('ros_ik_viewer', 'ros_ik.viewer.__main__', is_node=True)


def _run(program: str, module: str, *, is_node: bool = False) -> int:
    """Return the exit code of ``main`` of a module, 2 if a package is missing.

    Args:
        program: Name of the program.
        module: The module.
        is_node: True to end with exit code 0 if a signal comes during the imports.
    """
    try:
        with _ended_by_signals() if is_node else contextlib.nullcontext():
            imported = importlib.import_module(module)
        code: int = imported.main()
    except ModuleNotFoundError as error:
        package = (error.name or '').partition('.')[0]
        remedy = _ROS if package.endswith('_msgs') else _REMEDIES.get(package)
        if remedy is None:
            raise
        print(f'{program} needs {package}: {remedy}', file=sys.stderr)
        return 2
    return code


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM end the process with exit code 0: nothing has begun."""
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.signal(number, lambda *_: os._exit(0)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
