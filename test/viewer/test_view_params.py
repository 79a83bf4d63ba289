# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""``make view`` with a file of parameters: two fingers of a hand, each with a controller."""

import http.server
import os
import re
import signal
import subprocess
import sys
import threading

from geometry_msgs.msg import PoseStamped
import pytest
import yaml

pytest.importorskip('viser', reason='viser is not installed')

from support.processes.ros_processes import Processes
from support.rigs.ros_rig import Client
from support.rigs.ros_rig import LONG
from support.rigs.viewer_rig import free_port
import viser
from websockets.sync.client import connect
import zstandard

from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.viewer import demo

pytestmark = [pytest.mark.dds, pytest.mark.timeout(480)]

TASKS = {'index': ('link_3.0_tip', range(4)), 'thumb': ('link_15.0_tip', range(12, 16))}
# Half closed, away from the limits of the joints [rad].
START = {
    'joint_1.0': 0.5, 'joint_2.0': 0.6, 'joint_3.0': 0.5,
    'joint_12.0': 1.0, 'joint_14.0': 0.4, 'joint_15.0': 0.6,
}  # fmt: skip
ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'


@pytest.fixture
def view(tmp_path):
    """Yield a client of a view that has begun, and the port of its page."""
    node = {
        'base_frame': 'palm_link',
        'frame_tasks': list(TASKS),
        'output_names': list(TASKS),
        'control_rate': 60.0,
        'command_timeout': 60.0,
        'joint_state_timeout': 60.0,
        # The thumb starts near the palm.
        'barriers': {'self_collision': {'enabled': False}},
        'outputs': {
            task: {'topic': f'/{task}/trajectory', 'joints': [f'joint_{k}.0' for k in joints]}
            for task, (_, joints) in TASKS.items()
        },
        **{task: {'frame': tip, 'orientation_weight': 0.0} for task, (tip, _) in TASKS.items()},
    }
    file, port = tmp_path / 'fingers.yaml', free_port()
    mock = {'initial_positions': {'names': list(START), 'values': list(START.values())}}
    sections = {'/**/ros_ik': node, '/**/mock_robot': mock}
    tree = {name: {'ros__parameters': values} for name, values in sections.items()}
    file.write_text(yaml.safe_dump(tree))
    processes = Processes(tmp_path)
    client = Client(processes)
    processes.start(
        'view', 'ros_ik.viewer.demo', arguments=[
            '--robot', 'allegro_right_hand', '--params', str(file), '--rate', '40',
            '--port', str(port),
        ],
    )  # fmt: skip
    try:
        client.wait_for(lambda: 'view: http' in processes.text('view'), 'page', 150.0)
        yield client, port
    finally:
        client.end()
        processes.end()


def gizmos(connection, client):
    """Return the names of gizmos of targets that the page has, once there are two."""
    found = set()

    def are_there():
        try:
            data = connection.recv(timeout=1.0)
        except TimeoutError:
            return False
        _, _, packed = data.partition(ZSTD_MAGIC)
        data = zstandard.ZstdDecompressor().decompressobj().decompress(ZSTD_MAGIC + packed)
        found.update(name.decode() for name in re.findall(rb'/targets/(\w+)', data))
        return len(found) > 1

    client.wait_for(are_there, 'gizmos', LONG)
    return found


