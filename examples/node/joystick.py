#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Drive the tool with a gamepad or a SpaceMouse: sensor_msgs/Joy in, a twist out.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik joystick.py                    # beside ros2 run joy joy_node
             ros2 run ros_ik joystick.py --ros-args -p device:=spacemouse -r joy:=spacenav/joy
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/joystick.py     # beside what publishes Joy on `joy`
"""

import math
import signal
import threading
from typing import NamedTuple

from geometry_msgs.msg import TwistStamped
from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Joy

DEAD_ZONE = 0.05  # of the full deflection
ANY_TYPE = ParameterDescriptor(dynamic_typing=True)  # -p linear_speed:=1 is an integer


class Layout(NamedTuple):
    """Numbers of axes for x y z, roll pitch yaw, or None. The button must be held."""

    axes: tuple[int | None, ...]
    enable_button: int | None


LAYOUTS = {
    # Left stick x and y, right stick z and yaw, left shoulder button to move at all.
    'gamepad': Layout((1, 0, 4, None, None, 3), enable_button=4),
    'spacemouse': Layout((0, 1, 2, 3, 4, 5), enable_button=None),
}


class JoystickTwist(Node):
    """Publishes a twist for each Joy message; without messages the node stops."""

    def __init__(self) -> None:
        """Read the kind of device, and the speeds at full deflection."""
        super().__init__('joystick_twist')
        device = self.declare_parameter('device', 'gamepad', ANY_TYPE).value
        if device not in LAYOUTS:
            raise SystemExit(f'device must be one of {", ".join(LAYOUTS)}, got {device!r}')
        self._layout = LAYOUTS[device]
        # In m/s and rad/s.
        self._speeds = 3 * [self._speed('linear_speed', 0.2)]
        self._speeds += 3 * [self._speed('angular_speed', 0.8)]
        # '' selects the reference frame of the task; a link such as the tool moves with the robot.
        self._frame = str(self.declare_parameter('frame_id', '', ANY_TYPE).value)
        self._publisher = self.create_publisher(TwistStamped, 'ros_ik/ee/target_twist', 1)
        heard = self.create_subscription(Joy, 'joy', self._on_joy, 1)
        button = self._layout.enable_button
        held = '' if button is None else f'; hold button {button} to move'
        self.get_logger().info(f'listening to {heard.topic_name}{held}')

    def _speed(self, name: str, default: float) -> float:
        value = self.declare_parameter(name, default, ANY_TYPE).value
        if type(value) not in {int, float} or not math.isfinite(value):
            raise SystemExit(f'{name} must be a number, got {value!r}')
        return float(value)

    def _on_joy(self, joy: Joy) -> None:
        button = self._layout.enable_button
        if len(joy.axes) < 6 or (button is not None and len(joy.buttons) <= button):
            self.get_logger().error('too few axes or buttons for this device', once=True)
            return
        held = button is None or bool(joy.buttons[button])
        values = []
        for axis, speed in zip(self._layout.axes, self._speeds, strict=True):
            deflection = joy.axes[axis] if held and axis is not None else 0.0
            # Drivers without a device may send NaN or infinity.
            moves = math.isfinite(deflection) and abs(deflection) > DEAD_ZONE
            values.append(speed * deflection if moves else 0.0)
        message = TwistStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = self._frame
        linear, angular = message.twist.linear, message.twist.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values
        self._publisher.publish(message)


def main() -> None:
    """Publish until interrupted."""
    # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    node = JoystickTwist()
    while not interrupted.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
