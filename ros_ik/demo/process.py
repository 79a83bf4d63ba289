# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""How the demo's nodes start and end: SIGINT and SIGTERM give exit code 0, a wrong argument 2."""

from __future__ import annotations

from collections.abc import Callable

from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros_ik.errors import RosIkError

LONGEST_WAIT = 0.5  # s


def describe(kind: Parameter.Type, description: str) -> ParameterDescriptor:
    """Return the descriptor of a read-only parameter."""
    return ParameterDescriptor(type=kind.value, description=description, read_only=True)


def run_node(create: Callable[[], Node]) -> int:
    """Create a node and spin it until a signal; rclpy is initialised before.

    Returns:
        The exit code: 0 after a signal, 2 if the node refuses its parameters.
    """
    node = None
    executor = SingleThreadedExecutor()
    try:
        node = create()
        # A signal that comes just before the executor waits wakes nobody: look now and then.
        node.create_timer(LONGEST_WAIT, lambda: None)
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except RosIkError as error:
        rclpy.logging.get_logger('ros_ik.demo').fatal(str(error))
        return 2
    finally:
        executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
