# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""No change of a parameter, an obstacle or a target leaves a gap in the commands, over DDS.

Gaps are times between two commands of the node. A busy machine makes random gaps of its own: a
change that leaves a long one is tried again, and compared with a node without a change. Graphs
recorded in ticks are counted, which needs no clock.
"""

import itertools
import math
import time

from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from support.motions.other_values import dynamic_parameters
from support.motions.other_values import other_value
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import LATCHED
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray
from ros_ik_interfaces.srv import SetMode

pytestmark = pytest.mark.dds

PERIOD = 0.01
GIVEN = {'ee.frame': 'panda_hand_tcp'}
TRIES = 20


@pytest.fixture(scope='module')
def client(tmp_path_factory):
    with ros_rig(tmp_path_factory.mktemp('gaps')) as client:
        start_node(client, control_rate=1.0 / PERIOD, diagnostics_period=0.1, **NEVER_STALE)
        client.others = {
            'obstacles': client.node.create_publisher(ObstacleArray, 'ros_ik/obstacles', LATCHED),
            'twist': client.node.create_publisher(TwistStamped, 'ros_ik/ee/target_twist', 1),
            'com': client.node.create_publisher(PointStamped, 'ros_ik/target_com', 1),
        }
        client.describe(panda_urdf())
        start_robot(client)
        client.wait_for_text('waiting for a target', timeout=120.0)
        home = client.moved_pose()
        client.home = home.pose.position.x, home.pose.position.y, home.pose.position.z
        home.header.stamp.sec = home.header.stamp.nanosec = 0
        client.pose, client.turn = home, itertools.count()
        sway(client)
        yield client


def sway(client, ticks=4):
    """Send the frame to another place, and wait for some commands after that."""
    angle = 0.7 * next(client.turn)
    position = client.pose.pose.position
    position.x, position.y, position.z = np.add(
        client.home, 0.05 * np.array([np.cos(angle), np.sin(angle), 0.0])
    )
    client.stream('ee', client.pose)
    # By their times of sending: earlier ones may still arrive.
    now = time.time_ns()
    client.wait_for(
        lambda: len(client.sent) >= ticks and client.sent[-ticks][0] > now, 'commands'
    )


def longest_gap(client, change):
    """Return the longest time between two commands from before a change until after it [s].

    With the number of commands.
    """
    sway(client)
    first = len(client.sent) - 1
    change()
    sway(client)
    times = [sent[0] for sent in client.sent[first:]]
    return float(np.diff(times).max()) * 1e-9, len(times)


class Gaps:
    """Gaps after changes, compared with gaps without changes."""

    def __init__(self, client):
        self._client, self.count, self._long = client, 0, {}

    def measure(self, name, change):
        """Measure the gap after a change, the shortest of some tries if it is long.

        Two periods count as no gap. A longer gap is that of the machine only if as many commands
        without a change have gaps as long.
        """
        self.count += 1
        calm, limit = math.inf, 2.5 * PERIOD
        gap, commands = longest_gap(self._client, change)
        for _ in range(TRIES):
            if gap <= limit:
                return
            still, _ = longest_gap(self._client, lambda n=commands: sway(self._client, n))
            calm = min(calm, still)
            limit = max(2.5 * PERIOD, calm + 0.5 * PERIOD)
            gap = min(gap, longest_gap(self._client, change)[0])
        if gap > limit:
            self._long[name] = gap, calm

    def assert_none(self):
        """Check that no change leaves a gap."""
        # Each with its gap, and the gap without a change.
        assert not self._long


def assert_nothing_was_recorded(client):
    """Check the node's own count."""
    client.diagnostics.clear()

    def loop():
        found = [one for one in client.diagnostics if one.name.endswith(': loop')]
        return found and {value.key: value.value for value in found[-1].values}

    client.wait_for(loop, 'diagnostics')
    assert loop()['graphs recorded in ticks'] == '0'


def change(client, name, value):
    """Set a parameter by its full name."""
    if isinstance(value, (list, tuple)) and not value:
        value = RosParameter(name, RosParameter.Type.DOUBLE_ARRAY, [])
    elif isinstance(value, tuple):
        value = list(value)
    (result,) = client.set(**{name: value}).values()
    assert result.successful, f'{name}: {result.reason}'


def test_no_parameter_leaves_a_gap(client):
    given = {**GIVEN, **{name: value for name, value in NEVER_STALE.items()}}
    entries, gaps = dynamic_parameters(GIVEN), Gaps(client)
    for name, entry in entries.items():
        value = given.get(name, entry.default)
        other = other_value(entry, value, len(ARM))

        def there_and_back(name=name, value=value, other=other):
            change(client, name, other)
            sway(client, 2)
            change(client, name, value)

        gaps.measure(name, there_and_back)
    assert gaps.count > 40
    gaps.assert_none()
    assert_nothing_was_recorded(client)


def test_no_obstacle_leaves_a_gap(client):
    gaps = Gaps(client)
    sizes = {
        Obstacle.SPHERE: [0.05],
        Obstacle.BOX: [0.1, 0.1, 0.1],
        Obstacle.CYLINDER: [0.05, 0.1],
        Obstacle.CAPSULE: [0.05, 0.1],
        Obstacle.HALF_SPACE: [],
    }
    for kind, dimensions in sizes.items():
        one = Obstacle(id=f'{kind}', operation=Obstacle.ADD, type=kind, dimensions=dimensions)
        one.header.frame_id, one.pose.orientation.w = 'panda_link0', 1.0
        one.pose.position.x = 0.7
        one.pose.position.z = -0.5 if kind == Obstacle.HALF_SPACE else 0.5
        gone = Obstacle(id=f'{kind}', operation=Obstacle.REMOVE)

        def there_and_back(one=one, gone=gone):
            client.others['obstacles'].publish(ObstacleArray(obstacles=[one]))
            sway(client, 2)
            client.others['obstacles'].publish(ObstacleArray(obstacles=[gone]))

        gaps.measure(kind, there_and_back)
    gaps.assert_none()
    assert_nothing_was_recorded(client)


def test_no_target_and_no_mode_leaves_a_gap(client):
    gaps = Gaps(client)
    change(client, 'com.weight', 1.0)
    twist, point = TwistStamped(), PointStamped()
    twist.header.frame_id = point.header.frame_id = 'panda_link0'
    twist.twist.linear.x, point.point.z = 0.02, 0.4
    positions = list(client.positions().values())

    def joints():
        client.send('joints', JointState(name=list(ARM), position=positions))

    def mode(number):
        client.call(SetMode, 'ros_ik/set_mode', SetMode.Request(mode=number))

    def modes():
        mode(SetMode.Request.POSE)
        sway(client, 2)
        mode(SetMode.Request.AUTO)

    kinds = {
        'a velocity': lambda: client.others['twist'].publish(twist),
        'a centre of mass': lambda: client.others['com'].publish(point),
        'joints': joints,
        'a pose': lambda: client.send('pose', client.pose),
        'modes': modes,
    }
    for kind, begin in kinds.items():
        gaps.measure(kind, begin)
    gaps.assert_none()
    for number in (SetMode.Request.TWIST, SetMode.Request.JOINT, SetMode.Request.HOLD):
        mode(number)
        client.wait_for_ticks(5)
    mode(SetMode.Request.AUTO)
    client.pause(True)
    client.wait_for_ticks(5)
    client.pause(False)
    client.trigger('stop')
    client.wait_for_ticks(5)
    client.trigger('reset')
    sway(client)
    change(client, 'com.weight', 0.0)
    assert_nothing_was_recorded(client)
