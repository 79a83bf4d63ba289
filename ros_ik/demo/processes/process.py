# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Start and end of the demo's programs by signals and exit codes."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import signal
import threading

from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from ros_ik.errors import RosIkError
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import spin_until


def describe(kind: Parameter.Type, description: str) -> ParameterDescriptor:
    """Return the descriptor of a read-only parameter."""
    return ParameterDescriptor(type=kind.value, description=description, read_only=True)


def run_node(create: Callable[[], Node], args: Sequence[str] | None) -> int:
    """Create a node and spin it until SIGINT or SIGTERM.

    rclpy's own signal handlers are not used: with them, a signal between the creation of the node
    and the first wait of the executor would leave the process waiting forever.

    Args:
        create: Creates the node.
        args: Command line with ROS arguments; None for that of the process.

    Returns:
        The exit code: 0 after a signal, 2 if the node refuses its parameters.
    """
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    rclpy.init(
        args=None if args is None else list(args), signal_handler_options=SignalHandlerOptions.NO
    )
    executor = make_executor()
    node = None
    try:
        node = create()
        executor.add_node(node)
        spin_until(executor, ended)
    except (RosIkError, InvalidParameterTypeException) as error:
        rclpy.logging.get_logger('ros_ik.demo').fatal(str(error))
        return 2
    finally:
        executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        # The interpreter removes signal handlers before it ends; a second signal must not kill it
        # then.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    return 0
