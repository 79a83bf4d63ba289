# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Each dynamic parameter, set while the node runs: its effect is seen, wrong values are refused.

An effect is a function under the parameter's name in the schema; a parameter without one fails
the tests. What moves is judged by the commanded positions and Pinocchio.
"""

import functools
import math
import os
from pathlib import Path

from geometry_msgs.msg import Point
from geometry_msgs.msg import PointStamped
import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from support.collision_oracle import PACKAGES
from support.held_robot import HeldRobot
from support.motion import Arm
from support.motion import motion_of
from support.motion import panda_ranges
from support.ros_rig import ARM
from support.ros_rig import LATCHED
from support.ros_rig import panda_urdf
from support.ros_rig import ROOT
from support.ros_rig import ros_rig
from support.ros_rig import start_node

from ros_ik.settings.schema import SCHEMA
from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds

PERIOD = 0.01
PATIENT = 5.0
# Where the hand may not go below, and a posture in which it is there already.
FLOOR = 0.2
LOW = {'panda_joint2': 0.9, 'panda_joint4': -2.0}
DYNAMIC = {entry.name: entry for entry in SCHEMA if not entry.read_only}
TRACKING = (IkStatus.OK, IkStatus.DEADLINE_MISSED)
# Tests of other files that see the effect.
ELSEWHERE = {
    'on_description_change':
        'test/node/test_node_description.py::test_ignore_and_deactivate_are_honoured',
    'command_time_source':
        'test/node/test_node_inputs.py::test_stamps_count_only_where_that_is_asked_for',
    'marker_rate': 'test/node/test_node_markers.py::test_the_rate_is_taken_over',
}  # fmt: skip
EFFECTS = {}


def effect(name):
    """Enter a function that sees the effect of a parameter."""

    def enter(function):
        EFFECTS[name] = function
        return function

    return enter


@functools.cache
def arm():
    """Return Pinocchio's view of the robot."""
    return Arm()


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    """Return a client of a node with a robot in its hand."""
    with pytest.MonkeyPatch.context() as patch:
        # The folder in whose share/ the meshes are.
        prefix = os.pathsep.join([os.environ['AMENT_PREFIX_PATH'], str(PACKAGES[0].parent)])
        patch.setenv('AMENT_PREFIX_PATH', prefix)
        with ros_rig(tmp_path_factory.mktemp('dynamic')) as client:
            start_node(
                client, outputs__default__publish_velocities=True, joint_state_timeout=PATIENT,
                barriers__position__floor__frame='panda_hand',
                barriers__position__floor__min=[-9.0, -9.0, FLOOR],
                barriers__position__floor__gain=100.0,
                # The capsules of these meet at home, as the SRDF of the robot knows.
                collision__ignore_pairs=['panda_link5:panda_link7'],
            )  # fmt: skip
            client.robot = HeldRobot(client)
            client.center = client.node.create_publisher(PointStamped, 'ros_ik/target_com', 1)
            client.obstacles = client.node.create_publisher(
                ObstacleArray, 'ros_ik/obstacles', LATCHED
            )
            client.describe(panda_urdf())
            client.wait_for_text('waiting for a target', timeout=60.0)
            client.before = current_values(client, [name_of(entry) for entry in DYNAMIC.values()])
            yield client


@pytest.fixture
def client(node):
    """Return the client with every parameter as at the start and the robot at home, at rest."""
    yield node
    for topic in ('pose', 'ee', 'joints'):
        node.stream(topic, None)
    node.obstacles.publish(ObstacleArray(obstacles=[Obstacle(operation=Obstacle.CLEAR)]))
    restore(node)
    node.trigger('reset')
    node.wait_for_text('waiting for a target')
    wait_for_silence(node)
    node.robot.silent = False
    node.robot.place(**HeldRobot.home())
    node.spin(0.1)
    if node.sent:
        motion_of(node, PERIOD).assert_within(panda_ranges())
    node.sent.clear()
    assert node.processes.is_alive('node'), node.processes.text('node')


def name_of(entry):
    """Return the name of a parameter on the node."""
    return entry.name.replace('<task>', 'ee')


