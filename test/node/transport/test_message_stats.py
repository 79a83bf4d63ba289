# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Dropped messages in counters, log and status, on a clock that the tests move."""

import threading
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.transport.message_stats import Drop  # noqa: E402
from ros_ik.node.transport.message_stats import MessageStats  # noqa: E402
from ros_ik.servo import Rejection  # noqa: E402
from ros_ik.servo import StatusCode  # noqa: E402

OK, POSE, TWIST = StatusCode.OK, 'target_pose', 'target_twist'
TRACKING = OK, 'tracking'


class Rig:
    """Counters of a node that records its log."""

    def __init__(self):
        self.now, self.lines = 100.0, []
        logger = SimpleNamespace(warning=self.lines.append)
        self.stats = MessageStats(SimpleNamespace(get_logger=lambda: logger))

    def drop(self, topic=POSE, reason=Drop.TOO_OLD, text='a second old', **fields):
        """Drop a message at once."""
        self.stats.add(topic, reason, lambda: text, **fields)

    def drop_in_tick(self, topic=POSE, reason=Drop.TOO_OLD, text='a second old', **fields):
        """Drop a message in a tick."""
        self.stats.add_in_tick(topic, reason, lambda: text, **fields)

    def shown(self):
        """Return the text of a status of a robot that tracks."""
        return self.stats.shown(*TRACKING)[1]


@pytest.fixture
def rig(monkeypatch):
    rig = Rig()
    clock = SimpleNamespace(monotonic=lambda: rig.now)
    monkeypatch.setattr('ros_ik.node.transport.message_stats.time', clock)
    return rig


def test_parts_of_a_message_and_reasons_are_counted(rig):
    rig.drop(count=3)
    rig.drop_in_tick(TWIST, count=4)
    rig.drop(reason=Rejection.TARGET_JUMP)
    assert rig.stats.counts == {'too_old': 7, Rejection.TARGET_JUMP.value: 1}
    assert rig.stats.total == 8
    for topic in (POSE, TWIST, POSE):
        rig.stats.accepted(topic)
    assert rig.stats.used == {POSE: 2, TWIST: 1}


def test_a_refusal_that_lasts_is_logged_every_five_seconds(rig):
    told = []
    for second in range(12):
        rig.now = 100.0 + second
        rig.drop()
        told.append(len(rig.lines))
    assert told == [1] * 5 + [2] * 5 + [3] * 2
    assert set(rig.lines) == {'dropped a message on target_pose: too_old: a second old'}


def test_texts_that_differ_are_logged_again_after_a_flood(rig):
    for period in range(3):
        rig.now = 100.0 + 5.0 * period
        for k in range(50):
            rig.drop(text=f'message {k} of {period}')
    assert len(rig.lines) == 60
    assert rig.lines[-1].endswith('message 19 of 2')


def stream_drops(rig, in_tick, text, count, period=0.02):
    """Drop messages alike, one each period, as the node does."""
    for _ in range(count):
        rig.now += period
        (rig.drop_in_tick if in_tick else rig.drop)(text=text)
        rig.stats.log()


@pytest.mark.parametrize('in_tick', [False, True])
def test_equal_texts_hide_no_other_text(rig, in_tick):
    for name, count in (('A', 30), ('B', 50), ('A', 20), ('C', 5)):
        stream_drops(rig, in_tick, f'frame {name}', count)
        assert rig.shown().endswith(f'frame {name}')
    assert [line[-1] for line in rig.lines] == ['A', 'B', 'C']


def test_equal_texts_do_not_count_as_different_lines(rig):
    stream_drops(rig, False, 'the same', 60)
    for k in range(40):
        stream_drops(rig, False, f'message {k}', 1, period=0.06)
    assert len(rig.lines) == 20 and rig.lines[-1].endswith('message 18')


def test_a_flood_composes_few_texts(rig):
    composed = []
    for _ in range(5000):
        rig.now += 0.001
        rig.stats.add(POSE, Drop.TOO_OLD, lambda: composed.append(1) or 'the same')
    # The first twenty, and twenty a second.
    assert len(composed) <= 20 + 5 * 20


def test_a_flood_of_one_reason_hides_no_other_reason_and_no_other_topic(rig):
    for k in range(50):
        rig.drop(text=f'message {k}')
    rig.drop(reason=Drop.UNREADABLE, text='too short')
    rig.drop(TWIST, text='a second old', event='refused a goal of')
    assert rig.lines[-2:] == [
        'dropped a message on target_pose: unreadable: too short',
        'refused a goal of target_twist: too_old: a second old',
    ]


