# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Command line: generate a parameter file for a robot, or check one.

ros_ik_setup robot.urdf > my_robot.yaml
ros_ik_setup robot.urdf --check my_robot.yaml
ros_ik_setup --graph > my_robot.yaml
ros_ik_setup --graph --namespace left > left.yaml
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import math
from pathlib import Path
import sys
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ros_ik.errors import ArgumentError
from ros_ik.errors import RosIkError
from ros_ik.kinematics.runtime.shared_compilation import share_compilations
from ros_ik.model import Model
from ros_ik.model.conventions.labels import listed
from ros_ik.model.readers.description import read_description
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.model.readers.text_files import error_in_file
from ros_ik.model.readers.text_files import read_text
from ros_ik.model.readers.xml import parse_document
from ros_ik.node.model_loading.package_paths import package_paths
from ros_ik.settings.parameter_file import read_parameter_file
from ros_ik.setup_assistant.check import check_parameters
from ros_ik.setup_assistant.proposal import propose

if TYPE_CHECKING:
    from ros_ik.node.robot_graph import FoundController
    from ros_ik.node.robot_graph import RobotGraph


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate or check a file; return the exit code.

    The exit code is 0 for success, 1 if the robot cannot be read or the checked file has errors.
    """
    given = _parser().parse_args(arguments)
    # Only the file goes to standard output.
    wp.config.log_level = wp.LOG_ERROR
    share_compilations()
    if given.urdf is None and not given.graph:
        print('name a URDF or xacro file, or --graph to ask the running robot', file=sys.stderr)
        return 2
    try:
        return _run(given)
    except RosIkError as error:
        print(f'ros_ik_setup: {error}', file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, prog='ros_ik_setup',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument('urdf', nargs='?', type=Path, help='URDF or xacro file')
    parser.add_argument('--srdf', type=Path, help='SRDF, for pairs of links that may touch')
    parser.add_argument(
        '--package-path', type=_folder, action='append', default=[], metavar='FOLDER',
        help='a folder that holds packages with meshes, beside those of AMENT_PREFIX_PATH; '
        'a proposal also looks around the description',
    )  # fmt: skip
    parser.add_argument(
        '--graph', action='store_true',
        help='ask the running robot for its controllers; without a file for its description too',
    )  # fmt: skip
    parser.add_argument(
        '--namespace', default='',
        help='namespace of the running robot; controllers elsewhere are ignored',
    )  # fmt: skip
    parser.add_argument(
        '--patience', type=_time, default=5.0, metavar='SECONDS',
        help='how long to wait for the running robot (default 5)',
    )  # fmt: skip
    parser.add_argument(
        '--start', type=_position, action='append', default=[], metavar='JOINT=POSITION',
        help='position of a joint [rad or m] at the start, where links must not overlap; '
        'otherwise that of the running robot with --graph, or 0',
    )  # fmt: skip
    parser.add_argument('--check', type=Path, metavar='YAML', help='check this parameter file')
    parser.add_argument('--output', type=Path, metavar='YAML', help='file to write')
    parser.add_argument(
        '--srdf-output', type=Path, metavar='SRDF',
        help='write an SRDF with the pairs of links that are neighbours or always touch',
    )  # fmt: skip
    return parser


def _folder(text: str) -> str:
    """Return the path of a folder that exists."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f'{text!r} is not a folder')
    return text


