# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""From the start of the process to the first trajectory, and an end before that."""

import os
from pathlib import Path
import re
import shutil
import signal

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


def other_panda():
    """Return a Panda of the same structure: other lengths, limits and masses."""
    text = re.sub(r'xyz="0 -0.316 0"', 'xyz="0 -0.35 0"', panda_urdf())
    text = re.sub(r'velocity="2.175"', 'velocity="1.7"', text)
    text = re.sub(r'<mass value="[^"]*"', '<mass value="1.5"', text)
    assert text != panda_urdf()
    return text


def _built(client):
    """Return how many kernels each build compiled and loaded, from the log."""
    pattern = r'(\d+) kernels compiled, (\d+) from the cache'
    found = re.findall(pattern, client.processes.text('node'))
    return [(int(compiled), int(cached)) for compiled, cached in found]


def test_the_states_of_a_start_and_another_robot_of_the_same_structure(tmp_path):
    with ros_rig(tmp_path, forks=False) as client:
        start_node(client)
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WAITING_FOR_JOINT_STATES, timeout=120.0)
        # On a machine too busy for the control rate another code replaces OK.
        late = IkStatus.DEADLINE_MISSED
        codes = [IkStatus.OK if s.code == late else s.code for s in client.statuses]
        assert codes == sorted(codes, key=[10, 12, 0, 11].index), codes
        start_robot(client)
        client.wait_for_code(IkStatus.OK, text='waiting for a target')
        ((compiled, cached),) = _built(client)
        assert compiled + cached >= 3
        client.describe(other_panda())
        client.wait_for(lambda: client.status.model_generation == 2, 'a second model', LONG)
        assert _built(client)[1] == (0, 0), 'the same process has every kernel'
        client.processes.signal('node', signal.SIGTERM)
        assert client.processes.wait('node', PATIENCE) == 0
        # Another process takes all of them from the cache.
        start_node(client)
        client.wait_for(lambda: len(_built(client)) == 3, 'a third model', LONG)
        assert _built(client)[2] == (0, compiled + cached)


def cache_without_kernels(folder):
    """Return a folder with the precompiled headers of the cache of these tests, if it has any."""
    cache = Path(os.environ.get('WARP_CACHE_PATH') or folder)
    for headers in cache.glob('*/ros_ik_headers/*/*.pch'):
        copy = folder / headers.relative_to(cache)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(headers, copy)
    return folder


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_kernels_are_compiled_ends_it_with_exit_code_0(
    tmp_path, monkeypatch, number
):
    monkeypatch.setenv('WARP_CACHE_PATH', str(cache_without_kernels(tmp_path / 'kernels')))
    with ros_rig(tmp_path, forks=False) as client:
        # The kernels of distances take a processor half a minute.
        start_node(
            client, barriers__self_collision__enabled=False, barriers__world__enabled=False
        )
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        client.describe(panda_urdf())
        status = client.wait_for_code(
            IkStatus.WARMING_UP, text='building the model', timeout=LONG
        )
        assert status.model_generation == 0
        if number == signal.SIGTERM:
            # The status and the log report the progress.
            client.wait_for_code(IkStatus.WARMING_UP, text='kernels compiled', timeout=LONG)
            assert 'kernels compiled, the last one' in client.processes.text('node')
        client.processes.signal('node', number)
        assert client.processes.wait('node', PATIENCE) == 0, client.processes.text('node')
        assert _built(client) == [], 'it was done before the signal came'
        assert 'Traceback' not in client.processes.text('node')


def test_a_signal_while_a_transition_waits_ends_it_with_exit_code_0(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, autostart=False, robot_description_timeout=60.0)
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        configure = client.node.create_client(ChangeState, 'ros_ik/change_state')
        client.wait_for(configure.service_is_ready, 'service')
        request = ChangeState.Request()
        request.transition.id = Transition.TRANSITION_CONFIGURE
        configure.call_async(request)
        client.spin(0.5)
        client.processes.signal('node', signal.SIGTERM)
        assert client.processes.wait('node', PATIENCE) == 0, client.processes.text('node')
