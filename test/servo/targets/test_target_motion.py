# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motion of streamed targets: estimates against the truth, and robots that follow streams."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.long_forms import either
from support.long_forms import in_turn
from support.motions.least_stop import jacobian
from support.motions.least_stop import least_stop
from support.motions.least_stop import least_stop_off_the_line
from support.motions.target_streams import ride

from benchmarks.motion.target_streams import eight
from benchmarks.motion.target_streams import ramp
from benchmarks.motion.target_streams import SPEED
from benchmarks.motion.target_streams import step
from benchmarks.motion.target_streams import Stream
from ros_ik.servo.targets.message_times import MessageTimes
from ros_ik.servo.targets.target_motion import TargetMotion

PREDICTED = {'ee__target_prediction': 'velocity'}
UNPREDICTED = {'ee__target_prediction': 'off'}
# Largest speeds and accelerations of a task by default.
LIMITS = (0.5, 1.0), (2.5, 5.0)
STILL = (0.0, 0.0, 0.0, 1.0)
# Rate of a fast loop [Hz]; the long form has faster ones.
FAST = either(250, 500)
# Time after which the start of a stream is over [s].
SETTLED = 1.5


@functools.cache
def at_loop_rate(loop):
    """Return the RMS jerk of a robot with a target in each tick, without prediction."""
    return ride(Stream(rate=loop), seconds_of(loop), loop, **UNPREDICTED).jerk(SETTLED)


def seconds_of(loop):
    """Return the duration of a stream: fast loops reach the same number of ticks sooner."""
    return either(3.5, 5.0) if loop < FAST else 2.5


@pytest.mark.parametrize(
    ('loop', 'rate', 'ratio'),
    either(
        [(100, 10, 3), (200, 90, 2), (FAST, 30, 2)],
        [(100, 10, 3), (100, 30, 2), (100, 60, 2), (200, 90, 2), (500, 30, 2), (1000, 60, 2)],
    ),
)
def test_slow_streams_are_followed_as_smoothly_as_fast_ones(loop, rate, ratio):
    seconds = seconds_of(loop)
    followed = ride(Stream(rate=rate), seconds, loop, **PREDICTED)
    assert followed.jerk(SETTLED) < ratio * at_loop_rate(loop)
    followed.rig.assert_within_limits()
    # Without prediction it is 80 times as much and more.
    without = ride(Stream(rate=rate), seconds, loop, **UNPREDICTED)
    assert without.jerk(SETTLED) > 50.0 * at_loop_rate(loop)


def tilted(time):
    """Return rotation vectors of a target that turns about a changing axis, at up to 0.7 rad/s."""
    return np.array([0.15, 0.3, 0.2]) * np.sin(np.array([1.7, 2.0, 1.3]) * time)


@pytest.mark.parametrize(
    ('robot', 'case'), in_turn(['panda', 'ur10'], [(FAST, 30, 2), (100, 10, 3), (200, 30, 2)])
)
def test_targets_that_turn_about_a_changing_axis_are_followed_as_smoothly(robot, case):
    loop, rate, ratio = case
    seconds = seconds_of(loop)
    fast, slow = (
        ride(Stream(rate=each), seconds, loop, name=robot, turning=tilted, **more)
        for each, more in ((loop, UNPREDICTED), (rate, PREDICTED))
    )
    # 10 to 20 times as much where each message began rotation vectors of its own.
    assert slow.jerk(SETTLED) < ratio * fast.jerk(SETTLED)
    slow.rig.assert_within_limits()


def eased(part):
    """Return a motion of least jerk from 0 to 1."""
    part = np.clip(part, 0.0, 1.0)
    return part**3 * (10.0 - 15.0 * part + 6.0 * part**2)


def hand(time):
    """Return displacements of a hand from place to place, 0.8 s each, with rests of 0.2 s."""
    places = np.array([[0, 0, 0], [0, 10, 3], [3, -5, 6], [-3, 8, -3], [0, -8, 2], [0, 0, 0]])
    index = min(int(time), len(places) - 2)
    before, after = 0.01 * places[index : index + 2]
    return before + (after - before) * eased((time - index) / 0.8)


