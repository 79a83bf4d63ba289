# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets beyond a border: outside the box, and past the position limit of a joint."""

from __future__ import annotations

import numpy as np

from ros_ik.barriers import PositionBarrier
from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.clearance import Clearance
from ros_ik.demo.scenario.trial import Trial
from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.mimic_range import driver_limits

# Number of random configurations, and their distance from home [rad or m].
_DRAWS, _SPREAD = 60, 0.7
# Distance of links below which barriers may slow the robot [m], because capsules enclose the
# meshes.
_APART = 0.06


def pose_beyond_box(
    robot: DemoRobot, trial: Trial, box_min: np.ndarray, box_max: np.ndarray, size: float
) -> np.ndarray:
    """Return a pose [7] outside the box, so that the robot presses on it.

    Args:
        robot: The robot.
        trial: The solver.
        box_min: Lower corner [m], [3].
        box_max: Upper corner [m], [3].
        size: Length of the stretched chain [m].

    Raises:
        ArgumentError: None was found.
    """
    barrier = PositionBarrier(robot.tip, box_min, box_max, gain=5.0, safe_displacement_gain=0.0)
    for target in _poses_outside(robot, trial, box_min, box_max, size):
        joint_q, _ = trial.follow(robot.home, target, [barrier], steps=150)
        tip = trial.pose(joint_q)[:3]
        left = float(np.minimum(tip - box_min, box_max - tip).min())
        if left <= 0.01 * size:
            return target
    raise ArgumentError('found no target around home that presses on the box')


def _poses_outside(
    robot: DemoRobot, trial: Trial, box_min: np.ndarray, box_max: np.ndarray, size: float
) -> list[np.ndarray]:
    """Return poses outside the box: straight through each face, and some reachable ones."""
    start = trial.pose(robot.home)
    targets = []
    for axis in range(3):
        for face, sign in ((box_max, 1.0), (box_min, -1.0)):
            target = start.copy()
            target[axis] = face[axis] + sign * 0.15 * size
            targets.append(target)
    rng = np.random.default_rng(0)
    lower, upper = driver_limits(robot.model)
    dofs = robot.group.variable_dof
    for _ in range(_DRAWS):
        joint_q = robot.home.copy()
        joint_q[robot.coords] += rng.uniform(-_SPREAD, _SPREAD, len(dofs))
        joint_q[robot.coords] = np.clip(joint_q[robot.coords], lower[dofs], upper[dofs])
        pose = trial.pose(robot.model.apply_mimic(joint_q))
        if np.maximum(box_min - pose[:3], pose[:3] - box_max).max() > 0.05 * size:
            targets.append(pose)
    return targets


def joint_beyond_limit(
    robot: DemoRobot,
    trial: Trial,
    box_min: np.ndarray,
    box_max: np.ndarray,
    clearance: Clearance | None,
) -> tuple[bool, str, float]:
    """Return the joint that reaches a limit first without leaving the box or folding.

    Args:
        robot: The robot.
        trial: The solver.
        box_min: Lower corner [m], [3].
        box_max: Upper corner [m], [3].
        clearance: Distance measurement of the robot, or None.

    Returns:
        True if the box or a fold stops the joint first, because that holds for every joint or none
        has a limit; the name of the joint; and a target beyond its limit.
    """
    lower, upper = driver_limits(robot.model)
    velocity = robot.model.limits64()[2]
    group, home = robot.group, robot.home
    choices = []
    for name, coord, dof in zip(group.joint_names, robot.coords, group.variable_dof, strict=True):
        for limit, sign in ((lower[dof], -1.0), (upper[dof], 1.0)):
            if np.isfinite(limit):
                path = np.linspace(home[coord], limit, 20)
                rows = np.tile(home, (len(path), 1))
                rows[:, coord] = path
                meets = clearance is not None and clearance.to_itself(rows)[0].min() < _APART
                leaves = meets or any(
                    np.any(tip < box_min) or np.any(tip > box_max)
                    for tip in (_tip_at(robot, trial, coord, q) for q in path)
                )
                time = abs(limit - path[0]) / max(velocity[dof], 1e-3)
                choices.append((leaves, time, name, float(limit + sign * 0.3)))
    if not choices:
        return True, group.joint_names[-1], float(home[robot.coords[-1]] + 1.0)
    leaves, _, name, target = min(choices)
    return leaves, name, target


def _tip_at(robot: DemoRobot, trial: Trial, coord: int, value: float) -> np.ndarray:
    """Return the position of the tip [m] with one coordinate moved from home."""
    joint_q = robot.home.copy()
    joint_q[coord] = value
    return trial.pose(robot.model.apply_mimic(joint_q))[:3]
