# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The schema of all parameters, the source of descriptors, config and documents."""

from __future__ import annotations

from typing import NamedTuple

from ros_ik.settings.parameter import MAX_RATE
from ros_ik.settings.parameter import MAX_WEIGHT
from ros_ik.settings.parameter import Parameter
from ros_ik.settings.schema_barriers import BARRIERS
from ros_ik.settings.schema_barriers import COLLISION
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
        'numbers. Within a level the weights decide.', minimum=1, maximum=100, read_only=True,
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
        unit='m/s^2', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        '<task>.max_angular_acceleration', 'double', 5.0,
        'Angular acceleration towards the target and braking before it, as far as the joints '
        'allow it.',
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
        '<task>.target_prediction', 'string', 'velocity',
        "Motion of a streamed pose between its messages. 'velocity' continues the motion of the "
        'target between messages and across lost ones. The robot then lags by less than a tick, '
        'follows slow streams smoothly and averages noise. If the target stops abruptly, the '
        'robot overshoots by the distance until the next message. If its sender falls silent, '
        'the robot returns to the last pose after 2.5 periods, or later if messages were lost '
        "before. 'off' stays at the last pose, for senders that do not repeat it. No effect "
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

_SOLVER = (
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
        'Rate at which joints that move targets approach the middle of their limits, in the null '
        'space of the targets; 0 disables it. With this, posture.joints or an aim of a task, '
        'joints that move targets do not return to their positions at the start of the motion.',
        unit='1/s', minimum=0.0, maximum=10.0,
    ),
    Parameter(
        'solver.damping', 'double', 0.0,
        'Levenberg damping of the frame tasks, relative to their squared weighted error.',
        minimum=0.0,
    ),
    Parameter(
        'solver.regularization', 'double', 1e-12,
        'Weight of the squared step; keeps the program strictly convex if posture.weight is 0.',
        minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'solver.max_iterations', 'int', 500,
        'Bound on the iterations of the fallback method, and so on the time of a tick. The '
        'fallback runs if the usual method does not converge within its own bound of 12. If '
        'barriers must be relaxed, it runs several times.',
        minimum=1, maximum=100000,
    ),
)  # fmt: skip

_TIMING = (
    Parameter(
        'command_timeout', 'double', 0.2,
        'Age at which a target is ignored, counted as command_time_source tells.',
        unit='s', minimum=0.0, exclusive_minimum=True,
    ),
    Parameter(
        'joint_state_timeout', 'double', 0.1,
        'Age at which the state of a joint is ignored, counted from its receipt.',
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
        'the target, keeps the previous one and reports code 25.', choices=JUMP_POLICIES,
    ),
)  # fmt: skip

_OUTPUTS = (
    Parameter(
        'output_names', 'string[]', ('default',),
        'Names of the outputs, one for each controller.', read_only=True,
    ),
    Parameter(
        'outputs.<output>.topic', 'string', '~/joint_trajectory',
        "Topic of the controller's commands.", read_only=True,
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
        'namespace of topic for a joint_trajectory, and none for the other types.', read_only=True,
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

_REPORTS = (
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


class Section(NamedTuple):
    """Related parameters.

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
        'Start, rate, device, controlled joints and tasks.', _NODE + TF + BOND,
    ),
    Section(
        'Frame tasks',
        'One set for each entry of `frame_tasks`: the link, its motion, its tolerances.',
        _TASK,
    ),
    Section(
        'Posture and solver',
        'Motion that the tasks leave free, and behaviour near singularities.',
        _SOLVER + SINGULARITIES,
    ),
    Section(
        'Centre of mass', 'Targets on `~/target_com` take effect if the weight is above 0.',
        CENTER_OF_MASS,
    ),
    Section(
        'Targets', 'Timeouts of targets, and treatment of noisy or distant ones.',
        _TIMING + TARGETS,
    ),
    Section(
        'Velocity targets',
        'Units of `~/<task>/target_twist`, `~/target_joint_jog` and the velocities of '
        '`~/target_joints`; names and defaults are those of MoveIt Servo.', VELOCITIES,
    ),
    Section(
        'Following error', 'Reaction to a robot that lags behind its command.',
        FOLLOWING_ERROR,
    ),
    Section(
        'Limits', 'Margins to the limits of the URDF, and tighter limits for single joints.',
        LIMITS + JOINT_LIMITS,
    ),
    Section(
        'Barriers and collisions',
        'Boxes that frames stay in, and distances between links and to obstacles.',
        BARRIERS + COLLISION,
    ),
    Section(
        'Outputs', 'One set for each entry of `output_names`: a controller and its messages.',
        _OUTPUTS,
    ),
    Section('Reports', 'Rates of the status, diagnostics and markers.', _REPORTS),
    Section(
        'Real time',
        'Scheduling of the control thread; [benchmarks_node.md](benchmarks_node.md) has figures.',
        REAL_TIME,
    ),
    Section('Requests of planners', 'Bounds on their size, time and processor use.', REQUESTS),
    Section('Goals of actions', '`~/move_to_pose` and `~/follow_joint_trajectory`.', GOALS),
)  # fmt: skip

SCHEMA: tuple[Parameter, ...] = tuple(
    parameter for section in SECTIONS for parameter in section.parameters
)
