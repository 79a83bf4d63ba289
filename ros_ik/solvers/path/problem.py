# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Problem and result of a joint path along poses."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.kinematics.link_poses import link_poses
from ros_ik.model.conventions import poses as pose_math
from ros_ik.model.conventions.checks import checked_pose
from ros_ik.model.conventions.checks import link_index
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.path.motion_check import MotionCheck
from ros_ik.solvers.pose_ik.search.pairs import chain_pairs
from ros_ik.solvers.pose_ik.search.search import ChainProblem
from ros_ik.solvers.pose_ik.solver import ChainIK

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model


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
        model: The model.
        link: Link that follows the poses.
        targets: Poses with unit quaternions, [n, 7].
        start: Start configuration, [joint_coord_count], or None.
        max_joint_step: Largest change of a joint from one pose to the next [rad or m].
        tolerances: Tolerances of position [m] and rotation [rad].
        joint_group: Joints that may move.
        offset: Pose of the tool in the link, [7], or None.
        check_collisions: True if a path breaks at collisions.
        collision_pairs: Pairs of shapes to check, None for those of the model.
        collision_margin: Distance [m] that the shapes of a pair must keep.
    """

    model: Model
    link: str | int
    targets: np.ndarray
    start: np.ndarray | None
    max_joint_step: float
    tolerances: tuple[float, float]
    joint_group: JointGroup | str | Sequence[str] | None
    offset: np.ndarray | None
    check_collisions: bool
    collision_pairs: Sequence[Sequence[int]] | np.ndarray | None
    collision_margin: float

    def solver(
        self, n_problems: int = 1, tolerances: tuple[float, float] | None = None, **arguments: Any
    ) -> ChainIK:
        """Return a pose solver for the link; ``tolerances`` replaces those of the problem."""
        distance, angle = tolerances or self.tolerances
        return ChainIK(
            self.model, self.link, n_problems, joint_group=self.joint_group, joint_q=self.start,
            offset=self.offset, position_tolerance=distance, rotation_tolerance=angle, **arguments,
        )  # fmt: skip

    def free_solver(self, n_problems: int = 1, **arguments: Any) -> ChainIK:
        """Return a pose solver that rejects collisions if the problem checks them."""
        return self.solver(
            n_problems, check_collisions=self.check_collisions,
            collision_pairs=self.collision_pairs, collision_margin=self.collision_margin,
            **arguments,
        )  # fmt: skip

    def motion_check(self) -> MotionCheck:
        """Return the collision check of the pairs that the chain moves."""
        if not self.check_collisions:
            return MotionCheck(self.model, None, np.zeros(0))
        link = link_index(self.model, self.link, least=0)
        chain, locked_joint_q = folded_chain(
            self.model, link, self.joint_group, self.start, self.offset
        )
        tool = checked_pose('offset', self.offset)
        pairs, margins = chain_pairs(
            ChainProblem(self.model, link, chain, locked_joint_q, tool),
            self.collision_pairs, self.collision_margin,
        )  # fmt: skip
        return MotionCheck(self.model, pairs, margins)

    def start_pose(self) -> np.ndarray:
        """Return the pose of the tool at the start, shape [7]."""
        assert self.start is not None
        poses = link_poses(self.model, self.start)
        pose: np.ndarray = poses[link_index(self.model, self.link, least=0)]
        if self.offset is None:
            return pose
        return pose_math.multiply(pose, self.offset)
