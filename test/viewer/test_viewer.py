# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The viewer beside a running node and a mock robot, over DDS."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.ros_rig import panda_urdf
from support.ros_rig import ros_rig
from support.viewer_rig import free_port
from support.viewer_rig import viewed_panda

from ros_ik.node.marker_shapes import barrier_color
from ros_ik.node.marker_shapes import barrier_room
from ros_ik.viewer.requests import Requests
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    with viewed_panda(tmp_path_factory.mktemp('rig'), panda_urdf()) as pair:
        yield pair


@pytest.fixture
def fresh(rig):
    client, viewer = rig
    viewer.requests.release_all()
    client.trigger('reset')
    client.wait_for_text('waiting for a target')
    return client, viewer


def shifted(viewer, shift):
    """Where the gizmo of the hand is, displaced."""
    return viewer.targets['ee'] + np.array([*shift, 0.0, 0.0, 0.0, 0.0])


def hand(client):
    client.poses.clear()
    client.wait_for(lambda: client.poses, 'pose')
    position = client.poses[-1].pose.position
    return np.array([position.x, position.y, position.z])


def test_measured_joints_move_the_drawn_links(fresh):
    client, viewer = fresh
    pose = client.moved_pose()
    expected = [getattr(pose.pose.position, axis) for axis in 'xyz']

    def is_there():
        # Through the joints and the viewer's own model, against what the node says.
        return np.allclose(viewer.robot.link_pose('panda_hand_tcp')[:3], expected, atol=1e-4)

    client.wait_for(is_there, 'drawn hand where the node measures it')
    assert len(viewer.robot.meshes) == 11


def test_a_held_target_moves_the_robot_until_it_is_let_go(fresh):
    client, viewer = fresh
    start, goal = hand(client), shifted(viewer, (0.0, 0.1, 0.05))
    viewer.requests.hold('ee', 7, goal)
    client.wait_for(lambda: np.abs(hand(client) - goal[:3]).max() < 1e-3, 'arrival')
    assert np.abs(start - goal[:3]).max() > 0.09
    viewer.requests.release('ee', 7)
    client.wait_for_code(IkStatus.COMMAND_STALE, IkStatus.OK)
    client.wait_for(lambda: not client.status.tasks[0].active, 'end of the target')


def test_stop_button_stops_and_lets_go(fresh):
    client, viewer = fresh
    viewer.requests.hold('ee', 7, shifted(viewer, (0.0, -0.1, 0.0)))
    client.wait_for(lambda: client.status.tasks[0].active, 'motion')
    viewer.page.press('stop')
    client.wait_for_code(IkStatus.STOPPED)
    assert viewer.requests.held() == {}
    viewer.page.press('reset')
    client.wait_for_text('waiting for a target')


def test_pause_and_resume(fresh):
    client, viewer = fresh
    viewer.page.press('pause')
    client.wait_for_code(IkStatus.PAUSED)
    viewer.page.press('resume')
    client.wait_for_text('waiting for a target')


def test_a_slider_moves_one_joint_until_it_arrives(fresh):
    client, viewer = fresh
    before = client.positions()
    jog = viewer.page.jog
    client.wait_for(lambda: jog.goal() or jog.set_goal('panda_joint7', 0.5), 'sliders')
    client.wait_for(lambda: not jog.goal(), 'arrival')
    client.wait_for_rest()
    after = client.positions()
    assert after['panda_joint7'] == pytest.approx(0.5, abs=5e-3)
    assert after['panda_joint4'] == pytest.approx(before['panda_joint4'], abs=5e-3)


def test_a_velocity_counts_while_its_button_is_held(fresh):
    client, viewer = fresh
    start, jog = hand(client), viewer.page.jog

    def push():
        jog.push(2, -1.0)
        return hand(client)[2] < start[2] - 0.02

    client.wait_for(push, 'motion downwards')
    client.wait_for(lambda: jog.twist()[1] is None, 'end of the push')
    client.wait_for_rest()
    assert hand(client)[0] == pytest.approx(start[0], abs=5e-3)


def test_mode_is_set(fresh):
    client, viewer = fresh
    viewer.requests.ask('mode', 'joint')
    viewer.requests.hold('ee', 7, shifted(viewer, (0.0, 0.1, 0.0)))
    client.wait_for(lambda: 'mode' in viewer.answer, 'answer')
    client.wait_for_ticks(50)
    assert not client.status.tasks[0].active
    viewer.requests.ask('mode', 'auto')
    client.wait_for(lambda: client.status.tasks[0].active, 'target that counts')


def test_status_is_shown_in_words(fresh):
    client, viewer = fresh
    client.wait_for(lambda: 'waiting for a target' in viewer.page.status, 'status on the page')
    assert 'tick at' in viewer.page.status


