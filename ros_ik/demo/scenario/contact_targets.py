# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Motions that lead to a contact: a ball against the tool, and a fold of the robot into itself."""

from __future__ import annotations

import numpy as np

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.clearance import Clearance
from ros_ik.demo.scenario.reachable_targets import LIMIT_MARGIN
from ros_ik.demo.scenario.trial import Trial
from ros_ik.model.building.joints.mimic_range import driver_limits

# Start of the ball, its distance from the tool at which it slows down, and its final penetration
# if the tool did not move [chain lengths].
_FAR, _SLOW, _PUSH = 0.25, 0.03, 0.03
# Number of configurations that are searched for a self-collision, and of paths to them.
_FOLDS, _PATHS = 768, 12


def ball_path(
    robot: DemoRobot, clearance: Clearance, start: np.ndarray, outward: np.ndarray, size: float
) -> np.ndarray:
    """Return the path of the ball [n, 3]: slowly from outside towards the tool, and back.

    Args:
        robot: The robot.
        clearance: Its distance measurement.
        start: Pose of the tool, [7].
        outward: Direction from the base to the tool, [3].
        size: Length of the stretched chain [m].
    """
    offsets = np.linspace(0.0, _FAR * size, 100)
    centers = start[:3] + np.outer(offsets, outward)
    distances = clearance.to_ball(np.tile(robot.home, (len(offsets), 1)), centers)
    touching = float(offsets[distances <= 0.0].max(initial=0.0))
    slow, end = touching + _SLOW * size, touching - _PUSH * size
    times = [0.0, 0.14, 0.7, 0.8, 1.0]
    path = np.interp(np.linspace(0.0, 1.0, 200), times, [_FAR * size, slow, end, end, _FAR * size])
    return start[:3] + np.outer(path, outward)


def fold(
    robot: DemoRobot, trial: Trial, clearance: Clearance
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a configuration in self-collision, and tip positions on the path to it.

    Among random positions of some joints, it is the one with the earliest collision on the path.

    Returns:
        Coordinates [joint_coord_count] and positions [n, 3]; None where none was found.
    """
    _, _, velocity, _ = robot.model.limits64()
    dofs, home = robot.group.variable_dof, robot.home
    parts = np.linspace(0.0, 1.0, 30)
    found = []
    for end in _folded(robot, clearance):
        path = home + parts[:, None] * (end - home)
        first = int(np.argmax(clearance.to_itself(path)[0] <= 0.0))
        times = np.abs(end - home)[robot.coords] / np.maximum(velocity[dofs], 1e-3)
        # Faster joints may arrive earlier.
        early = home.copy() + np.zeros_like(path)
        done = np.minimum(parts[:, None] * times.max() / np.maximum(times, 1e-3), 1.0)
        early[:, robot.coords] += done * (end - home)[robot.coords]
        found.append((float(parts[first] * times.max()), np.concatenate([early, path])))
    if not found:
        return None
    _, paths = min(found, key=lambda choice: choice[0])
    return paths[-1], np.array([trial.pose(joint_q)[:3] for joint_q in paths])


def _folded(robot: DemoRobot, clearance: Clearance) -> np.ndarray:
    """Return random configurations in self-collision, [n, joint_coord_count]."""
    lower, upper = driver_limits(robot.model)
    dofs, home = robot.group.variable_dof, robot.home
    low = np.maximum(lower[dofs], -np.pi) + LIMIT_MARGIN
    high = np.minimum(upper[dofs], np.pi) - LIMIT_MARGIN
    folded = np.zeros((0, len(home)))
    # With fewer moving joints, a robot slides less along itself after the contact.
    for moving in (3, len(dofs)):
        rng, ends = np.random.default_rng(0), np.tile(home, (_FOLDS, 1))
        drawn = rng.uniform(low, high, (_FOLDS, len(dofs)))
        moves = rng.random((_FOLDS, len(dofs))).argsort(axis=1) < moving
        ends[:, robot.coords] = np.where(moves, drawn, home[robot.coords])
        ends = np.array([robot.model.apply_mimic(end) for end in ends])
        folded = ends[clearance.to_itself(ends)[0] <= 0.0][:_PATHS]
        if len(folded):
            break
    return folded
