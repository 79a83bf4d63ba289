# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Configurations for poses of one link, in one call."""

from __future__ import annotations

from collections.abc import Sequence
import contextlib
import functools
from typing import Any
from typing import TYPE_CHECKING

import numpy as np

from ros_ik.errors import ArgumentError
from ros_ik.kinematics.arguments import checked_count
from ros_ik.numbers import host_array
from ros_ik.solvers.analytic.batch import all_solutions
from ros_ik.solvers.analytic.form import closed_form
from ros_ik.solvers.model_cache import cached
from ros_ik.solvers.pose_ik.batch_result import batches
from ros_ik.solvers.pose_ik.closed_form_first import as_chain_result
from ros_ik.solvers.pose_ik.closed_form_first import closed_form_pays
from ros_ik.solvers.pose_ik.closed_form_first import ClosedFormFirstIK
from ros_ik.solvers.pose_ik.result import ChainIKResult
from ros_ik.solvers.pose_ik.result import ChainIKSettings
from ros_ik.solvers.pose_ik.setup import check_tolerances
from ros_ik.solvers.pose_ik.solver import ChainIK

if TYPE_CHECKING:
    from ros_ik.model import JointGroup
    from ros_ik.model import Model

# Solutions of a solver; larger requests are split: at about 300 bytes this bounds its memory to
# 20 MB. The answers themselves come on top.
MAX_BATCH = 65_536

_METHODS = ('search', 'closed_form', 'auto')


def inverse_kinematics(
    model: Model,
    link: str | int,
    poses: np.ndarray,
    seeds: np.ndarray | None = None,
    position_tolerance: float = 1e-3,
    rotation_tolerance: float = 1e-2,
    n_solutions: int = 1,
    check_collisions: bool = False,
    *,
    collision_pairs: Sequence[Sequence[int]] | np.ndarray | None = None,
    collision_margin: float = 0.0,
    joint_group: JointGroup | str | Sequence[str] | None = None,
    joint_q: np.ndarray | None = None,
    offset: np.ndarray | None = None,
    settings: ChainIKSettings | None = None,
    n_threads: int | None = None,
    method: str = 'search',
) -> ChainIKResult:
    """Find configurations inside the joint limits that bring a link to poses.

    Every answer is verified by a forward kinematics that shares nothing with the search. Mimic
    joints follow their drivers. What small batches are solved with is kept with the model for the
    next call with the same arguments; a :class:`ChainIK` of one's own is quicker still.

    Args:
        model: The model.
        link: Name or index of the link whose frame is to reach the poses.
        poses: Targets in the world, shape [n, 7] or [7], x y z qx qy qz qw.
        seeds: Configurations to start from and to be near to, shape [n, joint_coord_count] or
            [joint_coord_count]; None for the middle of the limits.
        position_tolerance: Largest distance of a solution [m]; inf leaves the position free.
        rotation_tolerance: Largest angle of a solution [rad]; inf leaves the rotation free.
        n_solutions: Distinct solutions wanted per pose; they come sorted by their distance to
            the seed.
        check_collisions: Return solutions out of collision only. Where a solution collides the
            search goes on for others, up to a bounded effort; a pose that it finds none for is
            IN_COLLISION, with the solution nearest to the seed. Meshes count as their convex
            hulls, so that what is told to be free is, and some that is free is passed over.
        collision_pairs: Pairs of shapes to check, int [n_pairs, 2], indices into the model; None
            for ``model.shape_contact_pairs`` without those that collide whatever the chain does:
            shapes that overlap by design and, with a warning, what ``joint_q`` holds in
            collision.
        collision_margin: Distance [m] that the shapes of a pair must keep. Of the model's own
            pairs, those that are always nearer by design are held to no margin.
        joint_group: Joints that may move, a group or what :meth:`Model.joint_group` takes; None
            for every joint between world and link.
        joint_q: Configuration that holds the other joints, shape [joint_coord_count]; None for
            the neutral one.
        offset: Pose of the tool in the link, shape [7]; None for the link's own frame.
        settings: How to search.
        n_threads: CPU threads that share a batch; None for one per core.
        method: 'search'; 'closed_form' for :func:`all_solutions`, to 1e-10 m and rad, of which
            those nearest to the seed are returned, each with the turns of its joints that are
            nearest; 'auto' for the closed form where a chain of six joints has an exact one other
            than that of six general axes, which is slower than the search, and for the search of
            the poses that it leaves unsolved and of everything else. The closed form fits
            requests with two finite tolerances; ``settings`` steer the search alone.

    Returns:
        The answers, in the order of the poses.

    Raises:
        ArgumentError: A wrong shape, type or size, an unknown method, 'closed_form' for a chain
            or a request that it does not fit, with the reason; an unknown link, a chain that has
            a free or ball joint among those that may move, or a shape to check that has no
            geometry in memory, because the files of meshes were not found; the message names it.
        ModelError: A mesh file that cannot be read.
    """
    targets = np.atleast_2d(host_array(poses))
    n = len(targets)
    if n == 0:
        raise ArgumentError('poses must have at least one row, got none')
    starts = None
    if seeds is not None:
        starts = host_array(seeds)
        if starts.ndim == 1:
            starts = np.broadcast_to(starts, (n, len(starts)))
        if len(starts) != n:
            raise ArgumentError(f'seeds must have one row per pose ({n}), got {len(starts)}')
    if method not in _METHODS:
        raise ArgumentError(f'method must be one of {", ".join(_METHODS)}, got {method!r}')
    check_tolerances(position_tolerance, rotation_tolerance)
    tolerances = position_tolerance, rotation_tolerance
    if method == 'closed_form':
        count = checked_count('n_solutions', n_solutions, 1)
        if np.isinf(tolerances).any():
            raise ArgumentError(
                'method closed_form: a tolerance is infinite; all_solutions takes free_rotation'
            )
        form = closed_form(model, link, joint_group, joint_q=joint_q, offset=offset)
        if form.reason:
            raise ArgumentError(f'method closed_form: {form.reason}')
        found = all_solutions(
            model, link, targets, starts, count, joint_group, joint_q=joint_q, offset=offset,
            check_collisions=check_collisions, collision_pairs=collision_pairs,
            collision_margin=collision_margin,
        )  # fmt: skip
        return as_chain_result(found, count)
    request: dict[str, Any] = {
        'joint_group': joint_group, 'joint_q': joint_q, 'offset': offset,
        'position_tolerance': position_tolerance, 'rotation_tolerance': rotation_tolerance,
        'n_solutions': n_solutions, 'check_collisions': check_collisions,
        'collision_pairs': collision_pairs, 'collision_margin': collision_margin,
        'settings': settings, 'n_threads': n_threads,
    }  # fmt: skip

    def make(size: int) -> ChainIK | ClosedFormFirstIK:
        pays = method == 'auto' and closed_form_pays(
            model, link, joint_group, joint_q, offset, tolerances
        )
        return (ClosedFormFirstIK if pays else ChainIK)(model, link, size, **request)

    parts: list[ChainIKResult] = []
    count = checked_count('n_solutions', n_solutions, 1)
    key = {**request, 'link': link, 'method': method}
    with contextlib.ExitStack() as stack:
        solver: ChainIK | ClosedFormFirstIK | None = None
        for rows, size in batches(n, MAX_BATCH // count):
            if solver is None or solver.n_problems != size:
                made = cached(model, key, functools.partial(make, size), size, count)
                solver = stack.enter_context(made)
            part = solver.solve(targets[rows], None if starts is None else starts[rows])
            parts.append(part.copy())
    return ChainIKResult.concatenate(parts)
