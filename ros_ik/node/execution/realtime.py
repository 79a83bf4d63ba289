# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Real-time settings of the control thread, of the operating system and of the interpreter.

Memory is not locked: mlockall covers the address space of the whole process, Warp's compiler and
DDS included, which is far beyond the usual limit, and once that is reached each further allocation
fails. A process in use does not fault its pages in again unless the machine swaps: turn swap off.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
import threading
import time

from ros_ik.settings import SettingsError

# Objects made and not freed since the last collection from which one is worth its time, and from
# which it no longer waits for a pause that is long enough.
_WORTH, _TOO_MANY = 700, 50_000
# Collections of a generation after which the next one is collected too, as Python has it.
_EVERY = 10
# A collection starts where so many times its usual duration are left; that duration at first [s].
_SPARE, _FIRST_GUESS = 3.0, 1e-4
# How fast an unusual duration is forgotten, from one attempt to the next [1].
_FORGET = 0.98


def check_cpu(cpu: int) -> None:
    """Refuse a processor that this machine does not have; -1 stands for any.

    Raises:
        SettingsError: There is no such processor.
    """
    count = os.cpu_count() or 1
    if cpu >= count:
        raise SettingsError('rt.cpu', f'expected a processor from 0 to {count - 1}, got {cpu}')


def schedule_thread(thread: threading.Thread, priority: int, cpu: int) -> list[str]:
    """Give a running thread its priority and processor as far as that is permitted.

    Args:
        thread: The thread.
        priority: Of SCHED_FIFO, 1 to 99; 0 leaves the thread as it is.
        cpu: The only processor that may run it; -1 leaves that to the system.

    Returns:
        A sentence for each thing that was not permitted: what is missing, and how to get it.
    """
    warnings = []
    identifier = thread.native_id or 0
    if priority > 0:
        try:
            # What the thread starts in turn has the usual priority.
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
                'may run on any. The cpuset of the process has to contain it'
            )
    return warnings


def wake_promptly() -> None:
    """Have the calling thread woken when it is due; otherwise Linux saves power, 50 us late."""
    path = f'/proc/{threading.get_native_id()}/timerslack_ns'
    try:
        Path(path).write_text('1', encoding='ascii')
    except OSError:
        pass  # not on Linux, or not permitted: the tick begins a little later


def _reason(error: Exception) -> str:
    # AttributeError: a system without these calls.
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return 'this system has no such call'


def settle_memory(*, whole: bool = True) -> None:
    """Collect garbage, and keep what is left out of every later collection.

    It holds the interpreter for a tenth of a second or so: not while the robot moves.

    Args:
        whole: True if what was kept out before may be garbage by now.
    """
    if whole:
        gc.unfreeze()
    gc.collect()
    gc.freeze()


class PauseCollector:
    """Collects garbage while the control thread waits for its next tick, and never inside one.

    Python would collect whenever some thread has made enough objects, which is in the middle of a
    tick as often as not; so its own collection is off in the node's process (``gc.disable``). What
    :func:`settle_memory` has seen is left out, so that a collection takes tens of microseconds.
    """

    def __init__(self) -> None:
        """Know nothing of how long a collection takes."""
        self._usual = [_FIRST_GUESS] * 3

    def collect_within(self, pause: float) -> int:
        """Collect if there is enough to collect and time to do it.

        Args:
            pause: Time until the next tick [s].

        Returns:
            Number of generations that were collected, 0 if there is none.
        """
        young, middle, old = gc.get_count()
        if young < _WORTH or gc.isenabled():
            return 0
        generation = 0 if middle < _EVERY else 1 if old < _EVERY else 2
        if pause < _SPARE * self._usual[generation] and young < _TOO_MANY:
            self._usual[generation] *= _FORGET
            return 0
        begin = time.perf_counter()
        gc.collect(generation)
        took = time.perf_counter() - begin
        self._usual[generation] = max(took, _FORGET * self._usual[generation])
        return generation + 1
