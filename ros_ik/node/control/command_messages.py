# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Command messages for each kind of controller, as bytes that are filled in place.

joint_trajectory_controller takes a JointTrajectory, forward_position_controller a
Float64MultiArray with one position per joint in its order, forward_velocity_controller one with
velocities. Controllers do not check for NaN, so nothing that is not finite is ever published.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from builtin_interfaces.msg import Duration
from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from ros_ik.node.transport.cdr_templates import Marks
from ros_ik.node.transport.cdr_templates import NANOSECONDS
from ros_ik.node.transport.cdr_templates import SerializedMessage
from ros_ik.node.transport.qos_profiles import LATEST
from ros_ik.servo import ServoOutput
from ros_ik.servo import TrajectoryLayout
from ros_ik.settings import OutputSettings


class TrajectoryMessage:
    """Trajectory of one output: the command, predicted points, and a final point at rest.

    Attributes:
        serialized: The message with the last command.
    """

    kind = JointTrajectory

    def __init__(self, layout: TrajectoryLayout) -> None:
        """Fill in the constant fields."""
        self._layout = layout
        points = [JointTrajectoryPoint(time_from_start=duration(time)) for time in layout.times]
        marks, count = Marks(), len(layout.joint_names)
        positions = [marks.take(count) for _ in points]
        velocities = [marks.take(count) for _ in points[:-1] if layout.publish_velocities]
        for point, mark in zip(points, positions, strict=True):
            point.positions = mark
        for point, mark in zip(points, velocities, strict=False):
            point.velocities = mark
        if layout.publish_velocities:
            points[-1].velocities = [0.0] * count
        self.serialized = SerializedMessage(
            JointTrajectory(joint_names=list(layout.joint_names), points=points)
        )
        self._first, *self._predicted, self._last = map(self.serialized.numbers, positions)
        fields = [self.serialized.numbers(mark) for mark in velocities]
        self._velocity, self._predicted_velocities = (fields[0] if fields else None), fields[1:]

    def fill(self, output: ServoOutput, nanoseconds: int) -> bool:
        """Fill in a command at a time [ns]; return True if all of it is finite."""
        first, velocity = self._first, self._velocity
        output.joint_q.take(self._layout.coords, out=first, mode='clip')
        # A sum of squares is finite only if every number is finite; positions are far from
        # overflow.
        squares = first.dot(first)
        if velocity is not None:
            output.joint_qd.take(self._layout.dofs, out=velocity, mode='clip')
            squares += velocity.dot(velocity)
        if self._predicted:
            squares += self._fill_predicted(output.predicted_q, output.predicted_qd)
        self._last[:] = self._predicted[-1] if self._predicted else first
        if self._layout.stamp_now:
            self.serialized.set_stamp(nanoseconds)
        return math.isfinite(squares)

    def _fill_predicted(
        self, predicted_q: np.ndarray | None, predicted_qd: np.ndarray | None
    ) -> float:
        """Fill in predicted points, or repeat the command at rest; return the sum of squares."""
        squares = 0.0
        for step, field in enumerate(self._predicted):
            if predicted_q is None:
                field[:] = self._first
            else:
                predicted_q[step].take(self._layout.coords, out=field, mode='clip')
            squares += field.dot(field)
        for step, field in enumerate(self._predicted_velocities):
            if predicted_qd is None:
                field[:] = 0.0
            else:
                predicted_qd[step].take(self._layout.dofs, out=field, mode='clip')
            squares += field.dot(field)
        return float(squares)


class ArrayMessage:
    """Positions of one output.

    Attributes:
        serialized: The message with the last command.
    """

    kind = Float64MultiArray

    def __init__(self, layout: TrajectoryLayout) -> None:
        """Allocate the message."""
        self._coords = layout.coords
        mark = Marks().take(len(layout.joint_names))
        self.serialized = SerializedMessage(Float64MultiArray(data=mark))
        self._positions = self.serialized.numbers(mark)

    def fill(self, output: ServoOutput, nanoseconds: int) -> bool:
        """Fill in a command at a time [ns]; return True if all of it is finite."""
        output.joint_q.take(self._coords, out=self._positions, mode='clip')
        return math.isfinite(self._positions.dot(self._positions))


class VelocityMessage:
    """The velocities of one output, corrected by the measured positions.

        v = clip(v_drive + k (q_command - q_measured), -v_max, v_max)

    A robot that is driven by velocities alone would drift away from its command. ``v_drive`` is
    the commanded velocity, or less, see :mod:`ros_ik.servo.motion.drive_velocities`. The
    correction changes the previous velocity within the acceleration limits, because a measured
    position may jump.

    Attributes:
        serialized: The message with the last command.
    """

    kind = Float64MultiArray

    def __init__(self, layout: TrajectoryLayout) -> None:
        """Allocate the message."""
        self._layout = layout
        mark = Marks().take(len(layout.joint_names))
        self.serialized = SerializedMessage(Float64MultiArray(data=mark))
        self._velocities = self.serialized.numbers(mark)

    def fill(self, output: ServoOutput, nanoseconds: int) -> bool:
        """Fill in a command at a time [ns]; return True if all of it is finite."""
        layout, velocities = self._layout, self._velocities
        if output.drive_qd is None or output.drive_change is None:
            raise ValueError('the servo of this output has no velocity outputs')
        drive = output.drive_qd.take(layout.dofs, mode='clip')
        if output.measured_q is None:
            velocities[:] = drive
        else:
            lack = (output.joint_q - output.measured_q)[layout.coords]
            corrected = drive + layout.position_gain * lack
            change = output.drive_change.take(layout.dofs, mode='clip')
            lowest = np.minimum(drive, np.maximum(velocities - change, -layout.speeds))
            highest = np.maximum(drive, np.minimum(velocities + change, layout.speeds))
            np.clip(corrected, lowest, highest, out=velocities)
        return math.isfinite(velocities.dot(velocities))

    def stop(self) -> bool:
        """Fill in zero velocity; return True if the previous command was not zero."""
        moved = bool(np.count_nonzero(self._velocities))
        self._velocities[:] = 0.0
        return moved


OutputMessage = TrajectoryMessage | ArrayMessage | VelocityMessage
_MESSAGES: dict[str, type[TrajectoryMessage] | type[ArrayMessage] | type[VelocityMessage]] = {
    'joint_trajectory': TrajectoryMessage,
    'float64_multi_array': ArrayMessage,
    'float64_multi_array_velocities': VelocityMessage,
}


def output_publisher(node: Node, output: OutputSettings) -> Publisher:
    """Return the publisher of one output."""
    return node.create_publisher(_MESSAGES[output.type].kind, output.topic, LATEST)


def output_message(output: OutputSettings, layout: TrajectoryLayout) -> OutputMessage:
    """Return the message of one output."""
    return _MESSAGES[output.type](layout)


def fill_all(messages: Sequence[OutputMessage], output: ServoOutput, nanoseconds: int) -> bool:
    """Fill a command at a time [ns] into every message; return True if all of it is finite."""
    finite = True
    for message in messages:
        finite = message.fill(output, nanoseconds) and finite
    return finite


def duration(seconds: float) -> Duration:
    """Return a duration message."""
    nanoseconds = round(seconds * NANOSECONDS)
    return Duration(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)


def stamp_of(nanoseconds: int) -> Time:
    """Return a time message."""
    return Time(sec=nanoseconds // NANOSECONDS, nanosec=nanoseconds % NANOSECONDS)
