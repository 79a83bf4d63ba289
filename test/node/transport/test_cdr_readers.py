# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Messages of streams, read from their bytes, against rclpy's own reader."""

from array import array
import struct
from types import SimpleNamespace

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ros_ik.node.transport import cdr_readers
from ros_ik.node.transport.cdr_readers import JointReader
from ros_ik.node.transport.cdr_readers import read_jog
from ros_ik.node.transport.cdr_readers import read_point
from ros_ik.node.transport.cdr_readers import read_pose
from ros_ik.node.transport.cdr_readers import read_twist
from ros_ik.node.transport.cdr_readers import Stamp

# Names of every length modulo eight, so that the numbers begin at each possible offset.
_NAMES = ('', *('abcdefghijklmnopqr'[:n] for n in range(1, 18)), 'gelenk_ä/τ')
_ARM = [f'panda_joint{k}' for k in range(1, 8)]


def _point(vector):
    return vector.x, vector.y, vector.z


def _numbers(message):
    """Return the numbers of a message, in the order of its fields."""
    if isinstance(message, PoseStamped):
        q = message.pose.orientation
        return *_point(message.pose.position), q.x, q.y, q.z, q.w
    if isinstance(message, TwistStamped):
        return *_point(message.twist.linear), *_point(message.twist.angular)
    return _point(message.point)


def _fill(message, numbers):
    """Write numbers into a message, in the order of its fields."""
    values = iter(numbers)
    if isinstance(message, PoseStamped):
        parts = (message.pose.position, 'xyz'), (message.pose.orientation, 'xyzw')
    elif isinstance(message, TwistStamped):
        parts = (message.twist.linear, 'xyz'), (message.twist.angular, 'xyz')
    else:
        parts = ((message.point, 'xyz'),)
    for part, axes in parts:
        for axis in axes:
            setattr(part, axis, next(values))


_KINDS = [
    (PoseStamped, read_pose, 7),
    (TwistStamped, read_twist, 6),
    (PointStamped, read_point, 3),
]
_kinds = pytest.mark.parametrize(('kind', 'read', 'count'), _KINDS, ids=['pose', 'twist', 'point'])


def _message(kind, frame_id, numbers, stamp=(12, 34)):
    seconds, nanoseconds = stamp
    message = kind(header=Header(stamp=Time(sec=seconds, nanosec=nanoseconds), frame_id=frame_id))
    _fill(message, numbers)
    return message


def _raw(name: bytes, numbers, order='<'):
    """Return the bytes of a pose whose frame has a name with a given end."""
    body = struct.pack(f'{order}iII', 12, 34, len(name)) + name
    encapsulation = bytes([0, order == '<', 0, 0])
    return encapsulation + body + bytes(-len(body) % 8) + struct.pack(f'{order}7d', *numbers)


def _says(sample, message):
    """Assert that a sample equals a message; NaN too."""
    assert (sample.frame_id, *sample.stamp) == (
        message.header.frame_id,
        message.header.stamp.sec,
        message.header.stamp.nanosec,
    )
    assert repr(tuple(sample.numbers)) == repr(_numbers(message))


def _is_read_as_rclpy_does(kind, read, data):
    """Assert that bytes are read, or refused, as rclpy does; return True if they are read."""
    try:
        expected = deserialize_message(data, kind)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            read(data)
        return False
    _says(read(data), expected)
    return True


@_kinds
@pytest.mark.parametrize('frame_id', _NAMES)
def test_it_reads_what_rclpy_reads(kind, read, count, frame_id, monkeypatch):
    rng = np.random.default_rng(len(frame_id))
    absurd = [np.inf, -np.inf, -0.0, 1e-300, 0.0, 0.0, 1.0][:count]
    for numbers in (*rng.normal(size=(20, count)).tolist(), absurd):
        stamp = int(rng.integers(-(2**31), 2**31)), int(rng.integers(0, 2**32))
        data = serialize_message(_message(kind, frame_id, numbers, stamp))
        expected = deserialize_message(data, kind)
        with monkeypatch.context() as patch:
            patch.delattr(cdr_readers, 'deserialize_message')  # it reads them itself
            _says(read(data), expected)


