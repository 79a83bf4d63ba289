# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages to controllers are filled in place, and nothing that is not finite leaves the node."""

import math
from types import SimpleNamespace

from builtin_interfaces.msg import Time
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray
from support.rigs.servo_rig import Rig
from trajectory_msgs.msg import JointTrajectory

from ros_ik.demo.controller.trajectory_rules import check_trajectory
from ros_ik.demo.mock_robot import trajectory_from_message
from ros_ik.node.control.publishing import CommandPublishers
from ros_ik.node.transport.cdr_templates import Marks
from ros_ik.node.transport.cdr_templates import SerializedMessage
from ros_ik.servo import StatusCode

JOINTS = ['panda_finger_joint1', *(f'panda_joint{k}' for k in range(7, 0, -1))]


class Recorder:
    """A node whose publishers keep the serialized messages."""

    def __init__(self):
        self.sent = {}

    def create_publisher(self, kind, topic, qos):
        sent = self.sent[topic] = []

        def publish(message):
            read = deserialize_message(message, kind)
            # Padding between fields is arbitrary memory in rclpy: bytes cannot be compared.
            assert len(serialize_message(read)) == len(message)
            sent.append(read)

        return SimpleNamespace(publish=publish, get_subscription_count=lambda: 1)


def make_rig(velocities=True, **values):
    rig = Rig(
        **{
            **values,
            'output_names': ['jtc', 'forward'],
            'outputs.jtc.topic': 'jtc',
            'outputs.jtc.joints': JOINTS,
            'outputs.jtc.publish_velocities': velocities,
            'outputs.forward.topic': 'forward',
            'outputs.forward.type': 'float64_multi_array',
        }
    )
    rig.node = Recorder()
    rig.publishers = CommandPublishers(rig.node, rig.settings)
    rig.templates = rig.publishers.templates(rig.servo)
    return rig


@pytest.fixture
def rig():
    return make_rig()


def publish(rig, output):
    rig.publishers.publish_command(output, rig.templates, 1_000_000_005)


def speeds_of(rig, output):
    return list(output.joint_qd[rig.robot.group.variable_dof])


def test_a_mark_that_does_not_occur_exactly_once_is_refused():
    marks = Marks()
    mark, other = marks.take(2), marks.take(2)
    message = SerializedMessage(Float64MultiArray(data=mark))
    with pytest.raises(ValueError, match='not found'):
        message.numbers(other)
    message.numbers(mark)[:] = 3.0, 4.0
    assert list(deserialize_message(message.to_bytes(), Float64MultiArray).data) == [3.0, 4.0]
    with pytest.raises(ValueError, match='not found'):
        message.numbers(mark)


def test_each_tick_is_sent_as_it_is_to_both_kinds(rig):
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    for _ in range(30):
        output = rig.tick()
        publish(rig, output)
        trajectory, array = rig.node.sent['jtc'][-1], rig.node.sent['forward'][-1]
        wanted = [output.joint_q[rig.robot.coord_of[name]] for name in JOINTS]
        for point in trajectory.points:
            assert list(point.positions) == wanted
        speeds = list(trajectory.points[0].velocities)
        assert speeds[1:] == speeds_of(rig, output)[::-1]
        assert list(trajectory.points[1].velocities) == [0.0] * 8
        assert check_trajectory(trajectory_from_message(trajectory), JOINTS, 0) is None
        assert list(array.data) == list(output.joint_q[rig.robot.coords])
        state = rig.node.sent['~/command_state'][-1]
        assert list(state.position) == list(array.data)
        assert list(state.velocity) == speeds_of(rig, output)
        assert trajectory.header.stamp == Time() and state.header.stamp == Time(sec=1, nanosec=5)
    assert max(map(abs, speeds)) > 0.0
    assert isinstance(trajectory, JointTrajectory) and isinstance(array, Float64MultiArray)


@pytest.mark.parametrize('value', [math.nan, math.inf])
@pytest.mark.parametrize('field', ['joint_q', 'joint_qd'])
def test_one_number_that_is_not_finite_holds_back_everything(rig, value, field):
    output = rig.tick()
    getattr(output, field)[rig.robot.coord_of['panda_joint3']] = value
    publish(rig, output)
    assert not any(rig.node.sent.values())
    assert output.code == StatusCode.NON_FINITE_BLOCKED
    publish(rig, rig.tick())
    assert all(rig.node.sent[topic] for topic in ('jtc', 'forward', '~/command_state'))


def in_order(rig, q):
    """Return coordinates in the order of the controller's joints."""
    return [q[rig.robot.coord_of[name]] for name in JOINTS]


@pytest.mark.parametrize('velocities', [False, True])
def test_predicted_points_follow_the_command(velocities):
    rig = make_rig(velocities, rollout_steps=5)
    rig.aim(rig.moved((0.0, 0.1, 0.0)))
    for turn in range(45):
        if turn == 30:
            rig.change(paused=True)
        output = rig.tick()
        if not output.publish:
            continue
        publish(rig, output)
        trajectory = rig.node.sent['jtc'][-1]
        assert (output.predicted_q is None) == (turn >= 30)
        ahead = [output.joint_q] * 5 if output.predicted_q is None else output.predicted_q
        wanted = [in_order(rig, q) for q in (output.joint_q, *ahead, ahead[-1])]
        assert [list(point.positions) for point in trajectory.points] == wanted
        # The finger, which is not controlled, stays.
        assert len({positions[0] for positions in wanted}) == 1
        times = [point.time_from_start.nanosec for point in trajectory.points]
        assert times == [10_000_000 * step for step in (1, 2, 3, 4, 5, 6, 10)]
        speeds = [list(point.velocities) for point in trajectory.points]
        if velocities:
            dofs = rig.robot.group.variable_dof
            none = np.zeros((5, rig.model.joint_dof_count))
            ahead_qd = none if output.predicted_qd is None else output.predicted_qd
            moving = [output.joint_qd, *ahead_qd, none[0]]
            assert speeds == [[0.0, *qd[dofs][::-1]] for qd in moving]
        else:
            assert speeds == [[]] * 7
        assert check_trajectory(trajectory_from_message(trajectory), JOINTS, 0) is None
    assert len(rig.node.sent['forward'][-1].data) == 7


def test_a_prediction_that_is_not_finite_holds_back_everything():
    for name in ('predicted_q', 'predicted_qd'):
        rig = make_rig(rollout_steps=5)
        rig.aim(rig.moved((0.0, 0.1, 0.0)))
        output = rig.tick(20)
        getattr(output, name)[3, rig.robot.coord_of['panda_joint3']] = math.nan
        publish(rig, output)
        assert not any(rig.node.sent.values())
        assert output.code == StatusCode.NON_FINITE_BLOCKED
