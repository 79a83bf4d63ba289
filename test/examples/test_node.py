# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The examples that talk to the node, on one mock Panda and as a user starts them."""

import os
import re
import subprocess

from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from sensor_msgs.msg import Joy
from std_srvs.srv import SetBool
from support.processes.ros_processes import nested
from support.rigs.example_rig import Session
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import RATE
import yaml

from ros_ik.demo.mock_robot import nanoseconds
from ros_ik.demo.robots import find_robot
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.poses import pose_errors
from ros_ik_interfaces.msg import IkStatus

pytestmark = [pytest.mark.dds, pytest.mark.timeout(480)]


@pytest.fixture(scope='module')
def panda(tmp_path_factory):
    """Yield a running session with the Panda, whose node and robot have the rate of the rigs."""
    folder, robot = tmp_path_factory.mktemp('panda'), DemoRobot.load('panda')
    chain = {'joint_group': robot.chain, 'ee.frame': robot.tip_link, 'control_rate': RATE}
    given = {'ros_ik': chain, 'mock_robot': {'publish_rate': RATE}}
    words = {node: {'ros__parameters': nested(values)} for node, values in given.items()}
    file = folder / 'rates.yaml'
    file.write_text(yaml.safe_dump({'/**': words}))
    session = Session(folder, '--robot', 'panda', '--params-file', file)
    yield session.wait_until_ready()
    session.end()


@pytest.fixture
def session(panda):
    """Return the session with the robot at rest where it started."""
    panda.go({name: value for name, value in find_robot('panda').home.items() if name in ARM})
    return panda


def test_stream_poses(session):
    client = session.client
    before = client.moved_pose().pose.position

    def is_on_circle():
        place = client.poses[-1].pose.position
        # More than a quarter of the circle: 5 cm to the side and 5 cm down.
        if place.y < before.y + 0.04 or place.z > before.z - 0.03:
            return False
        # 5 cm from its centre, less the lag of a robot that follows; where an example stands still
        # and goes on, the robot leaves it for a moment.
        radius = np.hypot(place.y - before.y, place.z - before.z + 0.05)
        return radius == pytest.approx(0.05, abs=0.005)

    # With an input, as a user starts it.
    with session.example('stream_poses', stdin=subprocess.DEVNULL) as example:
        session.wait_for(is_on_circle, 'quarter of a circle', example)
        session.interrupt(example)


def test_move_to_pose(session):
    before = session.client.moved_pose().pose.position
    with session.example('move_to_pose') as example:
        assert example.wait() == 0, example.text()
        assert example.text().count('reached to') == 2
        assert 'mm to go' in example.text()
    after = session.client.moved_pose().pose.position
    assert np.allclose([after.x, after.y, after.z], [before.x, before.y, before.z], atol=2e-3)


def test_watch_status_stops_a_robot_that_does_not_follow(session):
    client = session.client
    with session.example('watch_status') as watching, session.example('stream_poses') as moving:
        session.wait_for(lambda: 'a circle' in moving.text(), 'circle', moving)
        client.call(SetBool, 'mock_robot/freeze', SetBool.Request(data=True))
        client.wait_for_code(IkStatus.STOPPED)
        client.call(SetBool, 'mock_robot/freeze', SetBool.Request(data=False))
        session.wait_for(lambda: 'does not follow: stopping' in watching.text(), 'word', watching)
        session.interrupt(moving)
        session.interrupt(watching)


def obstacle_count(client):
    """Return how many obstacles the node knows, in digits; '' before its first diagnostics."""
    entries = [entry for entry in client.diagnostics if entry.name == 'ros_ik: command']
    return {value.key: value.value for value in entries[-1].values}['obstacles'] if entries else ''


def test_obstacles(session):
    client = session.client
    with session.example('obstacles') as example, session.example('stream_poses') as moving:
        client.wait_for(
            lambda: client.status.limiting_pair_b == 'ball'
            and 0.0 < client.status.barrier_value < 0.06,
            'ball that is near',
        )
        client.wait_for(lambda: obstacle_count(client) == '2', 'word of the obstacles')
        assert 'a table, and a ball' in example.text()
        session.interrupt(example)
        # The obstacles are removed when their sender ends; otherwise the ball would still be
        # nearest.
        client.wait_for(lambda: obstacle_count(client) == '0', 'end of the obstacles')
        since = client.node.get_clock().now().nanoseconds
        later = []

        def has_heard_more():
            while client.statuses:
                status = client.statuses.popleft()
                later.extend([status] if nanoseconds(status.header.stamp) > since else [])
            return len(later) > 20

        client.wait_for(has_heard_more, 'statuses')
        assert {status.limiting_barrier for status in later} <= {'', 'self_collision'}
        session.interrupt(moving)


