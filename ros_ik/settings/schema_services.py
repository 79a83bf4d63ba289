# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Schema, section on services and actions: bounds of requests and goals."""

from __future__ import annotations

from ros_ik.settings.parameter import Parameter

MOVEIT_SERVICES = ('auto', 'on', 'off')

REQUESTS = (
    Parameter(
        'services.max_poses', 'int', 100_000,
        'Bound on a request: poses times max_solutions of ~/solve_ik (at least 16 with a '
        'preference), poses of ~/solve_fk, points and checks of ~/check_trajectory. It also '
        'bounds the points of a goal of ~/follow_joint_trajectory. Larger ones are refused. It '
        'bounds the memory: about 2 kB each, times the number of waiting requests.',
        minimum=1, maximum=10_000_000, read_only=True,
    ),
    Parameter(
        'services.timeout', 'double', 30.0,
        'Longest time for a request, including its wait; also the default of requests without a '
        'timeout.',
        unit='s', minimum=0.0, exclusive_minimum=True, maximum=3600.0, read_only=True,
    ),
    Parameter(
        'services.max_waiting', 'int', 4,
        'Number of requests that may wait while one is answered; further ones are refused at '
        'once. A client with more than 10 open requests needs a QoS depth of as many: with '
        'the default of rclpy and rclcpp it loses answers.',
        minimum=0, maximum=100, read_only=True,
    ),
    Parameter(
        'services.threads', 'int', 0,
        'Threads that share a request of ~/solve_ik; 0 is one less than the number of cores.',
        minimum=0, maximum=1024, read_only=True,
    ),
    Parameter(
        'services.nice', 'int', 10,
        'Niceness of the process that answers requests. With the default every other process '
        'has priority, in particular the control loop, and requests still get a tenth of a busy '
        'core.',
        minimum=0, maximum=19, read_only=True,
    ),
    Parameter(
        'moveit_services', 'string', 'auto',
        "Condition for MoveIt's ~/compute_ik and ~/compute_fk: 'auto' if moveit_msgs is "
        "installed, 'on' always (the node does not configure without it), 'off' never.",
        choices=MOVEIT_SERVICES, read_only=True,
    ),
)  # fmt: skip

GOALS = (
    Parameter(
        'actions.timeout', 'double', 60.0,
        'Longest time for a goal of ~/move_to_pose; also the default of goals without a timeout.',
        unit='s', minimum=0.0, exclusive_minimum=True, maximum=3600.0, read_only=True,
    ),
    Parameter(
        'actions.feedback_rate', 'double', 20.0,
        'Rate of the feedback of a goal, at most the control rate.',
        unit='Hz', minimum=0.1, maximum=200.0, read_only=True,
    ),
    Parameter(
        'actions.goal_tolerance', 'double', 0.01,
        'Accepted error of each joint at the end of ~/follow_joint_trajectory, for goals that '
        'do not set it. If barriers keep the robot from the end, the goal fails.',
        unit='rad or m', minimum=0.0, exclusive_minimum=True, read_only=True,
    ),
    Parameter(
        'actions.goal_time', 'double', 1.0,
        'Time after the end of a trajectory to come within the tolerance, for goals of '
        '~/follow_joint_trajectory that do not set it.',
        unit='s', minimum=0.0, maximum=60.0, read_only=True,
    ),
)  # fmt: skip
