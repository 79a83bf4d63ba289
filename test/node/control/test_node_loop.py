# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The control thread of a running node: its scheduling, and missed deadlines."""

import contextlib
import os
from pathlib import Path
import signal
import time

import pytest
from support.rigs.ros_rig import LONG
from support.rigs.ros_rig import NEVER_STALE
from support.rigs.ros_rig import panda_urdf
from support.rigs.ros_rig import RATE
from support.rigs.ros_rig import ros_rig
from support.rigs.ros_rig import start_node
from support.rigs.ros_rig import start_robot

from ros_ik_interfaces.msg import IkStatus

pytestmark = pytest.mark.dds


def _of_threads(client, look):
    """Return the values of each thread of the node, by identifier."""
    found = {}
    for entry in Path(f'/proc/{client.processes.pid("node")}/task').iterdir():
        # Threads end at any time.
        with contextlib.suppress(ProcessLookupError):
            found[int(entry.name)] = look(int(entry.name))
    return found


def _is_stopped(client):
    """Return True if every thread of the node stands still: they run until one takes SIGSTOP."""
    pid = client.processes.pid('node')
    stats = _of_threads(client, lambda tid: Path(f'/proc/{pid}/task/{tid}/stat').read_text())
    return all(stat.rpartition(')')[2].split()[0] == 'T' for stat in stats.values())


def _fast(client):
    """Return the priority of each real-time thread of the node."""

    def priority(tid):
        is_fast = os.sched_getscheduler(tid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO
        return os.sched_getparam(tid).sched_priority if is_fast else None

    found = _of_threads(client, priority)
    return {tid: value for tid, value in found.items() if value is not None}


def _refused(client):
    """Return True if the node may not have real-time priorities."""
    return 'rtprio limit' in client.processes.text('node')


def test_the_control_thread_has_its_priority_and_processor_and_the_executor_is_next(tmp_path):
    cpu = max(os.sched_getaffinity(0))
    if cpu == 0:
        pytest.skip('one processor only: nothing to tell apart')
    with ros_rig(tmp_path) as client:
        start_node(client, rt__priority=7, rt__cpu=cpu)
        client.wait_for_code(IkStatus.WAITING_FOR_MODEL, timeout=LONG)
        # Node and executor are scheduled one after the other.
        client.wait_for(lambda: _refused(client) or len(_fast(client)) == 2, 'two priorities')
        processors = _of_threads(client, os.sched_getaffinity)
        pinned = [tid for tid, found in processors.items() if found == {cpu}]
        assert len(pinned) == 1 and len(processors) > 2
        fast = _fast(client)
        if _refused(client):
            assert fast == {}
        else:
            assert fast.pop(pinned[0]) == 7
            assert list(fast.values()) == [6]
        client.describe(panda_urdf())
        start_robot(client)
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)


def test_a_processor_that_does_not_exist_is_refused(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, rt__cpu=4000)
        status = client.wait_for_code(IkStatus.INVALID, text='rt.cpu', timeout=LONG)
        assert 'got 4000' in status.text
        assert client.processes.is_alive('node')


def test_deadlines_missed_are_counted_and_the_loop_goes_on(tmp_path):
    with ros_rig(tmp_path) as client:
        start_node(client, **NEVER_STALE)
        start_robot(client)
        client.describe(panda_urdf())
        client.wait_for_code(IkStatus.OK, text='waiting for a target', timeout=LONG)
        client.stream('pose', client.moved_pose((0.0, 0.05, 0.0)))
        client.wait_for_arrival()
        before = client.status
        client.processes.signal('node', signal.SIGSTOP)
        client.wait_for(lambda: _is_stopped(client), 'standstill')
        begin = time.monotonic()
        client.spin(1.0)
        stopped = time.monotonic() - begin
        client.processes.signal('node', signal.SIGCONT)
        client.statuses.clear()
        client.wait_for(lambda: len(client.statuses) > 50, 'fifty more ticks')
        missed = client.status.missed_ticks - before.missed_ticks
        # Other load of the machine can only add to it.
        assert missed >= int(RATE * stopped) - 2, (missed, stopped)
        ticks = [status.ticks for status in client.statuses]
        assert all(b > a for a, b in zip(ticks[:-1], ticks[1:], strict=True))
        # Missed ticks are not made up for, which would make ticks faster than their period.
        stamps = [s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in client.statuses]
        assert (ticks[-1] - ticks[0]) <= RATE * (stamps[-1] - stamps[0]) + 2
        client.assert_trajectories_are_accepted()
