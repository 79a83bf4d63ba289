# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A session with mock robot and node, started and ended together, to try programs with.

    python -m ros_ik.demo.session --robot panda
    python -m ros_ik.demo.session --robot g1 --params-file config/examples/two_arms.yaml

It does the same as demo.launch.py without a ROS installation, and runs until Ctrl-C.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Sequence
import os
from pathlib import Path
import signal
import sys
import tempfile
import threading

from ros_ik.demo.processes.children import ChildProcesses
from ros_ik.demo.processes.nodes import choose_domain
from ros_ik.demo.processes.nodes import start_nodes
from ros_ik.demo.processes.nodes import watched_shapes
from ros_ik.demo.robots import default_robot
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.errors import RosIkError
from ros_ik.node.execution.warp_programs import prepare_warp

# Polling period of the children [s].
PERIOD = 0.2


def main(args: Sequence[str] | None = None) -> int:
    """Run until interrupted; return the exit code.

    Args:
        args: Command line; None for that of the process.
    """
    options = _parse(args)
    return run_until_signal('session', lambda ended: _run(options, ended))


def run_until_signal(program: str, run: Callable[[threading.Event], str]) -> int:
    """Run a session until SIGINT or SIGTERM; return the exit code.

    Args:
        program: Name for messages.
        run: Function called with an event that a signal sets; returns an error text, or ''.

    Returns:
        0, or 1 after an error, or 2 for a session that cannot start.
    """
    prepare_warp()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        problem = run(ended)
    except RosIkError as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 2
    if problem:
        print(f'{program}: {problem}', file=sys.stderr)
        return 1
    return 0


def add_robot_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the robot."""
    parser.add_argument(
        '--robot', default='', help='name, or path of a URDF or xacro file; empty: panda'
    )


def other_terminal_hint() -> str:
    """Return a text for users: the settings that reach this session from other terminals."""
    return f'In other terminals, first: export ROS_DOMAIN_ID={os.environ["ROS_DOMAIN_ID"]}'


def wait_for_end(children: ChildProcesses, ended: threading.Event) -> str:
    """Wait for the event or the end of a child; return which child ended, or ''."""
    while not ended.wait(PERIOD) and not children.ended_child():
        pass
    return children.ended_child()


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    summary = (__doc__ or '').splitlines()[0]
    parser = argparse.ArgumentParser(prog='ros_ik.demo.session', description=summary)
    add_robot_argument(parser)
    parser.add_argument(
        '--params-file', type=Path, help='YAML of ros_ik and mock_robot; else one chain moves'
    )
    return parser.parse_args(args)


def _run(options: argparse.Namespace, ended: threading.Event) -> str:
    """Start the nodes and wait; return an error text, or ''."""
    robot = DemoRobot.load(options.robot or default_robot())
    choose_domain()
    with tempfile.TemporaryDirectory() as folder:
        environment, parameters = watched_shapes(robot, options.params_file, Path(folder))
        with ChildProcesses(environment) as children:
            start_nodes(children, Path(folder), robot, parameters, params_file=options.params_file)
            print(f'{robot.files.name} (Ctrl-C ends it). {other_terminal_hint()}', flush=True)
            return wait_for_end(children, ended)


if __name__ == '__main__':
    sys.exit(main())