def current_values(client, names):
    """Return parameters of the node by name, as messages; None for one without a value."""
    found = {}
    for name in names:
        request = GetParameters.Request(names=[name])
        found[name] = (*client.call(GetParameters, 'ros_ik/get_parameters', request).values, None)[
            0
        ]
    return found


def restore(client):
    """Give every parameter its value of the start."""
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
    """Set parameters, which has to succeed."""
    for name, result in client.set(**values).items():
        assert result.successful, f'{name}: {result.reason}'


def wait_for_silence(client):
    """Wait until nothing has been commanded for a while."""
    count = [-1]

    def is_silent():
        before, count[0] = count[0], len(client.sent)
        client.spin(0.1)
        return before == len(client.sent)

    client.wait_for(is_silent, 'silence')


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
    client.spin(seconds)
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


def test_every_dynamic_parameter_has_a_test_of_its_effect():
    assert set(EFFECTS) | set(ELSEWHERE) == set(DYNAMIC)
    for where in ELSEWHERE.values():
        path, _, function = where.partition('::')
        assert f'def {function}(' in Path(ROOT / path).read_text()


@pytest.mark.parametrize('name', EFFECTS)
def test_it_takes_effect_at_run_time(client, name):
    EFFECTS[name](client)


@effect('<task>.max_linear_speed')
def _linear_speed(client):
    for speed in (0.1, 0.2):
        change(client, ee__max_linear_speed=speed)
        motion = follow(client, moved(client, (0.0, 0.25 if speed == 0.1 else -0.25, 0.0)), 0.8)
        fastest = arm().speeds(motion)[0].max()
        assert fastest == pytest.approx(speed, rel=0.05)


@effect('<task>.max_angular_speed')
def _angular_speed(client):
    for speed in (0.2, 0.5):
        change(client, ee__max_angular_speed=speed)
        motion = follow(client, moved(client, turn=0.7 if speed == 0.2 else -0.7), 0.8)
        assert arm().speeds(motion)[1].max() == pytest.approx(speed, rel=0.05)


@effect('<task>.max_linear_acceleration')
def _linear_acceleration(client):
    for acceleration in (0.2, 0.6):
        change(client, ee__max_linear_acceleration=acceleration)
        shift = 0.2 if acceleration == 0.2 else -0.3
        motion = follow(client, moved(client, (0.0, shift, 0.0)), 0.6)
        gains = np.diff(arm().speeds(motion)[0][:40]) / PERIOD
        assert np.median(gains) == pytest.approx(acceleration, rel=0.1)
        client.stream('ee', None)
        wait_for_silence(client)


@effect('<task>.max_angular_acceleration')
def _angular_acceleration(client):
    for acceleration in (0.5, 1.5):
        change(client, ee__max_angular_acceleration=acceleration)
        motion = follow(client, moved(client, turn=0.7 if acceleration == 0.5 else -0.7), 0.6)
        gains = np.diff(arm().speeds(motion)[1][:30]) / PERIOD
        assert np.median(gains) == pytest.approx(acceleration, rel=0.1)
        client.stream('ee', None)
        wait_for_silence(client)


@effect('<task>.offset_xyz')
def _offset(client):
    before = client.moved_pose()
    change(client, ee__offset_xyz=[0.0, 0.0, 0.3])
    client.spin(0.1)
    after = client.moved_pose()
    positions, rotations = arm().poses([[client.robot.position[name] for name in ARM]])
    expected = positions[0] + rotations[0] @ [0.0, 0.0, 0.3]
    np.testing.assert_allclose(place_of(before), positions[0], atol=1e-6)
    np.testing.assert_allclose(place_of(after), expected, atol=1e-6)


@effect('<task>.offset_rpy')
def _turned_offset(client):
    before = client.moved_pose().pose.orientation
    change(client, ee__offset_rpy=[0.4, 0.0, 0.0])
    client.spin(0.1)
    after = client.moved_pose().pose.orientation
    cosine = abs(sum(getattr(before, k) * getattr(after, k) for k in 'xyzw'))
    assert 2.0 * math.acos(min(cosine, 1.0)) == pytest.approx(0.4, abs=1e-6)


