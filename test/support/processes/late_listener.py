# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""A node with one entity, whose executor begins to listen when a line arrives on stdin."""

import sys
import threading

import rclpy
from rclpy.action import ActionServer
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import spin_until
from ros_ik_interfaces.action import MoveToPose


def main():
    """Spin the node until its entity has served something, at the longest for half a minute."""
    kind = sys.argv[1]
    rclpy.init()
    # The executor begins to listen to each service in turn.
    other = Parameter('start_type_description_service', value=False)
    node = Node(
        'late', enable_rosout=False, start_parameter_services=False, parameter_overrides=[other]
    )
    served = threading.Event()

    def serve(received, response=None):
        print('served', flush=True)
        served.set()
        return response

    def execute(handle):
        serve(handle)
        handle.succeed()
        return MoveToPose.Result()

    if kind == 'topic':
        entity = node.create_subscription(String, 'late', serve, 1)
    elif kind == 'service':
        entity = node.create_service(Trigger, 'late', serve)
    else:
        entity = ActionServer(node, MoveToPose, 'late', execute)
    print('made', flush=True)
    sys.stdin.readline()
    executor = make_executor()
    executor.add_node(node)
    timer = threading.Timer(30.0, served.set)
    timer.start()
    spin_until(executor, served)
    timer.cancel()
    executor.shutdown()
    del entity


if __name__ == '__main__':
    main()
