# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cost of the viewer for a control loop, frame rate of its page, and time to the first motion.

A mock robot follows a node at 500 Hz, which follows poses back and forth: alone, with a viewer,
and with its page in a browser on the same machine, each time in new processes. With the browser
the node runs once more, with a real-time priority. Deadlines are those that the node reports,
pictures those that the browser has drawn.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from importlib import metadata
from pathlib import Path
import signal
import sys
import tempfile
import time

from benchmarks.harness.table import our_versions
from benchmarks.harness.table import row
from benchmarks.harness.table import Side
from benchmarks.node.client import Client
from benchmarks.node.client import ModuleProcess
from benchmarks.node.client import node_process
from benchmarks.node.latency import NODE
from benchmarks.node.latency import poses_beside
from benchmarks.node.load import Flood
from benchmarks.node.load import time_load
from ros_ik.demo.robots import robot_data_path
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.model.readers.mesh_lookup import mesh_folders
from tools.browser import browser
from tools.browser import frames_drawn
from tools.browser import meshes_drawn
from tools.browser import missing
from tools.browser import processor_time
from tools.browser import renderer

_RATE = 500.0
_PANDA, _TALOS = 'panda', 'talos_data/robots/talos_reduced.urdf'
# The loop settles, then is measured; it keeps the last 10,000 of its ticks [s].
_TIMES, _QUICK_TIMES = (2.0, 12.0), (0.5, 3.0)
_PATIENCE = 300.0
# Size of the browser's window [pixels].
_WINDOW = (1280, 800)
# The key of the page that moves the hand downwards, and how far is far enough [m].
_KEY, _MOVED = 'm', 0.01
# What the viewer writes after the number of links of a robot that is in the scene.
_DRAWN = ' links drawn'
# Arguments of ``make view``, once it has set up.
_VIEW = ('ros_ik.viewer.demo', '--robot', 'panda')


class ViewerProcess(Flood):
    """A viewer without a browser."""

    def __init__(self, client: Client, robot: DemoRobot) -> None:
        """Start it, and wait until its page is served with the robot."""
        given: dict[str, object] = {'package_paths': mesh_folders(robot.files.urdf_path)}
        self._stack = contextlib.ExitStack()
        self._process = self._stack.enter_context(node_process('ros_ik.viewer', given))
        self._address = _address(client, self._process, 'the page is at ')
        client.wait_for(lambda: _DRAWN in self._process.log, 'robot', _PATIENCE)
        self._links = int(self._process.log.partition(_DRAWN)[0].split()[-1])

    def begin(self) -> None:
        """Begin to count."""
        self._begun, self._used = time.perf_counter(), self._process.processor_time

    def done(self, poses: int) -> str:
        """Return the part of a core that the viewer took."""
        used = self._process.processor_time - self._used
        return f'viewer {100.0 * used / (time.perf_counter() - self._begun):.0f} % of a core'

    def close(self) -> None:
        """End it."""
        self._stack.close()


class OpenPage(ViewerProcess):
    """A viewer with its page in a browser on this machine."""

    def __init__(self, client: Client, robot: DemoRobot) -> None:
        """Start it, and wait until the robot is drawn."""
        super().__init__(client, robot)
        self._page = self._stack.enter_context(browser(*_WINDOW))
        asked = time.perf_counter()
        self._page.get(self._address)
        client.wait_for(lambda: meshes_drawn(self._page) > self._links, 'picture', _PATIENCE)
        self._loaded = time.perf_counter() - asked
        self._renderer = renderer(self._page)

    def begin(self) -> None:
        """Begin to count."""
        super().begin()
        self._drawn, self._spent = frames_drawn(self._page), self._processor_times()

    def done(self, poses: int) -> str:
        """Return how often the page was drawn and the processor time of a picture, too."""
        text = super().done(poses)
        pictures = frames_drawn(self._page) - self._drawn
        rate = pictures / (time.perf_counter() - self._begun)
        text += f', {rate:.1f} pictures a second, the robot after {self._loaded:.1f} s'
        if not pictures:
            return text
        spent = zip(self._processor_times(), self._spent, strict=True)
        page, drawing = (1e3 * (now - before) / pictures for now, before in spent)
        text += f'; {page:.0f} ms of the page and {drawing:.0f} ms of drawing each'
        return f'{text}, by {self._renderer}'

    def _processor_times(self) -> tuple[float, float]:
        """Return those of the page, and of drawing it, which a graphics card would do [s]."""
        renderer = processor_time(self._page, 'renderer')
        return renderer, processor_time(self._page, 'gpu-process')