def test_numbers_that_are_none_stay_so():
    numbers = read_pose(_raw(b'base\0', [np.nan, 0, 0, 0, 0, 0, 1])).numbers
    assert np.isnan(numbers[0])
    assert numbers[1:] == (0, 0, 0, 0, 0, 1)


@pytest.mark.parametrize(
    'name', [b'ab\0d', b'\xff\xfe\xfd\0', b'', b'base'], ids=['zero', 'utf8', 'none', 'open']
)
def test_an_unusual_name_is_read_as_rclpy_does(name):
    _is_read_as_rclpy_does(PoseStamped, read_pose, _raw(name, [1, 2, 3, 0, 0, 0, 1]))


@pytest.mark.parametrize('options', [b'\0\3\0\0', b'\0\7\0\0', b'\0\x0b\0\0', b'\0\1\0\3'])
def test_another_encapsulation_is_read_as_rclpy_does(options):
    data = options + _raw(b'base\0', [1, 2, 3, 0, 0, 0, 1])[4:]
    _is_read_as_rclpy_does(PoseStamped, read_pose, data)


def test_a_stamp_of_zero_is_no_time():
    assert Stamp(0, 0).seconds is None
    assert Stamp(0, 5).seconds == 5e-9 and Stamp(2, 0).seconds == 2.0
    assert Stamp(-2, 500_000_000).seconds == -1.5


def test_the_other_byte_order_is_read():
    sample = read_pose(_raw(b'base\0', [1, 2, 3, 0, 0, 0, 1], '>'))
    assert sample == ('base', (12, 34), (1, 2, 3, 0, 0, 0, 1))


@_kinds
def test_every_cut_message_is_refused(kind, read, count):
    data = serialize_message(_message(kind, 'panda_link0', np.arange(1.0, 1.0 + count)))
    for end in range(len(data)):
        with pytest.raises(RuntimeError):
            read(data[:end])


@_kinds
def test_random_bytes_are_refused_or_read_as_rclpy_does(kind, read, count):
    rng = np.random.default_rng(0)
    whole = serialize_message(_message(kind, 'panda_link0', np.arange(1.0, 1.0 + count)))
    readable = 0
    for _ in range(2000):
        data = bytearray(whole)
        for place in rng.integers(4, len(data), 3):
            data[place] = rng.integers(256)
        readable += _is_read_as_rclpy_does(kind, read, bytes(data))
    assert 300 < readable < 2000


def _joint_state(names, sizes, rng, frame_id=''):
    """Return random joint states with so many positions, velocities and efforts."""
    stamp = Time(sec=int(rng.integers(0, 2**31)), nanosec=int(rng.integers(0, 2**32)))
    position, velocity, effort = (rng.normal(size=size).tolist() for size in sizes)
    return JointState(
        header=Header(stamp=stamp, frame_id=frame_id),
        name=names,
        position=position,
        velocity=velocity,
        effort=effort,
    )


def _says_joints(sample, message):
    stamp = message.header.stamp
    assert sample.frame_id == ''
    assert sample.stamp == (stamp.sec, stamp.nanosec)
    assert sample.names == tuple(message.name)
    assert repr(tuple(sample.positions)) == repr(tuple(message.position))


_SIZES = [(7, 0, 0), (7, 7, 0), (7, 7, 7), (7, 0, 7), (0, 7, 0), (0, 0, 7), (0, 0, 0), (6, 0, 0)]


@pytest.mark.parametrize('sizes', _SIZES, ids=str)
@pytest.mark.parametrize('frame_id', ['', 'a', 'base_link', 'τ'])
def test_joint_states_are_read_as_rclpy_does(sizes, frame_id):
    rng = np.random.default_rng(sum(sizes))
    read = JointReader()
    for _ in range(20):
        data = serialize_message(_joint_state(_ARM, sizes, rng, frame_id))
        _says_joints(read(data), deserialize_message(data, JointState))


