# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Two arms, two tasks, two controllers of different kinds, in one node over DDS."""

import math

import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.motions.motion import distance
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import UNWATCHED
from support.robots.two_arms import LEFT
from support.robots.two_arms import RIGHT
from support.robots.two_arms import TwoArms

from ros_ik.demo.controller.trajectory_rules import check_trajectory
from ros_ik.demo.mock_robot import trajectory_from_message
from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


@pytest.fixture(scope='module')
def arms(tmp_path_factory):
    folder = tmp_path_factory.mktemp('outputs')
    with ros_rig(folder) as client:
        arms = TwoArms(client)
        # Timeouts that a robot and targets without processor time do not exceed.
        arms.start(folder, **UNWATCHED, **NEVER_STALE)
        # All messages to the right controller, also while the client is suspended.
        arms.every_array = []
        client.node.create_subscription(
            Float64MultiArray,
            'right_controller',
            lambda message: arms.every_array.append(list(message.data)),
            1000,
        )
        yield arms
        assert client.processes.is_alive('node'), client.processes.text('node')


def test_both_arms_reach_their_poses_through_controllers_of_two_kinds(arms):
    targets = {'left': arms.pose('left', (0.05, 0.05, 0.05))}
    targets['right'] = arms.pose('right', (0.05, -0.05, -0.05))
    arms.streams = {f'{task}/target_pose': pose for task, pose in targets.items()}
    arms.client.wait_for(
        lambda: all(arms.report(task) and arms.report(task).reached for task in targets),
        'arrival of both hands', LONG,
    )  # fmt: skip
    for task, target in targets.items():
        arms.client.wait_for(
            lambda task=task, target=target: distance(arms.poses[task], target) < 2e-3,
            f'the {task} hand at its target',
        )
    assert not arms.client.trajectories, 'the topic of another output is used'


def test_each_controller_is_sent_its_own_joints_in_its_own_order(arms):
    arms.quiet()
    before, sent = dict(arms.position), len(arms.every_array)
    arms.trajectories.clear()
    arms.streams['right/target_pose'] = arms.pose('right', (0.0, 0.0, 0.1))
    arms.client.wait_for(lambda: arms.report('right').reached, 'arrival', LONG)
    first = dict(zip(RIGHT, arms.every_array[sent], strict=True))
    for name, value in first.items():
        assert value == pytest.approx(before[name], abs=5e-3), 'it starts elsewhere'
    assert max(abs(arms.position[name] - before[name]) for name in RIGHT) > 0.02
    # Both controllers get streams; the arm without a target stays.
    assert arms.trajectories
    for message in arms.trajectories:
        assert tuple(message.joint_names) == LEFT
        assert check_trajectory(trajectory_from_message(message), LEFT, 0) is None
    for name in LEFT:
        assert arms.position[name] == pytest.approx(before[name], abs=2e-3)


def wait_for_silence(arms):
    """Wait until ten ticks send nothing to the right arm."""

    def is_silent():
        count = len(arms.arrays)
        arms.client.wait_for_ticks(10)
        return len(arms.arrays) == count

    arms.client.wait_for(is_silent, 'silence')


def test_an_array_is_what_it_says_and_stops_with_the_stream(arms):
    arms.quiet()
    arms.streams['right/target_pose'] = arms.pose('right', (0.0, 0.05, 0.0))
    arms.client.wait_for(lambda: arms.report('right').active, 'pursuit')
    arms.streams.clear()
    assert arms.client.set(command_timeout=0.5)['command_timeout'].successful
    arms.client.wait_for_code(IkStatus.COMMAND_STALE)
    wait_for_silence(arms)
    count = len(arms.arrays)
    arms.client.wait_for_ticks(15)
    assert len(arms.arrays) == count
    (info,) = arms.client.node.get_publishers_info_by_topic('/right_controller')
    assert info.topic_type == 'std_msgs/msg/Float64MultiArray'
    assert arms.client.set(**NEVER_STALE)['command_timeout'].successful


def test_command_state_names_all_controlled_joints(arms):
    arms.quiet()
    states = []
    subscription = arms.client.node.create_subscription(
        JointState, 'ros_ik/command_state', lambda message: states.append(message), 1
    )
    arms.streams['left/target_pose'] = arms.pose('left', (0.0, 0.0, 0.05))
    arms.client.wait_for(lambda: states, 'a command state')
    assert sorted(states[-1].name) == sorted((*LEFT, *RIGHT))
    assert len(states[-1].position) == len(states[-1].velocity) == 14
    assert all(map(math.isfinite, (*states[-1].position, *states[-1].velocity)))
    arms.client.node.destroy_subscription(subscription)
