# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Search for another configuration of a pose that the robot cannot reach directly.

Configurations of the pose are searched with collision checks. The result is the nearest one with a
collision-free straight joint path, checked in small joint steps.
"""

from __future__ import annotations

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.model.conventions.checks import checked_array
from ros_ik.model.conventions.checks import checked_index
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.planner import Planner
from ros_ik.planning.poses.ik_request import IkRequest
from ros_ik.planning.poses.ik_request import PoseCode
from ros_ik.planning.poses.inverse import solve_ik
from ros_ik.planning.poses.reconfiguration_answer import Reconfiguration
from ros_ik.servo.motion.pose_math import pose_inverse
from ros_ik.servo.motion.pose_math import pose_multiply

# Maximum number of distinct configurations.
_MAX_SOLUTIONS = 16
# Largest joint step between two checks of the path [rad or m].
_STEP = 0.02
# Clearance of the path beyond the margin of every barrier [m]; less if the start has less.
_CLEARANCE = 5e-4
# Rounding error of barrier values at the start [m].
_ROUNDING = 1e-5


def reconfigure(
    planner: Planner,
    task: int,
    pose: np.ndarray,
    start: np.ndarray,
    tolerances: tuple[float, float] = (0.0, 0.0),
    budget: Budget | None = None,
) -> Reconfiguration:
    """Find a configuration of a pose with a free straight joint path to it.

    Joints with a velocity limit of 0 keep their positions.

    Args:
        planner: The robot.
        task: Index of the frame task.
        pose: Pose of its frame in its reference link [7].
        start: Positions of the controlled joints [n_variables].
        tolerances: Tolerances of distance [m] and angle [rad]; 0 selects the default.
        budget: Time budget.

    Raises:
        ArgumentError: An argument of another type or shape.
        RequestError: Joints whose state is needed and unknown, or the budget was cancelled.
    """
    checked_instance('planner', Planner, planner)
    budget = checked_options('budget', Budget, budget)
    robot, labels = planner.robot, planner.model.body_label
    frames = planner.task_frames()
    offset = frames[checked_index('task', task, len(frames))].offset
    pose = checked_pose('pose', pose)
    positions = checked_array('start', start, (robot.group.n_variables,))
    distance, angle = checked_array('tolerances', tolerances, (2,)).tolist()
    request = IkRequest(
        poses=pose_multiply(pose, pose_inverse(offset))[None],
        link=labels[robot.task_links[task]],
        reference_frame=labels[robot.task_references[task]],
        max_solutions=_MAX_SOLUTIONS,
        check_collisions=not robot.unmeasured_links,
        position_tolerance=distance,
        rotation_tolerance=angle,
    )
    with planner.at(robot.group.joint_names, positions.tolist()):
        answer = solve_ik(planner, request, budget)
        if answer.codes[0] == PoseCode.TIMED_OUT:
            return Reconfiguration(message='the search for another configuration ran out of time')
        found = answer.positions if answer.codes[0] == 0 else answer.positions[:0]
        coords = planner.coordinates(answer.joint_names)
        away = np.abs(found - planner.joint_q[coords]).max(axis=1, initial=0.0)
        for row in np.argsort(away):
            budget.check_time()
            if _is_free(planner, coords, found[row]):
                return Reconfiguration(answer.joint_names, tuple(found[row].tolist()))
    if not len(found):
        return Reconfiguration(message='no configuration reaches the pose without a collision')
    return Reconfiguration(
        message=f'none of {len(found)} configurations has a free straight path to it'
    )


def _is_free(planner: Planner, coords: np.ndarray, goal: np.ndarray) -> bool:
    """Return True if the straight joint path from the planner's state satisfies every barrier."""
    start = planner.joint_q[coords]
    count = max(1, int(np.ceil(np.abs(goal - start).max() / _STEP)))
    path = start + np.linspace(0.0, 1.0, count + 1)[:, None] * (goal - start)
    floor = _CLEARANCE
    for index, joint_q in enumerate(planner.configurations(coords, path)):
        values = planner.barriers.values(joint_q)
        least = float(values.min(initial=np.inf))
        if index == 0:
            floor = min(floor, least - _ROUNDING)
        if least < floor:
            return False
    return True
