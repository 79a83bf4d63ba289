# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Classes for events of DDS, by their names in rclpy since ROS 2 Iron."""

try:
    from rclpy.event_handler import EventHandler
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:
    from rclpy.qos_event import QoSEventHandler as EventHandler
    from rclpy.qos_event import SubscriptionEventCallbacks

__all__ = ['EventHandler', 'SubscriptionEventCallbacks']
