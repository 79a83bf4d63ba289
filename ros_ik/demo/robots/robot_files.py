# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Robots of the demo: known by name, or by the path of a URDF or xacro file."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import difflib
import functools
from importlib import metadata
from importlib import resources
import os
from pathlib import Path
import sys

import yaml

from ros_ik.errors import ArgumentError
from ros_ik.model.readers.mesh_lookup import mesh_folders

DATA_FOLDERS = ('example-robot-data', 'example_robot_data')


@dataclass(frozen=True)
class RobotFiles:
    """Files and properties of a robot.

    Attributes:
        name: Short name for reports.
        urdf_path: URDF or xacro file.
        srdf_path: SRDF file, or None.
        base_link: First link of the controlled chain, '' to choose from the model.
        tip_link: Last link of the controlled chain, '' to choose from the model.
        home: Initial positions, rad or m by joint name.
    """

    name: str
    urdf_path: Path
    srdf_path: Path | None = None
    base_link: str = ''
    tip_link: str = ''
    home: Mapping[str, float] = field(default_factory=dict)


def robot_names() -> list[str]:
    """Return the names of the known robots."""
    return sorted(_known_robots())


def default_robot() -> str:
    """Return the default robot: panda if installed, otherwise six_axis."""
    try:
        robot_data_path()
    except ArgumentError:
        return 'six_axis'
    return 'panda'


def find_robot(robot: str) -> RobotFiles:
    """Find a robot by its name or by the path of its URDF or xacro file.

    Raises:
        ArgumentError: Neither a known name nor a file, or example-robot-data is not installed.
    """
    known = _known_robots()
    if robot in known:
        return _known_robot(robot, known[robot])
    path = Path(robot).expanduser()
    if path.is_file():
        return RobotFiles(path.name.split('.')[0], path.resolve())
    close = ', '.join(difflib.get_close_matches(robot, known, cutoff=0.4) or sorted(known))
    raise ArgumentError(f"robot '{robot}' is neither a file nor a known robot; known: {close}")


def robot_data_path() -> Path:
    """Return the folder ``robots`` of example-robot-data, from its wheel or from a ROS install.

    Raises:
        ArgumentError: It is not installed.
    """
    for share in _share_folders():
        for folder in DATA_FOLDERS:
            if (share / folder / 'robots').is_dir():
                return share / folder / 'robots'
    raise ArgumentError(
        'example-robot-data, which has this robot, is not installed: pip install '
        'example-robot-data, or name six_axis, or the path of a URDF file'
    )


def mesh_prefix(files: RobotFiles) -> str:
    """Return the prefix in which the meshes of a robot are installed, '' for an unusual place.

    A description lies in ``<prefix>/share/<package>``; AMENT_PREFIX_PATH lists such prefixes, but
    not that of a wheel.
    """
    folders = [path for path in files.urdf_path.parents if path.name == 'share']
    return str(folders[0].parent) if folders else ''


def mesh_prefixes(files: RobotFiles, folder: Path) -> list[str]:
    """Return the prefixes in which nodes find the meshes of a robot.

    Args:
        files: Its files.
        folder: Existing folder for prefixes of a description in an unusual place. Each is a link
            ``share`` to a folder that may contain the meshes; it must last as long as the nodes.
    """
    prefix = mesh_prefix(files)
    if prefix:
        return [prefix]
    made = []
    for number, target in enumerate(mesh_folders(files.urdf_path)):
        place = folder / f'prefix_{number}'
        place.mkdir()
        (place / 'share').symlink_to(target, target_is_directory=True)
        made.append(str(place))
    return made


def mesh_environment(files: RobotFiles, folder: Path) -> dict[str, str]:
    """Return the environment of this process, extended by the meshes of a robot.

    Args:
        files: Its files.
        folder: As for :func:`mesh_prefixes`.
    """
    prefixes = [os.environ.get('AMENT_PREFIX_PATH', ''), *mesh_prefixes(files, folder)]
    return {**os.environ, 'AMENT_PREFIX_PATH': os.pathsep.join(filter(None, prefixes))}


@functools.cache
def _known_robots() -> dict[str, dict]:
    path = resources.files('ros_ik.demo.robots').joinpath('robots.yaml')
    return yaml.safe_load(path.read_text(encoding='utf-8'))


def _known_robot(name: str, entry: Mapping) -> RobotFiles:
    own = entry.get('package') == 'ros_ik'
    folder = Path(__file__).parent if own else robot_data_path()
    urdf_path = folder / entry['urdf']
    if not urdf_path.is_file():
        raise ArgumentError(f"robot '{name}': there is no {urdf_path}")
    return RobotFiles(
        name=name,
        urdf_path=urdf_path,
        srdf_path=folder / entry['srdf'] if 'srdf' in entry else None,
        base_link=entry['base'],
        tip_link=entry['tip'],
        home=entry.get('home', {}),
    )


def _share_folders() -> Iterator[Path]:
    """Yield the folders ``share`` of wheels and ROS installs."""
    try:
        wheel = metadata.distribution('example-robot-data')
        yield Path(str(wheel.locate_file('cmeel.prefix'))) / 'share'
    except metadata.PackageNotFoundError:
        pass
    for variable in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        for prefix in filter(None, os.environ.get(variable, '').split(os.pathsep)):
            yield Path(prefix) / 'share'
    yield Path(sys.prefix) / 'share'