def circle(time):
    """Return displacements on a circle, once in 2 s with a rest of 1 s."""
    angle = 2.0 * np.pi * eased((time % 3.0) / 2.0)
    return 0.06 * np.array([0.0, np.sin(angle), 1.0 - np.cos(angle)])


@pytest.mark.parametrize(
    ('robot', 'stream'), in_turn(['panda', 'ur5'], [(hand, 25, True), (circle, 30, False)])
)
def test_a_target_that_rests_in_between_is_followed_as_smoothly(robot, stream):
    path, rate, stamped = stream
    slow = ride(Stream(path, rate, stamped=stamped), 5.9, name=robot, **PREDICTED)
    # 3 to 5 times as much where the target was predicted to move until it came to rest at once.
    assert slow.jerk() < 2.0 * ride(Stream(path, 100), 5.9, name=robot, **UNPREDICTED).jerk()
    slow.rig.assert_within_limits()
    assert np.abs(slow.velocity[-1]).max() < 1e-2


@pytest.mark.parametrize(
    ('loop', 'rate'), in_turn([100, 500], either([10, 60], [10, 30, 60, 100]))
)
def test_a_constant_speed_is_followed_with_a_lag_below_a_tick(loop, rate):
    followed = ride(Stream(ramp, rate), 1.7, loop, **PREDICTED)
    assert 0.0 < followed.lag(1.1, 1.6) < 1.0 / loop
    assert ride(Stream(ramp, rate), 1.7, loop, **UNPREDICTED).lag(1.1, 1.6) > 0.04


@pytest.mark.parametrize('rate', either([10, 60, 100], [10, 30, 60, 90, 100]))
def test_after_a_sudden_stop_it_comes_back_to_rest(rate):
    followed = ride(Stream(ramp, rate), 3.0, **PREDICTED)
    beyond = followed.way[:, 1].max() - 1.2 * SPEED
    # The path of the target until the next message.
    assert 0.0 < beyond < SPEED / rate
    assert abs(followed.way[-1, 1] - 1.2 * SPEED) < 1e-4
    assert np.abs(np.diff(followed.way[-20:], axis=0)).max() < 1e-6
    # For a target at rest everything is as without prediction.
    assert not followed.rig.servo.targets.trackers[0].accepted.motion.moves(followed.rig.now)


@pytest.mark.parametrize(
    ('robot', 'rate'),
    in_turn(['panda', 'ur5', 'ur10'], either([10, 60, 90], [10, 30, 60, 90, 100])),
)
def test_a_stop_between_two_messages_is_noticed_as_early(robot, rate):
    for part in either([0.3, 0.8], np.linspace(0.1, 0.9, 9)):
        stop = (np.ceil(1.2 * rate) + part) / rate

        def line(time, stop=stop):
            return ramp(min(time, stop))

        followed = ride(Stream(line, rate), stop + 1.5, name=robot, **PREDICTED)
        end = line(stop)[1]
        assert followed.way[:, 1].max() - end < SPEED / rate, (robot, rate, part)
        assert abs(followed.way[-1, 1] - end) < 1e-4


@pytest.mark.parametrize(
    ('begin', 'part'),
    either(
        [(0.6, 0.9), (0.5, 0.85), (0.7, 0.8)],
        itertools.product(np.linspace(0.0, 0.9, 10), np.linspace(0.0, 0.95, 20)),
    ),
)
def test_a_stop_soon_after_a_start_is_noticed_as_early(begin, part):
    first, stop = 0.5 + begin / 10.0, 0.8 + (begin > 0.0) / 10.0 + part / 10.0

    def line(time):
        return np.array([0.0, SPEED * (np.clip(time, first, stop) - first), 0.0])

    followed = ride(Stream(line, 10), stop + 0.3, **PREDICTED)
    # Up to 37 mm where the start of the motion passed as noise.
    assert followed.way[:, 1].max() - line(stop)[1] < SPEED / 10.0


@pytest.mark.parametrize(
    ('begin', 'seconds'),
    either(
        [(0.55, 0.19), (0.5, 0.235)],
        itertools.product(np.linspace(0.5, 0.59, 4), np.linspace(0.15, 0.3, 16)),
    ),
)
def test_the_stop_of_a_motion_of_two_or_three_messages_is_noticed_as_early(begin, seconds):
    def line(time):
        return np.array([0.0, SPEED * (np.clip(time, begin, begin + seconds) - begin), 0.0])

    followed = ride(Stream(line, 10), begin + seconds + 0.3, **PREDICTED)
    # Up to 33 mm where the first message after the stop switched to the estimate at rest.
    assert followed.way[:, 1].max() - SPEED * seconds < SPEED / 10.0


