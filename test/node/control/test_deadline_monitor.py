# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Missed deadlines: more than a tenth of a window of a hundred ticks is told of."""

import pytest

from ros_ik.node.control.deadline_monitor import DeadlineMonitor


def window(monitor, missed):
    """Record a hundred ticks, the last of which misses that many deadlines."""
    for _ in range(99):
        monitor.add(0)
    monitor.add(missed)
    return monitor.many_missed


# One tick may miss several.
@pytest.mark.parametrize(('missed', 'are_many'), [(0, False), (10, False), (11, True), (90, True)])
def test_more_than_a_tenth_of_the_deadlines_are_many(missed, are_many):
    assert window(DeadlineMonitor(), missed) == are_many


def test_each_window_counts_alone():
    monitor = DeadlineMonitor()
    assert [window(monitor, missed) for missed in (6, 6, 11, 6, 11)] == [
        False, False, True, False, True,
    ]  # fmt: skip


def test_a_part_of_a_window_changes_nothing():
    monitor = DeadlineMonitor()
    for _ in range(99):
        monitor.add(1)
    assert not monitor.many_missed
    monitor.add(1)
    for _ in range(99):
        monitor.add(0)
        assert monitor.many_missed


def test_a_restart_forgets_what_was_missed():
    monitor = DeadlineMonitor()
    window(monitor, 50)
    for _ in range(50):
        monitor.add(1)
    monitor.reset()
    assert not monitor.many_missed
    assert not window(monitor, 10)
