# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The lock that keeps launches of some threads apart from recordings of another.

Warp has one tape and one capture of the CPU for the whole process, and one current stream for each
GPU. While one thread records, launches, copies and new arrays of another thread would end up in
the recording or fail. A recording excludes all of them; without one they run side by side.

A forked process has only the thread that forked. So a fork waits for the end of a recording, and
the new process counts no other thread as inside.

An interrupt (Ctrl-C) may end each method of the lock at any of its instructions. Those who share
are therefore a set of threads: one that an interrupt left in it does not wait for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import os
import threading
from typing import Any
from typing import ParamSpec
from typing import TypeVar

_Parameters = ParamSpec('_Parameters')
_Result = TypeVar('_Result')


class _ThreadState(threading.local):
    """Number of nested shares of a thread, and whether the lock has it as a sharer."""

    depth = 0
    is_counted = False


class ReadersWriterLock:
    """Reentrant lock that many threads share, or that one thread holds alone.

    A thread that waits to be alone has precedence over new sharers, so a thread that shares must
    not wait for another thread that is about to share.
    """

    def __init__(self) -> None:
        """Start with no thread inside."""
        # Held by ``with``, into which no interrupt comes; the condition has a method of its own.
        self._mutex = threading.Lock()
        self._condition = threading.Condition(self._mutex)
        self._sharers: set[int] = set()
        self._owner: int | None = None
        self._thread_state = _ThreadState()
        self._shared = _SharedContext(self)

    @property
    def is_shared_here(self) -> bool:
        """True if this thread is inside :meth:`shared`."""
        return self._thread_state.depth > 0

    @property
    def is_held_here(self) -> bool:
        """True if this thread is inside :meth:`shared` or :meth:`alone`."""
        return self._thread_state.depth > 0 or self._owner == threading.get_ident()

    def shared(self) -> contextlib.AbstractContextManager[None]:
        """Return the context in which this thread shares the lock with others."""
        return self._shared

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock alone; shares of this thread are released meanwhile."""
        if self._owner == threading.get_ident():
            yield
            return
        thread = threading.get_ident()
        # An interrupt may end a wait, too.
        try:
            with self._mutex:
                self._sharers.discard(thread)
                self._condition.notify_all()
                self._condition.wait_for(lambda: self._owner is None)
                self._owner = thread
                self._condition.wait_for(lambda: not self._sharers)
            yield
        finally:
            with self._mutex:
                if self._owner == thread:
                    self._owner = None
                if self._thread_state.is_counted:
                    self._sharers.add(thread)
                self._condition.notify_all()

    def enter(self) -> None:
        """Enter :meth:`shared`."""
        own, thread = self._thread_state, threading.get_ident()
        if own.depth == 0 and self._owner != thread:
            with self._mutex:
                if self._owner is not None:
                    self._condition.wait_for(lambda: self._owner is None)
                self._sharers.add(thread)
            own.is_counted = True
        own.depth += 1

    def leave(self) -> None:
        """Leave :meth:`shared`."""
        own = self._thread_state
        own.depth -= 1
        if own.depth == 0 and own.is_counted:
            own.is_counted = False
            with self._mutex:
                self._sharers.discard(threading.get_ident())
                if self._owner is not None:
                    self._condition.notify_all()

    def forget_other_threads(self) -> None:
        """Start again with the calling thread alone, the only one of a forked process."""
        thread = threading.get_ident()
        is_owner = self._owner == thread
        self._mutex = threading.Lock()
        self._condition = threading.Condition(self._mutex)
        shares = self._thread_state.is_counted and not is_owner
        self._sharers = {thread} if shares else set()
        if not is_owner:
            self._owner = None


class _SharedContext:
    """Context of :meth:`ReadersWriterLock.shared`; a generator would take twice as long."""

    __slots__ = ('_lock',)

    def __init__(self, lock: ReadersWriterLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock.enter()

    def __exit__(self, *_: Any) -> None:
        self._lock.leave()


# Shared around launches, copies and new arrays, alone around recordings.
LAUNCH_LOCK = ReadersWriterLock()
# Held while a pool of solvers changes. A fork holds it too, so that every pool is whole in the
# new process; it is taken within the launch lock.
POOL_LOCK = threading.Lock()


def _before_fork() -> None:
    LAUNCH_LOCK.enter()
    POOL_LOCK.acquire()


def _after_fork() -> None:
    POOL_LOCK.release()
    LAUNCH_LOCK.leave()


def _after_fork_in_child() -> None:
    LAUNCH_LOCK.forget_other_threads()
    _after_fork()


if hasattr(os, 'register_at_fork'):  # not on Windows
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )


def shares_launch_lock(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Return a function that is run while no other thread records."""

    @functools.wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with LAUNCH_LOCK.shared():
            return function(*args, **kwargs)

    return run