def test_the_newest_drops_of_ticks_wait_for_the_log(rig):
    for k in range(100):
        rig.drop_in_tick(f'topic_{k}', Drop.TF_UNAVAILABLE, frame=f'frame_{k}')
    assert rig.stats.missing_frames() == ('frame_99',)
    rig.stats.log()
    assert len(rig.lines) == 64 and 'topic_36:' in rig.lines[0] and 'topic_99:' in rig.lines[-1]


def test_the_status_tells_of_a_drop_for_a_second(rig):
    rig.drop(reason=Drop.TF_UNAVAILABLE, frame='moon', text="no frame 'moon'")
    for later, is_told in ((0.0, True), (0.9, True), (1.1, False)):
        rig.now = 100.0 + later
        assert ('moon' in rig.shown()) == is_told
        assert rig.stats.missing_frames() == ('moon',) * is_told


def test_a_valid_message_of_another_topic_ends_no_report(rig):
    rig.drop()
    rig.stats.accepted(TWIST)
    assert 'target_pose: too_old' in rig.shown()
    rig.stats.accepted(POSE)
    assert rig.shown() == 'tracking'


@pytest.mark.parametrize('code', StatusCode)
@pytest.mark.parametrize('reason', [Drop.TF_UNAVAILABLE, Drop.UNREADABLE])
def test_a_missing_frame_replaces_only_codes_that_are_no_graver(rig, code, reason):
    rig.drop(reason=reason, text='no such frame')
    replaced = {StatusCode.OK, StatusCode.COMMAND_STALE, StatusCode.DEADLINE_MISSED}
    is_other = reason is Drop.TF_UNAVAILABLE and code in replaced
    expected = StatusCode.TF_UNAVAILABLE if is_other else code
    text = f'as it is; dropped a message on target_pose: {reason.value}: no such frame'
    assert rig.stats.shown(code, 'as it is') == (expected, text)


def test_only_a_missing_frame_is_named(rig):
    rig.drop(reason=Drop.TF_UNAVAILABLE, frame='moon')
    rig.drop(reason=Drop.UNREADABLE)
    assert rig.stats.missing_frames() == ()


def test_names_of_any_length_are_cut(rig):
    rig.drop(reason=Drop.TF_UNAVAILABLE, frame='f' * 5000, text='t' * 5000)
    (line,) = rig.lines
    assert line.count('t' * 500) == 1 and 't' * 501 not in line
    assert 't' * 501 not in rig.shown() and rig.shown().endswith('t' * 500)
    assert rig.stats.missing_frames() == ('f' * 500,)


def test_a_tick_logs_nothing_and_a_late_line_changes_no_newer_report(rig):
    rig.drop_in_tick(text='old')
    assert not rig.lines and rig.shown().endswith('target_pose: too_old')
    rig.drop(TWIST, Drop.UNREADABLE, 'too short')
    rig.stats.log()
    assert [line.rpartition(': ')[2] for line in rig.lines] == ['too short', 'old']
    assert rig.shown().endswith('target_twist: unreadable: too short')


def test_a_drop_is_explained_by_none_of_another_topic(rig):
    rig.drop(text='of poses')
    rig.drop_in_tick(TWIST)
    assert rig.shown().endswith('target_twist: too_old')
    rig.drop_in_tick(POSE)
    assert rig.shown().endswith('target_pose: too_old: of poses')


class Moment(float):
    """A time whose first difference from another one lets something happen meanwhile."""

    def __new__(cls, value, meanwhile):
        moment = super().__new__(cls, value)
        moment.meanwhile = [meanwhile]
        return moment

    def __sub__(self, other):
        if self.meanwhile:
            self.meanwhile.pop()()
        return float(self) - float(other)


def test_lines_of_two_threads_are_not_lost(rig):
    rig.drop(text='the first')
    other = threading.Thread(target=lambda: rig.drop(TWIST, Drop.TOO_LARGE, 'by another thread'))

    def log_beside():
        rig.now = 100.0
        other.start()
        other.join(0.5)

    rig.now = Moment(100.0, log_beside)
    rig.drop(reason=Drop.UNREADABLE, text='the second')
    other.join()
    rig.drop(TWIST, Drop.TOO_LARGE, 'by another thread')
    told = [line.rpartition(': ')[2] for line in rig.lines]
    assert sorted(told) == ['by another thread', 'the first', 'the second']