@pytest.mark.parametrize('rate', [10, 30, 60, 100])
def test_after_a_stop_at_any_time_it_is_beyond_by_a_period_and_a_tick_at_most(rate):
    rng = np.random.default_rng(rate)
    for _ in range(either(3, 30)):
        phase, begin = rng.uniform(0.0, 1.0 / rate), rng.uniform(0.3, 0.4)
        stop = begin + rng.uniform(0.7, 1.6)

        def line(time, begin=begin, stop=stop):
            return np.array([0.0, SPEED * (np.clip(time, begin, stop) - begin), 0.0])

        stream = Stream(line, rate)
        stream.messages = lambda seconds, rng, line=line, phase=phase: [
            (received + phase, made + phase, line(made + phase))
            for received, made, _ in Stream(rate=rate).messages(seconds, rng)
        ]
        followed = ride(stream, stop + 0.5, **PREDICTED)
        beyond = followed.way[:, 1].max() - line(stop)[1]
        assert beyond < SPEED * (1.0 / rate + 0.01)


@pytest.mark.parametrize(
    ('loop', 'rate'),
    either(
        [(100, 10), (100, 60), (200, 60), (500, 60)],
        [(100, 10), (100, 30), (100, 60), (100, 100), (200, 60), (500, 60)],
    ),
)
def test_no_stop_that_keeps_the_line_and_the_orientation_is_shorter(loop, rate):
    followed = ride(Stream(ramp, rate), 2.3, loop, **PREDICTED)
    rig, dt = followed.rig, 1.0 / loop
    # The tick before the one that receives the stop, a period later.
    last = int(np.ceil((1.7 + 1.0 / rate) * loop - 1e-6)) - 2
    before = followed.way[last, 1] - 1.2 * SPEED
    assert before < SPEED / rate
    q, limits = rig.published[last].joint_q, rig.robot.acceleration[rig.robot.group.variable_dof]
    before_stop = jacobian(rig, q), followed.velocity[last], limits, dt
    least = least_stop(*before_stop)
    beyond = followed.way[:, 1].max() - 1.2 * SPEED
    assert before < beyond < before + least
    # A robot that lags by less than a tick, and continues until the tick before the one that
    # receives the stop, must stop within two ticks to stay within the path of a period.
    assert (least < 2.0 * SPEED * dt) == (loop == 100)
    # In fast loops not even a tool that leaves the line stops so soon.
    assert (least_stop_off_the_line(*before_stop) < 2.0 * SPEED * dt) == (loop <= 200)


def test_a_target_that_moves_through_a_wall_is_not_followed_there():
    wall = {
        'barriers__world__enabled': False, 'barriers__position__wall__frame': 'panda_hand_tcp',
        'barriers__position__wall__max': [10.0, 0.2, 10.0],
    }  # fmt: skip
    followed = ride(Stream(ramp), 2.5, **PREDICTED, **wall)
    place = followed.rig.pose()[1] - followed.way[-1, 1] + followed.way[:, 1]
    assert 0.19 < place.max() < 0.2 + 1e-9
    followed.rig.assert_within_limits()


@pytest.mark.parametrize(('size', 'rate'), in_turn([1.0, 0.2, 0.02], [10, 30, 100]))
def test_a_step_is_no_motion(size, rate):
    stream = Stream(lambda time: size * step(time), rate)
    with_, without = (ride(stream, 2.0, **more) for more in (PREDICTED, UNPREDICTED))
    np.testing.assert_array_equal(with_.velocity, without.velocity)


def test_places_that_come_slower_than_motion_does_are_no_motion():
    stream = Stream(lambda time: np.array([0.0, 0.02 * np.floor(3.0 * time + 1e-9), 0.0]), 3.0)
    with_, without = (
        ride(stream, 4.0, command_timeout=1.0, **more) for more in (PREDICTED, UNPREDICTED)
    )
    np.testing.assert_array_equal(with_.velocity, without.velocity)


@functools.cache
def good():
    """Return the response to a stream over a good network."""
    return ride(Stream(), 6.0, **PREDICTED)


