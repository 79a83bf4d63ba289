# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Frames on a pipe between the node and a process of its own.

A frame is a length of 8 bytes and a pickled object. Pickle is safe here because only the node
holds the other end.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any
from typing import BinaryIO

_LENGTH = struct.Struct('<Q')


def write_frame(pipe: BinaryIO, frame: object) -> None:
    """Write one frame; blocks while the pipe is full.

    Raises:
        OSError: The other end is closed.
    """
    data = pickle.dumps(frame, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Any:
    """Return the next frame, or None once the other end is closed, orderly or not."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    return pickle.loads(data) if len(data) == length else None
