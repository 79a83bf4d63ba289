# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Random reachable poses: where random configurations inside the limits put the tip."""

from dataclasses import dataclass

import numpy as np

from benchmarks.harness.robots import Robot
from benchmarks.harness.verify import Arm

SEED = 20260


# Quick runs use the first problems of the full run.
@dataclass(frozen=True)
class Problems:
    """Poses to reach and where to start.

    Attributes:
        poses: x y z qx qy qz qw in the base link's frame, [n, 7].
        starts: Random configurations inside the limits, unrelated to the poses, [n, dof].
    """

    poses: np.ndarray
    starts: np.ndarray

    def first(self, n: int) -> 'Problems':
        """Return the first ``n`` problems."""
        return Problems(self.poses[:n], self.starts[:n])

    def repeated(self, n: int) -> 'Problems':
        """Return ``n`` problems, starting over where these end."""
        return Problems(
            np.resize(self.poses, (n, self.poses.shape[1])),
            np.resize(self.starts, (n, self.starts.shape[1])),
        )


def random_problems(robot: Robot, n: int, seed: int = SEED) -> Problems:
    """Draw ``n`` problems; the first of more are the same as of fewer."""
    low, high = robot.sampling_bounds
    goals = np.random.default_rng([seed, 0]).uniform(low, high, (n, robot.dof))
    starts = np.random.default_rng([seed, 1]).uniform(low, high, (n, robot.dof))
    return Problems(Arm(robot.urdf, robot.tip, robot.joints).poses(goals), starts)


def middle_starts(robot: Robot, n: int) -> np.ndarray:
    """Return the middle of the limits ``n`` times, where TRAC-IK's published figures start."""
    low, high = robot.sampling_bounds
    return np.tile(0.5 * (low + high), (n, 1))
