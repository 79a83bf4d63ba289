# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a batch on the threads of a CPU: each is run once, and no failure is lost."""

from concurrent.futures import ThreadPoolExecutor
import threading

import pytest

from ros_ik.solvers.differential_ik.shared_graphs import MAX_PART_SIZE
from ros_ik.solvers.differential_ik.shared_graphs import shared_parts
from ros_ik.solvers.differential_ik.shared_graphs import SharedGraphs


@pytest.mark.parametrize('n_threads', [1, 2, 7])
@pytest.mark.parametrize('n', [1, 129, 256, 300, 4096, 10_001])
def test_every_robot_is_in_one_part(n, n_threads):
    parts = shared_parts(n, n_threads)
    steps = sorted(step for part in parts for step in part)
    assert [first for first, _ in steps] == [
        sum(size for _, size in steps[:k]) for k in range(len(steps))
    ]
    assert sum(size for _, size in steps) == n
    assert max(size for _, size in steps) <= MAX_PART_SIZE
    assert all(parts)
    sizes = [sum(size for _, size in part) for part in parts]
    assert n_threads > 1 or len(parts) == 1
    # Shares small enough to make up for a thread that comes late.
    assert n_threads == 1 or max(sizes) <= max(32, n / n_threads / 2)


class Part:
    """A stand-in for a graph that waits until as many run as there are threads."""

    def __init__(self, together, fault=None):
        self.together, self.fault = together, fault
        self.threads = []

    def enqueue(self):
        self.threads.append(threading.current_thread())
        if self.together is not None:
            self.together.wait(timeout=20.0)
        if self.fault:
            raise self.fault


def test_the_caller_and_the_pool_take_each_part_once():
    with ThreadPoolExecutor(1) as pool:
        meeting = threading.Barrier(2)
        parts = [Part(meeting), Part(meeting), Part(None), Part(None), Part(None)]
        shared = SharedGraphs(parts, pool, 2)
        shared.launch()
        assert [len(part.threads) for part in parts] == [1] * 5
        taken = {part.threads[0] for part in parts[:2]}
        assert threading.current_thread() in taken
        assert len(taken) == 2


def test_a_thread_that_does_not_come_is_not_waited_for():
    with ThreadPoolExecutor(1) as pool:
        busy = threading.Event()
        elsewhere = pool.submit(busy.wait, 20.0)
        parts = [Part(None) for _ in range(3)]
        SharedGraphs(parts, pool, 2).launch()
        assert not elsewhere.done()
        busy.set()
    assert {part.threads[0] for part in parts} == {threading.current_thread()}


@pytest.mark.parametrize('number', [0, 1])
def test_a_failure_reaches_the_caller(number):
    with ThreadPoolExecutor(1) as pool:
        meeting = threading.Barrier(2)
        parts = [Part(meeting) for _ in range(2)]
        parts[number].fault = RuntimeError('device lost')
        with pytest.raises(RuntimeError, match='device lost'):
            SharedGraphs(parts, pool, 2).launch()
    assert [len(part.threads) for part in parts] == [1, 1]
