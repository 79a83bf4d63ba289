#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Follow a moving frame, as in visual servoing: stay above an object seen by a camera.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik follow_frame.py --ros-args -p simulate:=true
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/follow_frame.py --ros-args -p simulate:=true

A detector publishes geometry_msgs/PoseStamped on object_pose, in the frame of any link: a camera
on the hand is as good as one on a stand. Without `simulate` the example waits for it.
"""

import math
import signal
import threading

from geometry_msgs.msg import Point
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Quaternion
import rclpy
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions

HEIGHT = 0.15  # m above the object, along its z


def above(position: Point, q: Quaternion) -> Point:
    """Return the point HEIGHT above the object, along the third column of its rotation."""
    return Point(
        x=position.x + HEIGHT * 2.0 * (q.x * q.z + q.w * q.y),
        y=position.y + HEIGHT * 2.0 * (q.y * q.z - q.w * q.x),
        z=position.z + HEIGHT * (1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
    )


class ObjectFollower(Node):
    """Converts each detection to a target; without detections the node comes to rest.

    The node can smooth a noisy detector: ros2 param set /ros_ik target_filter_tau 0.1
    """

    def __init__(self) -> None:
        """Subscribe to the detector, or simulate it."""
        super().__init__('object_follower')
        self._publisher = self.create_publisher(PoseStamped, 'ros_ik/target_pose', 1)
        self.create_subscription(
            PoseStamped, 'object_pose', self._on_object, qos_profile_sensor_data
        )
        if self.declare_parameter('simulate', False).value:
            self._object = self.create_publisher(PoseStamped, 'object_pose', 1)
            self.create_timer(1.0 / 30.0, self._publish_object)

    def _on_object(self, seen: PoseStamped) -> None:
        frame = seen.header.frame_id or 'the base frame'
        self.get_logger().info(f'following an object in {frame}', once=True)
        target = PoseStamped(header=seen.header)
        q = seen.pose.orientation
        target.pose.position = above(seen.pose.position, q)
        # The tool points down at the object: half a turn about its x, q times (1, 0, 0, 0).
        target.pose.orientation = Quaternion(x=q.w, y=q.z, z=-q.y, w=-q.x)
        self._publisher.publish(target)

    def _publish_object(self) -> None:
        """Simulate a detector of an object that moves and rotates, in the base frame."""
        now = self.get_clock().now()
        phase = 2.0 * math.pi * (now.nanoseconds * 1e-9 % 6.0) / 6.0
        seen = PoseStamped()
        seen.header.stamp = now.to_msg()
        seen.pose.position = Point(x=0.4, y=0.15 * math.sin(phase), z=0.3)
        turn = 0.4 * math.cos(phase)
        seen.pose.orientation = Quaternion(z=math.sin(turn / 2.0), w=math.cos(turn / 2.0))
        self._object.publish(seen)


def main() -> None:
    """Follow until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        node = ObjectFollower()
    except InvalidParameterTypeException as error:
        raise SystemExit(str(error)) from None
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
