# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Signs of two senders or of wrong stamps: reported in the status, without loss of targets."""

import math

import numpy as np
import pytest
from support.long_forms import in_turn
from support.motions.target_streams import ride
from support.rigs.servo_rig import Rig

from benchmarks.motion.target_streams import eight
from benchmarks.motion.target_streams import Stream
from ros_ik.servo import Command
from ros_ik.servo import StatusCode
from ros_ik.servo.robot.controlled_robot import resolve_robot
from ros_ik.servo.targets.sender_check import JointSenderCheck
from ros_ik.servo.targets.sender_check import SenderCheck
from ros_ik.servo.targets.sender_check import SenderTurns
from ros_ik.servo.targets.target_checks import TargetReader
from ros_ik.servo.targets.target_selection import Choice
from ros_ik.servo.targets.target_selection import TargetSelection
from ros_ik.servo.targets.tracking import TargetKind
from ros_ik.settings import read_settings

STAMPS = 1000.0


PUBLISHERS = b'a', b'b'


def alternate(rig, apart, rates, known, path=None, seconds=2.0):
    """Send poses of two senders, the newest to each tick, as DDS keeps it.

    Returns the texts of the status, and how far the aim of the second half is beyond the places of
    both senders [m].
    """
    home, start = rig.pose().copy(), rig.now
    path = path or (lambda time: np.zeros(3))
    made = sorted(
        (0.5 * sender / rate + k / rate, sender)
        for sender, rate in enumerate(rates)
        for k in range(round(seconds * rate))
    )
    texts, beyond = [], []
    for tick in range(1, round(seconds / rig.dt)):
        time, newest = tick * rig.dt, None
        while made and made[0][0] <= time + 1e-9:
            newest = made.pop(0)
        if newest is not None:
            place = home[:3] + path(newest[0]) + [0.0, 0.0, newest[1] * apart]
            sender = PUBLISHERS[newest[1]] if known else None
            pose = rig.reader.pose(0, '', place, home[3:], start + time, sender=sender)
            rig.change(poses=(pose,))
        texts.append(rig.tick().text)
        aim = rig.servo.targets.trackers[0]._aim[2] - home[2] - path(time)[2]
        beyond.append(max(aim - apart, -aim))
    return texts[len(texts) // 2 :], max(beyond[len(beyond) // 2 :])


@pytest.mark.parametrize(
    ('rates', 'apart', 'known'),
    in_turn([(30, 30), (60, 60), (30, 31), (60, 30.5)], [0.01, 0.05, 0.3], [True, False]),
)
def test_two_senders_in_any_order_are_told_of_and_not_predicted(rates, apart, known):
    rig = Rig.shared()
    texts, beyond = alternate(rig, apart, rates, known)
    expected = 'several publishers send its targets in turn' if known else 'alternate between two'
    assert all(expected in text for text in texts)
    assert beyond < 1e-9
    rig.assert_within_limits()


@pytest.mark.parametrize(('rate', 'apart'), in_turn([30, 60], [0.01, 0.3]))
def test_two_senders_in_motion_are_not_predicted(rate, apart):
    rig = Rig.shared()
    texts, beyond = alternate(rig, apart, (rate, rate), True, path=eight)
    assert sum('several publishers' in text or 'singular' in text for text in texts) == len(texts)
    # The path of a period of each; 0.39 m where the alternation was taken for a motion.
    assert beyond < 0.28 / rate
    rig.assert_within_limits()


def test_publishers_that_take_over_are_one_sender():
    rig = Rig.shared()
    for sender in (b'a', b'b', b'c'):
        for _ in range(30):
            pose = rig.moved((0.0, 0.001, 0.0))
            rig.change(poses=(rig.reader.pose(0, '', pose[:3], pose[3:], rig.now, sender=sender),))
            assert 'publishers' not in rig.tick().text


def test_two_senders_of_velocities_are_told_of():
    rig = Rig.shared()
    for tick in range(60):
        velocity = 0.1 * (tick % 4 > 1), 0.0, 0.0
        sender = PUBLISHERS[tick % 4 > 1]
        rig.change(
            twists=(rig.reader.twist(0, '', velocity, (0.0, 0.0, 0.0), rig.now, sender=sender),)
        )
        text = rig.tick().text
    assert text == 'tracking; ee: several publishers send its velocities in turn'
    rig.assert_within_limits()


def make(rig, kind, sender=None):
    """Return a new target of a kind, as a field of the command."""
    pose, reader, names = rig.pose(), rig.reader, rig.servo.robot.group.joint_names
    if kind == 'pose':
        return {'poses': (reader.pose(0, '', pose[:3], pose[3:], rig.now, sender=sender),)}
    if kind == 'twist':
        return {'twists': (reader.twist(0, '', [0.0] * 3, [0.0] * 3, rig.now, sender=sender),)}
    if kind == 'joints':
        positions = rig.servo.joint_q[rig.servo.robot.coords].tolist()
        return {'joints': reader.joints(names, positions, rig.now, sender=sender)}
    return {'joints': reader.joint_velocities(names, [0.0] * len(names), rig.now, sender=sender)}


def texts_of(rig, made, every=3):
    """Send targets in turn, one every few ticks; return the texts of the status."""
    texts = []
    for tick in range(60):
        if tick % every == 0:
            kind, sender = made[tick // every % len(made)]
            rig.change(**make(rig, kind, sender))
        texts.append(rig.tick().text)
    return texts


@pytest.mark.parametrize('kind', ['joints', 'joint velocities'])
def test_two_senders_of_joint_targets_are_told_of(kind):
    text = 'tracking; several publishers send targets of joints in turn'
    assert texts_of(Rig.shared(), [(kind, b'a'), (kind, b'b')])[-1] == text
    assert texts_of(Rig.shared(), [(kind, b'a')])[-1] == 'tracking'


@pytest.mark.parametrize('joints', ['joints', 'joint velocities'])
@pytest.mark.parametrize('frame', ['pose', 'twist'])
def test_targets_of_joints_and_of_a_frame_in_turn_are_told_of(joints, frame):
    told = texts_of(Rig.shared(), [(joints, b'a'), (frame, b'b')])[-1]
    assert told.startswith('tracking; targets of joints and of frames come in turn')


def test_poses_and_velocities_of_a_frame_in_turn_are_told_of():
    told = texts_of(Rig.shared(), [('pose', b'a'), ('twist', b'b')])[-1]
    assert told.startswith('tracking; ee: its poses and velocities come in turn')


@pytest.mark.parametrize('kinds', [('pose', 'joints'), ('twist', 'pose'), ('joints', 'twist')])
def test_a_kind_that_takes_over_and_another_that_ends_are_in_order(kinds):
    rig = Rig.shared()
    first, second = kinds
    texts = texts_of(rig, [(first, b'a')]) + texts_of(rig, [(second, b'b')])
    texts += texts_of(rig, [(first, b'a')])
    assert not any('in turn' in text for text in texts)


def stream(rig, places, period=0.03, stamps=None, seconds=1.0):
    """Send positions in turn [m]; return the texts of the status and the commanded coordinates."""
    home, texts, count, due = rig.pose().copy(), [], 0, rig.now
    for _ in range(round(seconds / rig.dt)):
        if rig.now >= due:
            due += period
            stamp = None if stamps is None else stamps(count, rig.now)
            place = home[:3] + places[count % len(places)]
            rig.change(poses=(rig.reader.pose(0, '', place, home[3:], rig.now, stamp=stamp),))
            count += 1
        texts.append(rig.tick().text)
    return texts


@pytest.mark.parametrize('prediction', ['off', 'velocity'])
def test_two_senders_are_told_of(prediction):
    rig = Rig.shared(ee__target_prediction=prediction)
    texts = stream(rig, np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.02]]))
    assert 'alternate between two places' in texts[-1] and texts[-1].startswith('tracking; ee: ')
    rig.assert_within_limits()
    # Only for that time.
    assert stream(rig, np.zeros((1, 3)), seconds=2.0)[-1] == 'tracking'


