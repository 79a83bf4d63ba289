# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A session with mock robot, node and page, started and ended together.

    python -m ros_ik.viewer.demo --robot panda
    python -m ros_ik.viewer.demo --robot g1 --params config/examples/two_arms.yaml

Prints the address of the page, opens it where there is a display, and runs until Ctrl-C.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import os
from pathlib import Path
import socket
import sys
import tempfile
import threading
import urllib.request
import webbrowser

from ros_ik.demo.processes.children import ChildProcesses
from ros_ik.demo.processes.loop_options import add_loop_options
from ros_ik.demo.processes.nodes import choose_domain
from ros_ik.demo.processes.nodes import start_nodes
from ros_ik.demo.processes.nodes import watched_shapes
from ros_ik.demo.robots import default_robot
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.session import add_robot_argument
from ros_ik.demo.session import other_terminal_hint
from ros_ik.demo.session import PERIOD
from ros_ik.demo.session import run_until_signal
from ros_ik.demo.session import wait_for_end
from ros_ik.errors import ArgumentError
from ros_ik.model.readers.mesh_lookup import mesh_folders
from ros_ik.model.readers.mesh_lookup import resolve_mesh
from ros_ik.node.model_loading.package_paths import package_paths

_HOST = '127.0.0.1'
_PORTS_TRIED = 100


def main(args: Sequence[str] | None = None) -> int:
    """Run until interrupted; return the exit code.

    Args:
        args: Command line; None for that of the process.
    """
    options = _parse(args)
    return run_until_signal('view', lambda ended: _run(options, ended))


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    summary = (__doc__ or '').splitlines()[0]
    parser = argparse.ArgumentParser(prog='ros_ik.viewer.demo', description=summary)
    add_robot_argument(parser)
    parser.add_argument(
        '--params', type=Path, help='YAML of ros_ik and mock_robot; else one chain moves'
    )
    # Without defaults: given options take precedence over the file, which takes precedence over
    # defaults.
    add_loop_options(parser, rate=None, device=None)
    parser.add_argument('--port', type=int, default=8080, help='port, or the next free one')
    return parser.parse_args(args)


def _run(options: argparse.Namespace, ended: threading.Event) -> str:
    """Start everything and wait; return an error text, or ''."""
    robot = DemoRobot.load(options.robot or default_robot())
    port = _free_port(options.port)
    address = f'http://{_HOST}:{port}'
    choose_domain()
    given = {'control_rate': options.rate, 'device': options.device}
    page = {'host': _HOST, 'port': port, 'package_paths': mesh_folders(robot.files.urdf_path)}
    with tempfile.TemporaryDirectory() as folder:
        environment, parameters = watched_shapes(robot, options.params, Path(folder))
        with ChildProcesses(environment) as children:
            start_nodes(
                children,
                Path(folder),
                robot,
                {'control_rate': 100.0, 'status_rate': 50.0, **parameters},
                {'ros_ik_viewer': ('ros_ik.viewer', page)},
                options.params,
                {name: value for name, value in given.items() if value is not None},
            )
            while not ended.wait(PERIOD) and not children.ended_child():
                if _is_served(address):
                    _announce(address, robot, options.params, package_paths(environment))
                    break
            return wait_for_end(children, ended)


def _announce(
    address: str, robot: DemoRobot, params_file: Path | None, folders: Sequence[str]
) -> None:
    moved = f'chain {robot.chain}' if params_file is None else f'parameters of {params_file}'
    print(f'\n{robot.files.name}, {moved}. {other_terminal_hint()}')
    if params_file is None and not robot.keeps_own_links_apart:
        print(_pairs_note(robot, folders))
    print(f'view: {address} (Ctrl-C ends it)\n', flush=True)
    if os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'):
        webbrowser.open(address)


def _pairs_note(robot: DemoRobot, folders: Sequence[str]) -> str:
    """Return a text for users about a robot of which it is unknown which links touch by design."""
    meshes = robot.collision_meshes
    lost = sum(resolve_mesh(uri, folders).path is None for uri in meshes)
    return 'no SRDF: its own links are not kept apart from each other. ' + (
        f'Obstacles do not stop {lost} of its {len(meshes)} collision meshes: not found'
        if lost
        else 'Obstacles are watched'
    )


def _free_port(first: int) -> int:
    """Return the first free port from a given one on.

    Raises:
        ArgumentError: The number is not a port, or none of a hundred ports is free.
    """
    if not 1 <= first <= 65535:
        raise ArgumentError(f'port must be in [1, 65535], got {first}')
    for port in range(first, min(first + _PORTS_TRIED, 65536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((_HOST, port))
            except OSError:
                continue
            return port
    raise ArgumentError(f'no port from {first} on is free')


def _is_served(address: str) -> bool:
    """Return True if the page responds."""
    try:
        # A proxy of the environment cannot reach this machine under its own name for it.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=1.0):
            return True
    except OSError:
        return False


if __name__ == '__main__':
    sys.exit(main())