@effect('<task>.position_weight')
def _position_weight(client):
    change(client, ee__position_weight=[1.0, 1.0, 0.0])
    high, goal = client.moved_pose().pose.position.z, moved(client, (0.0, 0.1, 0.1))
    follow(client, goal, 0.8)
    assert client.status.tasks[0].reached
    assert client.moved_pose().pose.position.z < high + 0.05
    change(client, ee__position_weight=1.0)
    client.wait_for(
        lambda: abs(client.poses[-1].pose.position.z - high - 0.1) < 2e-3, 'the height'
    )


@effect('<task>.orientation_weight')
def _orientation_weight(client):
    change(client, ee__orientation_weight=0.0)
    motion = follow(client, moved(client, turn=0.5), 0.5)
    assert client.status.tasks[0].reached
    assert arm().speeds(motion)[1].max() < 1e-3
    change(client, ee__orientation_weight=[0.5, 0.5, 0.5])
    client.wait_for(lambda: not client.status.tasks[0].reached, 'an error')
    client.wait_for(lambda: client.status.tasks[0].reached, 'the turn')
    assert arm().speeds(motion_of(client, PERIOD))[1].max() > 0.1


def decay(client, shift):
    """Go to a pose; return how much of the distance is left after each command, near the end."""
    goal = moved(client, shift)
    client.stream('ee', goal)
    client.wait_for(lambda: client.sent and client.status.tasks[0].reached, 'arrival')
    client.spin(0.3)
    positions, _ = arm().poses(motion_of(client, PERIOD).position)
    left = np.linalg.norm(positions - place_of(goal), axis=1)
    near = (left[:-1] > 1e-3) & (left[:-1] < 5e-3)
    return np.median(left[1:][near] / left[:-1][near])


@effect('<task>.gain')
def _gain(client):
    change(client, ee__gain=0.04)
    assert decay(client, (0.0, 0.05, 0.0)) == pytest.approx(0.96, abs=0.01)


@effect('<task>.linear_tolerance')
def _linear_tolerance(client):
    change(client, ee__max_linear_speed=0.02)
    follow(client, moved(client, (0.0, 0.1, 0.0)), 0.2)
    assert not client.status.tasks[0].reached
    change(client, ee__linear_tolerance=1.0)
    client.wait_for(lambda: client.status.tasks[0].reached, 'a tolerance of 1 m')


@effect('<task>.angular_tolerance')
def _angular_tolerance(client):
    change(client, ee__max_angular_speed=0.02)
    follow(client, moved(client, turn=0.5), 0.2)
    assert not client.status.tasks[0].reached
    change(client, ee__angular_tolerance=1.0)
    client.wait_for(lambda: client.status.tasks[0].reached, 'a tolerance of 1 rad')


def posture():
    """Return home with the elbow turned out."""
    home = HeldRobot.home()
    return [home[name] for name in ARM[:2]] + [0.5] + [home[name] for name in ARM[3:]]


def elbow_motion(client, seconds):
    """Hold the tool where it is; return how far the third joint moves meanwhile [rad]."""
    motion = follow(client, client.moved_pose(), seconds)
    positions, _ = arm().poses(motion.position)
    assert np.ptp(positions, axis=0).max() < 2e-3, 'the tool moved'
    return np.ptp(motion.position[:, 2])


@effect('posture.positions')
def _posture(client):
    assert elbow_motion(client, 0.3) < 1e-3
    change(client, posture__positions=posture())
    assert elbow_motion(client, 1.0) > 0.03


@effect('posture.weight')
def _posture_weight(client):
    change(client, posture__weight=0.0, posture__positions=posture())
    assert elbow_motion(client, 0.5) < 1e-3
    change(client, posture__weight=0.02)
    assert elbow_motion(client, 1.0) > 0.03


@effect('solver.damping')
def _damping(client):
    assert fastest_way(client, 0.2) == pytest.approx(0.5, rel=0.1)
    change(client, solver__damping=1e5)
    assert fastest_way(client, -0.2) < 0.4


@effect('solver.regularization')
def _regularization(client):
    assert fastest_way(client, 0.2) == pytest.approx(0.5, rel=0.1)
    change(client, solver__regularization=10.0)
    assert fastest_way(client, -0.2) < 0.4


