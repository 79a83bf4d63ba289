# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The part of the schema on how targets are followed."""

from __future__ import annotations

from ros_ik.settings.parameter import MOST_WEIGHT
from ros_ik.settings.parameter import Parameter

HALT_MODES = ('decelerate', 'hold')
TIME_SOURCES = ('receive', 'header')
COMMAND_TYPES = ('speed_units', 'unitless')
FOLLOWING_ACTIONS = ('slow', 'stop')
SYNCHRONISE_TO = ('reference', 'command', 'measured')

CENTER_OF_MASS = (
    Parameter(
        'com.weight', 'double', 0.0,
        'Weight of the error of the centre of mass, on all three axes, beside the frame tasks; 0 '
        'ignores ~/target_com.',
        unit='1/m', minimum=0.0, maximum=MOST_WEIGHT,
    ),
    Parameter(
        'com.max_linear_speed', 'double', 0.1,
        'Largest speed of the centre of mass towards its target.',
        unit='m/s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'com.max_linear_acceleration', 'double', 0.5,
        'Acceleration of the centre of mass towards its target and braking before it, where the '
        'joints have it along the path.',
        unit='m/s^2', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'com.linear_tolerance', 'double', 0.005,
        'Error of the centre of mass below which its target counts as reached.',
        unit='m', minimum=0.0,
    ),
)  # fmt: skip

TARGETS = (
    Parameter(
        'command_time_source', 'string', 'receive',
        "From when the age of a target counts: 'receive' is the time at which it was heard, "
        "'header' the stamp of its header, which tells how long the network took but needs "
        'clocks that agree; a stamp of zero counts as the time of receipt.', choices=TIME_SOURCES,
    ),
    Parameter(
        'target_filter_tau', 'double', 0.0,
        'Time constant of the low-pass filter on pose targets, for noisy tracking devices and '
        'rates far below control_rate; 0 is no filter. It starts at the commanded pose, and a '
        'target that moves is followed with this delay.', unit='s', minimum=0.0, maximum=10.0,
    ),
    Parameter(
        'halt_mode', 'string', 'decelerate',
        "How motion ends where targets end or the servo must hold: 'decelerate' brakes each joint "
        "with its acceleration limit and stays where that ends; 'hold' brakes so too, then goes "
        'back to the position commanded when the halt began, as a controller does that holds its '
        'position; a joint that was outside its position limits then stays where braking ends. '
        'Neither exceeds the velocity and acceleration limits. Deactivation and a new robot '
        'description always decelerate.', choices=HALT_MODES,
    ),
)  # fmt: skip

VELOCITIES = (
    Parameter(
        'command_in_type', 'string', 'speed_units',
        "Units of velocity targets, of frames and of joints: 'speed_units' is m/s and rad/s, "
        "'unitless' is a part of the scales below, from -1 to 1, as joysticks give it; a message "
        'with a number beyond that is refused.', choices=COMMAND_TYPES,
    ),
    Parameter(
        'scale.linear', 'double', 0.4,
        'Speed of a frame at full deflection of a unitless linear velocity.',
        unit='m/s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'scale.rotational', 'double', 0.8,
        'Rotation speed of a frame at full deflection of a unitless angular velocity.',
        unit='rad/s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'scale.joint', 'double', 0.5,
        'Speed of a joint at full deflection of a unitless joint velocity.',
        unit='rad/s or m/s', minimum=0.0, exclusive_minimum=True,
    ),
)  # fmt: skip

SINGULARITIES = (
    Parameter(
        'solver.singularity_threshold', 'double', 0.03,
        'Least singular value of the weighted Jacobian of a frame task below which steps are '
        'damped (codes 1 and 3). A stretched arm has 0, a well bent one 0.1 to 0.3.',
        unit='m/rad', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'solver.singularity_damping', 'double', 0.02,
        'Damping at a singularity, weakening to none at the threshold. More slows the motion in '
        'the direction that is lost, less lets joints swing. A frame nears a singularity no '
        'faster than the joints can brake, wherever that begins to count. 0 for neither.',
        unit='m/rad', minimum=0.0, maximum=1.0,
    ),
)  # fmt: skip

FOLLOWING_ERROR = (
    Parameter(
        'following_error.delay', 'double', 0.1,
        'Lag of the robot behind its command that is in order: transport, controller and drives '
        'together. It is taken off the following error.', unit='s', minimum=0.0, maximum=2.0,
    ),
    Parameter(
        'following_error.max', 'double[]', (),
        'How far the command may be ahead of the measured position, with the way of a stop, one '
        'or per controlled joint in the order of the group; 0 does not watch a joint. Less than '
        'the lag and a stop need slows fast motion. Empty is room for both at the speed of the '
        'robot, and 0.1 rad or 0.03 m: v t + v^2 / (2 a) more at the velocity limit v, a t^2 '
        'for a robot that stands, with the acceleration limit a and t 0.025 s and a period more '
        'than the delay.', unit='rad or m', minimum=0.0,
    ),
    Parameter(
        'following_error.action', 'string', 'slow',
        "What happens where the command would get farther ahead: 'slow' slows it to the pace of "
        "the robot, 'stop' brakes, waits until the robot stands, and starts again from the "
        'measured position. A joint that stands still while its command moves away stops the '
        'command with either.', choices=FOLLOWING_ACTIONS,
    ),
    Parameter(
        'synchronise_to', 'string', 'reference',
        "Where a motion starts: 'reference' is the state that the controllers publish as their "
        "own reference, see outputs.<output>.state_topic; where they do not, the last command, "
        "as with 'command': while the robot is within synchronise_tolerance of it and has not "
        'been moved since. Else it is the measured state: of a robot that rests the mean of the '
        'last 0.1 s, of one that moves with its velocity. After an activation, a stop, a reset or '
        "missing joint states the last command says nothing. 'measured' is always the measured "
        'state, which a robot that sags turns into a step. ~/status says in motion_start which '
        'it was.',
        choices=SYNCHRONISE_TO,
    ),
    Parameter(
        'synchronise_tolerance', 'double', 0.05,
        'How far the robot may rest from the last command for the next motion to start there; a '
        'joint that is measured in m: 0.3 m for each rad.', unit='rad', minimum=0.0,
    ),
)  # fmt: skip
