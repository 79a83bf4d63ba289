# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""PoseStamped messages as numbers, read from their bytes.

They come as often as the robot moves. rclpy takes 17 us to make one of them, in which the control
thread does not have the interpreter; from the bytes it takes 3.
"""

from __future__ import annotations

import dataclasses
import struct

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from ros_ik.node.pose_messages import pose_numbers

# Plain CDR, little-endian, which is what processors with ROS write; of others rclpy reads each.
_PLAIN = b'\x00\x01\x00\x00'
_BODY = len(_PLAIN)
_HEAD, _NUMBERS = struct.Struct('<iII'), struct.Struct('<7d')
_FRAME = _BODY + _HEAD.size


@dataclasses.dataclass(slots=True)
class PoseSample:
    """A pose in a frame.

    Attributes:
        header: Frame and time.
        numbers: x y z qx qy qz qw.
    """

    header: Header
    numbers: tuple[float, ...]


def read_pose_stamped(data: bytes) -> PoseSample:
    """Return what a serialized geometry_msgs/PoseStamped says.

    Raises:
        RuntimeError: It cannot be read.
    """
    if data[:_BODY] == _PLAIN:
        try:
            seconds, nanoseconds, length = _HEAD.unpack_from(data, _BODY)
            end = _FRAME + length
            # Numbers of eight bytes begin at multiples of eight of the body.
            start = _BODY + (end - _BODY + 7) // 8 * 8
            numbers = _NUMBERS.unpack_from(data, start)
            name = data[_FRAME:end]
            frame_id = name[:-1].decode()
        except (struct.error, UnicodeDecodeError):
            pass  # rclpy says what is wrong with it
        else:
            if name.find(0) == length - 1:
                stamp = Time(sec=seconds, nanosec=nanoseconds)
                return PoseSample(Header(stamp=stamp, frame_id=frame_id), numbers)
    message = deserialize_message(data, PoseStamped)
    return PoseSample(message.header, pose_numbers(message.pose))
