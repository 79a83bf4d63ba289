# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets of the centre of mass: TALOS on two feet and on one, alone and beside frame tasks."""

import functools
import re

import numpy as np
import pytest
from support.motions.motion import Arm
from support.rigs.ros_rig import ARM
from support.rigs.servo_rig import Rig
from support.robots.humanoid import standing
from support.robots.humanoid import TALOS
from support.robots.robots import PinocchioRobot
from support.robots.robots import urdf_text

from benchmarks.motion.ticked_servo import robot_model
from ros_ik import Model
from ros_ik.demo.robots import find_robot
from ros_ik.servo import Mode
from ros_ik.servo import Rejection
from ros_ik.servo import Servo
from ros_ik.servo import StatusCode
from ros_ik.settings import read_settings
from ros_ik.settings import SettingsError

pytestmark = pytest.mark.oracle


@functools.cache
def oracle():
    """Return the same robot in Pinocchio."""
    return PinocchioRobot(urdf_text('talos_full_v2'), robot_model(TALOS))


def oracle_center(rig):
    """Return the centre of mass in the left sole by Pinocchio."""
    other = oracle()
    position, rotation = other.pose(rig.q, 'left_sole_link')
    # Pinocchio's function leaves out the root link, which belongs to the world there.
    parts = zip(other.pin.inertias, other.data.oMi, strict=True)
    moments = [(part.mass, part.mass * place.act(part.lever)) for part, place in parts]
    center = sum(moment for _, moment in moments) / sum(mass for mass, _ in moments)
    return rotation.T @ (center - position)


def drive(rig, seconds):
    """Make ticks and return the centre of mass at each, the start first."""
    start = oracle_center(rig)
    return np.array([start, *rig.watch(seconds, lambda: oracle_center(rig), slowest=1e-5)])


@pytest.fixture
def rig():
    return standing()


@pytest.mark.parametrize('rate', [100.0, 500.0])
def test_on_two_feet_it_arrives_with_bounded_speed_and_the_feet_stay(rate):
    rig = standing(control_rate=rate)
    feet, start = rig.pose(), oracle_center(rig)
    goal = start + [0.01, 0.06, -0.03]
    rig.aim(feet)
    rig.aim_center(goal)
    centers = drive(rig, 2.5)
    np.testing.assert_allclose(centers[-1], goal, atol=1e-4)
    report = rig.outputs[-1].center_of_mass
    assert report.active and report.reached and report.linear_error < 1e-4
    np.testing.assert_allclose(report.position, centers[-1], atol=1e-5)
    velocity = np.diff(centers, axis=0) * rate
    assert np.linalg.norm(velocity, axis=1).max() < 0.1 * 1.02
    np.testing.assert_allclose(rig.pose(), feet, atol=1e-4)
    rig.assert_within_limits()


def test_on_one_foot_it_moves_alone(rig):
    goal = oracle_center(rig) + [0.02, -0.04, 0.0]
    rig.aim_center(goal)
    rig.set(com__max_linear_speed=0.02, com__max_linear_acceleration=0.1)
    speeds = np.linalg.norm(np.diff(drive(rig, 0.4), axis=0), axis=1) / rig.dt
    assert speeds[9] == pytest.approx(0.1 * 10 * rig.dt, rel=0.05)
    assert speeds[-1] == pytest.approx(0.02, rel=0.01)
    output = rig.outputs[-1]
    assert output.code == StatusCode.OK and output.publish and not output.tasks[0].active
    assert not output.center_of_mass.reached
    rig.set(com__max_linear_speed=0.1, com__linear_tolerance=0.05)
    assert rig.tick().center_of_mass.reached
    np.testing.assert_allclose(drive(rig, 2.0)[-1], goal, atol=1e-3)
    rig.quiet()
    rig.tick(80)
    assert rig.outputs[-1].code == StatusCode.COMMAND_STALE and rig.outputs[-1].still
    assert rig.outputs[-1].center_of_mass is None
    rig.assert_within_limits()


def test_it_stays_while_a_foot_moves(rig):
    start, foot = oracle_center(rig), rig.pose()
    foot[:3] += [0.05, 0.0, 0.1]
    rig.aim(foot)
    rig.aim_center(start)
    centers = drive(rig, 2.0)
    assert rig.outputs[-1].tasks[0].reached
    assert np.linalg.norm(centers - start, axis=1).max() < 0.01
    np.testing.assert_allclose(centers[-1], start, atol=1e-3)


