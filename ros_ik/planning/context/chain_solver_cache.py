# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Cache of pose solvers for planners' requests, because creating one is expensive.

A solver has a fixed batch size. There are a few sizes, and batches are padded with NaN rows, which
cost almost nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ros_ik.model import JointGroup
from ros_ik.model import Model
from ros_ik.solvers import ChainIK
from ros_ik.solvers import ChainIKResult
from ros_ik.solvers import ChainIKSettings
from ros_ik.solvers.analytic.structure.form import folded_chain
from ros_ik.solvers.graph_cache import GraphCache
from ros_ik.solvers.pose_batches.choice import SolutionChoice
from ros_ik.solvers.pose_batches.closed_form_first import ClosedFormFirstIK
from ros_ik.solvers.pose_batches.closed_form_first import is_closed_form_faster
from ros_ik.solvers.pose_ik.interface.batch_result import batches
from ros_ik.solvers.pose_ik.interface.result import GoalSetResult
from ros_ik.solvers.pose_ik.interface.tolerance import PoseTolerance

_SIZES = (1, 16, 128, 1024, 8192)
# Maximum number of solutions of a batch, which bounds the memory of a solver on a CPU to 25 MB.
_MAX_SOLUTIONS = 65_536
# The same with collision checks, which need more memory.
_MAX_COLLIDING = 1024


@dataclasses.dataclass(frozen=True, eq=False)
class ChainTask:
    """Key of a solver: its link, group and sizes.

    Attributes:
        model: The model.
        link: Link to move.
        offset: Pose of the frame in the link, [7].
        group: Joints that may move.
        locked_joint_q: Coordinates of the other joints [joint_coord_count].
        position_tolerance: Position tolerance [m], or one per axis.
        rotation_tolerance: Orientation tolerance [rad], or one per axis.
        n_solutions: Maximum number of distinct solutions per pose.
        check_collisions: True to reject solutions in collision.
        threads: Number of threads per batch.
        tolerance_frame: 'target' or 'tool', the frame of those axes.
    """

    model: Model
    link: str
    offset: np.ndarray
    group: JointGroup
    locked_joint_q: np.ndarray
    position_tolerance: float | tuple[float, ...]
    rotation_tolerance: float | tuple[float, ...]
    n_solutions: int
    check_collisions: bool
    threads: int
    tolerance_frame: str = 'target'

    def key(self) -> tuple:
        """Return the key by which tasks share a solver, first the identity of the model."""
        locked = self.locked_joint_q.copy()
        locked[self.group_coordinates()] = 0.0
        return (
            id(self.model),
            self.link,
            self.offset.tobytes(),
            self.group.joint_names,
            locked.tobytes(),
            self.position_tolerance,
            self.rotation_tolerance,
            self.n_solutions,
            self.check_collisions,
            self.threads,
            self.tolerance_frame,
        )

    def group_coordinates(self) -> list[int]:
        """Return the coordinates of the joints that may move."""
        starts = self.model.joint_q_start.numpy()
        return [int(starts[self.model.joint_index(name)]) for name in self.group.joint_names]


class ChainSolvers:
    """Least-recently-used cache of solvers, for one thread."""

    def __init__(self) -> None:
        """Start empty."""
        self._solvers: GraphCache[ChainIK | ClosedFormFirstIK] = GraphCache()

    def __len__(self) -> int:
        """Return the number of cached solvers."""
        return len(self._solvers)

    def discard(self, model: Model) -> None:
        """Drop the solvers of a model, which hold it."""
        self._solvers.discard(lambda key: key[0] == id(model))

    @staticmethod
    def most_poses(task: ChainTask) -> int:
        """Return the maximum number of poses per call of :meth:`solve`."""
        most = _MAX_COLLIDING if task.check_collisions else _SIZES[-1]
        fitting = (size for size in _SIZES if size * task.n_solutions <= _MAX_SOLUTIONS)
        return min(most, max(fitting, default=1))

    def solve(self, task: ChainTask, poses: np.ndarray, seeds: np.ndarray) -> ChainIKResult:
        """Find configurations; see :func:`inverse_kinematics`.

        Args:
            task: Task to solve.
            poses: Targets in the world, shape [n, 7].
            seeds: Initial configurations, shape [n, joint_coord_count], or one row for all.

        Returns:
            Results, which the next call overwrites.

        Raises:
            ArgumentError: The chain or its shapes are not supported.
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

    def solve_goal_sets(
        self,
        task: ChainTask,
        poses: np.ndarray,
        seeds: np.ndarray,
        n_goals: int,
        n_solutions: int,
        preference: str,
    ) -> GoalSetResult:
        """Find the best configurations of goal sets.

        Args:
            task: Task to solve, with the number of solutions to choose from at each pose.
            poses: Targets in the world, grouped by set, shape [n * n_goals, 7].
            seeds: Initial configurations, shape [n, joint_coord_count], or one row for all.
            n_goals: Number of poses per set, any of which may be reached.
            n_solutions: Maximum number of solutions per set.
            preference: Order of the solutions; see :func:`inverse_kinematics`.

        Raises:
            ArgumentError: The chain or its shapes are not supported.
        """
        if n_goals == 1 and preference == 'seed':
            first = self.solve(task, poses, seeds)
            goal = np.zeros(first.position_error.shape, dtype=int)
            return GoalSetResult(**vars(first), goal=goal)
        starts = np.broadcast_to(
            np.repeat(seeds, n_goals, axis=0) if len(seeds) > 1 else seeds,
            (len(poses), seeds.shape[1]),
        )
        found: ChainIKResult | None = None
        for _, slices in batches(len(poses), self.most_poses(task)):
            for rows in slices:
                part = self.solve(task, poses[rows], starts[rows])
                found = part.added_to(found, rows, len(poses))
        assert found is not None, 'no poses'
        chain, _ = folded_chain(
            task.model, task.link, task.group, task.locked_joint_q, task.offset
        )
        choice = SolutionChoice(preference, chain, task.model, ChainIKSettings().separation)
        return choice.best(found, starts, n_goals, n_solutions)


def _make(task: ChainTask, size: int) -> ChainIK | ClosedFormFirstIK:
    """Create the solver of a task, with its closed form first if that is faster."""
    tolerance = PoseTolerance(
        task.position_tolerance, task.rotation_tolerance, task.tolerance_frame
    )
    common: dict[str, Any] = {
        'joint_group': task.group, 'joint_q': task.locked_joint_q, 'offset': task.offset,
    }  # fmt: skip
    pays = is_closed_form_faster(task.model, task.link, tolerance=tolerance, **common)
    common.update(
        position_tolerance=task.position_tolerance, rotation_tolerance=task.rotation_tolerance,
        n_solutions=task.n_solutions, check_collisions=task.check_collisions,
        n_threads=task.threads,
    )  # fmt: skip
    if pays:
        return ClosedFormFirstIK(task.model, task.link, size, **common)
    return ChainIK(task.model, task.link, size, tolerance_frame=task.tolerance_frame, **common)