def test_joystick(session):
    client = session.client
    publisher = client.node.create_publisher(Joy, 'joy', 1)
    joy = Joy(axes=[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], buttons=[0, 0, 0, 0, 1])
    timer = client.node.create_timer(0.02, lambda: publisher.publish(joy))
    before = client.moved_pose().pose.position
    with session.example('joystick') as example:
        session.wait_for(
            lambda: client.poses[-1].pose.position.z > before.z + 0.03, 'way up', example
        )
        assert 'listening to /joy; hold button 4' in example.text()
        # Without the button the sticks have no effect.
        joy.buttons[4] = 0
        client.wait_for_rest()
        after = client.moved_pose().pose.position
        assert np.allclose([after.x, after.y], [before.x, before.y], atol=2e-3)
        # Fewer axes than expected are an error, and the example continues.
        joy.axes = [1.0]
        session.wait_for(lambda: 'too few axes' in example.text(), 'word', example)
        session.interrupt(example)
    client.node.destroy_timer(timer)
    client.node.destroy_publisher(publisher)


def test_a_spacemouse_turns_the_tool_too(session):
    client = session.client
    publisher = client.node.create_publisher(Joy, 'spacenav/joy', 1)
    joy = Joy(axes=[0.0, 0.0, 0.0, 0.0, 0.0, 1.0], buttons=[0, 0])
    timer = client.node.create_timer(0.02, lambda: publisher.publish(joy))
    before = client.moved_pose().pose.orientation
    words = '--ros-args', '-p', 'device:=spacemouse', '-r', 'joy:=spacenav/joy'
    words += '-p', 'angular_speed:=1'
    with session.example('joystick', *words) as example:
        # A yaw of 0.2 rad: the tool looks down, so its x and y turn.
        session.wait_for(lambda: angle(client.poses[-1], before) > 0.2, 'turn', example)
        joy.axes = [0.0] * 6
        client.wait_for_rest()
        session.interrupt(example)
    client.node.destroy_timer(timer)
    client.node.destroy_publisher(publisher)


def angle(pose, other):
    """Return the angle between a pose message and an orientation [rad]."""
    first, second = ([q.x, q.y, q.z, q.w] for q in (pose.pose.orientation, other))
    return float(pose_errors(np.array([0, 0, 0, *first]), np.array([0, 0, 0, *second]))[1])


def test_keyboard(session):
    client, twists = session.client, []
    heard = client.node.create_subscription(
        TwistStamped, 'ros_ik/ee/target_twist', lambda message: twists.append(message), 1000
    )
    before = client.moved_pose().pose.position
    master, terminal = os.openpty()
    try:
        with session.example('keyboard', stdin=terminal) as example:
            session.wait_for(lambda: 'forward' in example.text(), 'help', example)

            def is_heard():
                os.write(master, b' ')  # a key that means no motion
                return twists

            def is_aside():
                os.write(master, b'a')  # a key that is held repeats
                client.spin(0.05)
                assert example.is_running(), example.text()
                return client.poses[-1].pose.position.y > before.y + 0.02

            def has_ended():
                # Of a gap between two keys there may be an end too.
                now = client.node.get_clock().now().nanoseconds
                ends = [speed(twist) == 0.0 for twist in twists[-1:]]
                return ends == [True] and now - nanoseconds(twists[-1].header.stamp) > 1e9

            # This client may receive it later than the node does.
            session.wait_for(is_heard, 'twists', example)
            session.wait_for(is_aside, 'way to the side', example)
            session.wait_for(has_ended, 'end of the motion', example)
            client.wait_for_rest()
            after = client.moved_pose().pose.position
            assert np.allclose([after.x, after.z], [before.x, before.z], atol=2e-3)
            assert {speed(twist) for twist in twists} == {0.0, 0.1}
            # It goes on for as long as a key is held to be pressed: half a second, in steps of
            # 30 ms, however long a busy machine takes for each.
            twists.clear()
            os.write(master, b'a')
            session.wait_for(lambda: twists and speed(twists[-1]) == 0.0, 'an end', example)
            assert 1 < len(twists) <= 0.55 / 0.03 + 1
            # A key that repeats is released sooner.
            twists.clear()
            os.write(master, b'aa')
            session.wait_for(lambda: twists and speed(twists[-1]) == 0.0, 'an end', example)
            assert 1 < len(twists) <= 0.2 / 0.03 + 2
            os.write(master, b'x')
            assert example.wait() == 0, example.text()
    finally:
        os.close(master)
        os.close(terminal)
        client.node.destroy_subscription(heard)


def speed(message):
    """Return the velocity to the side [m/s]."""
    return message.twist.linear.y