def test_it_stays_beside_a_velocity_but_not_beside_joints(rig):
    start = oracle_center(rig)
    rig.aim_center(start)
    rig.aim_twist((0.0, 0.0, 0.05))
    assert np.linalg.norm(drive(rig, 1.0) - start, axis=1).max() < 0.01
    rig.change(mode=Mode.JOINT)
    rig.aim_joints(leg_right_4_joint=1.2)
    rig.tick(30)
    assert not rig.outputs[-1].center_of_mass.active
    rig.assert_within_limits()


def test_the_target_may_be_given_in_another_link(rig):
    # The shin is tilted, and the point lies beside its origin.
    point = np.array([0.1, -0.05, 0.3])
    rig.aim_center(point, frame='leg_right_4_link')
    q = rig.q.copy()
    rig.tick()
    place, turned = oracle().pose(q, 'leg_right_4_link')
    assert np.linalg.norm(turned @ point - point) > 0.05
    position, rotation = oracle().pose(q, 'left_sole_link')
    expected = rotation.T @ (place + turned @ point - position)
    np.testing.assert_allclose(rig.servo.targets.center.target, expected, atol=1e-6)


def test_a_weight_of_zero_says_why_nothing_moves_and_one_at_run_time_works():
    rig = standing(com__weight=0.0)
    goal = oracle_center(rig) + [0.0, 0.03, 0.0]
    rig.aim_center(goal)
    output = rig.tick(5)
    assert output.code == StatusCode.OK and 'com.weight is 0' in output.text
    assert not output.publish and output.center_of_mass is None
    rig.set(com__weight=1.0)
    np.testing.assert_allclose(drive(rig, 1.5)[-1], goal, atol=1e-3)
    rig.set(com__weight=0.0)
    rig.tick(60)
    assert rig.outputs[-1].still
    rig.assert_within_limits()


def test_a_robot_without_mass_refuses_a_weight_at_the_start_and_at_run_time():
    text = find_robot('ur5').urdf_path.read_text()
    light = re.sub('<inertial>.*?</inertial>', '', text, flags=re.DOTALL)
    model = Model.from_urdf(light, device='cpu')
    plain, weighted = (read_settings({'ee.frame': 'tool0', 'com.weight': w}) for w in (0.0, 1.0))
    servo = Servo(model, plain)
    for refused in (functools.partial(Servo, model), servo.check, servo.apply):
        with pytest.raises(SettingsError, match='com.weight.*no link of the robot has a mass'):
            refused(weighted)
    assert servo.settings is plain


def test_the_weight_decides_at_run_time_between_it_and_a_frame():
    rig = Rig.shared(com__weight=1.0)
    rig.aim(rig.pose())
    rig.aim_center(rig.servo.targets.center.center(rig.servo._poses()) + [0.0, 0.02, 0.0])
    rig.tick(100)
    apart = rig.outputs[-1].tasks[0].linear_error
    rig.set(com__weight=0.05)
    rig.tick(100)
    assert rig.outputs[-1].tasks[0].linear_error < 0.1 * apart and apart > 1e-5


def test_of_it_and_a_frame_the_one_with_the_lower_number_wins():
    rig, arm = Rig(com__weight=1.0), Arm()

    def center():
        """Return the centre of mass by Pinocchio."""
        return arm.center_of_mass([[rig.q[rig.robot.coord_of[name]] for name in ARM]])[0]

    goal = center() + [0.0, 0.02, 0.0]
    rig.aim(rig.pose())
    rig.aim_center(goal)
    for priority, wins in ((2, True), (1, False), (7, True)):
        rig.set(ee__priority=priority)
        rig.tick(200)
        away = np.linalg.norm(center() - goal)
        assert away < 1e-3 if wins else away > 2e-3, (priority, away)
    rig.assert_within_limits()


