# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Solvers of poses that are kept from request to request: making one costs more than a few poses.

Solvers take batches of one size, so there are a few sizes and a batch is filled up with rows that
are no poses, which cost next to nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ChainIKResult
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.pose_ik.closed_form_first import closed_form_pays
from ros_ik.solvers.pose_ik.closed_form_first import ClosedFormFirstIK
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance

_SIZES = (1, 16, 128, 1024, 8192)
# Most solutions of a batch: bounds the memory of a solver to about 10 MB.
_MOST_SOLUTIONS = 65_536
# Solvers that check collisions prepare more for each pose.
_MOST_COLLIDING = 1024


@dataclasses.dataclass(frozen=True, eq=False)
class ChainTask:
    """Key of a solver: its link, group and sizes.

    Attributes:
        model: The model.
        link: Name of the link to place.
        offset: Pose of the frame in the link, [7].
        group: Joints that may move.
        held: Coordinates [joint_coord_count] at which the other joints are held.
        position_tolerance: Accepted distance [m].
        rotation_tolerance: Accepted angle [rad].
        n_solutions: Distinct solutions wanted per pose.
        check_collisions: Whether solutions in collision are refused.
        threads: Threads that share a batch.
    """

    model: Model
    link: str
    offset: np.ndarray
    group: JointGroup
    held: np.ndarray
    position_tolerance: float
    rotation_tolerance: float
    n_solutions: int
    check_collisions: bool
    threads: int

    def key(self) -> tuple:
        """Return what two tasks must share to share a solver; the model is the same object."""
        held = self.held.copy()
        held[self.group_coordinates()] = 0.0
        return (
            id(self.model),
            self.link,
            self.offset.tobytes(),
            self.group.joint_names,
            held.tobytes(),
            self.position_tolerance,
            self.rotation_tolerance,
            self.n_solutions,
            self.check_collisions,
            self.threads,
        )

    def group_coordinates(self) -> list[int]:
        """Return the coordinates of the joints that may move."""
        starts = self.model.joint_q_start.numpy()
        return [int(starts[self.model.joint_index(name)]) for name in self.group.joint_names]


class ChainSolvers:
    """A bounded number of solvers; the least recently used one goes. One thread uses them."""

    def __init__(self) -> None:
        """Start without any."""
        self._solvers: GraphCache[ChainIK | ClosedFormFirstIK] = GraphCache()

    def __len__(self) -> int:
        """Return how many solvers are kept."""
        return len(self._solvers)

    @staticmethod
    def most_poses(task: ChainTask) -> int:
        """Return how many poses one call of :meth:`solve` takes."""
        most = _MOST_COLLIDING if task.check_collisions else _SIZES[-1]
        fitting = (size for size in _SIZES if size * task.n_solutions <= _MOST_SOLUTIONS)
        return min(most, max(fitting, default=1))

    def solve(self, task: ChainTask, poses: np.ndarray, seeds: np.ndarray) -> ChainIKResult:
        """Find configurations; see :func:`inverse_kinematics`.

        Args:
            task: What to solve.
            poses: Targets in the world, shape [n, 7].
            seeds: Starts, shape [n, joint_coord_count] or one row for all.

        Returns:
            Answers that the next call overwrites.

        Raises:
            ArgumentError: A chain or shapes that cannot be solved for.
        """
        n = len(poses)
        size = next(size for size in _SIZES if size >= n)
        solver = self._solvers.get((*task.key(), size), lambda: _make(task, size))
        all_poses = np.full((size, 7), np.nan)
        all_seeds = np.zeros((size, task.model.joint_coord_count))
        all_poses[:n], all_seeds[:n] = poses, seeds
        result = solver.solve(all_poses, all_seeds)
        return ChainIKResult(
            *(getattr(result, field.name)[:n] for field in dataclasses.fields(result))
        )


def _make(task: ChainTask, size: int) -> ChainIK | ClosedFormFirstIK:
    tolerance = PoseTolerance(task.position_tolerance, task.rotation_tolerance)
    common: dict[str, Any] = {
        'joint_group': task.group, 'joint_q': task.held, 'offset': task.offset,
    }  # fmt: skip
    pays = closed_form_pays(task.model, task.link, tolerance=tolerance, **common)
    kind = ClosedFormFirstIK if pays else ChainIK
    return kind(
        task.model,
        task.link,
        size,
        **common,
        position_tolerance=task.position_tolerance,
        rotation_tolerance=task.rotation_tolerance,
        n_solutions=task.n_solutions,
        check_collisions=task.check_collisions,
        n_threads=task.threads,
    )
