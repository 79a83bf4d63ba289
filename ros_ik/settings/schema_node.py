# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of the schema on what the node does around the servo."""

from __future__ import annotations

from ros_ik.settings.parameter import Parameter

NODE: tuple[Parameter, ...] = (
    Parameter(
        'use_tf', 'bool', True,
        'Look up frames that are no links of the model in tf, where tf2_ros is installed; false '
        'refuses them.', read_only=True,
    ),
    Parameter(
        'marker_rate', 'double', 10.0,
        'Rate of ~/markers while somebody looks. Drawing runs in a process of its own.',
        unit='Hz', minimum=0.1, maximum=100.0,
    ),
    Parameter(
        'rt.priority', 'int', 0,
        'Priority of the control thread among the real-time threads of the machine (SCHED_FIFO); '
        'the thread that serves ROS, which shares the interpreter with it, gets the one below. '
        '0 is the usual scheduling. It takes an rtprio limit or CAP_SYS_NICE: where that is '
        'missing, the node says so and runs on.', minimum=0, maximum=99, read_only=True,
    ),
    Parameter(
        'rt.cpu', 'int', -1,
        'The only processor that runs the control thread, from 0; -1 is any. Worth it for one '
        'that the kernel keeps free (isolcpus).', minimum=-1, maximum=4095, read_only=True,
    ),
)  # fmt: skip
