# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages that are serialized once, with numbers that are written into the bytes each tick.

Given a message, rclpy copies it field by field into one of C and serializes that: 35 us for the
trajectory of an arm, of which bytes take 8.
"""

from __future__ import annotations

from array import array
import itertools
import struct
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

# Bytes before the first field: what CDR says of its own format.
_ENCAPSULATION = 4
NANOSECONDS = 1_000_000_000
_STAMP = struct.Struct('=iI')
# Numbers that nothing else in a message looks like, from here on.
_MARK = float.fromhex('0x1.5ca1ab1ecafep+700')


class Marks:
    """Hands out numbers that mark where arrays lie in a serialized message."""

    def __init__(self) -> None:
        """Start anew; one instance serves one message."""
        self._count = itertools.count(1)

    def take(self, count: int) -> array[float]:
        """Return numbers to fill a field of the message with, all different."""
        return array('d', (next(self._count) * _MARK for _ in range(count)))


class SerializedMessage:
    """The bytes of a message.

    Attributes:
        buffer: The bytes, to write numbers to.
    """

    def __init__(self, message: Any) -> None:
        """Serialize a message whose changing fields hold marks."""
        self.buffer = bytearray(serialize_message(message))

    def find(self, mark: array[float]) -> int:
        """Return where in the buffer a marked field lies.

        Raises:
            ValueError: The mark is not in the message exactly once.
        """
        pattern = mark.tobytes()
        if self.buffer.count(pattern) != 1:
            raise ValueError('a field was not found in its serialized message')
        return self.buffer.find(pattern)

    def numbers(self, mark: array[float]) -> np.ndarray:
        """Return the place of a marked field to write to, float64 [len(mark)]; zero at first.

        Raises:
            ValueError: The mark is not in the message exactly once.
        """
        place = np.frombuffer(self.buffer, np.float64, len(mark), self.find(mark))
        place[:] = 0.0
        return place

    def set_stamp(self, nanoseconds: int) -> None:
        """Write the time [ns] of the header, of a message that begins with one."""
        _STAMP.pack_into(self.buffer, _ENCAPSULATION, *divmod(nanoseconds, NANOSECONDS))

    def to_bytes(self) -> bytes:
        """Return a copy of the bytes, as publishers take them."""
        return bytes(self.buffer)
