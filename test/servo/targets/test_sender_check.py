# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Signs of two senders or of wrong stamps: reported in the status, without loss of targets."""

import numpy as np
import pytest
from support.long_forms import in_turn
from support.motions.target_streams import ride
from support.rigs.servo_rig import Rig

from benchmarks.motion.target_streams import eight
from benchmarks.motion.target_streams import Stream

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
    # Each third of them is followed, the last one up to 90 ms before the end.
    assert np.linalg.norm(rig.pose()[:3] - home - [0.0, 0.05, 0.0]) < 0.02
    rig.assert_within_limits()
    copies = stream(Rig.shared(), np.zeros((1, 3)), stamps=lambda k, now: STAMPS)
    assert {text for text in copies if 'tracking' in text} == {'tracking'}


def test_good_stamps_of_another_clock_are_no_reason():
    rig = Rig.shared()
    texts = stream(rig, np.array([[0.0, 0.05, 0.0]]), stamps=lambda k, now: 0.5 * STAMPS + now)
    assert {text for text in texts if 'tracking' in text} == {'tracking'}
