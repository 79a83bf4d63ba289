# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A robot with two arms and two controllers of different kinds, played by the client."""

import math

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.rigs.ros_rig import LONG
from trajectory_msgs.msg import JointTrajectory
import yaml

from ros_ik.demo.robots import find_robot
from ros_ik_interfaces.msg import IkStatus

JOINTS = ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')
LEFT = tuple(f'left_{name}' for name in JOINTS)
# Another order than that of the model: commands must have the controller's order.
RIGHT = tuple(f'right_{name}' for name in reversed(JOINTS))
_RATE = 100.0
_PARAMETERS = {
    'base_frame': 'torso',
    'frame_tasks': ['left', 'right'],
    'left.frame': 'left_gripper',
    'right.frame': 'right_gripper',
    'output_names': ['left', 'right'],
    'outputs.left.topic': 'left_controller',
    'outputs.left.joints': list(LEFT),
    'outputs.right.topic': 'right_controller',
    'outputs.right.joints': list(RIGHT),
    'outputs.right.type': 'float64_multi_array',
    # The client also plays the robot, on a machine that may be busy.
    'control_rate': 50.0,
    'joint_state_timeout': 60.0,
    'command_timeout': 0.5,
    # Links of this description are near each other by design.
    'barriers.self_collision.enabled': False,
}


class TwoArms:
    """Baxter as two controllers and a broadcaster in the client.

    The left one takes trajectories, the right one arrays of positions.

    Attributes:
        position: Where each joint is [rad], by name.
        trajectories: What the left controller was sent.
        arrays: What the right controller was sent.
        poses: Newest current pose by task.
    """

    def __init__(self, client):
        self.position = {name: 0.0 for name in (*LEFT, *RIGHT)}
        for name, value in find_robot('baxter').home.items():
            self.position[name] = float(value)
            mirrored = -float(value) if name.endswith(('s0', 'e0', 'w0', 'w2')) else float(value)
            self.position[name.replace('left', 'right')] = mirrored
        self.trajectories, self.arrays, self.poses = [], [], {}
        self.client, node = client, client.node
        self.publisher = node.create_publisher(JointState, 'joint_states', 1)
        self._targets = {}
        for task in ('left', 'right'):
            for kind, name in ((PoseStamped, 'target_pose'), (TwistStamped, 'target_twist')):
                topic = f'{task}/{name}'
                self._targets[topic] = node.create_publisher(kind, f'ros_ik/{topic}', 1)
            node.create_subscription(
                PoseStamped,
                f'ros_ik/{task}/current_pose',
                lambda message, task=task: self.poses.update({task: message}),
                1,
            )
        node.create_subscription(JointTrajectory, 'left_controller', self._on_left, 10)
        node.create_subscription(Float64MultiArray, 'right_controller', self._on_right, 10)
        self.streams = {}
        self.timer = node.create_timer(1.0 / _RATE, self._step)

    def start(self, folder, **values):
        """Start the node, with a parameter file in a folder, and wait until it is ready."""
        file = folder / 'two_arms.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': _PARAMETERS}}))
        self.client.processes.start('node', 'ros_ik.node.ros_ik_node', file, **values)
        self.client.describe(find_robot('baxter').urdf_path.read_text())
        self.client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)

    def pose(self, task, xyz=(0.0, 0.0, 0.0)):
        """Return the newest pose of a task, displaced."""
        self.poses.pop(task, None)
        self.client.wait_for(lambda: task in self.poses, f'pose of {task}')
        found = self.poses[task]
        position = found.pose.position
        position.x, position.y, position.z = (
            value + shift
            for value, shift in zip((position.x, position.y, position.z), xyz, strict=True)
        )
        return found

    def report(self, task):
        """Return the newest status of a task, None before the first."""
        status = self.client.status
        tasks = status.tasks if status else ()
        return next((entry for entry in tasks if entry.name == task), None)

    def quiet(self):
        """Stop sending targets, and restart."""
        self.streams.clear()
        self.client.forget_targets()

    def _on_left(self, message):
        self.trajectories.append(message)
        self.position |= zip(message.joint_names, message.points[0].positions, strict=True)

    def _on_right(self, message):
        self.arrays.append(list(message.data))
        assert all(map(math.isfinite, message.data))
        self.position |= zip(RIGHT, message.data, strict=True)

    def _step(self):
        self.publisher.publish(
            JointState(name=list(self.position), position=list(self.position.values()))
        )
        for topic, message in self.streams.items():
            if hasattr(message, 'header'):
                message.header.stamp = self.client.node.get_clock().now().to_msg()
            self._targets[topic].publish(message)
