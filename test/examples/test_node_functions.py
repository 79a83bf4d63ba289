# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of the examples that talk to the node, without a node."""

import importlib.util
import math
from pathlib import Path
import subprocess
import sys
import threading
from types import SimpleNamespace
from unittest import mock

from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from sensor_msgs.msg import Joy

from ros_ik_interfaces.srv import SolveIk

FOLDER = Path(__file__).resolve().parents[2] / 'examples' / 'node'


def load(name):
    """Return an example as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('seed', range(3))
def test_odometry_becomes_a_yaw_that_counts_turns(seed):
    """Either sign of the quaternion, over several turns to both sides."""
    random, module, states = np.random.default_rng(seed), load('mobile_manipulator'), []
    base = SimpleNamespace(_yaw=0.0, _states=SimpleNamespace(publish=states.append))
    angles = np.cumsum(random.uniform(-0.2, 0.2) + random.normal(0.0, 0.3, 200))
    for angle in angles:
        odometry, sign = Odometry(), random.choice([-1.0, 1.0])
        turn = odometry.pose.pose.orientation
        turn.z, turn.w = sign * math.sin(0.5 * angle), sign * math.cos(0.5 * angle)
        module.MobileManipulator._on_odometry(base, odometry)
    published = [dict(zip(state.name, state.position, strict=True)) for state in states]
    np.testing.assert_allclose([state['base_yaw'] for state in published], angles, atol=1e-9)


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_a_deflection_that_is_not_finite_means_no_motion(value):
    module, twists = load('joystick'), []
    stick = SimpleNamespace(
        _layout=module.LAYOUTS['spacemouse'], _speeds=[0.2] * 3 + [0.8] * 3, _frame='',
        _publisher=SimpleNamespace(publish=twists.append), get_clock=mock.MagicMock(),
    )  # fmt: skip
    stick.get_clock().now().to_msg.return_value = Time()
    module.JoystickTwist._on_joy(stick, Joy(axes=[value, 0.5, value, 0.0, value, 1.0]))
    (twist,) = twists
    linear, angular = twist.twist.linear, twist.twist.angular
    assert [linear.x, linear.y, linear.z] == [0.0, 0.1, 0.0]
    assert [angular.x, angular.y, angular.z] == [0.0, 0.0, 0.8]


@pytest.mark.dds
@pytest.mark.parametrize(
    ('name', 'word', 'reason'),
    [
        ('joystick', 'linear_speed:=fast', "linear_speed must be a number, got 'fast'"),
        ('joystick', 'angular_speed:=.inf', 'angular_speed must be a number, got inf'),
        ('joystick', 'linear_speed:=true', 'linear_speed must be a number, got True'),
        ('joystick', 'device:=3', 'device must be one of gamepad, spacemouse, got 3'),
        ('follow_frame', 'simulate:=1', "'simulate'"),
    ],
)
def test_a_wrong_parameter_ends_an_example_with_one_line(name, word, reason):
    command = [sys.executable, FOLDER / f'{name}.py', '--ros-args', '-p', word]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert reason in line


def test_a_key_of_several_bytes_means_no_motion(monkeypatch):
    module, twists = load('keyboard'), []
    keys = iter([bytes([byte]) for byte in '\xfc\u20acwx'.encode()])
    monkeypatch.setattr(module.select, 'select', lambda *_: ([module.sys.stdin], [], []))
    monkeypatch.setattr(module.os, 'read', lambda *_: next(keys))
    node = mock.Mock()
    node.create_publisher.return_value.publish = twists.append
    node.get_clock.return_value.now.return_value.to_msg.return_value = Time()
    module.drive(node, threading.Event())
    speeds = [twist.twist.linear.x for twist in twists]
    # Two bytes, three bytes, one key that moves, and the end.
    assert speeds == [0.0, 0.0, 0.0, 0.0, 0.0, module.LINEAR, 0.0]


@pytest.mark.parametrize(
    ('accepted', 'error_code', 'code'), [(False, 0, 1), (True, 0, 0), (True, -4, 1)]
)
def test_a_rejected_trajectory_has_not_arrived(monkeypatch, capsys, accepted, error_code, code):
    action = mock.MagicMock()
    action.FollowJointTrajectory.Result.SUCCESSFUL = 0
    monkeypatch.setitem(sys.modules, 'control_msgs', mock.MagicMock())
    monkeypatch.setitem(sys.modules, 'control_msgs.action', action)
    module = load('follow_trajectory')
    result = SimpleNamespace(result=SimpleNamespace(error_code=error_code, error_string='late'))
    handle = mock.Mock(accepted=accepted)
    handle.get_result_async.return_value.result.return_value = result
    client = mock.MagicMock()
    client.return_value.send_goal_async.return_value.result.return_value = handle
    monkeypatch.setattr(module, 'ActionClient', client)
    monkeypatch.setattr(module.rclpy, 'spin_until_future_complete', mock.Mock())
    assert module.follow(mock.Mock(), mock.Mock()) == code
    assert capsys.readouterr().out.startswith('arrived') == (code == 0)


@pytest.mark.parametrize('name', ['check_trajectory', 'every_grasp', 'grasp_candidates'])
@pytest.mark.parametrize('names', [['panda_joint1', 'panda_joint2'], ['gripper']])
def test_joint_states_without_some_joints_are_named(monkeypatch, name, names):
    """Publishers may send velocities only, and drivers the joints of a gripper."""
    module, node = load(name), mock.Mock()
    state = JointState(name=names, position=[0.1])
    solution = SimpleNamespace(positions=[0.2, 0.3])
    answer = SimpleNamespace(
        success=True, joint_names=['panda_joint1', 'panda_joint2'], pose_index=[0],
        solutions=[solution], codes=[SolveIk.Response.CONVERGED],
    )  # fmt: skip
    node.create_client.return_value.call_async.return_value.result.return_value = answer
    monkeypatch.setattr(module, 'rclpy', mock.Mock())
    monkeypatch.setattr(module, 'Node', lambda _: node)
    monkeypatch.setattr(module, 'wait_for_message', lambda *_, **__: (True, state))
    assert module.main() == 1
    (error,) = node.get_logger.return_value.error.call_args.args
    assert error.startswith('joint_states have no position of ') and 'panda_joint2' in error