def to_and_fro(time):
    """Return displacements to and fro along an axis."""
    return np.array([0.0, 0.05 * np.sin(6.0 * time), 0.0])


@pytest.mark.parametrize(
    ('rate', 'noise', 'path'), in_turn([10.0, 30.0, 100.0], [0.0, 1e-3], [eight, to_and_fro])
)
def test_a_target_that_moves_to_and_fro_or_trembles_is_one_sender(rate, noise, path):
    stream = Stream(path, rate, noise=noise, jitter=0.3, delay=0.01)
    for prediction in ('off', 'velocity'):
        rig = ride(stream, 3.0, ee__target_prediction=prediction).rig
        assert {output.text for output in rig.published} == {'tracking'}


@pytest.mark.parametrize(
    ('case', 'prediction'),
    in_turn(
        [
            (lambda k, now: STAMPS + 0.03 * (k - 2 * (k % 2)), 'run back'),
            (lambda k, now: now + (50.0 if k > 10 else 0.0), 'jumped'),
            (lambda k, now: now - (50.0 if k > 10 else 0.0), 'jumped'),
        ],
        ['velocity', 'off'],
    ),
)
def test_stamps_that_make_no_sense_are_told_of_and_the_robot_arrives(case, prediction):
    stamps, expected = case
    rig = Rig.shared(ee__target_prediction=prediction)
    home = rig.pose()[:3].copy()
    texts = stream(rig, np.array([[0.0, 0.05, 0.0]]), stamps=stamps)
    assert any(expected in text for text in texts)
    assert np.linalg.norm(rig.pose()[:3] - home - [0.0, 0.05, 0.0]) < 1e-3
    rig.assert_within_limits()


