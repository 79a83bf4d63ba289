# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The launch files at work: their nodes over DDS, their arguments, their end."""

import os
import signal
import urllib.request

from geometry_msgs.msg import PoseStamped
import pytest
from rcl_interfaces.srv import GetParameters
from support.processes.ros_processes import Processes
from support.processes.ros_processes import without_shared_memory
from support.rigs.launch_rig import installed_prefix
from support.rigs.launch_rig import is_missing
from support.rigs.launch_rig import Launch
from support.rigs.launch_rig import MISSING
from support.rigs.ros_rig import Client
from support.rigs.ros_rig import LONG
from trajectory_msgs.msg import JointTrajectory

from ros_ik_interfaces.msg import IkStatus

pytestmark = [
    pytest.mark.dds,
    pytest.mark.timeout(480),
    pytest.mark.skipif(is_missing(), reason=MISSING),
]


@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    """Return the prefix in which ros_ik is installed."""
    return installed_prefix(tmp_path_factory.mktemp('workspace'))


@pytest.fixture
def start(prefix, tmp_path):
    """Return a function that launches a file and returns it with a client."""
    processes, ends = Processes(tmp_path), []

    def launch(name, namespace='', **arguments):
        log = tmp_path / 'launch.log'
        launched = Launch(prefix, processes.domain, log, name, namespace=namespace, **arguments)
        ends.append(launched.end)
        client = Client(processes, namespace)
        ends.append(client.end)
        return launched, client

    yield launch
    for end in ends:
        end()
    processes.end()


def assert_ends_cleanly(launched):
    """Send Ctrl-C and expect the exit code 0 of everything."""
    code = launched.interrupt()
    text = launched.text()
    assert code == 0, text
    assert 'has died' not in text and 'escalating' not in text, text
    started = text.count('process started with pid')
    assert started == text.count('process has finished cleanly') > 0, text


def parameters(client, *names):
    """Return values of parameters of the node."""
    answer = client.call(
        GetParameters, 'ros_ik/get_parameters', GetParameters.Request(names=names)
    )
    return answer.values


def held_apart(status):
    """Return True if a barrier between the two arms holds the motion back."""
    codes = IkStatus.SLOWED_BY_BARRIER, IkStatus.HALTED_BY_BARRIER, IkStatus.STATIONARY
    pair = status.limiting_pair_a, status.limiting_pair_b
    return status.code in codes and {name.split('_')[0] for name in pair} == {'left', 'right'}


def test_demo_moves_in_a_namespace_and_ends_with_ctrl_c(start):
    launched, client = start('demo.launch.py', namespace='lab', rviz='false', tour='false')
    client.wait_for_code(IkStatus.OK, timeout=LONG)
    assert 'ros2 topic echo /lab/ros_ik/status' in launched.text()
    client.stream('pose', client.moved_pose((0.0, 0.05, 0.02)))
    client.wait_for_arrival(timeout=LONG)
    client.assert_trajectories_are_accepted()
    assert_ends_cleanly(launched)


def test_dual_arm_moves_both_hands(start):
    launched, client = start('dual_arm.launch.py', rviz='false')
    hands, poses, heard = ('left_hand', 'right_hand'), {}, {}
    for arm in ('left', 'right'):
        hand, topic = f'{arm}_hand', f'{arm}_arm_controller/joint_trajectory'
        client.node.create_subscription(
            PoseStamped,
            f'ros_ik/{hand}/current_pose',
            lambda m, hand=hand: poses.update({hand: m}),
            1,
        )
        client.node.create_subscription(
            JointTrajectory, topic, lambda m, arm=arm: heard.update({arm: m.joint_names}), 1
        )
    client.wait_for_code(IkStatus.OK, timeout=LONG)
    client.wait_for(lambda: len(poses) == 2, 'poses of both hands')
    targets = dict(poses)
    for hand in hands:
        targets[hand].pose.position.z += 0.03
        publisher = client.node.create_publisher(PoseStamped, f'ros_ik/{hand}/target_pose', 1)
        client.node.create_timer(
            0.05, lambda hand=hand, publisher=publisher: publisher.publish(targets[hand])
        )
    client.wait_for(
        lambda: [task.name for task in client.status.tasks if task.active and task.reached]
        == list(hands),
        'both reached',
        LONG,
    )
    assert [task.name for task in client.status.tasks] == list(hands)
    client.wait_for(lambda: len(heard) == 2, 'commands for both arms')
    assert {arm: {name.split('_')[0] for name in names} for arm, names in heard.items()} == {
        'left': {'left'}, 'right': {'right'},
    }  # fmt: skip
    assert [len(names) for names in heard.values()] == [7, 7]
    # Sent to one place in front of the robot, the hands keep their distance.
    left, right = (targets[hand].pose.position for hand in hands)
    left.x = right.x = 0.5 * (left.x + right.x) + 0.1
    left.y = right.y = 0.5 * (left.y + right.y)
    client.wait_for(lambda: held_apart(client.status), 'barrier between the arms', LONG)
    assert client.status.barrier_value > 0.0
    assert_ends_cleanly(launched)


def test_arguments_reach_the_node_and_a_dead_node_comes_again(start, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text('/**:\n  ros__parameters:\n    control_rate: 50.0\n    ee.frame: panda_hand\n')
    with without_shared_memory():
        launched, client = start(
            'ros_ik.launch.py',
            params_file=file,
            use_sim_time='true',
            autostart='false',
            log_level='debug',
            use_respawn='true',
        )
    client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
    rate, frame, sim, auto = parameters(
        client, 'control_rate', 'ee.frame', 'use_sim_time', 'autostart'
    )
    assert (rate.double_value, frame.string_value) == (50.0, 'panda_hand')
    assert sim.bool_value and not auto.bool_value
    assert client.state() == 'unconfigured'
    assert '[DEBUG]' in launched.text()
    first = launched.process_id('ros_ik_node')
    os.kill(first, signal.SIGKILL)
    client.wait_for(lambda: launched.process_id('ros_ik_node') != first, 'another process', LONG)
    client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
    code = launched.interrupt()
    assert code == 0, launched.text()


def test_the_tour_ends_with_next_commands_and_the_viewer_shows_it(start):
    pytest.importorskip('viser', reason='viser is not installed')
    launched, client = start('demo.launch.py', rviz='false', viewer='true')
    launched.wait_for('the page is at ')
    address = launched.text().partition('the page is at ')[2].split(maxsplit=1)[0]
    with urllib.request.urlopen(address, timeout=LONG) as page:
        assert page.status == 200
    # The robot moves by itself, and what to try comes last.
    client.wait_for_text('tracking', timeout=LONG)
    launched.wait_for('links drawn')
    launched.wait_for('ros2 topic echo /ros_ik/status')
    launched.wait_for('[ros_ik_demo-1]: process has finished cleanly')
    assert_ends_cleanly(launched)