def fastest_way(client, shift):
    """Return the largest speed of the tool on a way [m/s]."""
    motion = follow(client, moved(client, (0.0, shift, 0.0)), 0.7)
    return arm().speeds(motion)[0].max()


@effect('solver.max_iterations')
def _iterations(client):
    # Below the floor the step takes several: the barrier asks for more than a joint may do.
    client.robot.place(**LOW)
    client.spin(0.1)
    change(client, solver__max_iterations=1)
    client.stream('ee', moved(client, (0.0, 0.0, 0.3)))
    client.wait_for_code(IkStatus.SOLVER_FAILED)
    change(client, solver__max_iterations=200)
    client.wait_for(lambda: client.status.tasks[0].reached, 'arrival')


@effect('command_timeout')
def _command_timeout(client):
    change(client, ee__max_linear_speed=0.05)
    lasted = []
    for timeout in (0.2, 1.0):
        change(client, command_timeout=timeout)
        target = moved(client, (0.0, 0.2, 0.0))
        client.statuses.clear()
        client.send('ee', target)
        client.wait_for(
            lambda: client.status and client.status.code == IkStatus.COMMAND_STALE
            and any(status.tasks[0].active for status in client.statuses), 'the end',
        )  # fmt: skip
        stamps = [
            status.header.stamp.sec + 1e-9 * status.header.stamp.nanosec
            for status in client.statuses if status.tasks[0].active
        ]  # fmt: skip
        lasted.append(stamps[-1] - stamps[0])
    # Late ticks of a busy machine see the end later, and the beginning too.
    assert lasted[0] < 0.6 < lasted[1] < 1.5


@effect('joint_state_timeout')
def _joint_state_timeout(client):
    client.stream('joints', JointState(name=['panda_joint1'], position=[1.0]))
    client.wait_for_text('tracking')
    client.robot.silent = True
    client.statuses.clear()
    client.spin(0.6)
    assert all(status.code in TRACKING for status in client.statuses)
    change(client, joint_state_timeout=0.3)
    client.wait_for_code(IkStatus.JOINT_STATE_STALE)


@effect('max_target_step_linear')
def _step_linear(client):
    change(client, target_jump_policy='reject', max_target_step_linear=0.1)
    goal = moved(client, (0.0, 0.15, 0.0))
    client.stream('ee', goal)
    client.wait_for_code(IkStatus.TARGET_JUMP)
    assert client.sent == []
    change(client, max_target_step_linear=0.2)
    client.wait_for_text('tracking')


@effect('max_target_step_angular')
def _step_angular(client):
    change(client, target_jump_policy='reject', max_target_step_angular=0.3)
    client.stream('ee', moved(client, turn=0.5))
    client.wait_for_code(IkStatus.TARGET_JUMP)
    assert client.sent == []
    change(client, max_target_step_angular=0.8)
    client.wait_for_text('tracking')


@effect('target_jump_policy')
def _jump_policy(client):
    change(client, target_jump_policy='reject')
    client.stream('ee', moved(client, (0.0, 0.4, 0.0)))
    client.wait_for_code(IkStatus.TARGET_JUMP)
    assert client.sent == []
    change(client, target_jump_policy='saturate')
    client.wait_for(lambda: client.status.tasks[0].reached, 'arrival')


@effect('limits.position_margin')
def _margin(client):
    upper = panda_ranges().upper[0]
    client.robot.place(panda_joint1=2.5)
    client.spin(0.1)
    for margin in (0.2, 0.05):
        change(client, limits__position_margin=[margin])
        client.spin(0.05)
        motion = turn_to(client, panda_joint1=3.0)
        assert motion.position[-1, 0] == pytest.approx(upper - margin, abs=1e-5)
        assert motion.position[:, 0].max() <= upper - margin + 1e-6


@effect('limits.velocity_scale')
def _velocity_scale(client):
    for goal, scale in ((0.6, 0.25), (-0.6, 0.5)):
        change(client, limits__velocity_scale=scale)
        fastest = turn_to(client, panda_joint1=goal).speed.max()
        assert fastest == pytest.approx(scale * panda_ranges().velocity[0], rel=1e-6)