def test_stamps_that_do_not_advance_are_told_of_unless_messages_are_copies():
    way = np.linspace((0.0, 0.0, 0.0), (0.0, 0.05, 0.0), 34)
    rig, home = Rig.shared(), Rig().pose()[:3]
    texts = stream(rig, way, stamps=lambda k, now: STAMPS)
    assert texts[-1] == 'tracking; ee: stamps of its targets do not advance'
    # Each of them is followed after 0.2 s, the last one up to 30 ms before the end.
    assert np.linalg.norm(rig.pose()[:3] - home - [0.0, 0.05, 0.0]) < 0.01
    rig.assert_within_limits()
    copies = stream(Rig.shared(), np.zeros((1, 3)), stamps=lambda k, now: STAMPS)
    assert {text for text in copies if 'tracking' in text} == {'tracking'}


def test_good_stamps_of_another_clock_are_no_reason():
    rig = Rig.shared()
    texts = stream(rig, np.array([[0.0, 0.05, 0.0]]), stamps=lambda k, now: 0.5 * STAMPS + now)
    assert {text for text in texts if 'tracking' in text} == {'tracking'}


def turns_of(*messages):
    """Return the turns of messages, (sender, time), and whether each came from another sender."""
    turns = SenderTurns()
    return turns, [turns.add(sender, time) for sender, time in messages]


def test_two_returns_to_a_sender_within_a_second_are_an_alternation():
    turns, changed = turns_of((b'a', 0.0), (b'b', 0.1), (b'a', 0.2))
    assert changed == [False, True, True] and turns.alternated == -math.inf
    turns.add(b'b', 0.3)
    assert turns.alternated == 0.3
    # Senders that were silent for longer return to nothing, however often they change.
    silent, _ = turns_of(*((b'ab'[k % 2 : k % 2 + 1], 0.6 * k) for k in range(8)))
    assert silent.alternated == -math.inf
    # The two returns are to the first sender, which goes on from 0.2 to 0.9 s.
    apart, _ = turns_of(
        (b'a', 0.0), (b'b', 0.1), (b'a', 0.2), (b'a', 0.9), (b'c', 1.25), (b'a', 1.3)
    )
    assert apart.alternated == -math.inf
    apart.add(b'c', 1.35)
    assert apart.alternated == 1.35


def test_an_unknown_sender_is_passed_over():
    turns, changed = turns_of(
        (None, 0.0), (b'a', 0.1), (None, 0.2), (b'a', 0.3), (b'b', 0.4), (None, 0.5), (b'b', 0.6)
    )
    assert changed == [False, False, False, False, True, False, False]
    assert turns.alternated == -math.inf


