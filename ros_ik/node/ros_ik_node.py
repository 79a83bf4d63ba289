# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The executable ``ros_ik_node``: threads, signals, and an end in order with exit code 0."""

from __future__ import annotations

from collections.abc import Sequence
import signal
import sys
import threading
import traceback

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
import warp as wp

from ros_ik.node.ik_node import IkNode

# The control thread waits for the interpreter at most this long while another thread computes [s].
_SWITCH_INTERVAL = 0.0005


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; return the exit code.

    Args:
        args: Command line with ROS arguments; None for that of the process.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL)
    # Warp would print each kernel it loads; the status says that the node warms up.
    wp.config.log_level = wp.LOG_WARNING
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    rclpy.init(
        args=None if args is None else list(args), signal_handler_options=SignalHandlerOptions.NO
    )
    node = IkNode()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    failures: list[str] = []
    thread = threading.Thread(
        target=_spin, args=(executor, ended, failures), name='executor', daemon=True
    )
    thread.start()
    ended.wait()
    node.finish()
    executor.shutdown()
    thread.join(1.0)
    for failure in failures:
        node.get_logger().fatal(failure)
    node.destroy_node()
    rclpy.try_shutdown()
    return 1 if failures else 0


def _spin(executor: SingleThreadedExecutor, ended: threading.Event, failures: list[str]) -> None:
    """Serve ROS until the executor is shut down; a callback that fails ends the node in order."""
    try:
        executor.spin()
    except ExternalShutdownException:
        pass
    except Exception:  # noqa: BLE001 the robot has to come to rest first; then it is logged
        failures.append(traceback.format_exc())
    finally:
        ended.set()


if __name__ == '__main__':
    sys.exit(main())
