# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, sections on the motion towards targets: posture, solver, tracking, following error."""

from __future__ import annotations

from ros_ik.settings.parameter import MAX_WEIGHT
from ros_ik.settings.parameter import MIN_ACCELERATION
from ros_ik.settings.parameter import Parameter

HALT_MODES = ('decelerate', 'hold')
TIME_SOURCES = ('receive', 'header')
COMMAND_TYPES = ('speed_units', 'unitless')
FOLLOWING_ACTIONS = ('slow', 'stop')
JUMP_POLICIES = ('saturate', 'reject')
SYNCHRONISE_TO = ('reference', 'command', 'measured')

SOLVER = (
    Parameter(
        'posture.weight', 'double', 0.01,
        'Weight of the posture. It decides the motion that the tasks leave free and damps motion '
        'near singularities; small compared with 1, so that the tasks lose no accuracy.',
        minimum=0.0,
        maximum=MAX_WEIGHT,
    ),
    Parameter(
        'posture.positions', 'double[]', (),
        'Preferred positions of the controlled joints in the order of the group, or of '
        'posture.joints; empty selects the positions at the start of the motion.', unit='rad or m',
    ),
    Parameter(
        'posture.joints', 'string[]', (),
        'Controlled joints of posture.positions; empty selects all of them. The other joints '
        'have no posture.', read_only=True,
    ),
    Parameter(
        'posture.centering', 'double', 0.0,
        'Rate at which the joints of active targets approach the middle of their limits, in the '
        'null space of the targets; 0 disables it. With this, posture.joints or an aim of a task, '
        'joints that move targets do not return to their positions at the start of the motion.',
        unit='1/s', minimum=0.0, maximum=10.0,
    ),
    Parameter(
        'solver.damping', 'double', 0.0,
        'Levenberg damping of the frame tasks and of the centre of mass, relative to their '
        'squared weighted error.',
        minimum=0.0,
    ),
    Parameter(
        'solver.regularization', 'double', 1e-12,
        'Weight of the squared step; keeps the program strictly convex if posture.weight is 0.',
        minimum=0.0, maximum=MAX_WEIGHT, exclusive_minimum=True,
    ),
    Parameter(
        'solver.max_iterations', 'int', 500,
        'Bound on the iterations of the fallback method, and so on the time of a tick. The '
        'fallback runs if the usual method does not converge within its own bound of 12. If '
        'barriers must be relaxed, it runs several times.',
        minimum=1, maximum=100000,
    ),
)  # fmt: skip

CENTER_OF_MASS = (
    Parameter(
        'com.weight', 'double', 0.0,
        'Weight of the error of the centre of mass, on all three axes, relative to the frame '
        'tasks; 0 ignores ~/target_com.',
        unit='1/m', minimum=0.0, maximum=MAX_WEIGHT,
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
        unit='m/s^2', minimum=MIN_ACCELERATION,
    ),
    Parameter(
        'com.linear_tolerance', 'double', 0.005,
        'Error of the centre of mass below which its target counts as reached.',
        unit='m', minimum=0.0,
    ),
)  # fmt: skip

TARGETS = (
    Parameter(
        'command_timeout', 'double', 0.2,
        'Age from which on a target is ignored, measured from the time that command_time_source '
        'selects.',
        unit='s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'joint_state_timeout', 'double', 0.1,
        'Age at which the state of a joint is ignored, counted from its receipt. Use several '
        'periods of joint_states; those of 10 Hz need 0.3. Joints that only distances depend on '
        'have 1 s at least; then planners and the status name them.',
        unit='s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'max_target_step_linear', 'double', 0.25,
        'Distance of a target from the commanded position beyond which target_jump_policy '
        'applies.',
        unit='m', minimum=0.0, exclusive_minimum=True, finite=False,
    ),
    Parameter(
        'max_target_step_angular', 'double', 0.8,
        'Angle of a target from the commanded orientation beyond which target_jump_policy '
        'applies.',
        unit='rad', minimum=0.0, exclusive_minimum=True, finite=False,
    ),
    Parameter(
        'target_jump_policy', 'string', 'saturate',
        "'saturate' pursues a point at that distance on the way to the target; 'reject' ignores "
        'the target, keeps the previous one and reports code 25.', choices=JUMP_POLICIES,
    ),
    Parameter(
        'command_time_source', 'string', 'receive',
        "Time from which the age of a target is counted. 'receive' is its receipt. 'header' is "
        'the stamp of its header, which includes the delay of the network but needs synchronised '
        'clocks. A stamp of zero is the time of receipt.', choices=TIME_SOURCES,
    ),
    Parameter(
        'target_filter_tau', 'double', 0.0,
        'Time constant of the low-pass filter on pose targets, for noisy tracking devices and '
        'rates far below control_rate; 0 disables it. The filter starts at the commanded pose, '
        'and delays a moving target by this time.', unit='s', minimum=0.0, maximum=10.0,
    ),
    Parameter(
        'halt_mode', 'string', 'decelerate',
        "End of a motion when targets end or the servo must hold. 'decelerate' brakes each joint "
        "with its acceleration limit and stays where it stops. 'hold' brakes in the same way, "
        'then returns to the position commanded when the halt began, like a controller that holds '
        'its position. A joint outside its position limits then stays where it stops. Neither '
        'exceeds the velocity and acceleration limits. Deactivation and a new robot description '
        'always decelerate.', choices=HALT_MODES,
    ),
)  # fmt: skip