def test_senders_are_forgotten_after_a_second():
    turns, _ = turns_of(*((str(k).encode(), 0.01 * k) for k in range(1000)))
    assert turns.alternated == -math.inf and len(turns._heard) <= 102


def test_turns_are_reported_for_a_second_and_not_at_earlier_times_of_another_clock():
    turns, _ = turns_of((b'a', 9.7), (b'b', 9.8), (b'a', 9.9), (b'b', 10.0))
    reported = [turns.are_reported(10.0 + later) for later in (-1.01, -0.5, 0.0, 0.99, 1.01)]
    assert reported == [False, True, True, True, False]


def test_after_a_reset_turns_begin_with_the_next_message():
    turns, _ = turns_of((b'a', 0.0), (b'b', 0.1), (b'a', 0.2), (b'b', 0.25), (b'a', 0.27))
    turns.reset()
    assert turns.are_reported(0.3), 'what was found is still reported'
    assert not turns.add(b'b', 0.3)
    for sender, time in ((b'a', 0.4), (b'b', 0.5)):
        assert turns.add(sender, time) and turns.alternated == 0.27
    turns.add(b'a', 0.6)
    assert turns.alternated == 0.6


ALTERNATE = 'its targets alternate between two places: is there a second sender?'
TURNED, KINDS = 'several publishers send', 'its poses and velocities come in turn'


def alternation(places, period=0.03, check=None, begin=5.0):
    """Return how many of some positions [m] it takes until they are an alternation, or None."""
    check = check or SenderCheck()
    for count, place in enumerate(places, 1):
        now = begin + count * period
        continues = check.add(place, now, None)
        assert continues == (check.fault(now) == '')
        if not continues:
            assert check.fault(now) == ALTERNATE
            return count
    return None