def _time(text: str) -> float:
    """Return a time [s]."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f'expected a time >= 0 s, got {text!r}')
    return seconds


def _position(text: str) -> tuple[str, float]:
    """Return the name and the position [rad or m] of a joint."""
    name, _, value = text.rpartition('=')
    try:
        position = float(value)
    except ValueError:
        position = math.nan
    if not name or not math.isfinite(position):
        raise argparse.ArgumentTypeError(f"expected 'joint=position', got {text!r}")
    return name, position


def _run(given: argparse.Namespace) -> int:
    """Write a proposal, or check a parameter file; return the exit code."""
    graph = _graph(given.patience, given.namespace) if given.graph else None
    controllers = graph.controllers if graph is not None else None
    text, semantic = _documents(given, graph)
    model = _model(given, text, semantic)
    start = _start(given, model, graph)
    if given.check is not None:
        return _check(given.check, model, controllers, start)
    proposal = propose(model, controllers, start)
    parameters = proposal.yaml_text()
    if given.srdf_output is not None:
        name = parse_document(text, 'robot').get('name') or 'robot'
        _write(given.srdf_output, proposal.srdf_text(name))
        # Parameters may follow on the standard output, for another program.
        print(f'written: {given.srdf_output}', file=sys.stderr)
    for sentence in proposal.warnings:
        print(f'warning: {sentence}', file=sys.stderr)
    if given.output is None:
        print(parameters, end='')
    else:
        _write(given.output, parameters)
        print('\n'.join(f'not known: {sentence}' for sentence in proposal.unknown))
        space = f' --namespace {given.namespace}' if given.namespace else ''
        source = f'--graph{space}' if given.urdf is None else given.urdf
        print(f'written: {given.output}. Then: ros_ik_setup {source} --check {given.output}')
    return 0


def _check(
    path: Path,
    model: Model,
    controllers: Sequence[FoundController] | None,
    start: Mapping[str, float],
) -> int:
    """Print the findings on a parameter file; return the exit code."""
    text = read_text(path, 'the parameter file')
    try:
        file = read_parameter_file(text)
    except RosIkError as error:
        raise error_in_file(path, error) from error
    findings = check_parameters(file.values, model, controllers, start)
    warnings = [
        *(f"parameter '{name}' is given twice; the last value counts" for name in file.repeated),
        *findings.warnings,
    ]
    for kind, sentences in (('error', findings.errors), ('warning', warnings)):
        for sentence in sentences:
            print(f'{kind}: {sentence}')
    print(f'{_count(findings.errors, "error")}, {_count(warnings, "warning")}')
    return 1 if findings.errors else 0


def _start(
    given: argparse.Namespace, model: Model, graph: RobotGraph | None
) -> dict[str, float]:
    """Return the positions at the start: those of the running robot, and the given ones."""
    counts = np.diff(model.joint_q_start.numpy())
    heard = graph.positions if graph is not None else {}
    known = {name for name, count in zip(model.joint_label, counts, strict=True) if count == 1}
    return {name: heard[name] for name in heard if name in known} | dict(given.start)


def _count(sentences: Sequence[str], kind: str) -> str:
    return f'{len(sentences)} {kind}' + ('s' if len(sentences) != 1 else '')


def _documents(given: argparse.Namespace, graph: RobotGraph | None) -> tuple[str, str | None]:
    """Return the URDF and the SRDF, if any, of the files or on the graph."""
    semantic = read_text(given.srdf, 'SRDF') if given.srdf else None
    if given.urdf is not None:
        text = read_description(given.urdf)
    elif graph is not None and graph.description:
        text, semantic = graph.description, semantic or graph.semantic or None
    else:
        others = listed(graph.other_namespaces) if graph is not None else ''
        way = f'choose one with --namespace: {others}' if others else 'name a file'
        raise ArgumentError(
            f'robot_description has no publisher: start robot_state_publisher, or {way}'
        )
    return text, semantic


def _model(given: argparse.Namespace, text: str, semantic: str | None) -> Model:
    """Return the model of a URDF and an SRDF."""
    paths = [*given.package_path, *package_paths()]
    if given.urdf is not None and given.check is None:
        # Look up meshes as the node does, without the folder of the file.
        paths += mesh_folders(given.urdf)
    return Model.from_urdf(text, srdf=semantic, package_paths=paths, device='cpu')


def _write(path: Path, text: str) -> None:
    """Write the text of a file.

    Raises:
        ArgumentError: It cannot be written; the message names it.
    """
    try:
        path.write_text(text, encoding='utf-8')
    except OSError as error:
        raise ArgumentError(f"'{path}' cannot be written: {error}") from error


def _graph(patience: float, namespace: str) -> RobotGraph:
    """Return the robot in a namespace of the graph.

    Raises:
        ArgumentError: rclpy is not installed, or ROS does not allow the namespace.
    """
    try:
        from ros_ik.node.robot_graph import read_graph
    except ImportError as error:
        raise ArgumentError(f'--graph needs rclpy, which is not installed: {error}') from error
    return read_graph(patience, namespace)


if __name__ == '__main__':
    sys.exit(main())
