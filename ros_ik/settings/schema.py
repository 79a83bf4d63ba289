# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The schema: each parameter once. Descriptors, config and documents come from it."""

from __future__ import annotations

from typing import NamedTuple

from ros_ik.settings.parameter import MOST_WEIGHT
from ros_ik.settings.parameter import Parameter
from ros_ik.settings.schema_collision import COLLISION
from ros_ik.settings.schema_limits import BARRIERS
from ros_ik.settings.schema_limits import JOINT_LIMITS
from ros_ik.settings.schema_limits import LIMITS
from ros_ik.settings.schema_motion import CENTER_OF_MASS
from ros_ik.settings.schema_motion import FOLLOWING_ERROR
from ros_ik.settings.schema_motion import SINGULARITIES
from ros_ik.settings.schema_motion import TARGETS
from ros_ik.settings.schema_motion import VELOCITIES
from ros_ik.settings.schema_node import BOND
from ros_ik.settings.schema_node import REAL_TIME
from ros_ik.settings.schema_node import TF
from ros_ik.settings.schema_services import GOALS
from ros_ik.settings.schema_services import REQUESTS

DESCRIPTION_CHANGES = ('hold_and_swap', 'ignore', 'deactivate')
JUMP_POLICIES = ('saturate', 'reject')
STAMPS = ('zero', 'now')
PREDICTIONS = ('off', 'velocity')
OUTPUT_TYPES = ('joint_trajectory', 'float64_multi_array', 'float64_multi_array_velocities')

_NODE = (
    Parameter(
        'autostart', 'bool', True,
        'Configure and activate as soon as a model and joint states are there; false leaves '
        'that to a '
        'lifecycle manager.', read_only=True,
    ),
    Parameter(
        'control_rate', 'double', 100.0,
        'Rate of the control loop. The default is that of most position controllers.',
        unit='Hz', minimum=1.0, maximum=1000.0, read_only=True,
    ),
    Parameter(
        'device', 'string', 'auto',
        "Where the solver runs: 'cpu', 'cuda' or 'cuda:N'. 'auto' is the CPU, which answers "
        "soonest for one robot. Of several, as in 'cuda:0,cpu', the first that works is taken; a "
        'GPU that is lost leaves the node inactive, with the next of them.', read_only=True,
    ),
    Parameter(
        'robot_description_timeout', 'double', 10.0,
        'How long the configure transition waits for a robot description and its model.',
        unit='s', minimum=0.0, read_only=True,
    ),
    Parameter(
        'on_description_change', 'string', 'hold_and_swap',
        "What a new robot description does: 'hold_and_swap' stops, builds the model and goes on "
        "with it "
        "(to inactive where the controlled joints changed), 'ignore' keeps the first one, "
        "'deactivate' "
        'stops, swaps and stays inactive.', choices=DESCRIPTION_CHANGES,
    ),
    Parameter(
        'base_frame', 'string', '',
        "Link in which poses are given where they name no frame; '' is the root of the model.",
        read_only=True,
    ),
    Parameter(
        'joint_group', 'string', '',
        "Joints to move: a group of the SRDF, or a chain 'base_link:tip_link'. '' takes the "
        "joints that "
        'lie between the reference frames and the frames of the tasks.', read_only=True,
    ),
    Parameter(
        'locked_joints', 'string[]', (), 'Joints of the group that are left alone.',
        read_only=True,
    ),
    Parameter(
        'frame_tasks', 'string[]', ('ee',),
        'Names of the frame tasks. Each has parameters and topics of its own; the first one '
        'also listens '
        'to ~/target_pose.', read_only=True,
    ),
)  # fmt: skip

