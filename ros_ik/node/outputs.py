# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Commands as each kind of controller takes them, in messages that are filled in place.

joint_trajectory_controller takes a JointTrajectory, forward_position_controller a
Float64MultiArray with one position per joint in its order. Neither looks for NaN: nothing that is
not finite is ever published.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from builtin_interfaces.msg import Duration
from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.servo import ServoOutput
from ros_ik.servo import TrajectoryLayout
from ros_ik.settings import OutputSettings

NANOSECONDS = 1_000_000_000
LATEST = QoSProfile(depth=1)


class TrajectoryMessage:
    """The trajectory of one output: the commanded position ahead, then the same at rest.

    Attributes:
        message: The message, with the last command that was filled in.
    """

    kind = JointTrajectory

    def __init__(self, layout: TrajectoryLayout) -> None:
        """Fill in everything that stays the same."""
        self._layout = layout
        points = [JointTrajectoryPoint(time_from_start=duration(time)) for time in layout.times]
        self.message = JointTrajectory(joint_names=list(layout.joint_names), points=points)
        count = len(layout.joint_names)
        self._positions = [writable(point, 'positions', count) for point in points]
        self._velocities = None
        if layout.publish_velocities:
            # Those of the last point stay zero.
            self._velocities, _ = (writable(point, 'velocities', count) for point in points)

    def fill(self, output: ServoOutput, stamp: Time) -> bool:
        """Take a command; return whether all of it is finite."""
        first, last = self._positions
        output.joint_q.take(self._layout.coords, out=first, mode='clip')
        last[:] = first
        finite = np.isfinite(first).all()
        if self._velocities is not None:
            output.joint_qd.take(self._layout.dofs, out=self._velocities, mode='clip')
            finite = finite and np.isfinite(self._velocities).all()
        if self._layout.stamp_now:
            self.message.header.stamp = stamp
        return bool(finite)


class ArrayMessage:
    """The positions of one output.

    Attributes:
        message: The message, with the last command that was filled in.
    """

    kind = Float64MultiArray

    def __init__(self, layout: TrajectoryLayout) -> None:
        """Make room for the positions."""
        self._coords = layout.coords
        self.message = Float64MultiArray()
        self._positions = writable(self.message, 'data', len(layout.joint_names))

    def fill(self, output: ServoOutput, stamp: Time) -> bool:
        """Take a command; return whether all of it is finite."""
        output.joint_q.take(self._coords, out=self._positions, mode='clip')
        return bool(np.isfinite(self._positions).all())


OutputMessage = TrajectoryMessage | ArrayMessage
_MESSAGES: dict[str, type[TrajectoryMessage] | type[ArrayMessage]] = {
    'joint_trajectory': TrajectoryMessage,
    'float64_multi_array': ArrayMessage,
}


def output_publisher(node: Node, output: OutputSettings) -> Publisher:
    """Return the publisher of one output."""
    return node.create_publisher(_MESSAGES[output.type].kind, output.topic, LATEST)


def output_message(output: OutputSettings, layout: TrajectoryLayout) -> OutputMessage:
    """Return the message of one output."""
    return _MESSAGES[output.type](layout)


def fill_all(messages: Sequence[OutputMessage], output: ServoOutput, stamp: Time) -> bool:
    """Take a command for every controller; return whether all of it is finite."""
    finite = True
    for message in messages:
        finite = message.fill(output, stamp) and finite
    return finite


def writable(message: object, field: str, count: int) -> np.ndarray:
    """Give an array field of a message a length, and return it as an array to write to.

    The message keeps its own copy of what is assigned to it, so the field is read back.
    """
    setattr(message, field, array('d', bytes(8 * count)))
    return np.frombuffer(getattr(message, field), dtype=np.float64)


def duration(seconds: float) -> Duration:
    """Return a duration message."""
    nanoseconds = round(seconds * NANOSECONDS)
    return Duration(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)
