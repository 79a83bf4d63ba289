# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Deadlines, statistics and system settings of the control thread, without ROS."""

import gc
import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import warp as wp

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from ros_ik.node.control.statistics import TickStatistics  # noqa: E402
from ros_ik.node.execution import realtime  # noqa: E402
from ros_ik.node.execution import schedule  # noqa: E402
from ros_ik.node.model_loading.progress import Progress  # noqa: E402
from ros_ik.node.model_loading.progress import ProgressLog  # noqa: E402
from ros_ik.settings import SettingsError  # noqa: E402

PERIOD = 0.001


class Clock:
    """A clock that advances while a caller sleeps, sometimes for too long, or works."""

    def __init__(self):
        self.now, self.late = 1e6, 0.0

    def monotonic(self):
        """Return the time."""
        return self.now

    def sleep(self, seconds):
        """Let time pass."""
        assert seconds > 0.0
        self.now += seconds + self.late


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(
        schedule, 'time', types.SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep)
    )
    return clock


def test_ticks_begin_at_multiples_of_the_period(clock):
    begin, random = clock.now, np.random.default_rng(0)
    # A period without an exact binary representation, so that rounding would accumulate.
    steady = schedule.SteadySchedule(PERIOD / 3.0)
    for k in range(1, 200_000):
        clock.now += random.uniform(0.0, 0.9) * PERIOD / 3.0
        clock.late = random.uniform(0.0, 0.05) * PERIOD / 3.0
        assert steady.wait() == 0
        assert clock.now - clock.late == pytest.approx(begin + k * PERIOD / 3.0, abs=1e-9)


@pytest.mark.parametrize(
    ('work', 'missed', 'next_tick'),
    [(0.2, 0, 1.0), (0.99, 0, 1.0), (1.5, 1, 1.5), (2.5, 2, 2.5), (100.5, 100, 100.5)],
)
def test_each_missed_deadline_counts_once(clock, work, missed, next_tick):
    begin = clock.now
    steady = schedule.SteadySchedule(PERIOD)
    clock.now += work * PERIOD
    assert steady.wait() == missed
    assert clock.now == pytest.approx(begin + next_tick * PERIOD, abs=1e-9)
    # The tick after a late one is on time again.
    clock.now += 0.1 * PERIOD
    assert steady.wait() == 0
    assert clock.now == pytest.approx(begin + (int(next_tick) + 1) * PERIOD, abs=1e-9)


def test_ticks_and_skipped_ones_add_up_to_the_deadlines(clock):
    begin, random = clock.now, np.random.default_rng(1)
    steady = schedule.SteadySchedule(PERIOD)
    late = missed = 0
    for _ in range(5_000):
        clock.now += random.exponential(0.8) * PERIOD
        clock.late = random.exponential(0.05) * PERIOD
        count = steady.wait()
        late, missed = late + (count > 0), missed + count
    # Each late tick is one missed deadline; the others were skipped.
    slots = 5_000 + missed - late
    following = clock.now + steady.pause()
    assert following == pytest.approx(begin + (slots + 1) * PERIOD, abs=1e-6)


def test_the_pause_is_what_is_left_of_the_period(clock):
    steady = schedule.SteadySchedule(PERIOD)
    clock.now += 0.3 * PERIOD
    assert steady.pause() == pytest.approx(0.7 * PERIOD, abs=1e-9)
    clock.now += PERIOD
    assert steady.pause() == pytest.approx(-0.3 * PERIOD, abs=1e-9)


@pytest.mark.parametrize('speed', [0.02, 0.1, 0.5, 1.0])
@pytest.mark.parametrize('period', [0.002, 0.01, 0.5])
def test_ticks_that_are_due_are_a_period_of_simulated_time_apart(clock, speed, period):
    begin = clock.now

    def simulated():
        return 1.0 + speed * (clock.now - begin)

    ros_time = schedule.RosTimeSchedule(period, simulated)
    due, missed = [], 0
    while len(due) < 20:
        missed += ros_time.wait()
        if ros_time.is_due:
            due.append(simulated())
    np.testing.assert_allclose(due, 1.0 + period * np.arange(1, 21), atol=0.001)
    assert missed == 0


def test_no_tick_is_due_while_simulated_time_stands_still(clock):
    now = 5.0
    ros_time = schedule.RosTimeSchedule(0.01, lambda: now)
    for _ in range(5):
        assert ros_time.wait() == 0
        assert not ros_time.is_due
    for now, missed in ((5.01, 0), (5.0651, 4), (1.0, 0), (1.01, 0)):
        assert ros_time.wait() == missed, now
        assert ros_time.is_due, now


def test_a_clock_that_starts_has_missed_no_deadlines(clock):
    now = 0.0
    ros_time = schedule.RosTimeSchedule(0.01, lambda: now)
    assert ros_time.wait() == 0
    assert not (ros_time.is_due or ros_time.has_time())
    now = 1.7e9
    assert ros_time.wait() == 0
    assert ros_time.is_due


