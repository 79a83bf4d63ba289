# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Python objects on a pipe between the node and a process of its own.

On the pipe, an object is a length of 8 bytes and its pickle. Pickle is safe here because only the
node holds the other end.
"""

from __future__ import annotations

import pickle
import select
import struct
from typing import Any
from typing import BinaryIO

_LENGTH = struct.Struct('<Q')


def write_object(pipe: BinaryIO, value: object) -> None:
    """Write one object; blocks while the pipe is full.

    Raises:
        OSError: The other end is closed.
    """
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read_object(pipe: BinaryIO) -> Any:
    """Return the next object, or None once the other end is closed, orderly or not."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    return pickle.loads(data) if len(data) == length else None


def is_closed(pipe: BinaryIO) -> bool:
    """Return True if the other end of a pipe is closed, even if objects wait on it."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))
