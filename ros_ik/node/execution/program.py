# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Programs of one node: their parameters, and their start and end by signals and exit codes."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
import functools
import signal
import threading

from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros_ik.errors import ArgumentError
from ros_ik.errors import RosIkError
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import spin_until
from ros_ik.node.execution.guard import GuardedNode
from ros_ik.node.execution.guard import log_fault
from ros_ik.node.execution.start import init_rclpy

# Function that ends the program with an error.
Refuse = Callable[[RosIkError], None]


def describe(kind: Parameter.Type, description: str) -> ParameterDescriptor:
    """Return the descriptor of a read-only parameter."""
    return ParameterDescriptor(type=kind.value, description=description, read_only=True)


def check_topic(node: Node, parameter: str, topic: str) -> None:
    """Check that the value of a parameter is the name of a topic.

    Raises:
        ArgumentError: It is not; the message names the parameter.
    """
    try:
        node.resolve_topic_name(topic)
    except RuntimeError as error:  # no common class of rclpy's own
        reason = str(error).partition(': ')[2].partition(', at ')[0]
        raise ArgumentError(f'{parameter}: {topic!r} is not a name: {reason}') from error


def run_node(create: Callable[[Refuse], GuardedNode], args: Sequence[str] | None) -> int:
    """Create a node and spin it until SIGINT or SIGTERM. Errors in its callbacks are logged.

    rclpy's own signal handlers are not used: with them, a signal between the creation of the node
    and the first wait of the executor would leave the process waiting forever.

    Args:
        create: Creates the node. Its callbacks refuse by the given function, because the executor
            would print the stack of an error that they raise.
        args: Command line with ROS arguments; None for that of the process.

    Returns:
        The exit code: 0 after a signal, 2 if the node refuses its arguments.
    """
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    problems: list[Exception] = []

    def refuse(error: RosIkError) -> None:
        problems.append(error)
        ended.set()

    executor, node = None, None
    try:
        init_rclpy(args)
        executor = make_executor()
        node = create(refuse)
        executor.add_node(node)
        spin_until(executor, ended, functools.partial(log_fault, node))
    except (RosIkError, InvalidParameterTypeException) as error:
        problems.append(error)
    finally:
        if executor is not None:
            executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        # The interpreter removes signal handlers before it ends; a second signal must not kill it
        # then.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    for problem in problems:
        rclpy.logging.get_logger('ros_ik').fatal(str(problem))
    return 2 if problems else 0
