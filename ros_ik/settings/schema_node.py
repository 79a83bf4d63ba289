# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, sections on the node: its start, rate and robot, tf, the bond, real-time priority."""

from __future__ import annotations

from ros_ik.settings.parameter import MAX_RATE
from ros_ik.settings.parameter import Parameter

DESCRIPTION_CHANGES = ('hold_and_swap', 'ignore', 'deactivate')

NODE: tuple[Parameter, ...] = (
    Parameter(
        'autostart', 'bool', True,
        'Configure and activate as soon as a model and joint states have arrived; false leaves '
        'this to a lifecycle manager.', read_only=True,
    ),
    Parameter(
        'control_rate', 'double', 100.0,
        'Rate of the control loop. Most position controllers run at the default.',
        unit='Hz', minimum=1.0, maximum=MAX_RATE, read_only=True,
    ),
    Parameter(
        'device', 'string', 'auto',
        "Device of the solver: 'cpu', 'cuda' or 'cuda:N'. 'auto' is the CPU, which is the fastest "
        "for one robot. Planners' requests are solved there too. Of a list such as 'cuda:0,cpu' "
        'the first working device is used; if a GPU is lost, the node becomes inactive and uses '
        'the next device.', read_only=True,
    ),
    Parameter(
        'robot_description_timeout', 'double', 10.0,
        'Longest wait of the configure transition for a robot description and its model.',
        unit='s', minimum=0.0, read_only=True,
    ),
    Parameter(
        'on_description_change', 'string', 'hold_and_swap',
        "Reaction to a new robot description. 'hold_and_swap' stops, builds the model and "
        'continues with it; the node becomes inactive if the controlled joints changed. '
        "'ignore' keeps the first one. 'deactivate' stops, swaps and stays inactive.",
        choices=DESCRIPTION_CHANGES,
    ),
    Parameter(
        'base_frame', 'string', '',
        "Link in which poses are given if they name no frame; '' is the root of the model.",
        read_only=True,
    ),
    Parameter(
        'joint_group', 'string', '',
        "Joints to move: a group of the SRDF, or a chain 'base_link:tip_link'. '' selects the "
        'joints between the reference frames and the frames of the tasks.', read_only=True,
    ),
    Parameter(
        'locked_joints', 'string[]', (),
        'Joints of the group that the node does not move.',
        read_only=True,
    ),
    Parameter(
        'frame_tasks', 'string[]', ('ee',),
        'Names of the frame tasks. Each has its own parameters and topics; the first one also '
        'listens to ~/target_pose.', read_only=True,
    ),
)  # fmt: skip

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