# Problem: what runs beside the node, and the node's priority among real-time threads.
LOOPS: dict[str, tuple[Callable[[Client, DemoRobot], Flood] | None, int]] = {
    'node alone': (None, 0),
    'viewer, no browser': (ViewerProcess, 0),
    'viewer and browser': (OpenPage, 0),
    'viewer and browser, real-time': (OpenPage, 50),
}


def measure(quick: bool) -> list[dict]:
    """Return the rows; none with a browser where there is no browser."""
    if missing():
        print(f'  {missing()}', file=sys.stderr)
    rows = []
    for given in [_PANDA] if quick else [_PANDA, str(robot_data_path() / _TALOS)]:
        robot = DemoRobot.load(given)
        for problem, (kind, priority) in LOOPS.items():
            if kind is OpenPage and missing():
                continue
            print(f'  {robot.files.name}: {problem}', file=sys.stderr, flush=True)
            rows += _loop_rows(robot, problem, kind, priority, quick)
    if not missing():
        # A quick run has no time to compile: it takes the kernels that are there.
        rows += [] if quick else [_hand_row('cold: every kernel compiled', is_cold=True)]
        rows.append(_hand_row('warm: kernels from the cache', is_cold=False))
    return rows


def _loop_rows(
    robot: DemoRobot,
    problem: str,
    kind: Callable[[Client, DemoRobot], Flood] | None,
    priority: int,
    quick: bool,
) -> list[dict]:
    """Return the row of a loop, or none if the machine does not permit its priority."""
    given: dict[str, object] = {
        'control_rate': _RATE,
        'status_rate': 50.0,
        'joint_group': robot.chain,
        'ee.frame': robot.tip_link,
        'ee.orientation_weight': 0.0,
        # Tells trajectories that follow each other from those with a lost one between them.
        'outputs.default.stamp': 'now',
        'rt.priority': priority,
    }
    with (
        node_process('ros_ik.demo.mock_robot', robot.mock_parameters()),
        node_process(NODE, given) as process,
        contextlib.closing(
            Client(process, 'ros_ik', robot.files.urdf_path, plays=False)
        ) as client,
    ):
        client.describe()
        poses = list(poses_beside(client.current_pose(_PATIENCE)).values())
        client.wait_for_planning(_PATIENCE)
        beside = kind(client, robot) if kind is not None else Flood(client, quick)
        with contextlib.closing(beside):
            load = time_load(client, poses, beside, *(_QUICK_TIMES if quick else _TIMES))
        process.check()
        if 'is not permitted' in process.log:
            return []
    details = {'p99': load.p99, 'pause': load.pause, 'missed': load.missed, 'done': load.done}
    side = Side(load.p50, load.ticks / (load.ticks + load.missed), details, _versions())
    name = robot.files.name
    title = f'{name}: {problem}'
    return [row('node_viewer', name, title, load.ticks, '', side, '', Side(None), unit='ms')]


def _hand_row(problem: str, *, is_cold: bool) -> dict:
    """Return the row of the time from ``make view`` to a hand that a user moves."""
    with (
        tempfile.TemporaryDirectory(prefix='ros_ik_bench_') as folder,
        browser(*_WINDOW) as page,
        ModuleProcess(
            _VIEW, Path(folder), Path(folder, 'cache') if is_cold else None, signal.SIGINT
        ) as view,
        contextlib.closing(Client(view, 'ros_ik', plays=False)) as client,
    ):
        page.get(_address(client, view, 'view: '))
        client.wait_for(lambda: frames_drawn(page) > 0, 'picture', _PATIENCE)
        drawn = time.perf_counter() - view.started
        keys = page.find_element('tag name', 'body')
        start = client.current_pose(_PATIENCE).pose.position.z

        def is_lower() -> bool:
            keys.send_keys(_KEY)
            return client.current_pose(_PATIENCE).pose.position.z < start - _MOVED

        client.wait_for(is_lower, 'motion', _PATIENCE)
        moved = time.perf_counter() - view.started
    details = {'longest': moved, 'built': f'robot drawn after {drawn:.1f} s'}
    side = Side(moved, 1.0, details, _versions())
    title = f'make view to a hand that is moved, {problem}'
    return row('node_start', 'panda', title, 1, '', side, '', Side(None), unit='s')


def _address(client: Client, process: ModuleProcess, before: str) -> str:
    """Wait until a process writes where its page is, after some words; return it."""
    client.wait_for(lambda: before in process.log, 'page', _PATIENCE)
    return process.log.partition(before)[2].split(maxsplit=1)[0]


def _versions() -> dict[str, str]:
    versions = {'rclpy': metadata.version('ros-rclpy'), 'viser': metadata.version('viser')}
    return {**our_versions(), **versions}