VELOCITIES = (
    Parameter(
        'command_in_type', 'string', 'speed_units',
        "Units of velocity targets, of frames and of joints. 'speed_units' is m/s and rad/s. "
        "'unitless' is a fraction from -1 to 1 of the scales below, like the values of joysticks. "
        'A message with a number outside this range is rejected.', choices=COMMAND_TYPES,
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
        'damped (codes 1 and 3). A stretched arm has 0, a well bent one 0.1 to 0.3. The damping '
        'leaves out joints at their position limits.',
        unit='m/rad', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'solver.singularity_damping', 'double', 0.02,
        'Damping at a singularity, decreasing to none at the threshold. A larger value slows the '
        'motion in the lost direction, a smaller one lets joints swing. A frame approaches a '
        'singularity no faster than the joints can brake, even above the threshold. 0 disables '
        'both.',
        unit='m/rad', minimum=0.0, maximum=1.0,
    ),
)  # fmt: skip

FOLLOWING_ERROR = (
    Parameter(
        'following_error.delay', 'double', 0.1,
        'Accepted lag of the robot behind its command: transport, controller and drives together. '
        'It is subtracted from the following error.', unit='s', minimum=0.0, maximum=2.0,
    ),
    Parameter(
        'following_error.max', 'double[]', (),
        'Largest distance of the command ahead of the measured position, including its stopping '
        'distance. One number, or one per controlled joint in the order of the group; 0 disables '
        'the check of a joint. Fast motion slows down if lag and stopping distance need more. '
        'Empty selects d + t (v + u) / 2 + u^2 / (2 a). d is 0.1 rad or 0.03 m, and u is '
        'min(v + a t, v_max). v is the measured speed, a and v_max are the limits of the joint, '
        'and t is the delay plus 0.025 s and a period. At rest it is d + a t^2 if a t < v_max.',
        unit='rad or m', minimum=0.0,
    ),
    Parameter(
        'following_error.action', 'string', 'slow',
        "Reaction if the command would get farther ahead. 'slow' slows it down to the speed of "
        "the robot. 'stop' brakes, waits until the robot stands still, and starts again as "
        'synchronise_to says. With either, a joint that stands still while its command moves '
        'away stops the command.', choices=FOLLOWING_ACTIONS,
    ),
    Parameter(
        'synchronise_to', 'string', 'reference',
        "Start of a motion. 'reference' is the last command if the reference that the controllers "
        "publish shows that they follow it, otherwise that reference, see "
        "outputs.<output>.state_topic. Without one, it is the same as 'command'. 'command' is the "
        'last command, if the robot is within synchronise_tolerance of it and has not been moved '
        'since. Otherwise it is the measured state: the mean of the last 0.1 s for a robot at '
        'rest, position and velocity for one in motion. After an activation, a stop, a reset or '
        'missing joint states, something else may hold the robot. The last command is then used '
        "only while the robot is on its way to it. 'measured' is always the measured state, so "
        'that a robot that sags starts with a step. motion_start in ~/status names the one in '
        'use.',
        choices=SYNCHRONISE_TO,
    ),
    Parameter(
        'synchronise_tolerance', 'double', 0.05,
        'Largest distance between the resting robot and the last command for the next motion to '
        'start at that command. For joints measured in m, it is multiplied by 0.3 m/rad.',
        unit='rad', minimum=0.0,
    ),
)  # fmt: skip
