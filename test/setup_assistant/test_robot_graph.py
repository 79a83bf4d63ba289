# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A running robot over DDS: its description and controllers become a parameter file."""

import contextlib
import math
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_msgs.msg import String
from support.processes.ros_processes import reserved_domain
from support.processes.ros_processes import ROOT
from support.rigs.ros_rig import LATCHED
from support.robots.crossed_arms import CROSSED_ARMS
from trajectory_msgs.msg import JointTrajectory

from ros_ik.demo.robots import find_robot
from ros_ik.settings.parameter_file import read_parameters
from ros_ik.setup_assistant.__main__ import main

pytestmark = [pytest.mark.dds, pytest.mark.timeout(480)]
JOINTS = [f'joint_{k}' for k in range(1, 7)]


class Controller(Node):
    """A controller of ros2_control as the graph shows it: a topic and parameters."""

    def __init__(self, name, context, kind, topic, namespace='', **parameters):
        super().__init__(name, context=context, namespace=namespace)
        for key, value in parameters.items():
            self.declare_parameter(key, value)
        if kind is not None:
            self.create_subscription(kind, topic, lambda message: None, 1)


class Inactive(LifecycleNode):
    """A controller that is loaded and not active, of a name that comes first."""

    def __init__(self, context):
        super().__init__('a_controller', context=context)
        self.declare_parameter('joints', JOINTS)
        self.create_subscription(JointTrajectory, '~/joint_trajectory', lambda message: None, 1)


def describe(node, text):
    """Publish a description from a node."""
    node.create_publisher(String, 'robot_description', LATCHED).publish(String(data=text))


@contextlib.contextmanager
def running(make):
    """Run the nodes that ``make`` returns for a context; yield their domain."""
    with reserved_domain() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        nodes = make(context)
        executor = SingleThreadedExecutor(context=context)
        for node in nodes:
            executor.add_node(node)
        thread = threading.Thread(target=executor.spin)
        thread.start()
        yield domain
        executor.shutdown()
        thread.join(5.0)
        for node in nodes:
            node.destroy_node()
        rclpy.shutdown(context=context)


def robot_nodes(context):
    """Return a robot with controllers of several kinds."""
    nodes = [
        Controller(
            'arm_controller', context, JointTrajectory, '~/joint_trajectory', joints=JOINTS
        ),
        Controller(
            'velocity_controller', context, Float64MultiArray, '~/commands', joints=JOINTS,
            interface_name='velocity',
        ),
        Controller('controller_manager', context, None, '', update_rate=80),
        Controller(
            'effort_controller', context, Float64MultiArray, '~/commands', joints=JOINTS,
            interface_name='effort',
        ),
        Inactive(context),
        Controller('logger', context, JointTrajectory, '/arm_controller/joint_trajectory'),
    ]  # fmt: skip
    describe(nodes[0], find_robot('six_axis').urdf_path.read_text())
    return nodes


def two_robots(context):
    """Return one robot in each of two namespaces."""
    nodes = [
        Controller(
            'arm_controller', context, JointTrajectory, '~/joint_trajectory', space, joints=JOINTS
        )
        for space in ('left', 'right')
    ]  # fmt: skip
    for node in nodes:
        describe(node, find_robot('six_axis').urdf_path.read_text())
    return nodes


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the program in this process, and returns how it ended."""

    def run(domain, *arguments, patience=30.0):
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        code = main([*arguments, '--graph', '--patience', str(patience)])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run


def test_silence_is_said():
    with reserved_domain() as domain:
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(domain), 'PYTHONPATH': str(ROOT)}
        result = subprocess.run(
            [sys.executable, '-m', 'ros_ik.setup_assistant', '--graph', '--patience', '0.5'],
            env=environment, capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
    assert result.returncode == 1 and 'robot_state_publisher' in result.stderr


def test_a_running_robot_becomes_a_file_which_fits_it(run, tmp_path):
    path = tmp_path / 'my.yaml'
    with running(robot_nodes) as robot:
        result = run(robot, '--output', str(path))
        assert result.returncode == 0, result.stderr
        values = read_parameters(path.read_text())
        assert values['output_names'] == ['arm_controller']
        assert values['outputs.arm_controller.topic'] == '/arm_controller/joint_trajectory'
        assert values['outputs.arm_controller.joints'] == JOINTS
        assert values['control_rate'] == 80.0
        assert '/velocity_controller/commands drives joints of another output' in result.stdout
        assert 'effort' not in result.stdout
        assert '/a_controller/joint_trajectory drives joints of another output' in result.stdout
        result = run(robot, '--check', str(path))
        assert result.returncode == 0, result.stdout + result.stderr
        # The logger that listens there too has no joints.
        right = path.read_text()
        path.write_text(right.replace(f', {JOINTS[-1]}]', ']'))
        result = run(robot, '--check', str(path))
        assert result.returncode == 1 and 'has the joints' in result.stdout
        path.write_text(right.replace('/joint_trajectory', '/commands'))
        result = run(robot, '--check', str(path))
        assert result.returncode == 1 and 'no controller listens' in result.stdout


def test_a_robot_in_a_namespace_is_found_there_without_the_controllers_of_others(run):
    with running(two_robots) as domain:
        result = run(domain, patience=2.0)
        assert result.returncode == 1
        assert '--namespace: /left, /right' in result.stderr
        result = run(domain, '--namespace', 'left')
        assert result.returncode == 0, result.stderr
        values = read_parameters(result.stdout)
        assert values['output_names'] == ['arm_controller']
        assert values['outputs.arm_controller.topic'] == '/left/arm_controller/joint_trajectory'
        assert 'right' not in result.stdout
        result = run(domain, '--namespace', 'left arm')
        assert result.returncode == 1 and 'left arm' in result.stderr


def test_the_start_is_where_the_running_robot_is(run):
    """Joints that the description lacks, and positions that are not finite, are ignored."""
    message = JointState(name=['left_joint', 'tool_joint', 'wheel', 'top_joint'])
    message.position = [0.21, math.nan, 1.0, 0.0]

    def robot(context):
        node = Node('robot', context=context)
        describe(node, CROSSED_ARMS)
        states = node.create_publisher(JointState, 'joint_states', 1)
        node.create_timer(0.02, lambda: states.publish(message))
        return [node]

    with running(robot) as domain:
        result = run(domain)
    assert result.returncode == 0, result.stderr
    assert 'left:right: nearer at the start' in result.stderr and 'overlap' not in result.stderr
