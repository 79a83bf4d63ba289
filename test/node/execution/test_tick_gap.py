# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Work that keeps the interpreter waits for a tick to end, never for long."""

import threading
import time

from ros_ik.node.execution.tick_gap import TickGap

PATIENCE = 10.0
SHORT, LONG = 0.0005, 10.0


def waiting(tick_gap):
    """Return a thread that waits at the gate, once it does."""
    thread = threading.Thread(target=tick_gap.wait)
    thread.start()
    give_up = time.monotonic() + PATIENCE
    while tick_gap._opened.is_set() and thread.is_alive():
        assert time.monotonic() < give_up, 'it does not wait'
    return thread


def ended(thread):
    thread.join(PATIENCE)
    return not thread.is_alive()


def test_no_thread_waits_without_ticks_or_long_before_the_next_one(monkeypatch):
    monkeypatch.setattr('ros_ik.node.execution.tick_gap._LONGEST', LONG)
    tick_gap = TickGap()
    assert ended(waiting(tick_gap))
    assert not tick_gap.open(LONG)
    assert ended(waiting(tick_gap))
    assert not tick_gap.open(LONG), 'nobody waits'


def test_a_thread_that_comes_before_or_in_a_tick_continues_after_it(monkeypatch):
    monkeypatch.setattr('ros_ik.node.execution.tick_gap._LONGEST', LONG)
    tick_gap = TickGap()
    assert not tick_gap.open(SHORT)
    thread = waiting(tick_gap)
    time.sleep(0.05)
    assert thread.is_alive()
    assert not tick_gap.open(-SHORT), 'the next tick is late already'
    time.sleep(0.05)
    assert thread.is_alive()
    assert tick_gap.open(SHORT)
    assert ended(thread)
    assert not tick_gap.open(SHORT), 'nobody waits any more'


def test_stalled_ticks_delay_no_thread_for_long():
    tick_gap = TickGap()
    tick_gap.open(SHORT)
    assert ended(waiting(tick_gap))
