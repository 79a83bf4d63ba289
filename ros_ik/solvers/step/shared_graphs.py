# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A large batch in parts that the threads of a CPU take as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ros_ik.solvers.graph import Graph

# Robots whose scratch memory stays in the cache of a core while they are stepped; smaller batches
# are not worth waking a thread for.
MOST_TOGETHER = 128
# A thread that wakes late leaves its share to the others, if the shares are small enough.
_LEAST_TOGETHER = 32
_PARTS_PER_THREAD = 4


def shared_parts(n: int, n_threads: int) -> list[list[tuple[int, int]]]:
    """Divide n robots into parts.

    Returns:
        A list per part of (first robot, number of robots) stepped one after the other.
    """
    count = _PARTS_PER_THREAD * n_threads if n_threads > 1 else 1
    together = min(max(-(-n // count), _LEAST_TOGETHER), MOST_TOGETHER)
    steps = [(first, min(together, n - first)) for first in range(0, n, together)]
    count = min(count, len(steps))
    # Neighbours are in different parts: robots that are harder tend to lie together.
    return [steps[k::count] for k in range(count)]


class SharedGraphs:
    """Graphs that may run side by side, in any order."""

    def __init__(
        self, graphs: Sequence[Graph], pool: ThreadPoolExecutor | None, n_threads: int
    ) -> None:
        """Take the graphs.

        Args:
            graphs: The graphs, which share no memory that they write.
            pool: Threads that help the caller; None for none.
            n_threads: Number of threads, the caller's included.
        """
        self._graphs = tuple(graphs)
        self._pool = pool
        self._n_helpers = min(n_threads, len(graphs)) - 1 if pool is not None else 0

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self._graphs)

    def launch(self) -> None:
        """Run every graph; on a GPU without waiting, on the current stream of the device."""
        todo = deque(self._graphs)
        if not self._n_helpers or self._pool is None:
            _run(todo)
            return
        helpers = [self._pool.submit(_run, todo) for _ in range(self._n_helpers)]
        try:
            _run(todo)  # this thread is awake already
        finally:
            for helper in helpers:
                if not helper.cancel():
                    helper.result()


def _run(todo: deque[Graph]) -> None:
    """Run graphs until none is left; taking one is a single operation of the deque."""
    while True:
        try:
            graph = todo.popleft()
        except IndexError:
            return
        graph.enqueue()