@pytest.mark.parametrize('started', ['one task', 'one task, later weights', 'two tasks'])
def test_priorities_for_which_nothing_was_prepared_are_refused(started):
    given = {'ee.frame': 'panda_hand_tcp'}
    if started == 'two tasks':
        given |= {'frame_tasks': ['ee', 'wrist'], 'wrist.frame': 'panda_link7'}
    elif started == 'one task, later weights':
        given['ee.priority'] = 2
    servo = Servo(robot_model('panda'), read_settings(given))
    first = read_settings({**given, 'ee.priority': 3})
    servo.apply(first)
    both = read_settings({**given, 'ee.priority': 3, 'com.weight': 1.0})
    if started != 'one task':
        servo.apply(both)
        assert servo.settings is both
        return
    with pytest.raises(SettingsError, match="'ee.priority': expected 1, .* got 3"):
        servo.apply(both)
    assert servo.settings is first
    servo.apply(read_settings({**given, 'com.weight': 1.0}))


def test_damping_slows_it_down_from_the_next_step_on():
    rig = Rig.shared(com__weight=1.0)
    rig.aim_center(rig.servo.targets.center.center(rig.servo._poses()) + [0.0, 0.1, 0.0])
    fastest = []
    for damping in (0.0, 1e5, 0.0):
        rig.set(solver__damping=damping)
        rig.tick(12)
        fastest.append(np.abs(rig.speeds()[-1]).max())
    assert fastest[1] < 0.5 * min(fastest[0], fastest[2])


def test_a_jump_is_refused_where_asked_for():
    rig = standing(target_jump_policy='reject')
    center = rig.servo.targets.center.accepted
    before = center.jumps
    rig.aim_center(oracle_center(rig) + [0.0, 0.5, 0.0])
    assert rig.tick(3).code == StatusCode.TARGET_JUMP
    assert center.jumps == before + 3 and not rig.outputs[-1].publish
    rig.set(max_target_step_linear=0.6)
    assert rig.tick().code == StatusCode.OK
    rig.set(target_jump_policy='saturate', max_target_step_linear=0.25)
    rig.tick(2)
    assert center.jumps == before + 3


@pytest.mark.parametrize(
    ('frame', 'point', 'reason'),
    [
        ('', (0.0, np.nan, 0.0), Rejection.NON_FINITE),
        ('', (0.0, 0.0), Rejection.WRONG_SIZE),
        ('map', (0.0, 0.0, 0.0), Rejection.UNKNOWN_FRAME),
    ],
)
def test_a_bad_target_is_refused(rig, frame, point, reason):
    assert rig.reader.center_of_mass(frame, point, 1.0) is reason


PUBLISHERS = b'a', b'b'


def send_in_turn(rig, count, change):
    """Send targets of the centre of mass; return the texts of the status."""
    texts, home = [], oracle_center(rig)
    for k in range(count):
        point, options = change(k)
        rig.change(
            center_of_mass=rig.reader.center_of_mass('', home + point, rig.now, **options)
        )
        texts.append(rig.tick(3).text)
    return texts


@pytest.mark.parametrize(
    ('change', 'fault'),
    [
        (lambda k: ([0.0, 0.02 * (k % 2), 0.0], {}), 'its targets alternate between two places'),
        (
            lambda k: ([0.0] * 3, {'sender': PUBLISHERS[k % 2]}),
            'several publishers send its targets in turn',
        ),
        (
            lambda k: ([0.0] * 3, {'stamp': 50.0 + 0.03 * (k - 2 * (k % 2)), 'sender': b'a'}),
            'stamps of its targets run back',
        ),
    ],
)
def test_faults_of_the_senders_are_told_of(rig, change, fault):
    assert send_in_turn(rig, 12, change)[-1].startswith(f'tracking; com: {fault}')
    assert send_in_turn(rig, 60, lambda k: ([0.0] * 3, {}))[-1] == 'tracking'


def test_senders_that_take_over_and_a_reset_are_in_order(rig):
    for sender in (b'a', b'b', b'c'):
        texts = send_in_turn(rig, 5, lambda k, sender=sender: ([0.0] * 3, {'sender': sender}))
        assert set(texts) == {'tracking'}
    others = [([0.0] * 3, {'sender': sender}) for sender in (b'd', b'e')]
    send_in_turn(rig, 3, lambda k: others[k % 2])
    rig.command = rig.command.with_reset()
    rig.tick()
    assert set(send_in_turn(rig, 2, lambda k: others[1 - k % 2])) == {'tracking'}
