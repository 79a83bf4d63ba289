# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A device that is lost in motion: the node holds, reports it, and becomes inactive."""

import signal

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
import pytest
from support.motions.motion import array_of
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot
import warp as wp

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds
needs_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(not wp.is_cuda_available(), reason='Warp finds no CUDA device to lose'),
]


@pytest.fixture
def client(tmp_path, device):
    with ros_rig(tmp_path) as client:
        client.processes.start(
            'node', 'support.processes.failing_node', ee__frame='panda_hand_tcp', device=device,
            control_rate=RATE, outputs__default__publish_velocities=True,
            **UNWATCHED, **NEVER_STALE,
        )  # fmt: skip
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        yield client


def lose(client):
    """Lose the device in motion; return the commands until the end."""
    client.stream('ee', client.moved_pose((0.2, 0.2, 0.0)))
    client.wait_for(
        lambda: client.sent and max(map(abs, client.sent[-1][1].points[0].velocities)) > 0.2,
        'motion',
    )
    client.statuses.clear()
    client.processes.signal('node', signal.SIGUSR1)
    client.wait_for(lambda: 'lost: ' in client.processes.text('node'), 'the loss')
    client.wait_for(lambda: client.state() == 'inactive', 'the way to inactive')

    def failed():
        return [s for s in client.statuses if s.code == IkStatus.SOLVER_FAILED]

    # Received after the answer if others were queued before it.
    client.wait_for(failed, 'its status')
    assert failed()[0].model_generation == 1
    return failed()[0]


def assert_model_is_wrong(client, text):
    """Check that /diagnostics reports the fault of the model."""
    client.diagnostics.clear()

    def found():
        return [
            entry for entry in client.diagnostics
            if entry.name.endswith(': model') and text in entry.message
        ]  # fmt: skip

    client.wait_for(found, f'{text!r} in the diagnostics')
    assert found()[-1].level == DiagnosticStatus.ERROR


def assert_the_lost_servo_is_freed(client):
    """Check that the new servo is the only one that the node keeps in memory."""
    client.processes.signal('node', signal.SIGUSR2)
    client.wait_for(lambda: 'servos in use: ' in client.processes.text('node'), 'their number')
    assert 'servos in use: 1\n' in client.processes.text('node')


def assert_it_goes_on(client):
    """Activate it again, and let it track from the robot's new position."""
    elsewhere = HeldRobot.home() | {'panda_joint1': 0.3}
    client.robot.place(**elsewhere)
    client.stream('ee', None)
    client.robot.wait_until_seen()
    client.sent.clear()
    assert client.transition(Transition.TRANSITION_ACTIVATE)
    client.stream('ee', client.moved_pose((0.0, 0.1, 0.0)))
    client.wait_for_arrival()
    motion = motion_of(client)
    motion.assert_within(panda_ranges())
    assert motion.starts == [0]
    assert abs(motion.began[0] - array_of(elsewhere)).max() < 1e-9, 'it jumped'
    assert 'after an error' not in client.status.text


@pytest.mark.parametrize(
    'device', ['cpu', pytest.param('cuda:0,cpu', marks=needs_gpu, id='cuda_then_cpu')]
)
def test_it_holds_goes_to_inactive_and_can_be_activated_again(client, device):
    lost = device.partition(',')[0]
    failed = lose(client)
    assert f'on {lost}: RuntimeError' in failed.text
    motion = motion_of(client)
    motion.assert_within(panda_ranges())
    client.wait_for_ticks(50)
    stamp = failed.header.stamp
    failed_at = 10**9 * stamp.sec + stamp.nanosec
    assert all(sent < failed_at for sent, *_ in client.sent), 'it sent something afterwards'
    client.wait_for(lambda: client.status.model_generation == 2, 'another model', LONG)
    # The fault stays in the reports until the next activation.
    client.wait_for_text(f'deactivated after an error: a tick failed on {lost}')
    assert_model_is_wrong(client, f'on {lost}')
    assert client.state() == 'inactive'
    assert_the_lost_servo_is_freed(client)
    assert f'a tick failed on {lost}' in client.processes.text('node')
    assert_it_goes_on(client)


@pytest.mark.parametrize('device', [pytest.param('cuda:0', marks=needs_gpu)])
def test_without_another_device_it_stays_inactive_and_says_why(client, device):
    lose(client)
    client.wait_for_code(IkStatus.SOLVER_FAILED, text='does not answer', timeout=LONG)
    assert_model_is_wrong(client, 'does not answer')
    assert not client.transition(Transition.TRANSITION_ACTIVATE)
    assert client.state() == 'inactive'
    client.processes.signal('node', signal.SIGTERM)
    assert client.processes.wait('node', PATIENCE) == 0