def test_every_task_of_the_file_has_a_gizmo_and_is_followed(view):
    client, port = view
    address, protocol = f'ws://127.0.0.1:{port}', f'viser-v{viser.__version__}'
    with connect(address, subprotocols=[protocol], max_size=None) as connection:
        assert gizmos(connection, client) == set(TASKS)
    poses, targets = {}, {}
    for task in TASKS:
        client.node.create_subscription(
            PoseStamped, f'ros_ik/{task}/current_pose', lambda m, t=task: poses.update({t: m}), 1
        )
        targets[task] = client.node.create_publisher(PoseStamped, f'ros_ik/{task}/target_pose', 1)
    client.wait_for(lambda: len(poses) == len(TASKS), 'poses')
    # The option takes precedence over the file.
    assert client.status.control_rate == 40.0
    goals = {}
    for task in TASKS:
        pose = goals[task] = poses[task]
        pose.header.stamp.sec = pose.header.stamp.nanosec = 0
        place = pose.pose.position
        # A little towards a grasped object, as in examples/node/fingertips.py.
        for axis, center in zip('xyz', (0.06, 0.0, 0.03), strict=True):
            here = getattr(place, axis)
            setattr(place, axis, here + 0.15 * (center - here))

    def are_reached():
        for task, goal in goals.items():
            targets[task].publish(goal)
        return all(task.active and task.reached for task in client.status.tasks)

    client.wait_for(are_reached, 'arrival of both fingers')
    for task, goal in goals.items():
        for axis in 'xyz':
            wanted = getattr(goal.pose.position, axis)
            assert getattr(poses[task].pose.position, axis) == pytest.approx(wanted, abs=2e-3)


@pytest.fixture
def handlers():
    """Keep the handlers of signals that a program of this process replaces."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures('handlers')
@pytest.mark.parametrize(
    'text, sentence',
    [
        (None, 'cannot be read'),
        ('[1, 2]', 'has no section'),
        ('/**:\n  ros__parameters: {frame_tasks: 3}\n', 'frame_tasks'),
        ('/**:\n  ros__parameters: {ee: {frame: hand}}\n', "'ee.frame': the model has no link"),
        (
            '/**:\n  ros__parameters:\n    ee: {frame: tool0}\n'
            '    outputs: {default: {type: float64_multi_array, joints: [joint_1]}}\n',
            "output 'default' is of the type 'float64_multi_array'",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(tmp_path, capfd, text, sentence):
    file = tmp_path / 'parameters.yaml'
    if text is not None:
        file.write_text(text)
    assert demo.main(['--robot', 'six_axis', '--params', str(file)]) == 2
    errors = capfd.readouterr().err
    said = [line for line in errors.splitlines() if line.startswith('view: ')]
    assert len(said) == 1 and sentence in said[0] and str(file) in said[0]
    assert 'Traceback' not in errors and 'ros_ik.node' not in errors


def test_a_refusal_is_the_exit_code_of_the_program():
    words = [sys.executable, '-m', 'ros_ik.viewer.demo', '--robot', 'none']
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, env=os.environ)
    assert done.returncode == 2 and done.stderr.startswith('view: ')
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize(
    'files, sentence', [(['a', 'b'], 'Obstacles are watched'), (['a'], 'do not stop 1 of its 2')]
)
def test_meshes_that_the_node_does_not_find_are_counted(tmp_path, capsys, files, sentence):
    mesh = '<collision><geometry><mesh filename="package://p/{}.stl"/></geometry></collision>'
    link = '<link name="tool0">' + mesh.format('a') + mesh.format('b') + '</link>'
    text = find_robot('six_axis').urdf_path.read_text().replace('<link name="tool0"/>', link)
    path = tmp_path / 'mine.urdf'
    path.write_text(text)
    (tmp_path / 'p').mkdir()
    for name in files:
        (tmp_path / 'p' / f'{name}.stl').touch()
    demo._announce('page', DemoRobot.load(str(path)), None, [str(tmp_path)])
    assert sentence in capsys.readouterr().out


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self):  # noqa: N802
        self.send_response(200)
        self.end_headers()


def test_a_proxy_of_the_environment_does_not_hide_the_page(monkeypatch):
    monkeypatch.setenv('http_proxy', 'http://127.0.0.1:1')
    monkeypatch.delenv('no_proxy', raising=False)
    with http.server.HTTPServer(('127.0.0.1', 0), Page) as server:
        server.timeout = 10.0
        serving = threading.Thread(target=server.handle_request, daemon=True)
        serving.start()
        assert demo._is_served(f'http://127.0.0.1:{server.server_port}')
        serving.join(10.0)