@pytest.mark.parametrize(
    'change',
    [
        {'jitter': 0.3, 'delay': 0.01}, {'jitter': 0.3, 'delay': 0.01, 'stamped': False},
        {'lost': 0.2}, {'copies': (0.3, 1.6)}, {'copies': (0.25, 0.5, 0.75)},
        {'copies': (0.35, 1.1, 1.2, 1.45, 1.7)}, {'overtakes': True},
    ],
    ids=[
        'late', 'late, no stamps', 'lost', 'doubled, out of order', 'relayed four times',
        'copied often', 'overtaken',
    ],
)  # fmt: skip
def test_a_bad_network_is_not_seen(change):
    bad = ride(dataclasses.replace(Stream(), **change), 6.0, **PREDICTED)
    # Without prediction: 470.
    assert bad.jerk(2.0) < 34.0
    # Later by the delay and half a tick.
    assert np.linalg.norm(bad.way - good().way, axis=1)[200:].max() < 0.02 * 0.28 + 1e-3


@pytest.mark.parametrize(
    ('rates', 'lost'),
    in_turn(
        either([(100, 45), (200, 60), (FAST, 60)], [
            (100, 45), (100, 60), (200, 60), (500, 60), (1000, 90),
        ]),
        [0.3, 0.05, 0.2],
    ),
)
def test_lost_messages_are_hardly_felt(rates, lost):
    loop, rate = rates
    seconds = seconds_of(loop) + 1.0
    followed = ride(Stream(rate=rate, lost=lost), seconds, loop, seed=2, **PREDICTED)
    # 3,000 without prediction in a loop of 1 kHz.
    assert followed.jerk(SETTLED + 1.0) < 40.0


def test_noise_moves_a_robot_less_than_without():
    for rate in either([30], [30, 60]):
        with_, without = (
            ride(Stream(rate=rate, noise=1e-3), 4.0, **more).jerk(SETTLED)
            for more in (PREDICTED, UNPREDICTED)
        )
        assert with_ < 0.7 * without


def still(time):
    """Return no displacement."""
    return np.zeros(3)


@pytest.mark.parametrize(
    ('rate', 'motion'),
    either(
        [(10, (still, 0.0)), (30, (eight, 0.3)), (60, (still, 0.3))],
        list(itertools.product(
            [10, 30, 60, 90, 100], [(still, 0.0), (eight, 0.3), (still, 0.3), (eight, 0.0)]
        )),
    ),
)
def test_noise_is_no_reason_to_do_without(rate, motion):
    path, jitter = motion
    # Noise of 1 mm and 5 mrad on each axis.
    stream = Stream(path, rate, noise=1e-3, jitter=jitter)
    figures = []
    for more in (PREDICTED, UNPREDICTED):
        followed = ride(stream, either(4.0, 6.0), turns=5e-3, **more)
        since = round(SETTLED * 100)
        away = np.linalg.norm(followed.way - followed.target, axis=1)[since:]
        angle = followed.angle[since:]
        figures.append((
            followed.jerk(SETTLED), away.mean(), away.max(), angle.mean(), angle.max()
        ))  # fmt: skip
    assert np.all(np.array(figures[0]) < figures[1]), figures


def falling_silent(rate):
    """Return a stream of a target in motion whose sender falls silent after 1.2 s."""
    stream = Stream(ramp, rate)
    stream.messages = lambda seconds, rng: [
        message for message in Stream.messages(stream, seconds, rng) if message[0] < 1.2
    ]
    return stream


@pytest.mark.parametrize('rate', [30, 60, 100])
def test_a_sender_that_falls_silent_is_followed_over_a_lost_message(rate):
    stream = falling_silent(rate)
    followed = ride(stream, 2.5, **PREDICTED)
    last = stream.messages(2.5, np.random.default_rng(0))[-1][2][1]
    # 1.5 periods beyond the next message, and the way of braking with 2.5 m/s^2.
    longest = SPEED * 2.5 / rate + SPEED**2 / (2.0 * 2.5)
    assert SPEED / rate < followed.way[:, 1].max() - last < longest
    assert np.abs(followed.velocity[-1]).max() == 0.0
    # Before the target is stale, the robot is back, or returning.
    assert followed.way[-1, 1] - last < (0.014 if rate == 30 else 1e-4)


