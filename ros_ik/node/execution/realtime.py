# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Real-time settings of the control thread, the operating system and the interpreter.

Memory is not locked. mlockall covers the whole address space, with Warp's compiler and DDS, which
exceeds the usual limit; further allocations would then fail. Without swap, pages in use stay in
memory: turn swap off.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
import threading
import time

from ros_ik.settings import SettingsError

# Number of new objects that makes a collection worthwhile, and number at which it no longer waits
# for a long enough pause.
_WORTH, _TOO_MANY = 700, 50_000
# Number of collections of a generation after which the next generation is collected too, as in
# Python.
_COLLECTIONS_PER_GENERATION = 10
# Required pause in multiples of the usual duration of a collection, and initial estimate of that
# duration [s].
_SPARE, _FIRST_GUESS = 3.0, 1e-4
# Decay of an unusual duration per attempt [1].
_DECAY = 0.98


def check_cpu(cpu: int) -> None:
    """Raise an error for a processor that this machine does not have; -1 stands for any.

    Raises:
        SettingsError: There is no such processor.
    """
    count = os.cpu_count() or 1
    if cpu >= count:
        raise SettingsError('rt.cpu', f'expected a processor from 0 to {count - 1}, got {cpu}')


def schedule_thread(thread: threading.Thread, priority: int, cpu: int) -> list[str]:
    """Set priority and processor of a running thread, as far as permitted.

    Args:
        thread: The thread.
        priority: SCHED_FIFO priority, 1 to 99; 0 leaves the thread as it is.
        cpu: The only processor that may run it; -1 leaves that to the system.

    Returns:
        A message for each setting that was not permitted, with the missing permission and its
        remedy.
    """
    warnings = []
    identifier = thread.native_id or 0
    if priority > 0:
        try:
            # Threads started by this one have the ordinary priority.
            policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(identifier, policy, os.sched_param(priority))
        except (OSError, AttributeError) as error:
            warnings.append(
                f'rt.priority: {priority} is not permitted ({_reason(error)}); the control thread '
                'keeps the usual priority. The user needs an rtprio limit of at least '
                f'{priority} in /etc/security/limits.conf, or the process CAP_SYS_NICE'
            )
    if cpu >= 0:
        try:
            os.sched_setaffinity(identifier, {cpu})
        except (OSError, AttributeError) as error:
            warnings.append(
                f'rt.cpu: processor {cpu} is not permitted ({_reason(error)}); the control thread '
                'may run on any processor. The cpuset of the process must contain this one'
            )
    return warnings


def disable_timer_slack() -> None:
    """Disable timer slack of the calling thread, which delays wake-ups by 50 us."""
    path = f'/proc/{threading.get_native_id()}/timerslack_ns'
    try:
        Path(path).write_text('1', encoding='ascii')
    except OSError:
        pass  # not on Linux, or not permitted: ticks begin a little later


def _reason(error: Exception) -> str:
    # AttributeError: a system without these calls.
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return 'this system has no such call'


def collect_and_freeze(*, whole: bool = True) -> None:
    """Collect garbage, and exclude the remaining objects from later collections.

    It holds the interpreter for about a tenth of a second, so do not call it while the robot
    moves.

    Args:
        whole: True to include objects that were excluded before.
    """
    if whole:
        gc.unfreeze()
    gc.collect()
    gc.freeze()


class PauseCollector:
    """Collection of garbage while the control thread waits for its next tick.

    Python would collect whenever any thread has created enough objects, often in the middle of a
    tick. Automatic collection is therefore disabled in the node's process (``gc.disable``).
    Objects excluded by :func:`collect_and_freeze` are skipped, so that a collection takes tens of
    microseconds.
    """

    def __init__(self) -> None:
        """Start with the initial estimate of the duration."""
        self._usual = [_FIRST_GUESS] * 3

    def collect_within(self, pause: float) -> int:
        """Collect if there is enough garbage and enough time.

        Args:
            pause: Time until the next tick [s].

        Returns:
            Number of generations that were collected, 0 if there is none.
        """
        young, middle, old = gc.get_count()
        if young < _WORTH or gc.isenabled():
            return 0
        most = _COLLECTIONS_PER_GENERATION
        generation = 0 if middle < most else 1 if old < most else 2
        if pause < _SPARE * self._usual[generation] and young < _TOO_MANY:
            self._usual[generation] *= _DECAY
            return 0
        begin = time.perf_counter()
        gc.collect(generation)
        took = time.perf_counter() - begin
        self._usual[generation] = max(took, _DECAY * self._usual[generation])
        return generation + 1
