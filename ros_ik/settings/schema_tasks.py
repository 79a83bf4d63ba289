# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, section on frame tasks."""

from __future__ import annotations

from ros_ik.settings.parameter import MAX_WEIGHT
from ros_ik.settings.parameter import MIN_ACCELERATION
from ros_ik.settings.parameter import Parameter

PREDICTIONS = ('off', 'velocity')

TASKS = (
    Parameter('<task>.frame', 'string', '', 'Link to move. Required.', read_only=True),
    Parameter(
        '<task>.reference_frame', 'string', '',
        "Link in which the pose is controlled; '' is base_frame.", read_only=True,
    ),
    Parameter(
        '<task>.offset_xyz', 'double[]', (0.0, 0.0, 0.0),
        'Position of the controlled point in the link, for a tool that is not in the model.',
        unit='m', minimum=-100.0, maximum=100.0, lengths=(3,),
    ),
    Parameter(
        '<task>.offset_rpy', 'double[]', (0.0, 0.0, 0.0),
        'Orientation of the controlled frame in the link: roll, pitch, yaw about fixed axes, as '
        'in URDF.',
        unit='rad', lengths=(3,),
    ),
    Parameter(
        '<task>.position_weight', 'double|double[]', 1.0,
        'Weight of the position error, one number or one per axis of the reference frame; 0 '
        'leaves the axis free.',
        unit='1/m', minimum=0.0, maximum=MAX_WEIGHT, lengths=(3,),
    ),
    Parameter(
        '<task>.orientation_weight', 'double|double[]', 0.5,
        'Weight of the orientation error, one number or one per axis of the reference frame; 0 '
        'leaves the axis free.',
        unit='1/rad', minimum=0.0, maximum=MAX_WEIGHT, lengths=(3,),
    ),
    Parameter(
        '<task>.gain', 'double', 1.0,
        'Fraction of the remaining error that one tick may remove. Below 1 the robot covers the '
        'last millimetres gradually, which reduces the effect of a noisy target.',
        minimum=0.0, maximum=1.0, exclusive_minimum=True,
    ),
    Parameter(
        '<task>.priority', 'int', 1,
        'Level, 1 is the highest: a task moves only in the null space of all tasks with lower '
        'numbers. It takes nothing from them, even where barriers or limits block it. Within a '
        'level the weights decide. The centre of mass has level 1, the posture that of the last '
        'task.', minimum=1, maximum=100,
    ),
    Parameter(
        '<task>.max_linear_speed', 'double', 0.5, 'Largest speed towards the target.',
        unit='m/s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        '<task>.max_angular_speed', 'double', 1.0, 'Largest rotation speed towards the target.',
        unit='rad/s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        '<task>.max_linear_acceleration', 'double', 2.5,
        'Acceleration towards the target and braking before it, as far as the joints allow it '
        'along the path. The default stops from the default speed within 0.05 m.',
        unit='m/s^2', minimum=MIN_ACCELERATION,
    ),
    Parameter(
        '<task>.max_angular_acceleration', 'double', 5.0,
        'Angular acceleration towards the target and braking before it, as far as the joints '
        'allow it.',
        unit='rad/s^2', minimum=MIN_ACCELERATION,
    ),
    Parameter(
        '<task>.linear_tolerance', 'double', 0.001, 'Position error below which a target counts '
        'as reached.',
        unit='m', minimum=0.0,
    ),
    Parameter(
        '<task>.angular_tolerance', 'double', 0.01,
        'Orientation error below which a target counts as reached.', unit='rad', minimum=0.0,
    ),
    Parameter(
        '<task>.target_prediction', 'string', 'velocity',
        "Motion of a streamed pose between its messages. 'velocity' continues the motion of the "
        'target between messages and across lost ones. The robot then lags by less than a tick, '
        'follows slow streams smoothly and averages noise. If the target stops abruptly, the '
        'robot overshoots by about the distance until the next message. If its sender falls '
        'silent, the robot returns to the last pose after 2.5 periods, or later if messages were '
        "lost before. 'off' stays at the last pose, for senders that do not repeat it. No effect "
        'together with target_filter_tau.', choices=PREDICTIONS,
    ),
    Parameter(
        '<task>.target_filter_tau', 'double', -1.0,
        'Time constant of the low-pass filter on the poses of this task; below 0 it is '
        'target_filter_tau.', unit='s', minimum=-1.0, maximum=10.0,
    ),
    Parameter(
        '<task>.elbow_frame', 'string', '',
        'Link to move to one side in the null space of the targets, such as the elbow of an arm; '
        'see elbow_speed.', read_only=True,
    ),
    Parameter(
        '<task>.elbow_direction', 'double[]', (0.0, 0.0, 1.0),
        'Preferred direction of the elbow, in the axes of the reference frame; its length has no '
        'effect.', minimum=-1e6, maximum=1e6, lengths=(3,),
    ),
    Parameter(
        '<task>.elbow_speed', 'double', 0.0,
        'Norm of the joint velocity that moves the elbow in its direction, in the null space of '
        'the targets; 0, or an empty elbow_frame, disables it.',
        unit='rad/s', minimum=0.0, maximum=10.0,
    ),
    Parameter(
        '<task>.manipulability_speed', 'double', 0.0,
        'Norm of the joint velocity that increases the manipulability of the frame, on axes with '
        'a weight above 0. The motion is in the null space of the targets; 0 disables it.',
        unit='rad/s', minimum=0.0, maximum=10.0,
    ),
)  # fmt: skip