def places(distance=0.1, drift=0.0, count=20, messages=1):
    """Return positions at two places in turn, [m]; each place moves by ``drift`` in between."""
    rounds = [(k // messages // 2, k // messages % 2) for k in range(count)]
    return [(side * distance, turn * drift, 0.0) for turn, side in rounds]


def test_four_returns_to_a_place_are_an_alternation():
    assert alternation(places()) == 6
    assert alternation(places(messages=3)) == 16
    # A third place in between begins the count again.
    broken = places()
    broken[4] = (0.0, 0.3, 0.0)
    assert alternation(broken[:9]) is None
    # The first places are not those of the alternation.
    assert alternation([(0.1, 0.1, 0.0), (0.0, 0.1, 0.0), *places()]) == 8
    # A long way before it hides it for 0.25 s only.
    assert alternation([(0.0, 0.5, 0.0), *places()]) == 2 + 9 + 4


@pytest.mark.parametrize(
    ('values', 'period', 'expected'),
    [
        ({'distance': 0.006}, 0.03, 6),
        ({'distance': 0.004}, 0.03, None),
        ({'drift': 0.02}, 0.03, 6),
        ({'drift': 0.03}, 0.03, None),
        ({}, 0.24, 6),
        ({}, 0.26, None),
    ],
    ids=str,
)
def test_an_alternation_has_a_least_distance_fixed_places_and_short_stays(
    values, period, expected
):
    assert alternation(places(**values), period) == expected


def test_copies_of_messages_in_turn_are_no_alternation():
    check = SenderCheck()
    for k, copy in enumerate((0, 1, 0, 1, 0, 1, 0, 1, 0, 1)):
        assert check.add((0.01 * copy, 0.0, 0.0), 5.0 + 0.005 * k, 4.0 + 0.03 * copy)
    # Two senders on a clock that stands still alternate.
    check.reset()
    assert not all([check.add(place, 6.0 + 0.03 * k, 5.0) for k, place in enumerate(places())])


def test_two_programs_that_repeat_their_messages_alternate_until_one_ends():
    check, messages = SenderCheck(), {0: (0.0, 0.0, 0.0), 1: (0.1, 0.0, 0.0)}
    for k in range(100):
        check.add(messages[k % 2], 5.0 + 0.015 * k, 4.0 + 0.1 * (k % 2))
    assert check.fault(6.5) == ALTERNATE
    for k in range(200):
        check.add(messages[0], 6.5 + 0.03 * k, 4.0)
    assert check.fault(12.5) == ''


def test_poses_are_predicted_again_a_second_after_an_alternation_and_after_a_reset():
    check = SenderCheck()
    assert alternation(places(), check=check) == 6
    found = 5.0 + 6 * 0.03
    told = [check.fault(found + later) for later in (-1.01, -0.5, 0.99, 1.01)]
    assert told == ['', ALTERNATE, ALTERNATE, '']
    assert not check.add((0.1, 0.0, 0.0), found + 0.99, None)
    assert check.add((0.1, 0.0, 0.0), found + 1.01, None)
    check.reset()
    # A clock that went back does not revive it, and the count begins again.
    assert alternation(places()[1:], check=check, begin=2.0) == 6


def test_poses_of_another_publisher_begin_another_motion():
    check, place = SenderCheck(), (0.0, 0.0, 0.0)
    senders = [b'a', b'a', b'b', b'b', None, b'a', b'a', b'b', b'b']
    continues = [check.add(place, 0.1 * k, None, sender) for k, sender in enumerate(senders)]
    # At 0.7 s they alternate.
    assert continues == [True, True, False, True, True, False, True, False, False]
    assert check.fault(0.8).startswith(TURNED)
    assert check.add(place, 1.71, None, b'b') and check.fault(1.71) == ''


def faults(stamps, moves=True, period=0.1):
    """Return the fault after each stamp, relative to the time of its message [s]."""
    check, told = SenderCheck(), []
    for k, stamp in enumerate(stamps):
        now = 5.0 + k * period
        check.add((0.01 * k * moves, 0.0, 0.0), now, None if stamp is None else now + stamp)
        told.append(check.fault(now))
    return told


BACK, JUMPED = 'run back', 'jumped'


@pytest.mark.parametrize(
    ('stamps', 'expected'),
    [
        ([0.0, 0.24, 0.15, 0.39], None),
        ([-0.08 * k for k in range(12)], None),
        ([0.0, 0.26, 0.26], JUMPED),
        ([0.0, -0.26, -0.26], JUMPED),
        ([0.0, None, -0.26], JUMPED),
        ([0.0, 0.0, -0.11], BACK),
    ],
    ids=str,
)
def test_delays_and_drifts_of_stamps_are_in_order_and_jumps_are_not(stamps, expected):
    told = faults(stamps)
    assert not any(told) if expected is None else expected in told[-1]


def test_one_step_back_of_stamps_is_told_for_a_second():
    told = faults([0.0] * 10 + [-0.24] * 15)
    assert [k for k, text in enumerate(told) if text] == list(range(10, 21))
    assert all(BACK in text for text in told[10:20])
    again = faults([0.0] * 5 + [-0.24] * 5 + [-0.48] * 15)
    assert again[19] and not again[21]


def test_a_reset_forgets_stamps_and_a_fault_of_another_clock_is_not_told():
    check, place = SenderCheck(), (0.0, 0.0, 0.0)
    check.add(place, 5.0, 5.0)
    check.add(place, 5.1, 9.0)
    assert [JUMPED in check.fault(5.1 + later) for later in (-1.01, 0.5, 1.01)] == [
        False, True, False,
    ]  # fmt: skip
    check.reset()
    check.add(place, 9.0, 3.0)
    assert check.fault(9.0) == ''


def alternate_turns(turns, begin=5.0):
    """Let two senders take turns until 0.3 s after ``begin``."""
    for k in range(4):
        turns.add(b'ab'[k % 2 : k % 2 + 1], begin + 0.1 * k)


def test_the_most_specific_fault_is_told():
    check = SenderCheck()
    check.add((0.0, 0.0, 0.0), 4.9, 0.0)
    check.add((0.0, 0.0, 0.0), 5.0, 9.0)
    assert JUMPED in check.fault(5.3)
    alternate_turns(check.kinds)
    assert check.fault(5.3).startswith(KINDS)
    for k, place in enumerate(places(count=6)):
        check.add(place, 5.0 + 0.03 * k, None)
    assert check.fault(5.3) == ALTERNATE
    alternate_turns(check.twists)
    assert check.fault(5.3) == 'several publishers send its velocities in turn'
    for k in range(4):
        check.add((0.0, 0.0, 0.0), 5.0 + 0.1 * k, None, PUBLISHERS[k % 2])
    assert check.fault(5.3) == 'several publishers send its targets in turn'
    check.reset()
    for turns in (check.kinds, check.twists):
        assert not turns.add(b'a', 5.4) and turns.add(b'b', 5.5) and turns.alternated == 5.3


def test_publishers_of_joint_targets_are_told_of_before_the_kinds():
    check = JointSenderCheck()
    assert check.fault(5.3) == ''
    alternate_turns(check.kinds)
    assert check.fault(5.3).startswith('targets of joints and of frames come in turn')
    alternate_turns(check.senders)
    assert check.fault(5.3) == 'several publishers send targets of joints in turn'
    check.reset()
    for turns in (check.kinds, check.senders):
        assert not turns.add(b'a', 5.4) and turns.add(b'b', 5.5) and turns.alternated == 5.3


def test_a_reset_forgets_the_senders_of_joint_targets():
    rig = Rig.shared()
    for sender in (b'a', b'b', b'a'):
        rig.change(**make(rig, 'joints', sender))
        rig.tick(3)
    rig.command = rig.command.with_reset()
    rig.tick()
    rig.change(**make(rig, 'joints', b'b'))
    assert rig.tick(3).text == 'tracking'


def test_poses_of_an_action_are_no_second_sender():
    rig, texts = Rig.shared(), set()
    home = rig.pose()
    for place in places(count=12):
        pose = rig.reader.pose(0, '', home[:3] + place, home[3:], rig.now, lasting=True)
        rig.change(poses=(pose,))
        texts.add(rig.tick(3).text)
    assert texts == {'tracking'}


def test_a_second_sender_whose_poses_are_rejected_is_told_of():
    rig, codes = Rig.shared(target_jump_policy='reject'), set()
    home = rig.pose()
    for k, place in enumerate(places(0.4, count=12)):
        sender = PUBLISHERS[k % 2]
        pose = rig.reader.pose(0, '', home[:3] + place, home[3:], rig.now, sender=sender)
        rig.change(poses=(pose,))
        output = rig.tick(3)
        codes.add(output.code)
        if k > 4 and output.code == StatusCode.OK:
            assert output.text == 'tracking; ee: several publishers send its targets in turn'
    assert codes == {StatusCode.OK, StatusCode.TARGET_JUMP}


def two_tasks():
    """Return the targets of a Panda with two frames, and their reader."""
    settings = read_settings({
        'frame_tasks': ['ee', 'elbow'], 'ee.frame': 'panda_hand', 'elbow.frame': 'panda_link4',
    })  # fmt: skip
    robot = resolve_robot(Rig.shared().model, settings)
    return TargetSelection(robot, settings), TargetReader(robot)


def test_the_frame_whose_targets_come_from_two_senders_is_named():
    targets, _ = two_tasks()
    alternate_turns(targets.trackers[1].accepted.sender.twists)
    assert targets.sender_fault(5.3) == 'elbow: several publishers send its velocities in turn'
    alternate_turns(targets.trackers[0].accepted.sender.twists)
    assert targets.sender_fault(5.3).startswith('ee: ')


def test_a_frame_whose_target_comes_and_goes_beside_another_has_one_kind():
    targets, _ = two_tasks()
    for k in range(8):
        targets.now = 5.0 + 0.1 * k
        second = TargetKind.NONE if k % 2 else TargetKind.POSE
        targets.activate(Choice((TargetKind.POSE, second)))
        assert targets.sender_fault(targets.now) == ''


def test_turns_of_joint_targets_are_those_of_the_times_of_their_messages():
    targets, reader = two_tasks()
    for k in range(4):
        target = reader.joints(['panda_joint1'], [0.0], 5.0 + 0.1 * k, sender=PUBLISHERS[k % 2])
        assert targets.accept_joints(Command(joints=target)) == (k == 0)
    assert targets.sender_fault(5.3) == 'several publishers send targets of joints in turn'
    assert targets.sender_fault(6.4) == ''
