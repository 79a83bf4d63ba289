# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Problem and result of a joint path along poses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model.conventions import poses as pose_math
from ros_ik.model.conventions.checks import link_index
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.path.path_solvers import PathSolvers
from ros_ik.solvers.pose_ik.solver import ChainIK


@dataclasses.dataclass(frozen=True)
class PathResult:
    """Joint path along n poses.

    Attributes:
        joint_q: Configurations, shape [n, joint_coord_count]. After a break the path continues at
            the solution of the pose from which it gets furthest, or at the best configuration
            found.
        status: :class:`SolveStatus` codes, shape [n].
        breaks: Indices of poses that cannot be reached, or not from the previous pose without a
            jump, a longer step or a collision.
        fraction: Fraction of the poses before the first break, 1 for a complete path.
        start_pair: Links of a pair that collides at the given start, or two empty names.
    """

    joint_q: np.ndarray
    status: np.ndarray
    breaks: tuple[int, ...]
    fraction: float
    start_pair: tuple[str, str] = ('', '')


@dataclasses.dataclass(frozen=True, eq=False)
class PathProblem:
    """Arguments of :func:`solve_path`.

    Attributes:
        solvers: Solvers for the chain to the link that follows the poses.
        targets: Poses with unit quaternions, [n, 7].
        start: Start configuration, [joint_coord_count], or None.
        max_joint_step: Largest change of a joint from one pose to the next [rad or m].
        tolerances: Tolerances of position [m] and rotation [rad].
    """

    solvers: PathSolvers
    targets: np.ndarray
    start: np.ndarray | None
    max_joint_step: float
    tolerances: tuple[float, float]

    @property
    def check(self) -> MotionCheck:
        """Collision check of the pairs that the chain moves."""
        return self.solvers.check

    def solver(
        self, n_problems: int = 1, tolerances: tuple[float, float] | None = None, **arguments: Any
    ) -> ChainIK:
        """Return a pose solver for the link; ``tolerances`` replaces those of the problem."""
        return self.solvers.search(n_problems, tolerances or self.tolerances, **arguments)

    def free_solver(self, n_problems: int = 1, **arguments: Any) -> ChainIK:
        """Return a pose solver that rejects collisions if the problem checks them."""
        return self.solvers.search(n_problems, self.tolerances, is_free=True, **arguments)

    def rows(self, variables: np.ndarray) -> np.ndarray:
        """Return configurations of the model [k, joint_coord_count] for variables of the chain."""
        rows = np.tile(self.solvers.locked_joint_q, (len(variables), 1))
        rows[:, self.solvers.chain.coordinates] = variables
        return self.solvers.model.apply_mimic(rows)

    def start_pose(self) -> np.ndarray:
        """Return the pose of the tool at the start, shape [7]."""
        assert self.start is not None
        solvers = self.solvers
        poses = link_poses(solvers.model, self.start)
        pose: np.ndarray = poses[link_index(solvers.model, solvers.link, least=0)]
        if solvers.offset is None:
            return pose
        return pose_math.multiply(pose, solvers.offset)


def path_rank(path: np.ndarray) -> tuple[int, float]:
    """Return the sort key of a joint path [k, n], number of poses and then least joint motion."""
    return len(path), -float(np.sum(np.linalg.norm(np.diff(path, axis=0), axis=1)))
