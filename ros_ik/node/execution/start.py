# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Start of rclpy, which refuses wrong arguments in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
import re
import sys

import rclpy
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from ros_ik.errors import ArgumentError
from ros_ik.node.execution.fastdds_profile import set_fastdds_profile

# Places in the sources of rcl, at the end of its messages.
_PLACE = re.compile(r',? at \S+:\d+')


def init_rclpy(args: Sequence[str] | None) -> None:
    """Initialise rclpy without its signal handlers.

    Args:
        args: Command line with ROS arguments; None for that of the process.

    Raises:
        ArgumentError: An argument is unknown or wrong, or a parameter file cannot be read. Without
            ``--ros-args`` before them, rclpy would ignore parameters.
    """
    set_fastdds_profile()
    words = None if args is None else list(args)
    try:
        unknown = remove_ros_args(sys.argv)[1:] if words is None else remove_ros_args(words)
        if not unknown:
            rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # no common class of rclpy's own
        text = _PLACE.sub('', str(error)).removeprefix('Failed to parse ROS arguments: ')
        raise ArgumentError(f'wrong ROS arguments: {" ".join(text.split())}') from error
    if unknown:
        raise ArgumentError(
            f'unknown arguments: {" ".join(unknown)}; parameters follow --ros-args, '
            'as in --ros-args -p name:=value'
        )