def test_statistics_are_those_of_the_last_ticks():
    statistics, random = TickStatistics(), np.random.default_rng(2)
    durations = random.exponential(0.3, 25_000)
    for duration in durations:
        statistics.add(duration)
        statistics.miss(1 if duration > 1.0 else 0)
    statistics.update()
    last = durations[-10_000:]
    assert statistics.p50 == pytest.approx(np.percentile(last, 50))
    assert statistics.p99 == pytest.approx(np.percentile(last, 99))
    assert statistics.p999 == pytest.approx(np.percentile(last, 99.9))
    assert statistics.longest == durations.max()
    assert (statistics.ticks, statistics.missed) == (25_000, (durations > 1.0).sum())
    statistics.reset()
    assert (statistics.ticks, statistics.missed, statistics.longest) == (0, 0, 0.0)


@pytest.fixture
def without_collection():
    # Objects of other tests would take a second in each collection.
    gc.freeze()
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _make_garbage(count):
    for _ in range(count):
        ring = []
        ring.append(ring)


def test_garbage_is_collected_in_a_pause_that_is_long_enough(without_collection):
    collector = realtime.PauseCollector()
    assert collector.collect_within(1.0) == 0, 'there is nothing worth it'
    _make_garbage(2_000)
    assert collector.collect_within(1e-6) == 0, 'the pause is too short'
    assert collector.collect_within(-1.0) == 0, 'the tick is late'
    assert gc.get_count()[0] >= 2_000
    assert collector.collect_within(1.0) == 1
    assert gc.get_count()[0] < 500


def test_garbage_does_not_grow_without_end(without_collection):
    collector = realtime.PauseCollector()
    _make_garbage(60_000)
    assert collector.collect_within(-1.0) == 1
    assert gc.get_count()[0] < 500


def test_every_generation_gets_its_turn(without_collection):
    collector = realtime.PauseCollector()
    collected = []
    for _ in range(150):
        _make_garbage(1_000)
        collected.append(collector.collect_within(1.0))
    assert set(collected) == {1, 2, 3}


def test_nothing_is_done_where_python_collects_by_itself():
    _make_garbage(600)
    assert realtime.PauseCollector().collect_within(1.0) == 0


# In a process of its own: in that of the tests, each collection of all objects takes a second.
_FREEZE = """
import gc
import numpy
from ros_ik.node.execution import realtime
gc.disable()
realtime.collect_and_freeze()
print(gc.get_freeze_count(), len(gc.get_objects()))
for _ in range(2000):
    ring = []
    ring.append(ring)
gc.freeze()
print(gc.get_freeze_count())
realtime.collect_and_freeze()
print(gc.get_freeze_count())
"""


def test_what_is_there_is_left_out_of_later_collections():
    command = [sys.executable, '-c', _FREEZE]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    frozen, left, with_garbage, without = map(int, done.stdout.split())
    assert frozen > 10_000
    assert left < frozen / 10
    assert with_garbage > frozen + 1_900
    assert without == pytest.approx(frozen, abs=1000)


def test_a_processor_that_does_not_exist_is_refused():
    realtime.check_cpu(-1)
    realtime.check_cpu(0)
    with pytest.raises(SettingsError, match=f'from 0 to {os.cpu_count() - 1}, got 4000'):
        realtime.check_cpu(4000)


@pytest.fixture
def thread():
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    yield thread
    ended.set()
    thread.join()


def test_one_thread_alone_is_pinned(thread):
    everywhere = os.sched_getaffinity(0)
    cpu = max(everywhere)
    assert realtime.schedule_thread(thread, 0, cpu) == []
    assert os.sched_getaffinity(thread.native_id) == {cpu}
    assert os.sched_getaffinity(0) == everywhere
    assert os.sched_getscheduler(thread.native_id) == os.SCHED_OTHER


def test_what_is_not_permitted_is_said_with_what_is_missing(thread, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    monkeypatch.setattr(os, 'sched_setaffinity', refuse)
    priority, cpu = realtime.schedule_thread(thread, 40, 0)
    assert 'rt.priority' in priority and 'rtprio limit of at least 40' in priority
    assert 'rt.cpu' in cpu and 'cpuset' in cpu


def test_a_system_without_these_calls_is_no_fault(thread, monkeypatch):
    monkeypatch.delattr(os, 'sched_setscheduler')
    (sentence,) = realtime.schedule_thread(thread, 40, -1)
    assert 'no such call' in sentence


def test_the_modules_of_warp_are_counted(monkeypatch):
    monkeypatch.setattr(wp.config, 'log_level', wp.config.log_level)
    log = ProgressLog()
    try:
        log.begin('reading')
        log.advance('building')
        wp.get_logger().info('Warp 1.19.0 initialized:')
        wp.get_logger().info(
            'Module _forward_kernel__locals__forward_kinematics_94d5499c 3795d8e load on device '
            "'cpu' took 2099.78 ms  (compiled)"
        )
        wp.get_logger().info(
            "Module evaluate_step_086b085c 584aa8b load on device 'cpu' took 0.43 ms  (cached)"
        )
    finally:
        wp.set_logger(None)
    assert log.latest.get() == Progress('building', 1, 1, 'forward_kinematics')
    assert '1 kernels compiled, the last one forward_kinematics' in str(log.latest.get())
    assert '1 kernels compiled, 1 from the cache' in log.summary()