@pytest.mark.parametrize('rate', [10, 30, 100])
def test_after_a_silent_sender_the_last_target_counts_again(rate):
    stream = falling_silent(rate)
    followed = ride(stream, 4.0, command_timeout=2.0, **PREDICTED)
    *_, (_, _, last) = stream.messages(4.0, np.random.default_rng(0))
    np.testing.assert_allclose(followed.way[-1], last, atol=1e-4)
    assert np.abs(followed.velocity[-1]).max() < 1e-6


def feed(motion, times, poses, stamps=None):
    """Pass messages to a motion."""
    for k, (time, pose) in enumerate(zip(times, poses, strict=True)):
        motion.add(tuple(pose), time, None if stamps is None else stamps[k], *LIMITS)


def at(motion, time):
    """Return the pose of a target at a time."""
    return motion.between(time, time)[0]


def test_a_smooth_path_is_foretold():
    times = np.arange(0.0, 3.0, 0.02)
    motion = TargetMotion()
    feed(motion, times, [(*eight(time), *STILL) for time in times], times)
    ahead = times[-1] + np.linspace(0.0, 0.02, 5)
    foretold = np.array([at(motion, time)[:3] for time in ahead])
    np.testing.assert_allclose(foretold, [eight(time) for time in ahead], atol=2.5e-3)


def test_a_turning_target_is_foretold():
    times = np.arange(0.0, 1.5, 0.03)
    axis = np.array([0.2, -0.3, 0.4])
    turned = Rotation.from_euler('xyz', [0.3, 0.5, -0.2])
    motion = TargetMotion()
    poses = [
        (0.0, 0.0, 0.0, *(Rotation.from_rotvec(axis * time) * turned).as_quat()) for time in times
    ]
    feed(motion, times, poses, times)
    later = times[-1] + 0.05
    quaternion = at(motion, later)[3:]
    error = Rotation.from_quat(quaternion) * (Rotation.from_rotvec(axis * later) * turned).inv()
    assert error.magnitude() < 1e-3


# Messages of which one, two and three in succession are lost.
SOME = [k for k in range(61) if k not in (30, 36, 37, 42, 43, 44, 50, 51)]


@pytest.mark.parametrize('some', [range(61), SOME], ids=['all', 'some lost'])
def test_no_message_makes_a_step_of_position_velocity_or_acceleration(some):
    motion, h = TargetMotion(), 5e-5
    for k in some:
        time = 0.033 * k
        pose = (*eight(time), *STILL)
        if k > 20:
            sides = []
            around = [time + shift * h for shift in (-1.0, 0.0, 1.0)]
            for _ in range(2):
                here = np.array([at(motion, t)[:3] for t in around])
                sides.append([
                    here[1], (here[2] - here[0]) / (2.0 * h), (here.sum(0) - 3.0 * here[1]) / h**2
                ])  # fmt: skip
                motion.add(pose, time, time, *LIMITS)
            for before, after, tolerance in zip(*sides, (1e-9, 1e-6, 5e-3), strict=True):
                np.testing.assert_allclose(before, after, atol=tolerance)
        else:
            motion.add(pose, time, time, *LIMITS)


def tumble(time):
    """Return the rotation of a target that turns by up to 1.2 rad about a changing axis."""
    waves = 0.9 * time, 0.7 * time + 0.3, 0.55 * time
    return Rotation.from_rotvec(np.array([0.7, 0.8, 0.6]) * np.sin(waves))


@pytest.mark.parametrize('period', [0.1, 1.0 / 30.0, 0.01])
def test_no_message_of_a_tumbling_target_makes_a_step_of_its_rotation(period):
    motion, h, seen = TargetMotion(), 1e-3, []
    for k in range(min(round(6.0 / period), either(200, 600))):
        time = k * period
        pose = (*eight(time), *(tumble(time) * tumble(0.0).inv()).as_quat())
        if k < 20:
            motion.add(pose, time, time, *LIMITS)
            continue
        # Rotations from the message on, in turn before and after it.
        sides = []
        for added in (False, True):
            if added:
                motion.add(pose, time, time, *LIMITS)
            poses = [at(motion, time + step * h) for step in (-1.0, 0.0, 1.0)]
            before, here, after = (Rotation.from_quat(pose[3:]) for pose in poses)
            turns = (here * before.inv()).as_rotvec(), (after * here.inv()).as_rotvec()
            sides.append((here, turns[1] / h, (turns[1] - turns[0]) / h**2))
            given = motion.between(time, time + h)[1][1]
            np.testing.assert_allclose(given, turns[1], atol=1e-9)
        assert (sides[1][0] * sides[0][0].inv()).magnitude() < 1e-8
        np.testing.assert_allclose(sides[0][1], sides[1][1], atol=1e-5)
        np.testing.assert_allclose(sides[0][2], sides[1][2], atol=0.02)
        seen.append(np.linalg.norm(sides[1][1]))
    assert max(seen) > 0.5


