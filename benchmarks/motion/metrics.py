# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Figures of how a robot follows a target: smoothness of the joints, lag, distances.

Ways and targets are displacements of the tool and its target after each tick [n, 3] in m;
velocities are of the joints [n, joints] in rad/s; ``dt`` is the period of the loop [s]. This file
needs only numpy.
"""

import numpy as np

# Accelerations below this are rounding [rad/s^2].
_STILL = 1e-6


def rms_jerk(velocity: np.ndarray, dt: float) -> float:
    """Return the RMS jerk of all joints [rad/s^3]."""
    return float(np.sqrt((np.diff(velocity, 2, axis=0) ** 2).mean()) / dt**2)


def sign_changes(velocity: np.ndarray, dt: float) -> float:
    """Return how often the acceleration changes its sign, a joint and second [1/s]."""
    acceleration = np.diff(velocity, axis=0) / dt
    changes = 0
    for joint in acceleration.T:
        signs = np.sign(joint[np.abs(joint) > _STILL])
        changes += int(np.count_nonzero(np.diff(signs)))
    return changes / (acceleration.size * dt)


def mean_lag(way: np.ndarray, target: np.ndarray, dt: float) -> float:
    """Return the mean time by which the tool is behind the target [s]; below zero is ahead."""
    velocity = np.gradient(target, dt, axis=0)
    return float(((target - way) * velocity).sum() / (velocity**2).sum())


def mean_distance(way: np.ndarray, target: np.ndarray) -> float:
    """Return the mean distance of the tool to the target [m]."""
    return float(np.linalg.norm(way - target, axis=1).mean())


def path_error(way: np.ndarray, path: np.ndarray) -> float:
    """Return the largest distance of the tool to a path, wherever on it the target is [m].

    Args:
        way: Displacements of the tool [n, 3].
        path: Corners of the path in order [m, 3].
    """
    begin, along = path[:-1], np.diff(path, axis=0)
    length = np.maximum((along**2).sum(axis=1), np.finfo(float).tiny)
    largest = 0.0
    for point in way:
        part = np.clip(((point - begin) * along).sum(axis=1) / length, 0.0, 1.0)
        away = np.linalg.norm(begin + part[:, None] * along - point, axis=1).min()
        largest = max(largest, float(away))
    return largest


def overshoot(way: np.ndarray, end: np.ndarray) -> float:
    """Return how far the tool goes beyond the end of a straight way from zero [m]."""
    length = float(np.linalg.norm(end))
    return max(0.0, float((way @ end).max() / length - length))
