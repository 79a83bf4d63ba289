# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Bytes on any topic of DDS, including service requests, as an attacker would write them.

rclpy writes requests from messages only, and permits no topic outside ``rt/``. The layer below
it, rmw, permits both; its C functions are called here.
"""

import ctypes
import re

from rclpy.type_support import check_for_type_support

_RMW = ('librmw_implementation', 'librmw_fastrtps_cpp', 'librmw_cyclonedds_cpp')


class _Time(ctypes.Structure):
    _fields_ = [('sec', ctypes.c_uint64), ('nsec', ctypes.c_uint64)]


class _Qos(ctypes.Structure):
    _fields_ = [
        ('history', ctypes.c_int),
        ('depth', ctypes.c_size_t),
        ('reliability', ctypes.c_int),
        ('durability', ctypes.c_int),
        ('deadline', _Time),
        ('lifespan', _Time),
        ('liveliness', ctypes.c_int),
        ('lease', _Time),
        ('avoid_ros_namespace_conventions', ctypes.c_bool),
    ]


class _Options(ctypes.Structure):
    _fields_ = [('payload', ctypes.c_void_p), ('unique', ctypes.c_int)]


class _Bytes(ctypes.Structure):
    _fields_ = [
        ('buffer', ctypes.c_void_p),
        ('length', ctypes.c_size_t),
        ('capacity', ctypes.c_size_t),
        ('allocator', ctypes.c_void_p * 5),
    ]


def _library(names):
    """Return the first of some libraries that this process has loaded."""
    with open('/proc/self/maps', encoding='utf-8') as maps:
        loaded = maps.read()
    for name in names:
        found = re.search(rf'/\S*/{name}\.so\S*$', loaded, re.MULTILINE)
        if found:
            return ctypes.CDLL(found[0])
    raise OSError(f'none of {names} is loaded')


def _type_support(kind):
    check_for_type_support(kind)
    capsule = ctypes.py_object(kind.__class__._TYPE_SUPPORT)
    get_name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_void_p(get(capsule, get_name(capsule)))


class RawWriter:
    """A reliable writer on one topic of DDS."""

    def __init__(self, node, kind, topic):
        """Write serialized messages on ``topic``, by its name in DDS."""
        rcl, self._rmw = _library(['librcl']), _library(_RMW)
        rcl.rcl_node_get_rmw_handle.restype = ctypes.c_void_p
        create = self._rmw.rmw_create_publisher
        create.restype = ctypes.c_void_p
        options = self._rmw.rmw_get_default_publisher_options
        options.restype = _Options
        given = options()
        qos = _Qos(
            history=1, depth=100, reliability=1, durability=2, liveliness=1,
            avoid_ros_namespace_conventions=True,
        )  # fmt: skip
        with node.handle:
            pointer = ctypes.c_void_p(node.handle.pointer)
            self._node = ctypes.c_void_p(rcl.rcl_node_get_rmw_handle(pointer))
        self._publisher = ctypes.c_void_p(
            create(
                self._node, _type_support(kind), topic.encode(), ctypes.byref(qos),
                ctypes.byref(given),
            )
        )  # fmt: skip
        assert self._publisher.value, topic

    @property
    def matched(self):
        """Number of readers."""
        count = ctypes.c_size_t()
        self._rmw.rmw_publisher_count_matched_subscriptions(self._publisher, ctypes.byref(count))
        return count.value

    def write(self, data):
        """Write bytes as they are."""
        buffer = ctypes.create_string_buffer(data, max(1, len(data)))
        message = _Bytes(ctypes.addressof(buffer), len(data), len(buffer))
        self._rmw.rmw_publish_serialized_message(
            self._publisher, ctypes.byref(message), ctypes.c_void_p()
        )

    def destroy(self):
        """Destroy the writer."""
        self._rmw.rmw_destroy_publisher(self._node, self._publisher)
