# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""State, parent and processor time of processes, from /proc."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class ProcessStat(NamedTuple):
    """Fields of /proc/<pid>/stat.

    Attributes:
        state: State, one letter: 'Z' for a zombie, 'X' for dead.
        parent: Process that started it.
        processor_time: User and system time that it has taken, without its children [s].
    """

    state: str
    parent: int
    processor_time: float


def process_stat(process_id: int) -> ProcessStat:
    """Read the fields of a process.

    Raises:
        OSError: The process does not exist.
    """
    # The name of a process may contain spaces. State and parent follow it; user and system time
    # are fields 14 and 15.
    fields = Path(f'/proc/{process_id}/stat').read_text().rpartition(')')[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ProcessStat(fields[0], int(fields[1]), ticks / os.sysconf('SC_CLK_TCK'))


def process_stats() -> dict[int, ProcessStat]:
    """Read the fields of all processes, by process id."""
    found = {}
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            found[int(folder.name)] = process_stat(int(folder.name))
        except OSError:
            continue  # It has ended meanwhile.
    return found
