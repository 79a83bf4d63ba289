# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The viewer beside a running node and a mock robot, over DDS."""

import collections
import html
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip('viser', reason='viser is not installed')

from support.processes.ros_processes import Processes
from support.processes.ros_processes import reserved_domain
from support.processes.ros_processes import start_program
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.viewer_rig import free_port
from support.rigs.viewer_rig import viewed

from ros_ik.node.markers.shapes import barrier_color
from ros_ik.node.markers.shapes import barrier_fraction
from ros_ik.viewer import viewer_node
from ros_ik.viewer.gui.plots import POSITIONS
from ros_ik.viewer.gui.plots import TICKS
from ros_ik.viewer.gui.plots import VELOCITIES
from ros_ik.viewer.gui.requests import Requests
from ros_ik.viewer.gui.status_text import status_html
from ros_ik.viewer.scene.workspace_view import read_boxes
from ros_ik.viewer.viewer_node import ignore_viser_race
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import TaskError

pytestmark = pytest.mark.dds


# Before the others, beside which node, robot and viewer run.
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_viewer_in_order(tmp_path, number):
    with ros_rig(tmp_path) as client:
        client.processes.start('viewer', 'ros_ik.viewer', port=free_port())
        client.describe(panda_urdf())
        client.wait_for(lambda: 'links drawn' in client.processes.text('viewer'), 'robot', 80.0)
        client.processes.signal('viewer', number)
        assert client.processes.wait('viewer', PATIENCE) == 0
        assert 'Traceback' not in client.processes.text('viewer')


REFUSED = [
    ('port', 70000, 'port must be in [1, 65535]'),
    ('port', 'abc', "'port' to 'abc'"),
    ('triangles', -1, 'must not be negative'),
    ('node', 'a b', "node: 'a b/status' is not a name"),
    # 192.0.2.0/24 is for documents (RFC 5737): no machine has such an address.
    ('host', '192.0.2.1', "cannot be served at '192.0.2.1'"),
    ('package_paths', ['/no/such'], "package_paths: '/no/such' is not a folder"),
]


def test_parameters_that_cannot_be_are_refused(tmp_path):
    processes = Processes(tmp_path)
    try:
        for k, (name, value, _) in enumerate(REFUSED):
            processes.start(f'viewer{k}', 'ros_ik.viewer', **{name: value})
        for k, (*given, sentence) in enumerate(REFUSED):
            assert processes.wait(f'viewer{k}', LONG) == 2, given
            text = processes.text(f'viewer{k}')
            assert sentence in text and 'Traceback' not in text, given
    finally:
        processes.end()


