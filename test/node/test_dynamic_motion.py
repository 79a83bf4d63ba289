# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Dynamic parameters of times, limits, barriers and the centre of mass, set while the node runs.

test_dynamic_parameters.py checks that no parameter is left out.
"""

import math

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point
from geometry_msgs.msg import PointStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.motions.motion import motion_of
from support.motions.motion import panda_ranges
from support.rigs.dynamic_rig import arm
from support.rigs.dynamic_rig import change
from support.rigs.dynamic_rig import come_to_rest
from support.rigs.dynamic_rig import dynamic_node
from support.rigs.dynamic_rig import Effects
from support.rigs.dynamic_rig import FLOOR
from support.rigs.dynamic_rig import follow
from support.rigs.dynamic_rig import moved
from support.rigs.dynamic_rig import PERIOD
from support.rigs.dynamic_rig import place_of
from support.rigs.dynamic_rig import stamp_of
from support.rigs.dynamic_rig import start_anew
from support.rigs.dynamic_rig import turn_to
from support.rigs.ros_rig import ARM
from support.rigs.ros_rig import NEVER_STALE
from support.robots.held_robot import HeldRobot

from ros_ik_interfaces.msg import IkStatus
from ros_ik_interfaces.msg import Obstacle
from ros_ik_interfaces.msg import ObstacleArray

pytestmark = pytest.mark.dds

TRACKING = (IkStatus.OK, IkStatus.DEADLINE_MISSED)
effect = Effects()


@pytest.fixture(scope='module')
def node(tmp_path_factory):
    with dynamic_node(tmp_path_factory.mktemp('dynamic')) as client:
        yield client


@pytest.fixture
def client(node):
    """Return the client with every parameter as at the start and the robot at home, at rest."""
    yield node
    start_anew(node)


@pytest.mark.parametrize('name', effect)
def test_it_takes_effect_at_run_time(client, name):
    effect[name](client)


@effect('command_timeout')
def _command_timeout(client):
    change(client, ee__max_linear_speed=0.05)
    for timeout in (0.2, 1.0):
        come_to_rest(client)  # a longer time would make the target before count again
        change(client, command_timeout=timeout)
        target = moved(client, (0.0, 0.2, 0.0))
        client.statuses.clear()
        client.wait_for(lambda: client.status, 'a status before the target')
        client.send('ee', target)
        client.wait_for(
            lambda: client.status.code == IkStatus.COMMAND_STALE
            and any(status.tasks[0].active for status in client.statuses), 'the end',
        )  # fmt: skip
        statuses = list(client.statuses)
        active = [k for k, status in enumerate(statuses) if status.tasks[0].active]
        first, last = statuses[active[0]], statuses[active[-1]]
        # Each of its ticks began in time, and the tick that dropped it came after that, even if
        # ticks of a busy machine are late and long.
        assert stamp_of(last) - 1e-3 * last.tick_ms - stamp_of(first) < timeout
        assert stamp_of(statuses[active[-1] + 1]) - stamp_of(statuses[active[0] - 1]) > timeout


@effect('joint_state_timeout')
def _joint_state_timeout(client):
    client.stream('joints', JointState(name=['panda_joint1'], position=[1.0]))
    client.wait_for_text('tracking')
    client.robot.silent = True
    client.statuses.clear()
    client.spin(0.6)
    client.wait_for_ticks(10)
    assert all(status.code in TRACKING for status in client.statuses)
    change(client, joint_state_timeout=0.3)
    client.wait_for_code(IkStatus.JOINT_STATE_STALE)


SAG = 0.03


def turn_and_rest(client, goal):
    """Stream a target of the first joint until it rests there, and is measured there."""
    client.stream('joints', JointState(name=['panda_joint1'], position=[goal]))

    def rests():
        point = client.sent[-1][1].points[0] if client.sent else None
        return point and abs(point.positions[0] - goal) < 1e-6 and not any(point.velocities)

    client.wait_for(rests, 'rest at the goal')
    client.wait_for(
        lambda: abs(client.robot.position['panda_joint1'] - goal) < 1e-6, 'the robot there'
    )
    client.wait_for_ticks(5)


def starts_beside(client, **changes):
    """Return how far motions start from the last command where encoders are off by ``SAG``.

    One motion for each value of the one parameter that is given.
    """
    ((name, values),) = changes.items()
    client.robot.bias, found = SAG, []
    try:
        change(client, command_timeout=0.3, limits__acceleration_scale=0.25)
        turn_and_rest(client, 0.1)
        for k, value in enumerate(values):
            client.stream('joints', None)
            client.wait_for_silence()
            change(client, **{name: value})
            since, last = len(client.sent), client.sent[-1][1].points[0].positions[0]
            turn_and_rest(client, -0.1 * (-1) ** k)
            found.append(client.sent[since][1].points[0].positions[0] - last)
    finally:
        client.robot.bias = 0.0
    # The motion begins in the same tick: what the acceleration allows in one is 1.5e-3 rad.
    return np.round(np.array(found) / SAG, 1).tolist()


@effect('synchronise_to')
def _synchronise_to(client):
    assert starts_beside(client, synchronise_to=('command', 'measured', 'command')) == [0, 1, 0]


@effect('synchronise_tolerance')
def _synchronise_tolerance(client):
    assert starts_beside(client, synchronise_tolerance=(0.04, 0.02, 0.04)) == [0, 1, 0]


def expect_refusal(client, pose):
    """Stream a pose that is refused as a jump."""
    client.stream('ee', pose)
    client.wait_for_code(IkStatus.TARGET_JUMP)
    assert client.sent == []


@effect('max_target_step_linear')
def _step_linear(client):
    change(client, target_jump_policy='reject', max_target_step_linear=0.1)
    expect_refusal(client, moved(client, (0.0, 0.15, 0.0)))
    change(client, max_target_step_linear=0.2)
    client.wait_for_text('tracking')


@effect('max_target_step_angular')
def _step_angular(client):
    change(client, target_jump_policy='reject', max_target_step_angular=0.3)
    expect_refusal(client, moved(client, turn=0.5))
    change(client, max_target_step_angular=0.8)
    client.wait_for_text('tracking')


@effect('target_jump_policy')
def _jump_policy(client):
    change(client, target_jump_policy='reject')
    expect_refusal(client, moved(client, (0.0, 0.4, 0.0)))
    change(client, target_jump_policy='saturate')
    client.wait_for_arrival()


@effect('limits.position_margin')
def _margin(client):
    upper = panda_ranges().upper[0]
    client.robot.place(panda_joint1=2.5)
    client.robot.wait_until_seen()
    for margin in (0.2, 0.05):
        since = len(client.sent)
        change(client, limits__position_margin=[margin])
        client.stream('joints', JointState(name=['panda_joint1'], position=[3.0]))

        def rests(since=since, margin=margin):
            if len(client.sent) == since:
                return False
            last = client.sent[-1][1].points[0]
            return abs(last.positions[0] - upper + margin) < 1e-5 and not any(last.velocities)

        client.wait_for(rests, f'rest at a margin of {margin}')
        client.wait_for_ticks(10)
        motion = motion_of(client, PERIOD, since)
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
        motion = turn_to(client, panda_joint1=goal)
        gain = np.max(np.diff(motion.speed)[motion.steps == 1]) / PERIOD
        assert gain == pytest.approx(scale * panda_ranges().acceleration[0], rel=1e-5)


@effect('publish_when_idle')
def _idle(client):
    client.wait_for_ticks(15)
    assert client.sent == []
    change(client, publish_when_idle=True)
    client.wait_for(lambda: len(client.sent) > 20, 'trajectories while idle')
    assert motion_of(client, PERIOD).speed.max() == 0.0


@effect('status_rate')
def _status_rate(client):
    for rate in (10.0, 25.0):
        change(client, status_rate=rate)
        client.statuses.clear()
        client.wait_for(lambda: len(client.statuses) > 12, 'statuses')
        steps = np.diff([status.ticks for status in client.statuses])
        begins = [stamp_of(status) - 1e-3 * status.tick_ms for status in client.statuses]
        # The schedule is one of time: where ticks are late, fewer lie between two statuses.
        assert np.median(steps) <= 1.0 / rate / PERIOD
        assert np.median(np.diff(begins)) > 1.0 / rate - PERIOD
    change(client, status_rate=0.0)
    client.statuses.clear()
    client.wait_for(lambda: len(client.statuses) > 12, 'statuses')
    assert np.median(np.diff([status.ticks for status in client.statuses])) == 1


@effect('diagnostics_period')
def _diagnostics_period(client):
    stamps = []

    def hear(message):
        if any(status.name == 'ros_ik: loop' for status in message.status):
            stamps.append(stamp_of(message))

    def gaps():
        """Return the times between the newest messages [s]."""
        return np.diff(stamps[-4:]) if len(stamps) > 3 else np.full(3, math.nan)

    subscription = client.node.create_subscription(DiagnosticArray, '/diagnostics', hear, 10)
    # The moment at which the period is applied is unknown, and a busy machine may be late. Of
    # three in a row one may be late, and the one after it early, but not all of them.
    change(client, diagnostics_period=0.1)
    client.wait_for(lambda: (gaps() < 0.5).all(), 'diagnostics each 0.1 s')
    change(client, diagnostics_period=0.7)
    client.wait_for(lambda: (gaps() > 0.35).all(), 'diagnostics each 0.7 s')
    client.node.destroy_subscription(subscription)


def lowest(client, since):
    """Return the least height of the hand since a command [m]."""
    return arm().poses(motion_of(client, PERIOD, since).position, 'panda_hand')[0][:, 2].min()


@effect('barriers.recheck')
def _recheck(client):
    # The barrier requires braking from 0.5 m/s within 10 mm, which needs prediction.
    below = []
    for checked in (False, True):
        change(client, barriers__recheck=checked)
        come_to_rest(client)
        client.robot.place(**HeldRobot.home())
        client.robot.wait_until_seen()
        since = len(client.sent)
        follow(client, moved(client, (0.0, 0.0, -0.6)), 0.5)
        client.wait_for(lambda: lowest(client, -1) < FLOOR + 0.01, 'the floor')
        client.wait_for_ticks(25)
        below.append(FLOOR - lowest(client, since))
    assert below[0] > 1e-3 and below[1] <= 1e-6


@effect('halt_mode')
def _halt_mode(client):
    # It takes 15 s to the goal, however long the machine stands still before the target ends, and
    # 0.1 rad to stop.
    change(client, limits__velocity_scale=0.15, limits__acceleration_scale=0.05)
    speed = 0.15 * panda_ranges().velocity[0]
    for sign, mode in ((1.0, 'decelerate'), (-1.0, 'hold')):
        come_to_rest(client)
        client.robot.place(panda_joint1=sign * -2.5)
        client.robot.wait_until_seen()
        change(client, halt_mode=mode, **NEVER_STALE)
        since = len(client.sent)
        client.stream('joints', JointState(name=['panda_joint1'], position=[sign * 2.5]))
        client.wait_for(
            lambda since=since: len(client.sent) > since
            and motion_of(client, PERIOD, -1).speed[0] > 0.99 * speed, 'speed',
        )  # fmt: skip
        client.stream('joints', None)
        change(client, command_timeout=0.1)
        client.wait_for_code(IkStatus.COMMAND_STALE)
        client.wait_for_silence()
        way = sign * motion_of(client, PERIOD, since).position[:, 0]
        went_back = way.max() - way[-1]
        assert went_back > 0.05 if mode == 'hold' else went_back < 1e-6, (mode, way[-60:])


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
    client.wait_for_ticks(round(seconds / PERIOD))
    client.node.destroy_timer(timer)
    motion = motion_of(client, PERIOD, since)
    come_to_rest(client)
    places = arm().center_of_mass(motion.position)
    return np.linalg.norm(np.diff(places, axis=0), axis=1)[motion.follows] / PERIOD


@effect('com.weight')
def _center_weight(client):
    goal, timer = aim_center(client, [0.0, 0.03, 0.0])
    client.wait_for_ticks(15)
    assert client.sent == []
    change(client, com__weight=1.0)
    client.wait_for(lambda: client.sent, 'motion')
    client.wait_for(
        lambda: np.linalg.norm(
            arm().center_of_mass(motion_of(client, PERIOD, -1).position)[0] - goal
        ) < 1e-3, 'arrival of the centre of mass',
    )  # fmt: skip
    client.node.destroy_timer(timer)


@effect('<task>.priority')
def _priority(client):
    change(client, com__weight=1.0)
    # The centre of mass, of level 1, and a hand that stays where it is contradict each other.
    client.stream('ee', client.moved_pose())
    goal, timer = aim_center(client, [0.0, 0.03, 0.0])

    def is_there():
        position = motion_of(client, PERIOD, -1).position
        return np.linalg.norm(arm().center_of_mass(position)[0] - goal) < 1e-3

    client.wait_for(lambda: client.sent and is_there(), 'arrival of the centre of mass')
    change(client, ee__priority=1)
    client.wait_for(lambda: not is_there(), 'a compromise')
    change(client, ee__priority=100)
    client.wait_for(is_there, 'return of the centre of mass')
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
        gains = np.diff(center_speeds(client, 0.6)[:10]) / PERIOD
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
    """Check that a motion ends at a wide margin, and continues to the usual one."""
    name = f'barriers__{barrier}__margin'
    usual = client.before[name.replace('__', '.')].double_value
    change(client, **{name: wide})
    move(client)
    client.wait_for(lambda: wide < value_of(client, barrier) < wide + 0.01, 'the wide margin')
    client.wait_for_ticks(15)
    assert value_of(client, barrier) > wide
    change(client, **{name: usual})
    client.wait_for(lambda: usual < value_of(client, barrier) < usual + 0.01, 'the usual margin')


def value_of(client, barrier):
    """Return the newest value of a barrier, infinity if another one is nearer."""
    status = client.status
    return status.barrier_value if status.limiting_barrier == barrier else math.inf


def keeps_gain(client, barrier, move):
    """Check the part of the distance beyond the margin that is lost per second."""
    name, margin = f'barriers__{barrier}__gain', f'barriers.{barrier}.margin'
    # Slow enough for the barrier, not the acceleration limits, to determine the braking.
    change(client, limits__velocity_scale=0.2)
    for gain in (1.0, 4.0):
        change(client, **{name: gain})
        move(client)
        client.wait_for_ticks(200 if gain == 1.0 else 100)
        found = used_up(client, barrier, client.before[margin].double_value)
        assert 0.5 * gain < found <= 1.05 * gain


def used_up(client, barrier, margin):
    """Return the part of the remaining distance that is lost per second, near the end [1/s]."""
    held = (IkStatus.SLOWED_BY_BARRIER, IkStatus.HALTED_BY_BARRIER, IkStatus.STATIONARY)
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


@effect('barriers.world.evasion_speed')
def _evasion_speed(client):
    here, fastest = moved(client, (0.0, 0.0, 0.0)), []
    place_ball(client)
    client.stream('ee', here)
    for speed in (0.0, 5.0):
        change(client, barriers__world__evasion_speed=speed, barriers__world__margin=0.02)
        come_to_rest(client)
        client.stream('ee', here)
        client.wait_for_ticks(100)
        client.sent.clear()
        # It reaches far into the robot, and the ball itself does not.
        change(client, barriers__world__margin=0.25)
        client.wait_for_ticks(60)
        speeds = [np.linalg.norm(sent[1].points[0].velocities) for sent in client.sent]
        fastest.append(max(speeds))
    slow, fast = fastest
    assert 0.01 < slow < 0.5 * fast


@effect('barriers.self_collision.margin')
def _self_margin(client):
    keeps_margin(client, 'self_collision', fold, 0.04)


@effect('barriers.self_collision.gain')
def _self_gain(client):
    keeps_gain(client, 'self_collision', fold)
