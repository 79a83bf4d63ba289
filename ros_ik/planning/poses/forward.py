# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics of a batch of configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros_ik.kinematics.runtime.arguments import checked_instance
from ros_ik.kinematics.runtime.arguments import checked_options
from ros_ik.model.conventions import poses
from ros_ik.model.conventions.checks import checked_items
from ros_ik.model.conventions.checks import checked_text
from ros_ik.numbers import check_bounded
from ros_ik.numbers import real_array
from ros_ik.planning.context.budget import argument_errors_as_request_errors
from ros_ik.planning.context.budget import Budget
from ros_ik.planning.context.budget import RequestError
from ros_ik.planning.context.planner import Planner

# Number of configurations per batch, which bounds the memory.
_SLICE = 4096


def solve_fk(
    planner: Planner,
    joint_names: Sequence[str],
    positions: np.ndarray,
    links: Sequence[str] = (),
    reference_frame: str = '',
    budget: Budget | None = None,
) -> np.ndarray:
    """Return the poses of links.

    Args:
        planner: The robot.
        joint_names: Joints with a given position; the others are as measured.
        positions: Their positions [rad or m], shape [n, len(joint_names)].
        links: Links to compute; empty selects the controlled frames of the frame tasks.
        reference_frame: Link in whose frame the poses are returned; '' selects the base frame.
        budget: Time budget.

    Returns:
        Shape [n, number of links, 7].

    Raises:
        RequestError: An unknown link or joint, a position that is not finite, joints whose state
            is needed and unknown, the time limit has passed or the budget was cancelled.
    """
    checked_instance('planner', Planner, planner)
    budget = checked_options('budget', Budget, budget)
    with argument_errors_as_request_errors():
        links = [checked_text('links', link) for link in checked_items('links', links, 'links')]
        joint_names = checked_items('joint_names', joint_names, 'joint names')
        checked_text('reference_frame', reference_frame)
        positions = real_array('positions', positions)
    if positions.size and positions.shape[1:] != (len(joint_names),):
        raise RequestError(
            f'positions must have shape [n, {len(joint_names)}], one number per joint name, got '
            f'{list(positions.shape)}'
        )
    if '' in links:
        raise RequestError("links must have names, got ''")
    frames = [planner.frame(link) for link in links] if links else planner.task_frames()
    reference = planner.reference(reference_frame)
    coords = planner.driving_coordinates(joint_names)
    with argument_errors_as_request_errors():
        check_bounded('configurations', positions)
    for frame in frames:
        planner.require_measured(planner.moving_dofs(frame.link, reference), coords)
    offsets = np.array([frame.offset for frame in frames])
    bodies = [frame.link for frame in frames]
    result = np.empty((len(positions), len(frames), 7))
    for first in range(0, len(positions), _SLICE):
        budget.check_time()
        rows = slice(first, first + _SLICE)
        body_q = planner.body_poses(planner.configurations(coords, positions[rows]))
        placed = poses.multiply(body_q[:, bodies], offsets)
        result[rows] = poses.multiply(poses.inverse(body_q[:, [reference]]), placed)
    return result
