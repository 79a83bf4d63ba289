# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, sections on outputs and reports."""

from __future__ import annotations

from ros_ik.settings.parameter import MAX_RATE
from ros_ik.settings.parameter import Parameter

STAMPS = ('zero', 'now')
OUTPUT_TYPES = ('joint_trajectory', 'float64_multi_array', 'float64_multi_array_velocities')

OUTPUTS = (
    Parameter(
        'output_names', 'string[]', ('default',),
        'Names of the outputs, one for each controller.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.topic', 'string', '~/joint_trajectory',
        "Topic of the controller's commands.", is_topic=True, read_only=True,
    ),
    Parameter(
        'outputs.<output>.type', 'string', 'joint_trajectory',
        "Message type of the controller. 'joint_trajectory' is trajectory_msgs/JointTrajectory, "
        "for joint_trajectory_controller. 'float64_multi_array' is std_msgs/Float64MultiArray "
        'with the positions in the order of joints, for forward_position_controller. '
        "'float64_multi_array_velocities' is the same with velocities, for "
        'forward_velocity_controller. An array has no horizon and no stamp: a velocity lasts '
        'until the next message, so the last one is zero.', choices=OUTPUT_TYPES, read_only=True,
    ),
    Parameter(
        'outputs.<output>.joints', 'string[]', (),
        'All joints of the controller; empty: the controlled joints. Joints that the node does '
        'not control keep their position.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.command_horizon', 'double', 0.1,
        'Time of the last point, which repeats the previous position: without further messages '
        'the robot stops there. At least two control periods, plus rollout_steps periods.',
        unit='s', minimum=0.0, exclusive_minimum=True, read_only=True,
    ),
    Parameter(
        'outputs.<output>.publish_velocities', 'bool', False,
        'Publish velocities too. The last point always has velocity zero.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.position_gain', 'double', 1.0,
        'Correction of velocities by the measured position, because a robot driven by velocities '
        'alone drifts. The node adds this gain times the difference between commanded and '
        'measured position, within the velocity limits. At most a third of 1 / lag; 0 disables '
        'the correction.', unit='1/s', minimum=0.0, maximum=100.0, read_only=True,
    ),
    Parameter(
        'outputs.<output>.stamp', 'string', 'zero',
        "Stamp of the header: 'zero' means at once to a controller, 'now' is the time of the "
        "tick.",
        choices=STAMPS, read_only=True,
    ),
    Parameter(
        'outputs.<output>.state_topic', 'string', '',
        "Topic of the controller's reference, control_msgs/JointTrajectoryControllerState, for "
        "synchronise_to; used if control_msgs is installed. '' is controller_state in the "
        'namespace of topic for a joint_trajectory, and none for the other types.',
        is_topic=True, read_only=True,
    ),
    Parameter(
        'rollout_steps', 'int', 0,
        'Predicted steps after the command in each JointTrajectory, one control period apart, '
        'solved and checked like the command. A controller that misses messages follows them '
        'instead of stopping. Each takes about half the time of a tick. Every command_horizon '
        'must be at least rollout_steps + 2 control periods.',
        minimum=0, maximum=100, read_only=True,
    ),
    Parameter(
        'publish_when_idle', 'bool', False,
        'Repeat the held position while there is no target, for controllers that report silence '
        'as an error.',
    ),
)  # fmt: skip

REPORTS = (
    Parameter(
        'status_rate', 'double', 0.0,
        'Rate of ~/status and of the current poses; 0 is every tick. At most 10 Hz before '
        'activation.',
        unit='Hz', minimum=0.0, maximum=MAX_RATE,
    ),
    Parameter(
        'diagnostics_period', 'double', 1.0, 'Time between two messages on /diagnostics.',
        unit='s', minimum=0.05, maximum=3600.0,
    ),
    Parameter(
        'marker_rate', 'double', 10.0,
        'Rate of ~/markers while it has subscribers. A separate process draws.',
        unit='Hz', minimum=0.1, maximum=100.0,
    ),
)  # fmt: skip
