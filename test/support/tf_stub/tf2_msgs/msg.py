# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A TFMessage of one transform, which is on the wire what geometry_msgs/TransformStamped is."""

from geometry_msgs.msg import TransformStamped as TFMessage

TFMessage.transforms = property(lambda message: [message])

__all__ = ['TFMessage']
