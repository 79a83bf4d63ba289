# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Hostile messages of any type: their fields are found by introspection."""

import importlib
import math
import re
import struct

from rclpy.serialization import serialize_message

_FLOATS = (
    math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, -1.0, 5e-324, 1e-9, 1e9, 1e300, 1e308, -1e308,
    1.0 / 3.0,
)  # fmt: skip
# None of them is the name of anything, but for the shortest.
_STRINGS = (
    '', ' ', 'x', '~', '/', '..', '../../etc/passwd', '%s%n{}', '\n\t\x01', 'ünïcödé \u202e',
    'nan', "'; --", '<robot name="x"/>', 'a' * 300, 'a.' * 200, 'b' * 20000,
)  # fmt: skip
_RANGES = {
    f'{sign}int{bits}': (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for bits in (8, 16, 32, 64)
    for sign in ('', 'u')
}
_SIZES = {'boolean': 1, 'octet': 1, 'byte': 1, 'char': 1, 'float': 4, 'double': 8} | {
    name: int(re.sub(r'\D', '', name)) // 8 for name in _RANGES
}


def find_type(name):
    """Return the class of ``package/kind/Name``, also for the hidden services of actions."""
    package, kind, leaf = name.split('/')
    module = importlib.import_module(f'{package}.{kind}')
    if kind == 'action' and '_' in leaf:
        action, part = leaf.split('_')
        return getattr(getattr(module, action).Impl, f'{part}Service')
    return getattr(module, leaf)


def _nested(name):
    package, leaf = name.split('/')
    for kind in ('msg', 'action', 'srv'):
        try:
            module = importlib.import_module(f'{package}.{kind}')
        except ImportError:
            continue
        if hasattr(module, leaf):
            return getattr(module, leaf)
        action, _, part = leaf.partition('_')
        if kind == 'action' and hasattr(module, action):
            return getattr(getattr(module, action), part)
    raise LookupError(name)


def _parsed(name):
    """Return the type of an element, and its number: None for one, (least, most) for several."""
    bounded = re.fullmatch(r'sequence<(.+?)(?:, (\d+))?>', name)
    if bounded:
        return bounded[1], (0, int(bounded[2]) if bounded[2] else None)
    fixed = re.fullmatch(r'(.+)\[(\d+)\]', name)
    return (fixed[1], (int(fixed[2]), int(fixed[2]))) if fixed else (name, None)


class Hostile:
    """A maker of messages; equal seeds make equal ones."""

    def __init__(self, random, words):
        """Make messages with ``words`` among the strings, which pass more checks than others."""
        self._random, self._words = random, tuple(words)

    def message(self, kind):
        """Return a message with some default fields and other hostile ones."""
        message, share = kind(), self._random.choice((0.1, 0.4, 0.9))
        for field, name in kind.get_fields_and_field_types().items():
            if '/' in name or self._random.random() < share:
                setattr(message, field, self._value(name))
        return message

    def _value(self, name):
        element, count = _parsed(name)
        if count is None:
            return self._single(element)
        least, most = count
        sizes = [size for size in (0, 1, 1, 2, 3, 7, 8, 40) if most is None or size <= most]
        size = max(least, self._random.choice(sizes or [least]))
        return [self._single(element) for _ in range(size)]

    def _single(self, name):
        random = self._random
        if '/' in name:
            return self.message(_nested(name))
        if name == 'boolean':
            return random.random() < 0.5
        if name in ('float', 'double'):
            value = random.choice((*_FLOATS, random.gauss(0.0, 1.0)))
            return value if name == 'double' or not 1e38 < abs(value) < math.inf else 3e38
        if name in _RANGES:
            low, high = _RANGES[name]
            return random.choice((low, high, 0, 1, min(250, high), random.randint(low, high)))
        if name == 'octet':
            return bytes([random.randrange(256)])
        if name.startswith(('string', 'wstring')):
            return random.choice((random.choice(_STRINGS), random.choice(self._words)))
        raise LookupError(name)

    def bytes(self, kind):
        """Return bytes that were a message: cut, with other bytes in it, or with more of them.

        The first four, which name the format, stay: the sender's middleware refuses to send most
        others. Of those that it sends, one says that numbers begin with their greatest byte.
        """
        random, data = self._random, serialize_message(self.message(kind))
        head, body = random.choice((data[:4], data[:4], b'\0\0\0\0')), bytearray(data[4:])
        way = random.randrange(4)
        if way == 0:
            return head + body[: random.randrange(len(body) + 1)]
        if way == 1:
            return head + random.randbytes(random.choice((0, 1, 3, 16, 61, 400)))
        for _ in range(random.choice((1, 3, 20)) if body else 0):
            body[random.randrange(len(body))] = random.choice((0, 0x7F, 0x80, 0xFE, 0xFF))
        return head + body + (random.randbytes(9) if way == 2 else b'')


class _End(Exception):
    """An error at the end of the bytes."""


def is_bomb(data, kind):
    """Return True if a message with arrays announces more than it holds.

    For requests the middleware of ROS 2 Kilted makes room for whatever they announce, and reads on
    in that room where they end too early: what it finds there may announce anything.
    """
    try:
        _walk(data, 4, kind)
    except _End:
        return _has_arrays(kind)
    return False


def _has_arrays(kind):
    types = kind.get_fields_and_field_types().values()
    return any(
        name.startswith('sequence<') or ('/' in name and _has_arrays(_nested(_parsed(name)[0])))
        for name in types
    )


def _walk(data, place, kind):
    for name in kind.get_fields_and_field_types().values():
        element, count = _parsed(name)
        number = 1
        if count is not None:
            number = count[1] if count[0] and count[0] == count[1] else None
        if number is None:
            number, place = _length(data, place)
            if number > len(data) - place:
                raise _End
        for _ in range(number):
            place = _skip(data, place, element)
    return place


def _skip(data, place, name):
    if '/' in name:
        return _walk(data, place, _nested(name))
    if name.startswith('string'):
        size, place = _length(data, place)
        place += size
    else:
        size = _SIZES[name]
        place = 4 + (place - 4 + size - 1) // size * size + size
    if place > len(data):
        raise _End
    return place


def _length(data, place):
    place = 4 + (place - 4 + 3) // 4 * 4
    if place + 4 > len(data):
        raise _End
    return struct.unpack_from('<I' if data[1] & 1 else '>I', data, place)[0], place + 4