_TASK = (
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
        'Weight of the position error, one or per axis of the reference frame; 0 leaves the '
        'axis free.',
        unit='1/m', minimum=0.0, maximum=MOST_WEIGHT, lengths=(3,),
    ),
    Parameter(
        '<task>.orientation_weight', 'double|double[]', 0.5,
        'Weight of the orientation error, one or per axis of the reference frame; 0 leaves the '
        'axis free.',
        unit='1/rad', minimum=0.0, maximum=MOST_WEIGHT, lengths=(3,),
    ),
    Parameter(
        '<task>.gain', 'double', 1.0,
        'Part of the remaining error that one tick may remove. Below 1 the last millimetres are '
        'approached gradually, which quietens a noisy target.',
        minimum=0.0, maximum=1.0, exclusive_minimum=True,
    ),
    Parameter(
        '<task>.priority', 'int', 1,
        'Level, 1 first: a task moves only in what all tasks of lower numbers leave free. On one '
        'level weights decide.', minimum=1, maximum=100, read_only=True,
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
        'Acceleration towards the target and braking before it, where the joints have it along '
        'the path. The default stops from the default speed within 0.05 m.',
        unit='m/s^2', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        '<task>.max_angular_acceleration', 'double', 5.0,
        'Angular acceleration towards the target and braking before it, where the joints have '
        'it.',
        unit='rad/s^2', minimum=0.0, exclusive_minimum=True,
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
        '<task>.target_prediction', 'string', 'off',
        "How a streamed pose goes on between its messages: 'off' stays where the last one was; "
        "'velocity' goes on as the target moved so far, until command_timeout, so that the robot "
        'does not lag behind and slow streams are followed smoothly; where a target stops at '
        'once, the robot goes on for a message and its braking distance. It has no effect beside '
        'target_filter_tau.', choices=PREDICTIONS,
    ),
)  # fmt: skip

_SOLVER = (
    Parameter(
        'posture.weight', 'double', 0.01,
        'Weight of the posture. It settles what the tasks leave open and damps motion near '
        'singularities; small beside 1, so that it costs the tasks no accuracy.', minimum=0.0,
        maximum=MOST_WEIGHT,
    ),
    Parameter(
        'posture.positions', 'double[]', (),
        'Preferred positions of the controlled joints in the order of the group; empty: those '
        'at the '
        'start of the motion.', unit='rad or m',
    ),
    Parameter(
        'solver.damping', 'double', 0.0,
        'Levenberg damping of the frame tasks, relative to their squared weighted error.',
        minimum=0.0,
    ),
    Parameter(
        'solver.regularization', 'double', 1e-12,
        'Weight of the squared step; keeps the program strictly convex where posture.weight is 0.',
        minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'solver.max_iterations', 'int', 500,
        'Bound on the iterations of the method that takes over where the usual one does not '
        'settle within its own bound of 12, and so on the time of a tick. Where barriers have to '
        'give way it runs a few times.',
        minimum=1, maximum=100000,
    ),
)  # fmt: skip

_TIMING = (
    Parameter(
        'command_timeout', 'double', 0.2,
        'Age at which a target no longer counts, by the time it was received.',
        unit='s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'joint_state_timeout', 'double', 0.1,
        'Age at which the state of a joint no longer counts, by the time it was received.',
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
        "'saturate' pursues a point at that distance on the way to the target; 'reject' refuses "
        "the "
        'target, keeps the one before and reports code 25.', choices=JUMP_POLICIES,
    ),
)  # fmt: skip

_OUTPUTS = (
    Parameter(
        'output_names', 'string[]', ('default',),
        'Names of the outputs, one for each controller to be driven.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.topic', 'string', '~/joint_trajectory',
        'Topic on which the controller listens.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.type', 'string', 'joint_trajectory',
        "What the controller takes: 'joint_trajectory' is trajectory_msgs/JointTrajectory for "
        "joint_trajectory_controller, 'float64_multi_array' is std_msgs/Float64MultiArray with "
        'the positions in the order of joints for forward_position_controller, '
        "'float64_multi_array_velocities' the same with the velocities for "
        'forward_velocity_controller. An array has no horizon and no stamp: a velocity goes on '
        'until the next one, so the last one is zero.', choices=OUTPUT_TYPES, read_only=True,
    ),
    Parameter(
        'outputs.<output>.joints', 'string[]', (),
        "The controller's joints, all of them; empty: the controlled joints. Joints that are not "
        'controlled are told to stay where they are.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.command_horizon', 'double', 0.1,
        'Time of the last point, which repeats the position of the one before it: a robot that '
        'hears no more stops there. At least two control periods, and rollout_steps more.',
        unit='s', minimum=0.0, exclusive_minimum=True, read_only=True,
    ),
    Parameter(
        'outputs.<output>.publish_velocities', 'bool', False,
        'Give velocities too. The last point has velocity zero either way.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.position_gain', 'double', 1.0,
        'Correction of velocities by the measured position, which a robot that is driven by '
        'velocities alone drifts away from: this times what the robot lacks to the commanded '
        'position is added, within the velocity limits. At most a third of 1 / lag; 0 never '
        'corrects.', unit='1/s', minimum=0.0, maximum=100.0, read_only=True,
    ),
    Parameter(
        'outputs.<output>.stamp', 'string', 'zero',
        "Stamp of the header: 'zero' means at once to a controller, 'now' is the time of the "
        "tick.",
        choices=STAMPS, read_only=True,
    ),
    Parameter(
        'outputs.<output>.state_topic', 'string', '',
        'Topic on which the controller says what it drives the joints to, '
        'control_msgs/JointTrajectoryControllerState, for synchronise_to; listened to where '
        "control_msgs is installed. '' is controller_state beside topic for a joint_trajectory, "
        'and none for the other types.', read_only=True,
    ),
    Parameter(
        'rollout_steps', 'int', 0,
        'Steps predicted behind the command in each JointTrajectory, one control period apart, '
        'solved and checked like the command: a controller that misses messages goes on along '
        'them instead of stopping. Each takes about half the time of a tick. Every '
        'command_horizon must be at least rollout_steps + 2 control periods.',
        minimum=0, maximum=100, read_only=True,
    ),
    Parameter(
        'publish_when_idle', 'bool', False,
        'Repeat the held position while there is no target, for controllers that watch for '
        'silence.',
    ),
)  # fmt: skip

