#!/usr/bin/env python3
# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Record targets and joint states in a bag, and replay the targets (pip install rosbags).

With ROS:    ros2 launch ros_ik demo.launch.py tour:=false
             ros2 run ros_ik record_bag.py record my_bag    # Ctrl-C ends it
             ros2 run ros_ik record_bag.py replay my_bag    # ros2 bag play my_bag does it too
Without ROS: tools/run python -m ros_ik.demo.session
             tools/run python examples/node/record_bag.py record my_bag
"""

import argparse
from pathlib import Path
import signal
import threading
import time

from geometry_msgs.msg import PoseStamped
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rosbags.rosbag2 import Reader
from rosbags.rosbag2 import Writer
from rosbags.typesys import get_typestore
from rosbags.typesys import Stores
from sensor_msgs.msg import JointState

TARGET = '/ros_ik/target_pose'
TOPICS = {TARGET: PoseStamped, '/joint_states': JointState}


def record(node: Node, path: Path) -> None:
    """Write the messages as they come, without decoding them."""
    types = get_typestore(Stores.ROS2_HUMBLE)
    heard = set()
    with Writer(path, version=9) as bag:
        for topic, kind in TOPICS.items():
            name = f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'
            connection = bag.add_connection(topic, name, typestore=types)

            def write(message: bytes, connection=connection) -> None:
                bag.write(connection, node.get_clock().now().nanoseconds, message)
                if connection.topic not in heard:
                    print(f'recording {connection.topic}', flush=True)
                    heard.add(connection.topic)

            node.create_subscription(kind, topic, write, 10, raw=True)
        # Ctrl-C sets a flag: rclpy's own handler ends the context in the middle of a callback.
        interrupted = threading.Event()
        signal.signal(signal.SIGINT, lambda *_: interrupted.set())
        while not interrupted.is_set():
            rclpy.spin_once(node, timeout_sec=0.1)
    # The bag is closed at the end of the block.
    with Reader(path) as bag:
        print(f'{path}: {bag.message_count} messages')


def replay(node: Node, path: Path) -> None:
    """Publish the recorded targets with the recorded pauses."""
    publisher = node.create_publisher(PoseStamped, TARGET, 1)
    give_up = time.monotonic() + 10.0
    while publisher.get_subscription_count() == 0:
        if time.monotonic() > give_up:
            raise SystemExit(f'{TARGET} has no subscriber; is ros_ik running?')
        time.sleep(0.02)
    with Reader(path) as bag:
        targets = [c for c in bag.connections if c.topic == TARGET]
        first, began = None, time.monotonic()
        for _, stamp, message in bag.messages(targets):
            first = stamp if first is None else first
            time.sleep(max(0.0, began + 1e-9 * (stamp - first) - time.monotonic()))
            publisher.publish(message)


def main() -> None:
    """Record or replay."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('do', choices=['record', 'replay'])
    parser.add_argument('bag', type=Path)
    options = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    {'record': record, 'replay': replay}[options.do](Node('bag'), options.bag)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
