#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Drive the tool with the keys of the terminal: hold one to move, release it to stop.

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik keyboard.py
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/keyboard.py
"""

import os
import select
import signal
import sys
import termios
import threading
import tty

from geometry_msgs.msg import TwistStamped
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

HELP = """w s: forward, back    a d: left, right    q e: up, down
i k: pitch            j l: yaw            u o: roll      x: end"""
LINEAR, ANGULAR = 0.1, 0.5  # m/s, rad/s
# Component of the twist and sign, by key.
KEYS = {
    'w': (0, LINEAR), 's': (0, -LINEAR), 'a': (1, LINEAR), 'd': (1, -LINEAR),
    'q': (2, LINEAR), 'e': (2, -LINEAR), 'u': (3, ANGULAR), 'o': (3, -ANGULAR),
    'i': (4, ANGULAR), 'k': (4, -ANGULAR), 'j': (5, ANGULAR), 'l': (5, -ANGULAR),
}  # fmt: skip
PERIOD = 0.03  # s between two twists
# A terminal does not report the release of a key. A held key repeats after half a second, and from
# then on faster than every 0.2 s.
FIRST_HOLD, REPEATED_HOLD = int(0.55 / PERIOD), int(0.2 / PERIOD)


def twist(node: Node, key: str) -> TwistStamped:
    """Return the twist of a key, zero for unknown keys."""
    message = TwistStamped()
    message.header.stamp = node.get_clock().now().to_msg()
    values = 6 * [0.0]
    if key in KEYS:
        number, speed = KEYS[key]
        values[number] = speed
    linear, angular = message.twist.linear, message.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values
    return message


def drive(node: Node, interrupted: threading.Event) -> None:
    """Publish a twist every few milliseconds until x or Ctrl-C."""
    publisher = node.create_publisher(TwistStamped, 'ros_ik/ee/target_twist', 1)
    key, age, hold = '', FIRST_HOLD, FIRST_HOLD
    while not interrupted.is_set() and key != 'x':
        if select.select([sys.stdin], [], [], PERIOD)[0]:
            # Bypass Python's buffer, which select does not see.
            pressed = os.read(0, 1).decode('ascii', 'replace')
            hold = REPEATED_HOLD if pressed == key and age < hold else FIRST_HOLD
            key, age = pressed, 0
        else:
            age += 1
        if age < hold:
            publisher.publish(twist(node, key))
        elif age == hold:
            publisher.publish(twist(node, ''))


def main() -> None:
    """Read keys one by one, and restore the terminal at the end."""
    if not sys.stdin.isatty():
        sys.exit('keyboard: run it in a terminal, which reports each key')
    # Ctrl-C sets a flag: rclpy's own handler ends the context while a twist is being published.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    print(HELP, flush=True)
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        drive(Node('keyboard_twist'), interrupted)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
