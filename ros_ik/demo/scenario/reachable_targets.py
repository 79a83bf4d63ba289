# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Targets that the robot reaches: poses around home and a circle, tried with the same solver."""

from __future__ import annotations

import numpy as np

from ros_ik.demo.robots.demo_robot import DemoRobot
from ros_ik.demo.scenario.trial import Trial
from ros_ik.errors import ArgumentError
from ros_ik.model.building.joints.mimic_range import driver_limits

# Distance of random configurations from the position limits, more than the node's own [rad or m].
LIMIT_MARGIN = 0.05
_N_POSES = 3
# Distance of random configurations from home [rad; for prismatic joints a fraction of their
# range].
_SPREAD = 0.35
_DRAWS = 60


def reachable_poses(robot: DemoRobot, trial: Trial, rng: np.random.Generator) -> np.ndarray:
    """Return poses [n, 7] that the solver reaches one after the other, and from home.

    Raises:
        ArgumentError: Too few were found.
    """
    lower, upper = driver_limits(robot.model)
    coords, dofs, home = robot.coords, robot.group.variable_dof, robot.home
    low, high = lower[dofs], upper[dofs]
    spread = np.minimum(_SPREAD, 0.25 * (high - low))
    poses: list[np.ndarray] = []
    at = home
    for _ in range(_DRAWS):
        if len(poses) == _N_POSES:
            break
        joint_q = home.copy()
        joint_q[coords] += rng.uniform(-spread, spread)
        joint_q[coords] = np.clip(joint_q[coords], low + LIMIT_MARGIN, high - LIMIT_MARGIN)
        target = trial.pose(robot.model.apply_mimic(joint_q))
        reached_q, reached = trial.follow(at, target, ())
        if reached and trial.follow(home, target, ())[1]:
            poses.append(target)
            at = reached_q
    if len(poses) < _N_POSES:
        raise ArgumentError(f'found only {len(poses)} reachable poses around home')
    return np.array(poses)


def reachable_circle(
    trial: Trial, home: np.ndarray, start: np.ndarray, size: float
) -> tuple[float, np.ndarray]:
    """Return a circle from the start that the solver can follow: radius [m], poses [n, 7].

    Args:
        trial: The solver.
        home: Coordinates at the start, [joint_coord_count].
        start: Pose at the start, [7].
        size: Length of the stretched chain [m].

    Raises:
        ArgumentError: None was found.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 60)
    for radius in size * np.array([0.08, 0.04, 0.02, 0.01]):
        for first, second in ((1, 2), (0, 1), (0, 2)):
            circle = np.tile(start, (len(angles), 1))
            circle[:, first] += radius * np.sin(angles)
            circle[:, second] += radius * (np.cos(angles) - 1.0)
            joint_q, ok = home, True
            for target in circle[::6]:
                joint_q, reached = trial.follow(joint_q, target, (), steps=150)
                ok = ok and reached
            if ok:
                return float(radius), circle
    raise ArgumentError('found no circle around home that the chain can follow')
