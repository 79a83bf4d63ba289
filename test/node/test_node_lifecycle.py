# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Transitions requested by a lifecycle manager, and the end by a signal."""

import math
import signal

from lifecycle_msgs.msg import Transition
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import PATIENCE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


def test_a_lifecycle_manager_leads_it_through_its_states(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, autostart=False, robot_description_timeout=0.5, **NEVER_STALE)
        start_robot(client)
        status = client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        assert status.model_generation == 0 and not status.joint_names and not status.motion_start
        assert list(status.waiting_for) == ['robot_description']
        assert client.state() == 'unconfigured'
        assert not client.transition(Transition.TRANSITION_CONFIGURE)
        client.wait_for_code(IkStatus.INVALID, text='no robot_description within 0.5 s')
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
        assert client.transition(Transition.TRANSITION_CONFIGURE)
        assert client.state() == 'inactive'
        client.wait_for_code(IkStatus.OK, text='inactive')
        bad = client.moved_pose()
        bad.pose.position.x = math.nan
        client.stream('pose', bad)
        client.wait_for(lambda: client.dropped().get('non_finite'), 'drop')
        client.stream('pose', client.moved_pose((0.0, 0.3, 0.0)))
        client.wait_for_ticks(30)
        assert client.trajectories == [], 'it moves while inactive'
        before = client.status.ticks
        assert client.transition(Transition.TRANSITION_ACTIVATE)
        client.wait_for(lambda: client.status.ticks < before, 'ticks since the activation')
        status = client.wait_for_code(IkStatus.OK, text='tracking')
        # Drops are counted from the start of the process.
        assert client.dropped()['non_finite'] > 0 and status.header.frame_id == 'panda_link0'
        assert tuple(status.joint_names) == ARM
        client.wait_for_ticks(30)
        assert client.transition(Transition.TRANSITION_DEACTIVATE)
        client.wait_for_silence()
        count = len(client.trajectories)
        last = client.trajectories[-1].points
        assert list(last[0].positions) == list(last[1].positions)
        client.wait_for_ticks(30)
        assert len(client.trajectories) == count
        assert client.transition(Transition.TRANSITION_CLEANUP)
        status = client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
        assert status.model_generation == 1
        assert client.transition(Transition.TRANSITION_CONFIGURE)
        assert client.transition(Transition.TRANSITION_ACTIVATE)
        client.wait_for_code(IkStatus.OK, text='tracking')
        client.assert_trajectories_are_accepted()


def test_a_model_that_is_still_built_is_no_missing_description(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, autostart=False, robot_description_timeout=0.0)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
        assert client.transition(Transition.TRANSITION_CONFIGURE)
        # Builds the model again.
        assert client.transition(Transition.TRANSITION_CLEANUP)
        assert not client.transition(Transition.TRANSITION_CONFIGURE)
        reason = 'the model was not built within 0 s'
        client.wait_for(lambda: reason in client.processes.text('node'), 'the reason')
        client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
        assert client.transition(Transition.TRANSITION_CONFIGURE)


def withdraw(client):
    """Withdraw a stop request, and reset the node."""

    def is_reset():
        client.request_stop(False)
        return client.trigger('reset').success

    client.wait_for(is_reset, 'reset')


HOLDS = {
    'stop': (
        lambda client: client.trigger('stop'), lambda client: client.trigger('reset'),
        IkStatus.STOPPED,
    ),
    'pause': (
        lambda client: client.pause(True), lambda client: client.pause(False), IkStatus.PAUSED,
    ),
    'request': (lambda client: client.request_stop(True), withdraw, IkStatus.STOPPED),
}  # fmt: skip


def test_what_holds_the_robot_outlasts_a_cleanup(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, **NEVER_STALE)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        for hold, release, code in HOLDS.values():
            hold(client)
            client.wait_for_code(code)
            assert client.transition(Transition.TRANSITION_DEACTIVATE)
            assert client.transition(Transition.TRANSITION_CLEANUP)
            client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
            assert client.trigger('srdf_lines').success
            assert client.transition(Transition.TRANSITION_CONFIGURE)
            assert client.transition(Transition.TRANSITION_ACTIVATE)
            count = len(client.trajectories)
            client.stream('pose', client.moved_pose((0.0, 0.1, 0.0)))
            client.wait_for_ticks(30)
            client.wait_for_code(code)
            assert len(client.trajectories) == count, 'it moved'
            release(client)
            client.wait_for_code(IkStatus.OK, text='tracking')
            client.stream('pose', None)
            client.forget_targets()


def test_a_stop_that_outlasts_a_deactivation_is_told_and_ends_before_a_cleanup(tmp_path):
    """With these accelerations a stop from full speed takes a second."""
    with ros_rig(tmp_path) as client:
        start_node(
            client, outputs__default__publish_velocities=True, **NEVER_STALE, **UNWATCHED
        )
        client.robot = HeldRobot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        client.stream('joints', JointState(name=['panda_joint1'], position=[2.8]))
        client.wait_for(lambda: client.sent and motion_of(client).speed[-1] > 2.1, 'motion')
        assert client.set(limits__acceleration_scale=0.2)['limits.acceleration_scale'].successful
        assert client.transition(Transition.TRANSITION_DEACTIVATE)
        assert 'continues to brake while inactive' in client.processes.text('node')
        assert client.transition(Transition.TRANSITION_CLEANUP)
        client.wait_for_silence()
        motion = motion_of(client)
        motion.assert_within(panda_ranges())
        if 'the command did not come to rest in time' in client.processes.text('node'):
            # A busy machine makes fewer ticks; the controller then follows the last trajectory.
            assert all(v == 0.0 for v in client.trajectories[-1].points[-1].velocities)
        else:
            motion.assert_at_rest()


def test_a_node_that_is_shut_down_says_so_whatever_comes_then(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, autostart=False)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.WARMING_UP, text='ready', timeout=LONG)
        assert client.transition(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)
        assert client.state() == 'finalized'
        client.wait_for_code(IkStatus.INVALID, text='the node is shut down')
        client.statuses.clear()
        client.describe(panda_urdf() + '\n')
        client.wait_for(lambda: len(client.statuses) > 10, 'statuses')
        assert {status.text for status in client.statuses} == {'the node is shut down'}
        client.processes.signal('node', signal.SIGINT)
        assert client.processes.wait('node', PATIENCE) == 0, client.processes.text('node')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_motion_ends_it_at_rest_with_exit_code_0(tmp_path, number):
    with ros_rig(tmp_path) as client:
        start_node(client, outputs__default__publish_velocities=True, **NEVER_STALE)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        client.stream('pose', client.moved_pose((0.0, 0.3, -0.1)))
        # It may be over by now.
        client.wait_for(
            lambda: any(max(map(abs, m.points[0].velocities)) > 0.2 for _, m, _ in client.sent),
            'motion',
        )
        client.processes.signal('node', number)
        process = client.processes
        client.wait_for(lambda: not process.is_alive('node'), 'end of the node')
        assert process.wait('node', PATIENCE) == 0, process.text('node')
        client.wait_for_silence()
        last = client.trajectories[-1].points
        assert all(v == 0.0 for point in last for v in point.velocities)
        assert list(last[0].positions) == list(last[1].positions)
        assert 'Traceback' not in process.text('node')
        client.assert_trajectories_are_accepted()


def test_a_signal_while_it_waits_ends_it_with_exit_code_0(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client)
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        client.processes.signal('node', signal.SIGINT)
        assert client.processes.wait('node', PATIENCE) == 0
