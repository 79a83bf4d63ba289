# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Numbers and times that are written into the bytes of a serialized message."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='the package of the node needs rclpy')

from rclpy.serialization import deserialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from ros_ik.node.transport.cdr_templates import Marks  # noqa: E402
from ros_ik.node.transport.cdr_templates import SerializedMessage  # noqa: E402


def test_a_field_is_found_where_it_is_marked_once():
    marks = Marks()
    first, second = marks.take(3), marks.take(3)
    serialized = SerializedMessage(JointState(position=first, velocity=second, effort=second))
    numbers = serialized.numbers(first)
    assert list(deserialize_message(serialized.to_bytes(), JointState).position) == [0.0] * 3
    numbers[:] = 1.0, 2.0, 3.0
    message = deserialize_message(serialized.to_bytes(), JointState)
    np.testing.assert_array_equal(message.position, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(message.velocity, second)
    for mark in (second, marks.take(3)):
        with pytest.raises(ValueError, match='a field was not found'):
            serialized.find(mark)


@pytest.mark.parametrize(
    ('nanoseconds', 'sec', 'nanosec'), [(2_500_000_000, 2, 500_000_000), (-1, -1, 999_999_999)]
)
def test_a_time_before_zero_counts_forwards_from_its_second(nanoseconds, sec, nanosec):
    serialized = SerializedMessage(JointState())
    serialized.set_stamp(nanoseconds)
    stamp = deserialize_message(serialized.to_bytes(), JointState).header.stamp
    assert (stamp.sec, stamp.nanosec) == (sec, nanosec)