@effect('limits.acceleration_scale')
def _acceleration_scale(client):
    for goal, scale in ((0.6, 0.1), (-0.6, 0.3)):
        change(client, limits__acceleration_scale=scale)
        speed = turn_to(client, panda_joint1=goal).speed
        gain = np.max(np.diff(speed[:10])) / PERIOD
        assert gain == pytest.approx(scale * panda_ranges().acceleration[0], rel=1e-5)


@effect('publish_when_idle')
def _idle(client):
    client.spin(0.3)
    assert client.sent == []
    change(client, publish_when_idle=True)
    client.wait_for(lambda: len(client.sent) > 20, 'trajectories while idle')
    assert motion_of(client, PERIOD).speed.max() == 0.0


@effect('status_rate')
def _status_rate(client):
    for rate in (20.0, 50.0):
        change(client, status_rate=rate)
        client.spin(0.1)
        client.statuses.clear()
        client.wait_for(lambda: len(client.statuses) > 12, 'statuses')
        steps = np.diff([status.ticks for status in client.statuses])
        # The schedule is one of time: where ticks are late, fewer lie between two statuses.
        assert 1 < np.median(steps) <= 100.0 / rate
    change(client, status_rate=0.0)
    client.statuses.clear()
    client.wait_for(lambda: len(client.statuses) > 12, 'statuses')
    assert np.median(np.diff([status.ticks for status in client.statuses])) == 1


@effect('diagnostics_period')
def _diagnostics_period(client):
    counts = []
    for period in (0.1, 0.7):
        change(client, diagnostics_period=period)
        client.spin(0.1)
        client.diagnostics.clear()
        client.wait_for(lambda: len(loop_ticks(client)) > 2, 'diagnostics')
        counts.append(np.diff(loop_ticks(client)).mean())
    assert 3.0 * counts[0] < counts[1]


def loop_ticks(client):
    """Return the number of ticks in each message on /diagnostics."""
    loops = [entry for entry in client.diagnostics if entry.name == 'ros_ik: loop']
    return [int(v.value) for entry in loops for v in entry.values if v.key == 'ticks']


@effect('barriers.recheck')
def _recheck(client):
    # The barrier asks to brake from 0.5 m/s within 5 mm: only who looks ahead can.
    below = []
    for checked in (False, True):
        change(client, barriers__recheck=checked)
        client.stream('ee', None)
        wait_for_silence(client)
        client.robot.place(**HeldRobot.home())
        client.spin(0.1)
        motion = follow(client, moved(client, (0.0, 0.0, -0.6)), 1.5)
        below.append(FLOOR - arm().poses(motion.position, 'panda_hand')[0][:, 2].min())
    assert below[0] > 1e-3 and below[1] <= 1e-6


@effect('target_filter_tau')
def _filter(client):
    change(client, target_filter_tau=0.3)
    left = decay(client, (0.0, 0.05, 0.0))
    assert left == pytest.approx(math.exp(-PERIOD / 0.3), abs=0.003)


@effect('halt_mode')
def _halt_mode(client):
    for sign, mode in ((1.0, 'decelerate'), (-1.0, 'hold')):
        change(client, halt_mode=mode)
        since = len(client.sent)
        client.stream('joints', JointState(name=['panda_joint1'], position=[sign * 2.0]))
        client.wait_for(
            lambda since=since: len(client.sent) > since
            and motion_of(client, PERIOD, since).speed.max() > 2.0, 'speed',
        )  # fmt: skip
        client.stream('joints', None)
        client.wait_for_code(IkStatus.COMMAND_STALE)
        wait_for_silence(client)
        way = sign * motion_of(client, PERIOD, since).position[:, 0]
        # From 2 rad/s a joint needs about 0.2 rad to stop.
        went_back = way.max() - way[-1]
        assert went_back > 0.1 if mode == 'hold' else went_back < 1e-6, (mode, way[-60:])


@effect('solver.singularity_threshold')
def _threshold(client):
    near = (IkStatus.DAMPED_NEAR_SINGULARITY, IkStatus.LEAVING_SINGULARITY)
    client.stream('ee', moved(client, (0.0, 0.2, 0.0)))
    client.wait_for_text('tracking')
    assert client.status.code not in near
    change(client, solver__singularity_threshold=1.0)
    client.stream('ee', moved(client, (0.0, -0.4, 0.0)))
    client.wait_for_code(*near)


