# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""The schema of all parameters in sections, the source of descriptors, config and documents."""

from __future__ import annotations

from typing import NamedTuple

from ros_ik.settings.parameter import Parameter
from ros_ik.settings.schema_barriers import BARRIERS
from ros_ik.settings.schema_barriers import COLLISION
from ros_ik.settings.schema_limits import JOINT_LIMITS
from ros_ik.settings.schema_limits import LIMITS
from ros_ik.settings.schema_motion import CENTER_OF_MASS
from ros_ik.settings.schema_motion import FOLLOWING_ERROR
from ros_ik.settings.schema_motion import SINGULARITIES
from ros_ik.settings.schema_motion import SOLVER
from ros_ik.settings.schema_motion import TARGETS
from ros_ik.settings.schema_motion import VELOCITIES
from ros_ik.settings.schema_node import BOND
from ros_ik.settings.schema_node import NODE
from ros_ik.settings.schema_node import REAL_TIME
from ros_ik.settings.schema_node import TF
from ros_ik.settings.schema_outputs import OUTPUTS
from ros_ik.settings.schema_outputs import REPORTS
from ros_ik.settings.schema_services import GOALS
from ros_ik.settings.schema_services import REQUESTS
from ros_ik.settings.schema_tasks import TASKS


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
        'Start, rate, device, controlled joints and tasks.', NODE + TF + BOND,
    ),
    Section(
        'Frame tasks',
        'One set for each entry of `frame_tasks`: the link, its motion, its tolerances.',
        TASKS,
    ),
    Section(
        'Posture and solver',
        'Motion that the tasks leave free, and behaviour near singularities.',
        SOLVER + SINGULARITIES,
    ),
    Section(
        'Centre of mass', 'Targets on `~/target_com` take effect if the weight is above 0.',
        CENTER_OF_MASS,
    ),
    Section(
        'Targets', 'Timeouts of targets, and treatment of noisy or distant ones.',
        TARGETS,
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
        OUTPUTS,
    ),
    Section('Reports', 'Rates of the status, diagnostics and markers.', REPORTS),
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