_REPORTS = (
    Parameter(
        'status_rate', 'double', 0.0,
        'Rate of ~/status and of the poses beside it; 0 is every tick. At most 10 Hz before '
        'activation.',
        unit='Hz', minimum=0.0, maximum=1000.0,
    ),
    Parameter(
        'diagnostics_period', 'double', 1.0, 'Time between two messages on /diagnostics.',
        unit='s', minimum=0.05, maximum=3600.0,
    ),
    Parameter(
        'marker_rate', 'double', 10.0,
        'Rate of ~/markers while somebody looks. Drawing runs in a process of its own.',
        unit='Hz', minimum=0.1, maximum=100.0,
    ),
)  # fmt: skip


class Section(NamedTuple):
    """Parameters that belong together.

    Attributes:
        title: Heading in the documents.
        text: One or two sentences on them.
        parameters: The parameters.
    """

    title: str
    text: str
    parameters: tuple[Parameter, ...]


SECTIONS = (
    Section(
        'Node and robot',
        'Start, rate, device, and which joints are moved by which tasks.', _NODE + TF + BOND,
    ),
    Section(
        'Frame tasks',
        'One set for each entry of `frame_tasks`: the link, how it moves, when it has arrived.',
        _TASK,
    ),
    Section(
        'Posture and solver',
        'What the tasks leave open, and behaviour near singularities.', _SOLVER + SINGULARITIES,
    ),
    Section(
        'Centre of mass', 'Targets on `~/target_com` count once its weight is above 0.',
        CENTER_OF_MASS,
    ),
    Section(
        'Targets', 'How long targets count, and what becomes of noisy or distant ones.',
        _TIMING + TARGETS,
    ),
    Section(
        'Velocity targets',
        'Units of `~/<task>/target_twist`, `~/target_joint_jog` and the velocities of '
        '`~/target_joints`; names and defaults are those of MoveIt Servo.', VELOCITIES,
    ),
    Section(
        'Following error', 'What happens where the robot lags behind its command.',
        FOLLOWING_ERROR,
    ),
    Section(
        'Limits', 'What is kept from the limits of the URDF, and tighter ones for single joints.',
        LIMITS + JOINT_LIMITS,
    ),
    Section(
        'Barriers and collisions',
        'Boxes that frames stay in, and distances between links and to obstacles.',
        BARRIERS + COLLISION,
    ),
    Section(
        'Outputs', 'One set for each entry of `output_names`: a controller and what it takes.',
        _OUTPUTS,
    ),
    Section('Reports', 'How often the node tells what it does.', _REPORTS),
    Section(
        'Real time',
        'Scheduling of the control thread; [benchmarks_node.md](benchmarks_node.md) has figures.',
        REAL_TIME,
    ),
    Section('Requests of planners', 'How much they may ask for, at whose cost.', REQUESTS),
    Section('Goals of actions', '`~/move_to_pose` and `~/follow_joint_trajectory`.', GOALS),
)  # fmt: skip

SCHEMA: tuple[Parameter, ...] = tuple(
    parameter for section in SECTIONS for parameter in section.parameters
)