@effect('solver.singularity_damping')
def _singularity_damping(client):
    change(client, solver__singularity_threshold=1.0, solver__singularity_damping=0.0)
    assert fastest_way(client, 0.2) == pytest.approx(0.5, rel=0.1)
    change(client, solver__singularity_damping=1.0)
    assert fastest_way(client, -0.2) < 0.4


def aim_center(client, shift):
    """Stream a target of the centre of mass; return it and the timer that streams."""
    goal = arm().center_of_mass([[client.robot.position[name] for name in ARM]])[0] + shift
    message = PointStamped(point=Point(x=goal[0], y=goal[1], z=goal[2]))
    return goal, client.node.create_timer(0.02, lambda: client.center.publish(message))


def center_speeds(client, seconds=1.0):
    """Move the centre of mass; return its speed at each command [m/s]."""
    since = len(client.sent)
    _, timer = aim_center(client, [0.0, 0.05, 0.0])
    client.wait_for(lambda: len(client.sent) > since, 'motion')
    client.spin(seconds)
    client.node.destroy_timer(timer)
    motion = motion_of(client, PERIOD, since)
    wait_for_silence(client)
    places = arm().center_of_mass(motion.position)
    return np.linalg.norm(np.diff(places, axis=0), axis=1)[motion.follows] / PERIOD


@effect('com.weight')
def _center_weight(client):
    goal, timer = aim_center(client, [0.0, 0.03, 0.0])
    client.spin(0.3)
    assert client.sent == []
    change(client, com__weight=1.0)
    client.wait_for(lambda: client.sent, 'motion')
    client.wait_for(
        lambda: np.linalg.norm(
            arm().center_of_mass(motion_of(client, PERIOD, -1).position)[0] - goal
        ) < 1e-3, 'arrival of the centre of mass',
    )  # fmt: skip
    client.node.destroy_timer(timer)


@effect('com.max_linear_speed')
def _center_speed(client):
    for speed in (0.02, 0.05):
        change(client, com__weight=1.0, com__max_linear_speed=speed)
        assert center_speeds(client).max() == pytest.approx(speed, rel=0.1)


@effect('com.max_linear_acceleration')
def _center_acceleration(client):
    for acceleration in (0.05, 0.15):
        change(client, com__weight=1.0, com__max_linear_acceleration=acceleration)
        gains = np.diff(center_speeds(client, 0.6)[:20]) / PERIOD
        assert np.median(gains) == pytest.approx(acceleration, rel=0.2)


@effect('com.linear_tolerance')
def _center_tolerance(client):
    change(client, com__weight=1.0, com__max_linear_speed=0.005)
    _, timer = aim_center(client, [0.0, 0.05, 0.0])

    def reached():
        return [task.reached for task in client.status.tasks if task.name == 'com']

    client.wait_for(lambda: reached() == [False], 'an error')
    change(client, com__linear_tolerance=1.0)
    client.wait_for(lambda: reached() == [True], 'a tolerance of 1 m')
    client.node.destroy_timer(timer)


def place_ball(client):
    """Put a ball to the left of the tool."""
    here = place_of(client.moved_pose())
    ball = Obstacle(id='ball', operation=Obstacle.ADD, type=Obstacle.SPHERE, dimensions=[0.08])
    ball.header.frame_id = 'panda_link0'
    ball.pose.position = Point(x=here[0], y=here[1] + 0.3, z=here[2])
    client.obstacles.publish(ObstacleArray(obstacles=[ball]))


def approach_ball(client):
    """Move the tool to where a ball is."""
    place_ball(client)
    client.stream('ee', moved(client, (0.0, 0.3, 0.0)))


def fold(client):
    """Fold the arm until its fingers come to its own upper arm."""
    goal = {'panda_joint4': -3.05, 'panda_joint6': 0.0}
    client.stream('joints', JointState(name=list(goal), position=list(goal.values())))