def test_a_motion_goes_on_over_lost_messages_without_a_step_of_its_acceleration():
    motion, h = TargetMotion(), 1e-3
    feed(motion, 0.02 * np.arange(50), [(*eight(0.02 * k), *STILL) for k in range(50)])
    places = np.array([at(motion, 0.98 + h * k)[:3] for k in range(100)])
    # A target that turns at 2 rad/s; an end of its acceleration would be a thousand times as much.
    assert np.abs(np.diff(places, 3, axis=0)).max() / h**3 < 30.0


def test_times_of_receipt_are_smoothed():
    rng = np.random.default_rng(4)
    for period in (0.1, 1.0 / 30.0, 1.0 / 60.0):
        made = period * np.arange(400)
        received = np.sort(made + period * rng.uniform(-0.3, 0.3, len(made)))
        times = MessageTimes()
        found = np.array([times.add(time, None) for time in received])
        assert times.period == pytest.approx(period, rel=2e-3)
        # Three standard deviations of the end of a line through 100 of them.
        assert np.abs(found - made)[100:].max() < 0.1 * period


def test_stamps_of_another_clock_count_by_their_differences():
    times = MessageTimes()
    found = [times.add(0.02 * k, 5e8 + 0.02 * k) for k in range(50)]
    np.testing.assert_allclose(found, 0.02 * np.arange(50), atol=1e-6)
    assert times.period == pytest.approx(0.02, rel=1e-5)
    # One that runs back is old; a clock that was set back restarts.
    assert times.add(1.0, 5e8 + 0.5) is None
    assert times.add(1.02, 100.0) is None
    assert times.add(1.04, 100.02) is None
    assert times.add(1.06, 100.04) == pytest.approx(1.06)
    # Likewise a clock that was set forward.
    assert times.add(1.08, 900.0) == pytest.approx(1.08)


def test_late_copies_do_not_restart_a_stream():
    times = MessageTimes()
    for k in range(40):
        assert times.add(0.02 * k, 0.02 * k) == pytest.approx(0.02 * k)
        if k % 5 == 4:
            # Copies of the last five messages, out of order, and twice.
            for j in (0, 2, 1, 4, 3, 2, 1, 4, 0, 0):
                assert times.add(0.02 * k + 0.001 * j, 0.02 * (k - j)) is None
    # A recording that starts again repeats its stamps.
    answers = [times.add(0.8 + 0.02 * k, 0.02 * (28 + k % 12)) for k in range(60)]
    assert answers.count(None) == 10
    # So does one of fewer messages than are remembered, after the silence of a sender.
    answers = [times.add(2.0 + 0.02 * k, 0.02 * (20 + k % 5)) for k in range(120)]
    assert 20 < 120 - answers.count(None)


def test_messages_that_are_overtaken_do_not_restart_a_stream():
    times = MessageTimes()
    for k in range(0, 80, 4):
        assert times.add(0.02 * k, 0.02 * k) == pytest.approx(0.02 * k)
        for j in (3, 2, 1) if k else ():
            assert times.add(0.02 * k + 0.005 * (4 - j), 0.02 * (k - j)) is None
    assert times.period == pytest.approx(0.08)


@pytest.mark.parametrize('copies', [(), (0.25, 0.5, 0.75), (0.3, 1.2, 1.6)])
def test_a_clock_that_was_set_back_is_noticed_among_copies(copies):
    times, answers = MessageTimes(), []
    sent = [(0.02 * k, (1.0 if k < 50 else 0.5) + 0.02 * k) for k in range(100)]
    copied = [(received + 0.02 * late, stamp) for received, stamp in sent for late in copies]
    for received, stamp in sorted(sent + copied):
        if times.add(received, stamp) is not None:
            answers.append(received)
    expected = [0.02 * k for k in range(100) if k not in (50, 51)]
    np.testing.assert_allclose(answers, expected, atol=1e-9)


