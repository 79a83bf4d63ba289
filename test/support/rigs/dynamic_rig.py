# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A node whose dynamic parameters are changed, with a robot played by its client."""

import contextlib
import functools
import math
import time

from geometry_msgs.msg import PointStamped
import numpy as np
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from support.motions.motion import Arm
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.mesh_rig import mesh_rig
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import UNWATCHED
from support.robots.held_robot import HeldRobot

from ros_ik.settings.schema import SCHEMA
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

# Twice the usual: half of the work for motions that take as long.
PERIOD = 0.02
# Floor of the hand, and a posture in which the hand is below it.
FLOOR = 0.2
LOW = {'panda_joint2': 0.9, 'panda_joint4': -2.0}
DYNAMIC = {entry.name: entry for entry in SCHEMA if not entry.read_only}


class Effects(dict):
    """Functions that see the effect of a parameter, by its name in the schema."""

    def __call__(self, name):
        """Return a decorator that registers a function."""

        def enter(function):
            self[name] = function
            return function

        return enter


@functools.cache
def arm():
    """Return Pinocchio's view of the robot."""
    return Arm()


@contextlib.contextmanager
def dynamic_node(folder):
    """Yield a client that plays the robot of a node."""
    with mesh_rig(folder) as client:
        start_node(
            client, control_rate=1.0 / PERIOD, outputs__default__publish_velocities=True,
            ee__elbow_frame='panda_link4',
            # Below that of the centre of mass, so that priorities may change.
            ee__priority=2,
            **UNWATCHED, **NEVER_STALE,
            barriers__position__floor__frame='panda_hand',
            barriers__position__floor__min=[-9.0, -9.0, FLOOR],
            barriers__position__floor__gain=50.0,
            # The capsules of these links touch at home; the robot's SRDF excludes them.
            collision__ignore_pairs=['panda_link5:panda_link7'],
        )  # fmt: skip
        client.robot = HeldRobot(client, rate=1.0 / PERIOD)
        client.center = client.node.create_publisher(PointStamped, 'ros_ik/target_com', 1)
        client.obstacles = client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED)
        client.describe(panda_urdf())
        client.wait_for_text('waiting for a target', timeout=LONG)
        client.before = current_values(client, [name_of(entry) for entry in DYNAMIC.values()])
        yield client


def start_anew(node):
    """Check what was commanded; give parameters and robot what they had at the start."""
    node.robot.silent = False
    node.obstacles.publish(ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)]))
    restore(node)
    come_to_rest(node)
    node.robot.place(**HeldRobot.home())
    node.robot.wait_until_seen()
    if node.sent:
        motion_of(node, PERIOD).assert_within(panda_ranges())
    node.sent.clear()
    assert node.processes.is_alive('node'), node.processes.text('node')


def come_to_rest(client):
    """Make the node drop its targets; return once it sends no commands any more."""
    for topic in ('pose', 'ee', 'joints'):
        client.stream(topic, None)
    client.forget_targets()
    client.wait_for_silence()


def name_of(entry):
    """Return the name of a parameter on the node."""
    return entry.name.replace('<task>', 'ee')


def current_values(client, names):
    """Return parameters of the node by name, as messages; None for one without a value."""
    request = GetParameters.Request(names=names)
    values = client.call(GetParameters, 'ros_ik/get_parameters', request).values
    if len(values) == len(names):
        return dict(zip(names, values, strict=True))
    # One without a value is left out of the answer.
    found = {}
    for name in names:
        request = GetParameters.Request(names=[name])
        found[name] = (*client.call(GetParameters, 'ros_ik/get_parameters', request).values, None)[
            0
        ]
    return found


def restore(client):
    """Reset every parameter to its value at the start."""
    now = current_values(client, list(client.before))
    for name, value in client.before.items():
        if value == now[name]:
            continue
        if value is None:
            change(client, **{name: RosParameter(name, RosParameter.Type.DOUBLE_ARRAY, [])})
            client.before[name] = current_values(client, [name])[name]
        else:
            message = RosParameter(name, value=0.0).to_parameter_msg()
            message.value = value
            change(client, **{name: RosParameter.from_parameter_msg(message)})


def change(client, **values):
    """Set parameters, which has to succeed; return once the newest status is of them."""
    for name, result in client.set(**values).items():
        assert result.successful, f'{name}: {result.reason}'
    wait_for_the_present(client)


def stamp_of(status):
    """Return the time of a status [s]."""
    return status.header.stamp.sec + 1e-9 * status.header.stamp.nanosec


def wait_for_the_present(client):
    """Wait for the status of a tick that began after now, with all earlier messages received."""
    now = time.time()
    client.wait_for(
        lambda: stamp_of(client.status) - 1e-3 * client.status.tick_ms > now, 'a status of now'
    )


def moved(client, xyz=(0.0, 0.0, 0.0), turn=0.0):
    """Return the pose of the tool, displaced, and turned about its own x axis [rad]."""
    pose = client.moved_pose(xyz)
    q = pose.pose.orientation
    x, y, z, w = q.x, q.y, q.z, q.w
    s, c = math.sin(0.5 * turn), math.cos(0.5 * turn)
    q.x, q.y, q.z, q.w = w * s + x * c, y * c + z * s, z * c - y * s, w * c - x * s
    return pose


def follow(client, pose, seconds):
    """Track a pose for a while; return what was commanded."""
    since = len(client.sent)
    client.stream('ee', pose)
    client.wait_for(lambda: len(client.sent) > since, 'motion')
    client.wait_for_ticks(round(seconds / PERIOD))
    return motion_of(client, PERIOD, since)


def turn_to(client, **goal):
    """Track joint positions until the robot is at rest; return the commands."""
    since = len(client.sent)
    client.stream('joints', JointState(name=list(goal), position=list(goal.values())))
    client.wait_for(
        lambda: len(client.sent) > since and motion_of(client, PERIOD, since).speed.max() > 0.01,
        'motion',
    )
    client.wait_for(lambda: not any(client.sent[-1][1].points[0].velocities), 'rest')
    return motion_of(client, PERIOD, since)


def place_of(pose):
    """Return the position of a pose message."""
    p = pose.pose.position
    return np.array([p.x, p.y, p.z])


def decay(client, shift):
    """Go to a pose; return how much of the distance is left after each command, near the end."""
    goal = moved(client, shift)
    client.stream('ee', goal)
    client.wait_for(lambda: client.sent and client.status.tasks[0].reached, 'arrival')
    client.wait_for_ticks(15)
    positions, _ = arm().poses(motion_of(client, PERIOD).position)
    left = np.linalg.norm(positions - place_of(goal), axis=1)
    near = (left[:-1] > 1e-3) & (left[:-1] < 5e-3)
    return np.median(left[1:][near] / left[:-1][near])


def fastest_way(client, shift):
    """Return the largest speed of the tool on a way from rest [m/s]."""
    come_to_rest(client)
    motion = follow(client, moved(client, (0.0, shift, 0.0)), 0.7)
    return arm().speeds(motion)[0].max()
