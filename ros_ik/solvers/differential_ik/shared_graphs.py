# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a large batch, processed by several threads of a CPU."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
import os

from ros_ik.solvers.graph import Graph

# Largest number of robots of a part: their scratch memory fits into the cache of a core. Batches
# of up to as many are not worth waking a thread.
MAX_PART_SIZE = 128
_MIN_PART_SIZE = 32
# With small parts, the other threads do the work of a thread that wakes late.
_PARTS_PER_THREAD = 4


def shared_parts(n: int, n_threads: int) -> list[list[tuple[int, int]]]:
    """Divide n robots into parts.

    Returns:
        For each part a list of (first robot, number of robots), processed in sequence.
    """
    count = _PARTS_PER_THREAD * n_threads if n_threads > 1 else 1
    together = min(max(-(-n // count), _MIN_PART_SIZE), MAX_PART_SIZE)
    steps = [(first, min(together, n - first)) for first in range(0, n, together)]
    count = min(count, len(steps))
    # Neighbours are in different parts, because problems that take longer are often neighbours.
    return [steps[k::count] for k in range(count)]


class HelperThreads:
    """Threads that help the calling thread; a forked process starts its own."""

    def __init__(self, n_threads: int) -> None:
        """Start no thread yet.

        Args:
            n_threads: Largest number of threads.
        """
        self._n_threads = n_threads
        self._start()

    def _start(self) -> None:
        self._pool, self._process = ThreadPoolExecutor(self._n_threads), os.getpid()

    def submit(self, run: Callable[[deque[Graph]], None], todo: deque[Graph]) -> Future[None]:
        """Let a thread run a function, as soon as one is free."""
        if self._process != os.getpid():
            self._start()
        return self._pool.submit(run, todo)


class SharedGraphs:
    """Graphs that may run in parallel, in any order."""

    def __init__(
        self, graphs: Sequence[Graph], helpers: HelperThreads | None, n_threads: int
    ) -> None:
        """Store the graphs.

        Args:
            graphs: The graphs, which must not write to shared memory.
            helpers: Threads that help the calling thread; None if there are none.
            n_threads: Number of threads, including the calling thread.
        """
        self._graphs = tuple(graphs)
        self._helpers = helpers
        self._n_helpers = min(n_threads, len(graphs)) - 1 if helpers is not None else 0

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self._graphs)

    def launch(self) -> None:
        """Run every graph; on a GPU, enqueue them on the current stream without waiting."""
        if not self._n_helpers or self._helpers is None:
            for graph in self._graphs:
                graph.enqueue()
            return
        todo = deque(self._graphs)
        helping = [self._helpers.submit(_run, todo) for _ in range(self._n_helpers)]
        try:
            _run(todo)  # this thread is awake already
        finally:
            for helper in helping:
                if not helper.cancel():
                    helper.result()


def _run(todo: deque[Graph]) -> None:
    """Run graphs until none is left; popping one from the deque is atomic."""
    while True:
        try:
            graph = todo.popleft()
        except IndexError:
            return
        graph.enqueue()