@pytest.mark.parametrize('first', [0, 50])
def test_a_clock_that_stands_still_is_no_reason_to_stand_still(first):
    times = MessageTimes()
    for k in range(first):
        times.add(0.02 * k, 1.0 + 0.02 * k)
    answers = [times.add(1.0 + 0.02 * k, 1.0 + 0.02 * first) for k in range(60)]
    # After the silence of a sender, every message is accepted.
    assert None not in [answers[0], *answers[12:]]
    # When the clock runs again, too.
    assert None not in [times.add(3.0 + 0.02 * k, 3.0 + 0.02 * k) for k in range(60)]


def test_messages_whose_stamps_rarely_advance_are_accepted_when_they_are_replayed():
    """As of a program that makes a message once and repeats it, and of a bag of its messages."""
    motion = TargetMotion()
    for shift in (0.0, 20.0, 40.0):
        answers = [
            motion.add((stamp, 0.0, 0.0, *STILL), shift + stamp + 0.02 * k, stamp, *LIMITS)
            for stamp in (1.0, 4.0, 7.0)
            for k in range(145)
        ]
        assert all(answers[3:])


def test_a_clock_that_runs_back_is_no_reason_to_stand_still():
    times = MessageTimes()
    answers = [times.add(0.02 * k, 10.0 - 0.02 * k) for k in range(60)]
    assert 60 - answers.count(None) > 4


def test_a_repeated_message_changes_nothing_however_often_it_comes():
    motion = TargetMotion()
    times = np.arange(0.0, 1.0, 0.03)
    feed(motion, times, [(*eight(time), *STILL) for time in times], times)
    before = at(motion, 1.01)
    for k in range(100):
        assert motion.add((*eight(times[-1]), *STILL), 1.0 + 0.01 * k, times[-1], *LIMITS)
    assert at(motion, 1.01) == before


@pytest.mark.parametrize('drift', [-0.01, 0.01])
def test_a_clock_that_is_slow_or_fast_shifts_nothing(drift):
    rng, times = np.random.default_rng(6), MessageTimes()
    made = np.arange(400) / 45.0
    late = 0.3 / 45.0 * rng.uniform(0.0, 1.0, len(made))
    found = [
        times.add(time + delay, 1000.0 + (1.0 + drift) * time)
        for time, delay in zip(made, late, strict=True)
    ]
    # A mean offset was 44 ms behind by then.
    assert np.abs(found - made - late.mean())[200:].max() < 3e-3


def test_gaps_are_those_of_lost_messages_not_of_pauses():
    times = MessageTimes()
    sent = [k for k in range(40) if k not in (20, 21, 22)]
    for stamped in (True, False):
        times.reset()
        for k in sent:
            times.add(0.02 * k, 5e8 + 0.02 * k if stamped else None)
        # Four periods, and a little of one forgotten.
        assert 3.9 < times.gap < 4.0
        times.add(2.0, 5e8 + 2.0 if stamped else None)
        assert times.gap < 4.0


def test_the_longest_gap_is_remembered():
    times = MessageTimes()
    for k in range(600):
        if k not in (100, 101, 102):
            times.add(0.02 * k, 0.02 * k)
    assert 3.0 < times.gap < 3.2


def test_times_that_make_no_sense_leave_numbers():
    rng = np.random.default_rng(8)
    for _ in range(either(100, 300)):
        motion, now = TargetMotion(), 100.0
        for _ in range(40):
            now += rng.choice([0.0, 0.001, 0.01, 0.3, -50.0, 1e6])
            stamp = rng.choice([None, now, 0.5 * now, 1e9 * rng.random(), 1e-9])
            pose = (*rng.normal(0.0, 10.0 ** rng.uniform(-6, 2), 3), *STILL)
            motion.add(pose, now, stamp, *LIMITS)
            for later in (now, now + 0.01, now - 1e4, now + 1e4):
                assert np.isfinite(at(motion, later)).all()
