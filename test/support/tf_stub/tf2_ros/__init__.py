# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of tf2_ros that the node uses, where that is not installed: no interpolation."""

from geometry_msgs.msg import TransformStamped
import numpy as np
from rclpy.time import Time

from ros_ik.servo.motion.pose_math import IDENTITY
from ros_ik.servo.motion.pose_math import pose_inverse
from ros_ik.servo.motion.pose_math import pose_multiply


class TransformException(Exception):  # noqa: N818
    """Its name in tf2."""


class LookupException(TransformException):
    """Its name in tf2."""


class ExtrapolationException(TransformException):
    """Its name in tf2."""


class Buffer:
    """Newest transforms by child."""

    def __init__(self):
        self._dynamic, self._static = {}, {}

    def set_transform(self, transform, authority):
        self._dynamic[transform.child_frame_id] = transform

    def set_transform_static(self, transform, authority):
        self._static[transform.child_frame_id] = transform

    def clear(self):
        self._dynamic.clear()

    def lookup_transform_core(self, target, source, time):
        frame, root = self._in_root(source, time)
        other, other_root = self._in_root(target, time)
        if root != other_root:
            raise LookupException(f'"{source}" and "{target}" are not connected')
        pose = pose_multiply(pose_inverse(other), frame)
        found = TransformStamped()
        shift, turn = found.transform.translation, found.transform.rotation
        shift.x, shift.y, shift.z = pose[:3].tolist()
        turn.x, turn.y, turn.z, turn.w = pose[3:].tolist()
        return found

    def _in_root(self, name, time):
        pose = IDENTITY
        while transform := self._dynamic.get(name) or self._static.get(name):
            newest = Time.from_msg(transform.header.stamp).nanoseconds
            if name in self._dynamic and time.nanoseconds > newest:
                raise ExtrapolationException(f'"{name}" is known up to {newest} ns only')
            shift, turn = transform.transform.translation, transform.transform.rotation
            step = np.array([shift.x, shift.y, shift.z, turn.x, turn.y, turn.z, turn.w])
            pose, name = pose_multiply(step, pose), transform.header.frame_id
        return pose, name