def test_without_viser_one_sentence_says_what_to_install(tmp_path):
    code = (
        'import sys; sys.modules["viser"] = None; '
        'from ros_ik.programs import ros_ik_viewer; sys.exit(ros_ik_viewer())'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=100, env=os.environ
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith('ros_ik_viewer needs viser: pip install')
    assert 'Traceback' not in done.stderr


@pytest.mark.timeout(480)
def test_the_whole_view_starts_and_ends(tmp_path, monkeypatch):
    for name in ('DISPLAY', 'WAYLAND_DISPLAY'):
        monkeypatch.setenv(name, '')
    port = free_port()
    words = ['--robot', 'six_axis', '--port', str(port)]
    with reserved_domain() as domain, (tmp_path / 'log').open('w') as log:
        view = start_program('ros_ik.viewer.demo', words, domain, log)
        try:
            give_up = time.monotonic() + 150.0
            while 'view: http' not in (tmp_path / 'log').read_text():
                assert time.monotonic() < give_up and view.poll() is None
                time.sleep(0.1)
            view.send_signal(signal.SIGINT)
            assert view.wait(PATIENCE) == 0
        finally:
            view.kill()
            view.wait()
    assert f'http://127.0.0.1:{port}' in (tmp_path / 'log').read_text()


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    cage = {'frame': 'panda_hand', 'min': [-1.2, -1.3, -2.0], 'max': [1.2, 1.3, 1.4]}
    box = {f'barriers__position__cage__{key}': value for key, value in cage.items()}
    with viewed(tmp_path_factory.mktemp('rig'), **box) as pair:
        yield pair


@pytest.fixture
def fresh(rig):
    client, viewer = rig
    viewer.requests.release_all()
    client.forget_targets()
    return client, viewer


def shifted(viewer, shift):
    """Return the pose of the hand's gizmo, displaced."""
    return viewer.targets['ee'] + np.array([*shift, 0.0, 0.0, 0.0, 0.0])


def hand(client):
    client.poses.clear()
    client.wait_for(lambda: client.poses, 'pose')
    position = client.poses[-1].pose.position
    return np.array([position.x, position.y, position.z])


def test_measured_joints_move_the_drawn_links(fresh):
    client, viewer = fresh
    client.wait_for_rest()
    pose = client.moved_pose()
    expected = [getattr(pose.pose.position, axis) for axis in 'xyz']

    def is_there():
        # Computed from the joints by the viewer's model, against the node's reports.
        return np.allclose(viewer.robot.link_pose('panda_hand_tcp')[:3], expected, atol=1e-4)

    client.wait_for(is_there, 'drawn hand where the node measures it')
    assert len(viewer.robot.meshes) == 11


def test_a_held_target_moves_the_robot_until_it_is_let_go(fresh):
    client, viewer = fresh
    start, goal = hand(client), shifted(viewer, (0.0, 0.1, 0.05))
    viewer.requests.hold('ee', None, goal)
    client.wait_for(lambda: np.abs(hand(client) - goal[:3]).max() < 1e-3, 'arrival')
    assert np.abs(start - goal[:3]).max() > 0.09
    viewer.requests.release('ee', None)
    client.wait_for_code(IkStatus.COMMAND_STALE, IkStatus.OK)
    client.wait_for(lambda: not client.status.tasks[0].active, 'end of the target')


def test_stop_button_stops_and_lets_go(fresh):
    client, viewer = fresh
    viewer.requests.hold('ee', None, shifted(viewer, (0.0, -0.1, 0.0)))
    client.wait_for(lambda: client.status.tasks[0].active, 'motion')
    viewer.page.press('stop')
    client.wait_for_code(IkStatus.STOPPED)
    assert viewer.requests.held() == {}
    viewer.page.press('reset')
    client.wait_for_text('waiting for a target')


def test_pause_and_resume(fresh, monkeypatch):
    client, viewer = fresh
    monkeypatch.setattr(viewer_node, '_ANSWER_TIME', 1.0)
    for _ in range(2):
        viewer.page.press('pause')
        client.wait_for_code(IkStatus.PAUSED)
        viewer.page.press('resume')
        client.wait_for(lambda: viewer.answer.startswith('resume: '), 'answer')
        client.wait_for_text('waiting for a target')
        # It would contradict later statuses.
        client.wait_for(lambda: viewer.answer == '', 'end of the answer')


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
        jog.set_velocity(2, -1.0)
        return hand(client)[2] < start[2] - 0.02

    client.wait_for(push, 'motion downwards')
    client.wait_for(lambda: viewer.requests.twist()[1] is None, 'end of the push')
    client.wait_for_rest()
    assert hand(client)[0] == pytest.approx(start[0], abs=5e-3)


def test_mode_is_set(fresh):
    client, viewer = fresh
    viewer.requests.add('mode', 'joint')
    viewer.requests.hold('ee', None, shifted(viewer, (0.0, 0.1, 0.0)))
    client.wait_for(lambda: 'mode' in viewer.answer, 'answer')
    # Earlier statuses arrive first.
    client.wait_for_text('waiting for a joint target (mode JOINT)')
    client.wait_for_ticks(50)
    assert not any(status.tasks[0].active for status in client.statuses)
    viewer.requests.add('mode', 'auto')
    client.wait_for(lambda: client.status.tasks[0].active, 'target that counts')


def test_parameters_are_tuned_and_refusals_are_shown(fresh):
    client, viewer = fresh
    panel = viewer.page.parameters
    client.wait_for(lambda: 'limits' in panel.sections, 'sections')
    panel.choose('limits')
    client.wait_for(lambda: 'limits.velocity_scale' in panel.inputs, 'inputs')
    # Read-only parameters have no input.
    assert 'frame_tasks' not in panel.inputs
    viewer.requests.add('parameter limits.velocity_scale', 0.5)
    client.wait_for(
        lambda: viewer.parameters.values['limits.velocity_scale'] == 0.5, 'value of the node'
    )
    viewer.requests.add('parameter limits.velocity_scale', 7.0)
    client.wait_for(lambda: 'is not set: ' in viewer.answer, 'reason')
    assert viewer.parameters.values['limits.velocity_scale'] == 0.5
    # Changes by other clients are shown as well.
    assert client.set(limits__velocity_scale=1.0)['limits.velocity_scale'].successful
    client.wait_for(
        lambda: viewer.parameters.values['limits.velocity_scale'] == 1.0, 'value of others'
    )
    # A number or a list of them is text.
    panel.choose('ee')
    client.wait_for(lambda: 'ee.position_weight' in panel.inputs, 'inputs of the task')
    viewer.requests.add('parameter ee.position_weight', '[1, 2, 1]')
    client.wait_for(
        lambda: list(np.atleast_1d(viewer.parameters.values['ee.position_weight'])) == [1, 2, 1],
        'list',
    )
    viewer.requests.add('parameter ee.position_weight', '1')
    client.wait_for(lambda: viewer.parameters.values['ee.position_weight'] == 1.0, 'number')
    viewer.requests.add('parameter limits.position_margin', '[1, nonsense')
    client.wait_for(lambda: 'is not a value' in viewer.answer, 'answer')


def test_boxes_of_the_workspace_are_drawn(fresh):
    client, viewer = fresh
    client.wait_for(lambda: viewer.workspace.names == ('cage',), 'box')


def test_sides_without_a_face_stay_open():
    values = {
        'barriers.position.cell.min': [-1.0, -np.inf, 0.0],
        'barriers.position.cell.max': [1.0, 2.0, 3.0],
        'barriers.position.cell.axes': [True, True, False],
        'barriers.position.half.min': [0.0, 0.0, 0.0],
        'barriers.world.margin': 0.1,
    }
    (box,) = read_boxes(values).values()
    np.testing.assert_array_equal(box, [[-1.0, -np.inf, -np.inf], [1.0, 2.0, np.inf]])


def test_names_of_boxes_may_contain_dots():
    values = {
        'barriers.position.table.front.min': [-1.0, -1.0, -1.0],
        'barriers.position.table.front.max': [1.0, 1.0, 1.0],
        'barriers.position.table.front.axes': [True, True, True],
    }
    assert list(read_boxes(values)) == ['table.front']


def test_frames_and_targets_leave_trails(fresh):
    client, viewer = fresh
    viewer.trails.clear()
    start = viewer.targets['ee'].copy()

    def have_swung():
        aside = start.copy()
        aside[1] += 0.08 * np.sin(2.0 * time.monotonic())
        viewer.requests.hold('ee', None, aside)
        return min(viewer.trails.length(name) for name in ('frame/ee', 'target/ee')) > 3

    client.wait_for(have_swung, 'trails')


def test_plots_show_joints_errors_and_ticks(fresh):
    client, viewer = fresh
    plots = viewer.page.plots
    assert plots.values(TICKS) == {}
    # The motion of the test before may not have ended.
    client.wait_for_rest()
    plots.is_wanted.value = True
    client.wait_for(lambda: len(plots.values(TICKS).get('period', ())) > 2, 'samples')
    assert plots.values(TICKS)['period'][-1] == pytest.approx(1e3 / RATE)
    positions = plots.values(POSITIONS)
    assert set(positions) == {f'panda_joint{k}' for k in range(1, 8)}
    # The fourth joint of the Panda reaches from -3.0718 to -0.0698.
    angle = client.positions()['panda_joint4']
    expected = (angle + 3.0718) / (3.0718 - 0.0698)
    assert positions['panda_joint4'][-1] == pytest.approx(expected, abs=1e-3)
    assert np.abs(plots.values(VELOCITIES)['panda_joint4'][-1]) < 1e-3
    plots.is_wanted.value = False
    client.wait_for(lambda: plots.values(TICKS) == {}, 'end of the plots')


def test_status_is_shown_in_words(fresh):
    client, viewer = fresh
    client.wait_for(lambda: 'waiting for a target' in viewer.page.status, 'status on the page')
    assert 'tick at' in viewer.page.status


def test_how_to_move_it_is_said_while_the_robot_waits_for_a_target():
    ready = IkStatus(code=IkStatus.OK, tasks=[TaskError(name='ee')])
    assert 'pull an arrow' in status_html(ready, '/ros_ik')
    ready.tasks[0].active = True
    assert 'pull an arrow' not in status_html(ready, '/ros_ik')
    stopped = IkStatus(code=IkStatus.STOPPED, tasks=[TaskError(name='ee')])
    assert 'pull an arrow' not in status_html(stopped, '/ros_ik')


def test_links_whose_shapes_are_missing_are_named_in_the_status():
    plain = status_html(IkStatus(code=IkStatus.OK), '/ros_ik')
    assert 'not measured' not in plain
    some = status_html(IkStatus(code=IkStatus.OK, unmeasured_links=['hand', 'tool']), '/ros_ik')
    sentence = '<b>not measured</b>: distances leave out collision shapes of hand, tool'
    assert sentence in html.unescape(some)


@pytest.mark.parametrize('value', [-0.1, 0.0, 0.02, 0.05, 0.07, 0.1, 0.4])
def test_colours_of_pairs_say_what_is_left_of_the_margin(value):
    shade = barrier_color(value)
    assert barrier_fraction(shade) == pytest.approx(np.clip(value / 0.1, 0.0, 1.0))


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


def test_a_target_that_no_browser_moves_is_held_no_longer():
    now = [0.0]
    requests = Requests(clock=lambda: now[0])
    requests.hold('ee', 1, np.zeros(7))
    requests.hold('other', None, np.zeros(7))
    now[0] = 4.9
    assert set(requests.held()) == {'ee', 'other'}
    # No release comes; a program holds until it lets go.
    now[0] = 5.1
    assert set(requests.held()) == {'other'}
    # The mouse was only still.
    requests.move('ee', 1, np.ones(7))
    assert requests.held()['ee'][0] == 1.0
    # After a stop the rest of the drag counts no more.
    requests.release_all()
    requests.move('ee', 1, np.ones(7))
    assert requests.held() == {}


def test_obstacles_are_added_resized_dragged_and_removed(fresh):
    client, viewer = fresh
    # Beyond the hand, which then has to stop in front of it.
    goal = shifted(viewer, (0.0, 0.3, 0.0))
    name = viewer.page.obstacles.add('box')
    viewer.page.obstacles.resize(name, (0.6, 0.1, 0.6))
    viewer.page.obstacles.move(name, goal)
    viewer.requests.hold('ee', None, goal)
    client.wait_for(lambda: name in client.status.limiting_pair_b, 'obstacle in the status')
    client.wait_for_code(IkStatus.SLOWED_BY_BARRIER, IkStatus.STATIONARY)
    client.wait_for(lambda: name in viewer.page.status, 'obstacle on the page')
    far = shifted(viewer, (0.0, 1.0, 0.0))
    viewer.page.obstacles.move(name, far)
    client.wait_for(lambda: np.abs(hand(client) - goal[:3]).max() < 2e-3, 'arrival')
    viewer.page.obstacles.remove(name)
    client.wait_for(lambda: name not in client.status.limiting_pair_b, 'removal')
    assert viewer.page.obstacles.placed == {}


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


def test_the_viewer_outlives_a_page_that_comes_while_viser_wakes_its_senders():
    waiters, turns = collections.deque([1, 2]), []

    def draw():
        turns.append(len(turns))
        if len(turns) == 1:
            for _ in waiters:
                waiters.append(3)

    turn = ignore_viser_race(draw)
    turn()
    turn()
    assert turns == [0, 1]
    with pytest.raises(RuntimeError, match='something else'):
        ignore_viser_race(lambda: (_ for _ in ()).throw(RuntimeError('something else')))()