@pytest.mark.parametrize('sizes', _SIZES[:6], ids=str)
def test_joint_states_with_the_same_names_are_read_from_their_bytes(sizes, monkeypatch):
    rng = np.random.default_rng(1)
    read = JointReader()
    read(serialize_message(_joint_state(_ARM, sizes, rng)))
    message = _joint_state(_ARM, sizes, rng)
    # Bytes from DDS end with the last field; serialize_message leaves room behind it.
    data = serialize_message(message).rstrip(b'\0') + bytes(8)
    expected = deserialize_message(data, JointState)
    monkeypatch.delattr(cdr_readers, 'deserialize_message')
    _says_joints(read(data), expected)


def test_joint_states_of_many_publishers_are_told_apart():
    """More arrangements than are remembered, some of the same length."""
    rng = np.random.default_rng(2)
    read = JointReader()
    arrangements = [
        ([f'{letter}_{k}' for k in range(3)], (3, size, 0))
        for letter in 'abcdef'
        for size in (0, 3)
    ]
    for _ in range(300):
        names, sizes = arrangements[rng.integers(len(arrangements))]
        data = serialize_message(_joint_state(names, sizes, rng))
        _says_joints(read(data), deserialize_message(data, JointState))
    assert len(read._layouts) == 8


def test_random_bytes_of_joint_states_are_refused_or_read_as_rclpy_does():
    rng = np.random.default_rng(3)
    whole = serialize_message(_joint_state(_ARM, (7, 7, 0), rng, 'base'))
    read = JointReader()
    readable = 0
    for _ in range(2000):
        data = bytearray(whole)
        for place in rng.integers(4, len(data), 3):
            data[place] = rng.integers(256)
        try:
            expected = deserialize_message(bytes(data), JointState)
        except (RuntimeError, ValueError, MemoryError):
            with pytest.raises((RuntimeError, ValueError, MemoryError)):
                read(bytes(data))
        else:
            _says_joints(read(bytes(data)), expected)
            readable += 1
    assert 300 < readable < 2000


def test_cut_joint_states_are_refused():
    rng = np.random.default_rng(4)
    data = serialize_message(_joint_state(_ARM, (7, 7, 7), rng))
    read = JointReader()
    read(data)
    for end in range(len(data.rstrip(b'\0')) - 8):
        with pytest.raises(RuntimeError):
            read(data[:end])


@pytest.mark.parametrize('sizes', [(0, 2, 0), (0, 2, 2), (2, 2, 0), (2, 1, 0), (2, 0, 2)])
def test_velocities_count_where_there_are_no_positions(sizes):
    rng, reader = np.random.default_rng(4), JointReader()
    for _ in range(3):  # by rclpy, then from the bytes
        message = _joint_state(['a', 'b'], sizes, rng)
        sample = reader(serialize_message(message))
        assert list(sample.positions) == list(message.position)
        assert list(sample.velocities) == ([] if sizes[0] else list(message.velocity))
        assert sample.unused == (sizes[1] if sizes[0] else 0)


def test_a_joint_jog_is_its_names_and_velocities(monkeypatch):
    # control_msgs has no wheels: the fields are those of its JointJog.msg.
    message = SimpleNamespace(
        header=Header(stamp=Time(sec=3, nanosec=4)), joint_names=['a', 'b'],
        displacements=array('d', [1.0, 2.0]), velocities=array('d', [0.1, 0.2]), duration=0.5,
    )  # fmt: skip
    monkeypatch.setattr(cdr_readers, 'deserialize_message', lambda data, kind: message)
    sample = read_jog(SimpleNamespace, b'')
    assert (sample.names, sample.stamp, tuple(sample.positions)) == (('a', 'b'), (3, 4), ())
    assert list(sample.velocities) == [0.1, 0.2]