def is_above(pose, objects):
    """Return True if the tool is above an object at the position seen a moment before."""
    stamp, place = nanoseconds(pose.header.stamp), pose.pose.position
    before = [thing for thing in objects if nanoseconds(thing.header.stamp) < stamp]
    if not before:
        return False
    thing = before[-1].pose
    q = thing.orientation
    # 15 cm above an object that moves at 16 cm/s, 50 to 150 ms behind it.
    near = place.z == pytest.approx(0.45, abs=0.005) and place.x == pytest.approx(0.4, abs=0.005)
    # It looks down, turned like the object.
    is_turned = angle(pose, Quaternion(x=q.w, y=q.z, w=0.0)) < 0.2
    return near and is_turned and abs(place.y - thing.position.y) < 0.06


def test_follow_frame(session):
    client = session.client
    with session.example('follow_frame', '--ros-args', '-p', 'simulate:=true') as example:
        seen = []
        heard = client.node.create_subscription(
            PoseStamped, 'object_pose', lambda message: seen.append(message), 100
        )
        session.wait_for(lambda: seen, 'object', example)
        client.wait_for(lambda: client.status.tasks[0].linear < 0.02, 'tool above the object')
        assert example.text().count('following an object in the base frame') == 1
        way = []

        def is_followed():
            pose = client.poses[-1]
            if way and pose.header.stamp == way[-1].header.stamp:
                return False
            # Where the machine stands still and goes on, it restarts.
            way[:] = [*way, pose] if is_above(pose, seen) else []
            sides = [pose.pose.position.y for pose in way]
            return len(sides) > 20 and max(sides) - min(sides) > 0.1

        session.wait_for(is_followed, 'way with the object', example)
        client.node.destroy_subscription(heard)
        session.interrupt(example)


def test_grasp_candidates(session):
    session.prepare_planner(check_collisions=True)
    with session.example('grasp_candidates') as example:
        assert example.wait() == 0, example.text()
        free, total = map(int, re.match(r'(\d+) of (\d+) grasps', example.text()).groups())
        # Grasps from below and from behind are out of reach or collide.
        assert total == 144 and 72 < free < 144
        assert re.search(r'nearest: grasp \d+, joints move at most [01]\.\d', example.text())


def test_check_trajectory(session):
    with session.example('check_trajectory') as example:
        assert example.wait() == 0, example.text()
        safe, folded, straight = example.text().splitlines()
    assert safe == 'reach to the front: safe'
    assert 'violates self_collision after 1.' in folded and 'panda_link1' in folded
    assert 'violates position limit of panda_joint4 after 2.' in straight


def test_follow_trajectory(session):
    pytest.importorskip('control_msgs', reason='control_msgs is not installed')
    with session.example('follow_trajectory') as example:
        assert example.wait() == 0, example.text()
        assert 'arrived' in example.text()
    positions = session.client.positions()
    assert positions['panda_joint1'] == pytest.approx(0.5, abs=0.01)
    assert positions['panda_joint4'] == pytest.approx(-2.0, abs=0.01)


def test_record_and_replay_a_bag(session, tmp_path):
    pytest.importorskip('rosbags')
    client, bag = session.client, tmp_path / 'bag'
    before = client.moved_pose().pose.position.y

    def goes_to(y, example):
        client.poses.clear()
        session.wait_for(
            lambda: client.poses and abs(client.poses[-1].pose.position.y - y) < 0.01,
            'motion', example,
        )  # fmt: skip

    with session.example('record_bag', 'record', bag) as example:
        client.stream('pose', client.moved_pose())
        session.wait_for(lambda: 'recording /ros_ik/target_pose' in example.text(), 'bag', example)
        client.stream('pose', client.moved_pose((0.0, 0.08, 0.0)))
        goes_to(before + 0.08, example)
        # Gives the recorder the time to receive it as well.
        client.spin(1.0)
        session.interrupt(example)
        assert int(re.search(r': (\d+) messages', example.text())[1]) > 20
        client.stream('pose', client.moved_pose((0.0, -0.08, 0.0)))
        goes_to(before, example)
        client.stream('pose', None)
    with session.example('record_bag', 'replay', bag) as example:
        goes_to(before + 0.08, example)
        assert example.wait() == 0, example.text()


def test_the_tour_of_the_launch_file_moves_a_robot_that_runs(session):
    before = session.client.moved_pose().pose.position
    words = 'ros_ik.demo.__main__', '--running', '--robot', 'panda', '--ros-args', '-r', '__ns:=/'
    with session.start('tour', *words) as example:
        # It may have kernels to compile.
        session.wait_for(lambda: 'pose 2: reached' in example.text(), 'second pose', example, 200)

        def has_moved():
            after = session.client.poses[-1].pose.position
            return np.hypot(after.z - before.z, after.y - before.y) > 0.02

        session.wait_for(has_moved, 'motion', example)
        session.interrupt(example)
