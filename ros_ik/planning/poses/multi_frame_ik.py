# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of several frames at once, such as two hands on one torso."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ros_ik.barriers import CollisionBarrier
from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.model.conventions.poses import multiply
from ros_ik.objectives import IKObjectivePose
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.planner import Frame
from ros_ik.planning.context.planner import Planner
from ros_ik.servo.motion.pose_math import pose_difference
from ros_ik.solvers import IKSolver
from ros_ik.solvers.default_tolerances import POSITION_TOLERANCE
from ros_ik.solvers.default_tolerances import ROTATION_TOLERANCE

# Number of parallel searches, their iterations, and number of rounds. The first searches start
# near the state, later ones anywhere.
_SEEDS, _ITERATIONS, _ROUNDS = 16, 60, 8


def solve_frames_together(
    planner: Planner,
    frames: Sequence[Frame],
    targets: np.ndarray,
    *,
    joint_group: str = '',
    check_collisions: bool = False,
    budget: Budget | None = None,
) -> np.ndarray | None:
    """Return a verified configuration in which every frame has its target pose.

    Args:
        planner: The robot; the first search starts at its state.
        frames: Frames to move.
        targets: Their poses in the world, shape [number of frames, 7].
        joint_group: As in :class:`IkRequest`.
        check_collisions: True to avoid collisions of links and obstacles.
        budget: Time budget.

    Returns:
        Shape [joint_coord_count], or None.

    Raises:
        RequestError: No joint may move, collisions are not watched, collision shapes are missing
            (UnmeasuredError), or the budget was cancelled.
    """
    checked_instance('planner', Planner, planner)
    budget = checked_options('budget', Budget, budget)
    variables = planner.variables_of(joint_group)
    group = planner.robot.group
    mask = np.isin(group.dof_variable, variables)
    if not mask.any():
        raise RequestError('the group has no joint that the node controls')
    if check_collisions:
        planner.require_shapes()
    if check_collisions and not _collision_barriers(planner):
        raise RequestError('collisions are not watched: see barriers.self_collision.enabled')
    model = planner.bounded_model
    solver = IKSolver(
        model,
        1,
        [
            IKObjectivePose(frame.link, target, link_offset=frame.offset)
            for frame, target in zip(frames, targets, strict=True)
        ],
        sampler='roberts',
        n_seeds=_SEEDS,
        joint_dof_mask=wp.array(mask, dtype=wp.bool, device=model.device),
        # Looser than the verification, only by the precision of float32.
        cost_tolerance=(0.1 * POSITION_TOLERANCE) ** 2,
    )
    start = wp.array(planner.joint_q[None], dtype=wp.float32, device=model.device)
    found = wp.zeros_like(start)
    for _ in range(_ROUNDS):
        budget.check()
        if budget.expired:
            return None
        solver.step(start, found, iterations=_ITERATIONS)
        for joint_q in _candidates(planner, solver, found, mask):
            if _reaches(planner, frames, targets, joint_q) and not (
                check_collisions and _collides(planner, joint_q)
            ):
                return joint_q
    return None


def _candidates(
    planner: Planner, solver: IKSolver, found: wp.array, mask: np.ndarray
) -> list[np.ndarray]:
    """Return the candidates: the best first, then those nearest to the state."""
    every = solver.joint_q.numpy().astype(np.float64)
    coords = planner.robot.coords[np.unique(planner.robot.group.dof_variable[mask])]
    rows = []
    for row in (found.numpy().astype(np.float64)[0], *every):
        # Joints that do not move keep their exact values; mimic joints follow.
        joint_q = planner.joint_q.copy()
        joint_q[coords] = row[coords]
        rows.append(planner.model.apply_mimic(joint_q))
    distance = [np.abs(row - planner.joint_q).sum() for row in rows]
    return [rows[k] for k in np.argsort(distance)]


def _reaches(
    planner: Planner, frames: Sequence[Frame], targets: np.ndarray, joint_q: np.ndarray
) -> bool:
    body_q = planner.body_poses(joint_q[None])[0]
    for frame, target in zip(frames, targets, strict=True):
        linear, angular = pose_difference(
            target, multiply(body_q[frame.link], frame.offset)
        )
        if np.linalg.norm(linear) > POSITION_TOLERANCE:
            return False
        if np.linalg.norm(angular) > ROTATION_TOLERANCE:
            return False
    return True


def _collision_barriers(planner: Planner) -> list[int]:
    barriers = planner.barriers.barriers
    return [k for k, barrier in enumerate(barriers) if isinstance(barrier, CollisionBarrier)]


def _collides(planner: Planner, joint_q: np.ndarray) -> bool:
    rows, values = planner.barriers.rows, planner.barriers.values(joint_q)
    collisions = np.flatnonzero(np.isin(rows.barrier, _collision_barriers(planner))).tolist()
    return any(rows.distance(row, values[row]) <= 0.0 for row in collisions)