def keeps_margin(client, barrier, move, wide):
    """Check that a motion ends at a wide margin, and goes on to the usual one."""
    name = f'barriers__{barrier}__margin'
    usual = client.before[name.replace('__', '.')].double_value
    change(client, **{name: wide})
    move(client)
    client.wait_for(lambda: wide < value_of(client, barrier) < wide + 0.01, 'the wide margin')
    client.spin(0.3)
    assert value_of(client, barrier) > wide
    change(client, **{name: usual})
    client.wait_for(lambda: usual < value_of(client, barrier) < usual + 0.01, 'the usual margin')


def value_of(client, barrier):
    """Return the newest value of a barrier, infinity where another one is nearer."""
    status = client.status
    return status.barrier_value if status.limiting_barrier == barrier else math.inf


def keeps_gain(client, barrier, move):
    """Check the part of the distance beyond the margin that is used up per second."""
    name, margin = f'barriers__{barrier}__gain', f'barriers.{barrier}.margin'
    for gain in (1.0, 4.0):
        change(client, **{name: gain})
        client.statuses.clear()
        move(client)
        client.spin(2.0 if gain == 1.0 else 1.0)
        found = used_up(client, barrier, client.before[margin].double_value)
        assert 0.5 * gain < found <= 1.05 * gain


def used_up(client, barrier, margin):
    """Return the part of the room that a tick uses up, per second, near the end [1/s]."""
    held = (IkStatus.SLOWED_BY_BARRIER, IkStatus.HALTED_BY_BARRIER)
    statuses = [s for s in client.statuses if s.limiting_barrier == barrier and s.code in held]
    parts = []
    for one, two in zip(statuses[:-1], statuses[1:], strict=True):
        room = one.barrier_value - margin
        same = (one.limiting_pair_a, one.limiting_pair_b) == (
            two.limiting_pair_a, two.limiting_pair_b,
        )  # fmt: skip
        if same and two.ticks == one.ticks + 1 and 0.002 < room < 0.1:
            parts.append((one.barrier_value - two.barrier_value) / PERIOD / (room / (1.0 + room)))
    assert len(parts) > 5, 'the barrier held nothing back'
    return np.median(parts)


@effect('barriers.world.margin')
def _world_margin(client):
    keeps_margin(client, 'world', approach_ball, 0.06)


@effect('barriers.world.gain')
def _world_gain(client):
    keeps_gain(client, 'world', approach_ball)


@effect('barriers.self_collision.margin')
def _self_margin(client):
    keeps_margin(client, 'self_collision', fold, 0.04)


@effect('barriers.self_collision.gain')
def _self_gain(client):
    keeps_gain(client, 'self_collision', fold)


def wrong_values(entry):
    """Return values that a parameter does not take."""
    kind, several = entry.type.partition('|')[0].removesuffix('[]'), '[]' in entry.type
    mistyped = {'bool': 'yes', 'int': 1.5, 'double': 'a lot', 'string': 3.0}[kind]
    wrong = [mistyped, [mistyped] * 3] if several else [mistyped, ['a', 'b']]
    numbers = []
    if kind == 'double':
        numbers += [math.nan, *([math.inf] if entry.finite and entry.maximum is None else [])]
    if entry.minimum is not None:
        numbers.append(entry.minimum - 1)
        numbers += [entry.minimum] if entry.exclusive_minimum else []
    if entry.maximum is not None:
        numbers.append(entry.maximum + 1)
    cast = int if kind == 'int' else float
    numbers = [cast(number) for number in numbers]
    wrong += [[number] * 3 for number in numbers] if several else numbers
    if entry.lengths:
        wrong.append([0.5] * (max(entry.lengths) + 1))
    if kind == 'string' and entry.choices:
        wrong.append('no such choice')
    return wrong


@pytest.mark.parametrize('name', DYNAMIC)
def test_wrong_values_are_refused_with_a_reason(node, name):
    entry, full_name = DYNAMIC[name], name_of(DYNAMIC[name])
    before = current_values(node, [full_name])
    for value in wrong_values(entry):
        result = node.set(**{full_name: value})[full_name]
        assert not result.successful, f'{full_name} took {value}'
        # What has the wrong type is refused by rclpy itself, in words of its own.
        assert full_name in result.reason or 'parameter type' in result.reason, result.reason
    assert current_values(node, [full_name]) == before
