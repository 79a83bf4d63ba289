# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The executable ``ros_ik_node``: threads, signals, and an orderly end with exit code 0.

DDS discovers other processes during the imports, which take longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
import gc
import importlib
import os
import signal
import sys
import threading
import traceback
from typing import NoReturn
from typing import TYPE_CHECKING

import rclpy
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.executors import Executor
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros_ik.errors import ArgumentError
from ros_ik.node.execution.executor import LONGEST_WAIT
from ros_ik.node.execution.executor import make_executor
from ros_ik.node.execution.executor import serve_queued
from ros_ik.node.execution.executor import spin_until
from ros_ik.node.execution.start import init_rclpy

if TYPE_CHECKING:
    from ros_ik.node.ik_node import IkNode

# Longest wait of the control thread for the interpreter while another thread runs Python code [s].
_SWITCH_INTERVAL = 0.0001
# Time for the pending work of the executor at the end, and for the callback in which it is [s].
_PATIENCE, _LAST_CALLBACK = 0.3, 1.0


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; return the exit code, 2 for wrong arguments.

    Args:
        args: Command line with ROS arguments; None selects that of the process.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL)
    # Garbage is collected between two ticks: see PauseCollector.
    gc.disable()
    ended, served = threading.Event(), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        init_rclpy(args)
        node = _make_node(ended)
    except (ArgumentError, InvalidParameterTypeException) as error:
        rclpy.logging.get_logger('ros_ik').fatal(str(error))
        rclpy.try_shutdown()
        return 2
    executor = make_executor()
    executor.add_node(node)
    failures: list[str] = []
    thread = threading.Thread(
        target=_spin,
        args=(node, executor, served, ended, failures),
        name='executor',
        daemon=True,
    )
    thread.start()
    node.schedule_executor(thread)
    # A signal delivered to another thread does not end a wait.
    while not ended.wait(LONGEST_WAIT):
        pass
    ended_in_order = node.finish()
    serve_queued(executor, _PATIENCE)
    served.set()
    executor.wake()
    thread.join(_LAST_CALLBACK)
    for failure in failures:
        node.get_logger().fatal(failure)
    code = 1 if failures else 0
    if thread.is_alive():
        _leave(code)
    executor.shutdown()
    # Otherwise the shared memory of DDS would remain, and other programs would keep the node in
    # their graphs for 20 s.
    node.destroy_node()
    if not ended_in_order:
        _leave(code)
    rclpy.try_shutdown()
    # The interpreter removes signal handlers before it ends; a second signal must not kill it
    # then.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    return code


def _make_node(ended: threading.Event) -> IkNode:
    """Return the node; the process is on the graph already.

    Importing Warp and the servo takes a second, and many on a busy machine. If ``ended`` is set
    meanwhile, the process ends.
    """
    # The hidden node has only the standard interfaces of rclpy.
    first = Node(
        '_ros_ik_start',
        use_global_arguments=False,
        enable_rosout=False,
        start_parameter_services=False,
        parameter_overrides=[Parameter('start_type_description_service', value=False)],
    )
    try:
        with ThreadPoolExecutor(1, 'import') as pool:
            imported = pool.submit(importlib.import_module, 'ros_ik.node.ik_node')
            while not wait([imported], LONGEST_WAIT).done:
                if ended.is_set():
                    first.destroy_node()
                    _leave(0)
        # Exclude imported objects from garbage collections.
        gc.freeze()
        node: IkNode = imported.result().IkNode()
        return node
    finally:
        first.destroy_node()


def _leave(code: int) -> NoReturn:
    """End the process although a thread compiles or imports, which cannot be stopped.

    A normal exit would free the compiler's memory under that thread. The robot is at rest, and
    writes to the kernel cache are atomic.
    """
    rclpy.try_shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _spin(
    node: IkNode,
    executor: Executor,
    served: threading.Event,
    ended: threading.Event,
    failures: list[str],
) -> None:
    """Serve ROS until the node has finished; if the executor fails, end in order."""
    try:
        spin_until(executor, served, node.on_fault)
    except ExternalShutdownException:
        pass
    except Exception:  # noqa: BLE001 the robot has to come to rest first; then it is logged
        failures.append(traceback.format_exc())
    finally:
        ended.set()


if __name__ == '__main__':
    sys.exit(main())
