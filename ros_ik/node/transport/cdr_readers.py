# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Readers of serialized messages of streams: names and numbers from bytes.

Ticks read these messages at the rate of the robot. Deserializing a pose takes rclpy 20 us, and
joint states 40 us; reading the bytes takes 2 and 4 us.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import struct
from typing import Any
from typing import NamedTuple

from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from ros_ik.node.transport.cdr_templates import Marks
from ros_ik.node.transport.cdr_templates import seconds_of
from ros_ik.node.transport.cdr_templates import SerializedMessage
from ros_ik.node.transport.pose_messages import pose_numbers

# Plain little-endian CDR, as supported processors write it. rclpy reads any other encoding.
_PLAIN = b'\x00\x01\x00\x00'
_BODY = len(_PLAIN)
_HEAD, _STAMP = struct.Struct('<iII'), struct.Struct('<iI')
_FRAME = _BODY + _HEAD.size
# Number of bytes of the length of an array.
_SIZE = 4
# Maximum number of cached layouts of joint states, one for each publisher.
_MAX_LAYOUTS = 8


class Stamp(NamedTuple):
    """Time of a header, with the names of builtin_interfaces/Time."""

    sec: int
    nanosec: int

    @property
    def seconds(self) -> float | None:
        """The time [s]; None for zero, which means unset."""
        return seconds_of(self) if self.sec or self.nanosec else None


class StampedSample(NamedTuple):
    """Numbers in a frame.

    Attributes:
        frame_id: Name of the frame.
        stamp: Time of the header.
        numbers: Numbers of a pose (x y z qx qy qz qw), a velocity (linear, angular) or a point (x
            y z).
    """

    frame_id: str
    stamp: Stamp
    numbers: Sequence[float]


class JointSample(NamedTuple):
    """Positions or velocities of joints.

    Attributes:
        frame_id: Always '': joints are not given in a frame.
        stamp: Time of the header.
        names: Names of the joints.
        positions: Positions in the message [rad or m].
        velocities: Velocities in the message [rad/s or m/s], if it has no positions.
        unused: Number of velocities beside positions.
    """

    frame_id: str
    stamp: Stamp
    names: tuple[str, ...]
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    unused: int = 0


def _stamped_reader(
    kind: type, count: int, numbers_of: Callable[[Any], Sequence[float]]
) -> Callable[[bytes], StampedSample]:
    """Return a reader of messages that consist of a header and numbers.

    Args:
        kind: Type of the messages.
        count: Number of numbers.
        numbers_of: Function that returns the numbers of a message.
    """
    layout = struct.Struct(f'<{count}d')

    def read(data: bytes) -> StampedSample:
        if data[:_BODY] == _PLAIN:
            try:
                seconds, nanoseconds, length = _HEAD.unpack_from(data, _BODY)
                end = _FRAME + length
                # Numbers of eight bytes begin at multiples of eight of the body.
                start = _BODY + (end - _BODY + 7) // 8 * 8
                numbers = layout.unpack_from(data, start)
                name = data[_FRAME:end]
                frame_id = name[:-1].decode()
            except (struct.error, UnicodeDecodeError):
                pass  # rclpy raises the error
            else:
                if name.find(0) == length - 1:
                    return StampedSample(frame_id, Stamp(seconds, nanoseconds), numbers)
        message = deserialize_message(data, kind)
        stamp, frame_id = message.header.stamp, message.header.frame_id
        return StampedSample(frame_id, Stamp(stamp.sec, stamp.nanosec), numbers_of(message))

    read.__doc__ = f"""Return the content of a serialized {kind.__name__}.

    Raises:
        RuntimeError: It cannot be read.
    """
    return read


def _twist_numbers(message: TwistStamped) -> tuple[float, ...]:
    v, w = message.twist.linear, message.twist.angular
    return v.x, v.y, v.z, w.x, w.y, w.z