@pytest.mark.parametrize('value', [-0.1, 0.0, 0.02, 0.05, 0.07, 0.1, 0.4])
def test_colours_of_pairs_say_what_is_left_of_the_margin(value):
    shade = barrier_color(value)
    assert barrier_room(shade) == pytest.approx(np.clip(value / 0.1, 0.0, 1.0))


def test_a_browser_that_goes_lets_go_of_what_it_held():
    requests = Requests()
    pose = np.zeros(7)
    requests.hold('left', 1, pose)
    requests.hold('right', 2, pose)
    requests.release_client(1)
    assert list(requests.held()) == ['right']


def test_only_the_browser_that_took_hold_last_moves_a_target():
    requests = Requests()
    requests.hold('ee', 1, np.zeros(7))
    requests.hold('ee', 2, np.ones(7))
    requests.move('ee', 1, np.full(7, 3.0))
    requests.release('ee', 1)
    assert requests.held()['ee'][0] == 1.0
    requests.release('ee', 2)
    requests.move('ee', 2, np.full(7, 4.0))
    assert requests.held() == {}


def test_obstacles_are_added_resized_dragged_and_removed(fresh):
    client, viewer = fresh
    # Beyond the hand, which then has to stop in front of it.
    goal = shifted(viewer, (0.0, 0.3, 0.0))
    name = viewer.obstacles.add('box')
    viewer.obstacles.resize(name, (0.6, 0.1, 0.6))
    viewer.obstacles.move(name, goal)
    client.wait_for(lambda: viewer.pairs_view.count > 0, 'lines of closest pairs')
    viewer.requests.hold('ee', 7, goal)
    client.wait_for(lambda: name in client.status.limiting_pair_b, 'obstacle in the status')
    client.wait_for_code(IkStatus.SLOWED_BY_BARRIER, IkStatus.STATIONARY)
    assert name in viewer.page.status or name in client.status.limiting_pair_b
    far = shifted(viewer, (0.0, 1.0, 0.0))
    viewer.obstacles.move(name, far)
    client.wait_for(lambda: np.abs(hand(client) - goal[:3]).max() < 2e-3, 'arrival')
    viewer.obstacles.remove(name)
    client.wait_for(lambda: name not in client.status.limiting_pair_b, 'removal')
    assert viewer.obstacles.placed == {}


def test_pages_of_other_sites_are_refused(rig):
    import viser
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    _, viewer = rig
    address = viewer.page.address.replace('http', 'ws')
    protocol = f'viser-v{viser.__version__}'
    connect(address, origin=viewer.page.address, subprotocols=[protocol]).close()
    with pytest.raises(InvalidStatus, match='403'):
        connect(address, origin='http://example.org:8080', subprotocols=[protocol])


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_viewer_in_order(tmp_path, number):
    with ros_rig(tmp_path) as client:
        client.processes.start('viewer', 'ros_ik.viewer', port=free_port())
        client.describe(panda_urdf())
        client.wait_for(lambda: 'links drawn' in client.processes.text('viewer'), 'robot')
        client.processes.signal('viewer', number)
        assert client.processes.wait('viewer', 20.0) == 0
        assert 'Traceback' not in client.processes.text('viewer')


def test_a_port_that_is_none_is_refused(tmp_path):
    with ros_rig(tmp_path) as client:
        client.processes.start('viewer', 'ros_ik.viewer', port=70000)
        assert client.processes.wait('viewer', 40.0) == 2
        assert 'port must be in [1, 65535]' in client.processes.text('viewer')


def test_without_viser_one_sentence_says_what_to_install(tmp_path):
    code = (
        'import sys; sys.modules["viser"] = None; '
        'from ros_ik.viewer.__main__ import main; sys.exit(main([]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60, env=os.environ
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == 'ros_ik_viewer needs viser: pip install viser trimesh'
    assert 'Traceback' not in done.stderr


def test_the_whole_view_starts_and_ends(tmp_path):
    port = free_port()
    environment = {**os.environ, 'DISPLAY': '', 'WAYLAND_DISPLAY': ''}
    words = [
        sys.executable,
        '-m',
        'ros_ik.viewer.demo',
        '--robot',
        'six_axis',
        '--port',
        str(port),
    ]
    with (tmp_path / 'log').open('w') as log:
        view = subprocess.Popen(words, stdout=log, stderr=log, env=environment)
        try:
            give_up = time.monotonic() + 90.0
            while 'view: http' not in (tmp_path / 'log').read_text():
                assert time.monotonic() < give_up and view.poll() is None
                time.sleep(0.1)
            view.send_signal(signal.SIGINT)
            assert view.wait(30.0) == 0
        finally:
            view.kill()
            view.wait()
    assert f'http://127.0.0.1:{port}' in (tmp_path / 'log').read_text()
