# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, sections on tf, the bond and the real-time priority of the node."""

from __future__ import annotations

from ros_ik.settings.parameter import Parameter

TF: tuple[Parameter, ...] = (
    Parameter(
        'use_tf', 'bool', True,
        'Look up frames in tf that are not links of the model, if tf2_ros is installed; false '
        'refuses such frames.', read_only=True,
    ),
)  # fmt: skip

BOND: tuple[Parameter, ...] = (
    Parameter(
        'bond_heartbeat_period', 'double', 0.0,
        "Period of the heartbeats on the topic bond for Nav2's lifecycle manager, while the node "
        'is active; 0.1 is usual there, 0 disables them. It needs the package bond; without it '
        'the node refuses to configure.', unit='s', minimum=0.0, maximum=2.0,
        read_only=True,
    ),
)  # fmt: skip

REAL_TIME: tuple[Parameter, ...] = (
    Parameter(
        'rt.priority', 'int', 0,
        'Priority of the control thread among the real-time threads of the machine (SCHED_FIFO). '
        'The thread that serves ROS, which shares the interpreter with it, gets the next lower '
        'one. 0 is ordinary scheduling. It needs an rtprio limit or CAP_SYS_NICE; without them '
        'the node logs a warning and continues.', minimum=0, maximum=99, read_only=True,
    ),
    Parameter(
        'rt.cpu', 'int', -1,
        'The only processor that runs the control thread, from 0; -1 is any. Useful for a '
        'processor that the kernel keeps free (isolcpus).',
        minimum=-1, maximum=4095, read_only=True,
    ),
)  # fmt: skip
