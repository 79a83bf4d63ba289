# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Poses read from their bytes against rclpy's own way of reading them."""

import struct

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from std_msgs.msg import Header

from ros_ik.node import pose_stream
from ros_ik.node.pose_messages import fill_pose
from ros_ik.node.pose_messages import pose_numbers
from ros_ik.node.pose_stream import read_pose_stamped

# Names of every length modulo eight, so that the numbers begin at each place they can.
_NAMES = ('', *('abcdefghijklmnopqr'[:n] for n in range(1, 18)), 'gelenk_ä/τ')


def _message(frame_id, numbers, stamp=(12, 34)):
    seconds, nanoseconds = stamp
    message = PoseStamped(
        header=Header(stamp=Time(sec=seconds, nanosec=nanoseconds), frame_id=frame_id)
    )
    fill_pose(message.pose, numbers)
    return message


def _raw(name: bytes, numbers, order='<'):
    """Return the bytes of a pose whose frame has a name with whatever it ends with."""
    body = struct.pack(f'{order}iII', 12, 34, len(name)) + name
    encapsulation = bytes([0, order == '<', 0, 0])
    return encapsulation + body + bytes(-len(body) % 8) + struct.pack(f'{order}7d', *numbers)


def _is_read_as_rclpy_does(data):
    """Assert that bytes are read, or refused, as rclpy does; return whether they are read."""
    try:
        expected = deserialize_message(data, PoseStamped)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            read_pose_stamped(data)
        return False
    sample = read_pose_stamped(data)
    assert sample.header == expected.header
    assert repr(sample.numbers) == repr(pose_numbers(expected.pose))  # NaN too
    return True


@pytest.mark.parametrize('frame_id', _NAMES)
def test_it_reads_what_rclpy_reads(frame_id, monkeypatch):
    rng = np.random.default_rng(len(frame_id))
    for numbers in (*rng.normal(size=(20, 7)).tolist(), [np.inf, -np.inf, -0.0, 1e-300, 0, 0, 1]):
        stamp = int(rng.integers(-(2**31), 2**31)), int(rng.integers(0, 2**32))
        data = serialize_message(_message(frame_id, numbers, stamp))
        expected = deserialize_message(data, PoseStamped)
        with monkeypatch.context() as patch:
            patch.delattr(pose_stream, 'deserialize_message')  # it reads them itself
            sample = read_pose_stamped(data)
        assert sample.header == expected.header
        assert sample.numbers == pose_numbers(expected.pose)


def test_numbers_that_are_none_stay_so():
    numbers = read_pose_stamped(_raw(b'base\0', [np.nan, 0, 0, 0, 0, 0, 1])).numbers
    assert np.isnan(numbers[0])
    assert numbers[1:] == (0, 0, 0, 0, 0, 1)


@pytest.mark.parametrize(
    'name', [b'ab\0d', b'\xff\xfe\xfd\0', b'', b'base'], ids=['zero', 'utf8', 'none', 'open']
)
def test_an_unusual_name_is_read_as_rclpy_does(name):
    _is_read_as_rclpy_does(_raw(name, [1, 2, 3, 0, 0, 0, 1]))


def test_the_other_byte_order_is_read():
    sample = read_pose_stamped(_raw(b'base\0', [1, 2, 3, 0, 0, 0, 1], '>'))
    assert sample.header == Header(stamp=Time(sec=12, nanosec=34), frame_id='base')
    assert sample.numbers == (1, 2, 3, 0, 0, 0, 1)


def test_every_cut_message_is_refused():
    data = serialize_message(_message('panda_link0', [1, 2, 3, 0, 0, 0, 1]))
    for end in range(len(data)):
        with pytest.raises(RuntimeError):
            read_pose_stamped(data[:end])


def test_random_bytes_are_refused_or_read_as_rclpy_does():
    rng = np.random.default_rng(0)
    whole = serialize_message(_message('panda_link0', [1, 2, 3, 0, 0, 0, 1]))
    read = 0
    for _ in range(2000):
        data = bytearray(whole)
        for place in rng.integers(4, len(data), 3):
            data[place] = rng.integers(256)
        read += _is_read_as_rclpy_does(bytes(data))
    assert 500 < read < 2000