def _point_numbers(message: PointStamped) -> tuple[float, ...]:
    return message.point.x, message.point.y, message.point.z


read_pose = _stamped_reader(PoseStamped, 7, lambda message: pose_numbers(message.pose))
read_twist = _stamped_reader(TwistStamped, 6, _twist_numbers)
read_point = _stamped_reader(PointStamped, 3, _point_numbers)


class JointReader:
    """Reader of joint states, with a cached layout for each set of names and sizes."""

    def __init__(self) -> None:
        """Start without layouts."""
        self._layouts: list[_JointLayout] = []

    def __call__(self, data: bytes) -> JointSample:
        """Return the content of a serialized sensor_msgs/JointState.

        Raises:
            RuntimeError: It cannot be read.
        """
        for layout in self._layouts:
            if layout.fits(data):
                return layout.read(data)
        message = deserialize_message(data, JointState)
        if message.position or message.velocity or message.effort:
            layout = _JointLayout(message)
            if layout.fits(data):
                self._layouts = [layout, *self._layouts[: _MAX_LAYOUTS - 1]]
        stamp = message.header.stamp
        return JointSample(
            '', Stamp(stamp.sec, stamp.nanosec), tuple(message.name), message.position,
            () if message.position else message.velocity,
            len(message.velocity) if message.position else 0,
        )  # fmt: skip


class _JointLayout:
    """Byte offsets of the numbers in joint states of one frame, set of names and sizes."""

    def __init__(self, message: JointState) -> None:
        """Find the offsets in a serialized message like this one, which has numbers."""
        self._names = tuple(message.name)
        fields, marks = (message.position, message.velocity, message.effort), Marks()
        filled = [marks.take(len(field)) for field in fields]
        serialized = SerializedMessage(
            JointState(
                header=message.header,
                name=message.name,
                position=filled[0],
                velocity=filled[1],
                effort=filled[2],
            )
        )
        buffer = bytes(serialized.buffer)
        arrays = [(serialized.find(mark), 8 * len(mark)) for mark in filled if mark]
        # The bytes between the stamp and the arrays hold the names and sizes.
        self._fixed, begin = [(0, _BODY, _PLAIN)], _BODY + _STAMP.size
        for start, size in arrays:
            self._fixed.append((begin, start, buffer[begin:start]))
            begin = start + size
        # After the last array come the sizes of empty arrays, and unused bytes of rclpy's buffer.
        end = begin + _SIZE * (len(filled) - 1 - max(k for k, mark in enumerate(filled) if mark))
        self._fixed.append((begin, end, buffer[begin:end]))
        self._least = end
        self._has_positions, self._unused = bool(filled[0]), len(filled[1])
        self._numbers = struct.Struct(f'<{len(filled[0] or filled[1])}d')
        self._start = arrays[0][0]

    def fits(self, data: bytes) -> bool:
        """Return True if a serialized message has this frame, these names and sizes."""
        return len(data) >= self._least and all(
            [data[begin:end] == fixed for begin, end, fixed in self._fixed]
        )

    def read(self, data: bytes) -> JointSample:
        """Return the content of a serialized message that fits."""
        stamp = Stamp._make(_STAMP.unpack_from(data, _BODY))
        numbers = self._numbers.unpack_from(data, self._start)
        if self._has_positions:
            return JointSample('', stamp, self._names, numbers, (), self._unused)
        return JointSample('', stamp, self._names, (), numbers)


def read_jog(kind: type, data: bytes) -> JointSample:
    """Return the velocities of a serialized control_msgs/JointJog, and nothing else of it.

    Args:
        kind: Type of the messages.
        data: The bytes.

    Raises:
        RuntimeError: It cannot be read.
    """
    message = deserialize_message(data, kind)
    stamp = message.header.stamp
    return JointSample(
        '', Stamp(stamp.sec, stamp.nanosec), tuple(message.joint_names), (), message.velocities
    )
