# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages that are serialized once, with numbers that are written into the bytes each tick.

Given a message, rclpy copies it field by field into one of C and serializes that: 35 us for the
trajectory of an arm, of which bytes take 8.
"""

from __future__ import annotations

from array import array
import itertools
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.serialization import serialize_message

# Bytes before the first field: what CDR says of its own format.
_ENCAPSULATION = 4
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
    """The bytes of a message."""

    def __init__(self, message: Any) -> None:
        """Serialize a message whose changing fields hold marks."""
        self._buffer = bytearray(serialize_message(message))
        self._stamp = np.frombuffer(self._buffer, np.int32, 2, _ENCAPSULATION)

    def numbers(self, mark: array[float]) -> np.ndarray:
        """Return the place of a marked field to write to, float64 [len(mark)]; zero at first.

        Raises:
            ValueError: The mark is not in the message exactly once.
        """
        pattern = mark.tobytes()
        if self._buffer.count(pattern) != 1:
            raise ValueError('a field was not found in its serialized message')
        start = self._buffer.find(pattern)
        place = np.frombuffer(self._buffer, np.float64, len(mark), start)
        place[:] = 0.0
        return place

    def set_stamp(self, stamp: Time) -> None:
        """Write the time of the header, of a message that begins with one."""
        self._stamp[:] = stamp.sec, stamp.nanosec

    def to_bytes(self) -> bytes:
        """Return a copy of the bytes, as publishers take them."""
        return bytes(self._buffer)
